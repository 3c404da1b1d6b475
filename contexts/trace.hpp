// trace: when calls begin and end, on which thread, and with what: spans, which a recording collects from all threads, and which
// Perfetto, Chrome, speedscope and flame graphs show. Which calls become spans is decided by type, when the program is compiled.
#pragma once

#include <overdub/contexts/trace/recording.hpp>
#include <overdub/overdub.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string_view>
#include <type_traits>

namespace overdub::contexts {

namespace tracing {

/// The base of what `trace_with` can be told, with what it does where it is not told.
struct option {
  static constexpr bool all_operations = false, values = false, only_counts = false;
  static constexpr int depth = 0, period = 1;
  static constexpr bool takes(std::string_view) { return true; }
  static constexpr bool leaves(std::string_view) { return false; }
};

template <fixed_string... Names>
constexpr bool is_among(std::string_view name) {
  auto const fits = [name](std::string_view pattern) {
    bool const open = pattern.ends_with('*');
    return open ? name.starts_with(pattern.substr(0, pattern.size() - 1)) : name == pattern;
  };
  return (fits(Names.view()) || ...);
}

/// Spans of the library's operations, too, and not of functions and leaves alone.
struct operations : option {
  static constexpr bool all_operations = true;
};
/// With each span its arguments and its result: numbers, and the sizes of arrays.
struct arguments : option {
  static constexpr bool values = true;
};
/// Counts calls, and records no spans: see recording::counts.
struct counts : option {
  static constexpr bool only_counts = true;
};
/// Spans to a depth: 1 is the function that is run, 2 what it calls.
template <int Depth>
struct to_depth : option {
  static_assert(Depth > 0, "overdub: to_depth<N> is for N > 0");
  static constexpr int depth = Depth;
};
/// Spans of these callees alone, wherever they are called. A star at the end of a name stands for any rest. A function in outer
/// contexts, norm.forward, is called norm, too.
template <fixed_string... Names>
struct only : option {
  static constexpr bool takes(std::string_view name) { return is_among<Names...>(name); }
};
/// No spans of these callees, nor, where they are functions, of what they call. What map, if_ and the like call keeps its spans.
template <fixed_string... Names>
struct without : option {
  static constexpr bool leaves(std::string_view name) { return is_among<Names...>(name); }
};
/// Of the outermost spans of each thread one in N is recorded, with all that it calls, the first one first.
template <int N>
struct one_in : option {
  static_assert(N > 0, "overdub: one_in<N> is for N > 0");
  static constexpr int period = N;
};

// Which of the outermost spans is recorded, of one thread.
struct sampler {
  std::uint32_t nesting = 0, turn = 0;
  bool taken = false;

  // A signal handler may come between, which leaves the nesting as it was: it is outermost while that is 0.
  bool begin(std::uint32_t period) {
    bool const outermost = nesting++ == 0;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (outermost) {
      taken = turn == 0;
      if (++turn == period) turn = 0;
    }
    return taken;
  }
  bool end() {
    bool const was_taken = taken;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    --nesting;
    return was_taken;
  }
};
template <class... Options>
OVERDUB_HIDDEN inline constinit thread_local sampler this_sampler;

// What all options say together.
using overdub::detail::named_at_compile_time;
template <callee F, class... Options>
consteval bool is_left() {
  if constexpr (named_at_compile_time<F>)
    return (Options::leaves(F::name()) || ...) || (Options::leaves(origin_t<F>::name()) || ...);
  else
    return false;
}
template <callee F, class... Options>
consteval bool is_taken() {
  if constexpr (named_at_compile_time<F>)
    return ((Options::takes(F::name()) || Options::takes(origin_t<F>::name())) && ...);
  else
    return true;
}
template <callee F, class... Options>
inline constexpr bool is_span = (function<F> || native_leaf<F> || (Options::all_operations || ...)) &&
                                !is_left<F, Options...>() && is_taken<F, Options...>();
// The same of a program's function, whose name, with its contexts behind it, is known when the program runs.
template <callee F, class... Options>
constexpr bool is_span_now() {
  if constexpr (named_at_compile_time<F>)
    return true;
  else {
    std::string_view const name = F::name();
    std::string_view const of = name.substr(0, name.find('.'));
    return !((Options::leaves(name) || Options::leaves(of)) || ...) &&
           ((Options::takes(name) || Options::takes(of)) && ...);
  }
}
template <class... Options>
inline constexpr bool with_values = (Options::values || ...);
template <class... Options>
inline constexpr bool counts_only = (Options::only_counts || ...);
template <callee F, class... Options>
inline constexpr bool has_end = is_span<F, Options...> && !counts_only<Options...>;
template <class... Options>
inline constexpr int span_depth = std::max({0, Options::depth...});
template <class... Options>
inline constexpr int span_period = (1 * ... * Options::period);

template <class O>
consteval auto check_option() {
  constexpr bool is_option = std::derived_from<O, option>;
  static_assert(
      is_option, "overdub: trace_with takes options, such as overdub::contexts::tracing::to_depth<3>");
  return std::type_identity<std::conditional_t<is_option, O, option>>{};
}
template <class O>
using checked_option = typename decltype(check_option<O>())::type;

template <callee F>
[[gnu::always_inline]] OVERDUB_HIDDEN inline void count() {
  static constinit std::atomic<std::uint32_t> number_of_callee{call_counts::no_number};
  auto& number = [&]() -> std::atomic<std::uint32_t>& {
    if constexpr (named_at_compile_time<F>)
      return number_of_callee;
    else
      return known_callee(F::name(), kind_name<F>()).number;
  }();
  call_counts* counts = this_counts;
  if (!counts->has(number.load(std::memory_order_relaxed))) [[unlikely]]
    if ((counts = find_counts(info<F>(), number)) == nullptr) return;
  counts->count(number.load(std::memory_order_relaxed));
}

} // namespace tracing

/// A trace at some depth of entered functions; see trace_with.
template <int Depth, class... Options>
struct trace_at : context {
  static constexpr std::string_view name = "trace";

