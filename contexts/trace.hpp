// trace: execution traces. Spans of calls with thread, times and values, which a recording collects from all threads, for
// Perfetto, Chrome, speedscope and flame graphs. Types select the calls at compile time.
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
#include <string>
#include <string_view>
#include <type_traits>

namespace overdub::contexts {

namespace tracing {

/// The base of the options of `trace_with`, with the defaults.
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

/// Also records spans of the library's operations, not only of functions and leaves.
struct operations : option {
  static constexpr bool all_operations = true;
};
/// Records the arguments and the result of each span: numbers, and the sizes of arrays.
struct arguments : option {
  static constexpr bool values = true;
};
/// Counts calls, without spans: see recording::counts.
struct counts : option {
  static constexpr bool only_counts = true;
};
/// Spans down to a depth: 1 is the outermost function, 2 its callees.
template <int Depth>
struct to_depth : option {
  static_assert(Depth > 0, "overdub: to_depth<N> is for N > 0");
  static constexpr int depth = Depth;
};
/// Spans of these callees only, at all depths. A star at the end of a name matches any rest. A function in outer
/// contexts, norm.forward, also matches norm.
template <fixed_string... Names>
struct only : option {
  static constexpr bool takes(std::string_view name) { return is_among<Names...>(name); }
};
struct exclusion : option {};
/// Excludes these callees and, if they are functions, their callees. Functions that control primitives (map, if_) call keep their
/// spans.
template <fixed_string... Names>
struct without : exclusion {
  static constexpr bool leaves(std::string_view name) { return is_among<Names...>(name); }
};
/// Sampling: records one in N outermost spans of each thread, with all nested ones, from the first one on.
template <int N>
struct one_in : option {
  static_assert(N > 0, "overdub: one_in<N> is for N > 0");
  static constexpr int period = N;
};

// Selects the outermost spans to record, for one thread.
struct sampler {
  std::uint32_t nesting = 0, turn = 0;
  bool taken = false;

  // A signal handler that interrupts this restores the nesting; it is outermost while the nesting is 0.
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

// The combination of all options.
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
// For a program's function, whose name, followed by its contexts, is known at run time.
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
      return callee_named(F::name(), kind_name<F>()).number;
  }();
  call_counts* counts = this_counts;
  if (!counts->has(number.load(std::memory_order_relaxed))) [[unlikely]]
    if ((counts = find_counts(info<F>(), number)) == nullptr) return;
  counts->count(number.load(std::memory_order_relaxed));
}

// Not seen: a call with plain arguments, in the body of a function that runs in the context.
[[gnu::cold, gnu::noinline]] OVERDUB_HIDDEN inline void write_unseen(std::string_view name) {
  callee_info const& callee = callee_named("not seen: " + std::string(name), "function").info;
  auto const word = reinterpret_cast<std::uintptr_t>(&callee);
  call_records to;
  to.write(word + static_cast<unsigned>(record_kind::begin));
  to.write(word + static_cast<unsigned>(record_kind::end));
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
      } catch (...) { // memory for the thread's ring is exhausted, so that the span does not end by itself
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

  /// Writes a span without duration for a call with plain arguments, where it is made: in checked builds, and those with ambient contexts.
  OVERDUB_HIDDEN void unseen(std::string_view callee, std::string_view) const {
    if constexpr (!tracing::counts_only<Options...>) tracing::write_unseen(callee);
  }
  /// As an ambient context, a trace knows names only when the program runs, and numbers not at all: it neither leaves functions nor records
  /// arguments.
  static constexpr bool observes_all_functions = tracing::span_depth<Options...> == 0 &&
                                                 !tracing::with_values<Options...> &&
                                                 !(std::is_base_of_v<tracing::exclusion, Options> || ...);
  /// Whether a recording is active: otherwise an ambient trace is not called.
  static std::atomic<bool> const& listens() { return tracing::all_recordings().is_active; }

  /// Leaves the context for excluded functions at compile time, so that their calls are plain code.
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

/// Records spans of calls, with options of `tracing`: trace_with<tracing::operations, tracing::to_depth<3>>. It has no
/// state, and so applies in all threads; the active recording receives the spans. A span costs two readings of the
/// time-stamp counter.
template <class... Options>
using trace_with = trace_at<0, tracing::checked_option<Options>...>;

/// Spans of functions and of leaves.
using trace = trace_with<>;

} // namespace overdub::contexts