  template <callee F>
  requires tracing::is_span<F, Options...> OVERDUB_HIDDEN void before(F, auto const&... x) const {
    if (!tracing::is_span_now<F, Options...>()) return;
    if constexpr (tracing::counts_only<Options...>)
      tracing::count<F>();
    else if constexpr (period == 1)
      write_begin<F>(x...);
    else if (tracing::this_sampler<Options...>.begin(period)) {
      try {
        write_begin<F>(x...);
      } catch (...) { // no memory for the thread's ring: this call has no end
        tracing::this_sampler<Options...>.end();
        throw;
      }
    }
  }
  template <callee F, class R>
  requires tracing::has_end<F, Options...> OVERDUB_HIDDEN void
  after(F, R const& result, auto const&...) const {
    if (!tracing::is_span_now<F, Options...>()) return;
    if (period != 1 && !tracing::this_sampler<Options...>.end()) return;
    tracing::call_records to;
    if constexpr (values && tracing::is_recorded<R>) {
      to.write(tracing::word_of<F>(tracing::record_kind::end_with_value));
      write_value(to, result, 0, tracing::record_kind::last_value);
    } else
      to.write(tracing::word_of<F>(tracing::record_kind::end));
  }
  template <callee F>
  requires tracing::has_end<F, Options...> OVERDUB_HIDDEN void
  failed(F, std::exception_ptr, auto const&...) const {
    if (!tracing::is_span_now<F, Options...>()) return;
    if (period != 1 && !tracing::this_sampler<Options...>.end()) return;
    tracing::call_records to;
    to.write(tracing::word_of<F>(tracing::record_kind::failed));
  }

  /// What is left out is plain code: no test of a filter is made when the program runs.
  template <function F>
  static constexpr auto enter(F) {
    constexpr int depth = tracing::span_depth<Options...>;
    if constexpr (tracing::is_left<F, Options...>() || (depth > 0 && Depth + 1 >= depth))
      return leave;
    else
      return trace_at<(depth > 0 ? Depth + 1 : 0), Options...>{};
  }

private:
  static constexpr bool values = tracing::with_values<Options...>;
  static constexpr int period = tracing::span_period<Options...>;

  template <callee F, class... X>
  [[gnu::always_inline]] OVERDUB_HIDDEN static void write_begin(X const&... x) {
    tracing::call_records to;
    if constexpr (values && (tracing::is_recorded<X> || ...)) {
      to.write(tracing::word_of<F>(tracing::record_kind::begin_with_values));
      write_arguments(to, x...);
    } else
      to.write(tracing::word_of<F>(tracing::record_kind::begin));
  }
  template <class X>
  static void
  write_value(tracing::call_records& to, X const& x, unsigned position, tracing::record_kind kind) {
    to.write(
        tracing::bits_of(x),
        position << 8 | static_cast<unsigned>(tracing::type_of(x)) << 4 | static_cast<unsigned>(kind));
  }
  template <class... X>
  static void write_arguments(tracing::call_records& to, X const&... x) {
    constexpr std::array<bool, sizeof...(X)> are{tracing::is_recorded<X>...};
    constexpr auto last = static_cast<unsigned>(
        sizeof...(X) - 1 -
        static_cast<std::size_t>(std::find(are.rbegin(), are.rend(), true) - are.rbegin()));
    unsigned position = 0;
    auto const write = [&]<class Y>(Y const& y) {
      if constexpr (tracing::is_recorded<Y>)
        write_value(
            to, y, position,
            position == last ? tracing::record_kind::last_value : tracing::record_kind::value);
      ++position;
    };
    (write(x), ...);
  }
};

/// Makes spans of calls, as the options in `tracing` say: trace_with<tracing::operations, tracing::to_depth<3>>. It has no
/// state, and so follows to all threads; where the spans go is the recording's business. Costs two readings of the time-stamp
/// counter a span.
template <class... Options>
using trace_with = trace_at<0, tracing::checked_option<Options>...>;

/// Spans of functions and of leaves.
using trace = trace_with<>;

} // namespace overdub::contexts
