// parallel_map(f, xs...): map on several threads, in the contexts of the call. A context with state is forked for each thread, and joined
// in the order of the elements, so that results do not depend on the number of threads.
#pragma once

#include <overdub/call/lowered.hpp>
#include <overdub/control/map.hpp>

#include <algorithm>
#include <concepts>
#include <exception>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub {
namespace detail {

/// A context that can be used on several threads: c.fork() returns a C for one thread, and c.join(C&&) merges it.
template <class C>
concept forks = requires(C& context, C&& other) {
  { context.fork() } -> std::same_as<C>;
  context.join(std::move(other));
};

template <class S>
inline constexpr bool all_follow = true;
template <class L, class... R>
inline constexpr bool all_follow<stack<L, R...>> =
    (std::is_empty_v<typename L::context> || forks<typename L::context>)&&all_follow<stack<R...>>;

// The stack of one thread, with forks of the contexts with state.
template <class S>
struct forked {
  constexpr explicit forked(S const&) {}
  constexpr S contexts(lifetime) { return {}; }
  constexpr void join(S const&) {}
};
template <class L, class... R>
struct forked<stack<L, R...>> {
  using S = stack<L, R...>;
  using C = typename L::context;

  explicit forked(S const& from) : rest(from.rest()), context(fork(from)) {}
  S contexts(lifetime of_run) { return S(ref<C>(context, of_run), rest.contexts(of_run)); }
  void join(S const& into) {
    rest.join(into.rest());
    if constexpr (!std::is_empty_v<C>) into.top().get().join(std::move(context));
  }

  forked<stack<R...>> rest;
  C context;

private:
  static C fork(S const& from) {
    if constexpr (std::is_empty_v<C>)
      return {};
    else
      return (from.top().is_null() ? throw_constants("parallel_map", context_name_v<C>) : void()),
             from.top().get().fork();
  }
};

// A lowered function in other contexts: the stacks of all its layers are suffixes of the stack of the innermost layer.
template <class F>
struct layers {
  using full = stack<>;
  using function = F;
};
template <class S, class F, view V>
struct layers<lowered<S, F, V>> {
  using full = std::conditional_t<layers<F>::full::empty, S, typename layers<F>::full>;
  using function = typename layers<F>::function;
};

template <class F, class S>
constexpr F const& with_contexts(F const& f, S const&) {
  return f;
}
template <class T, class F, view V, class S>
constexpr lowered<T, F, V> with_contexts(lowered<T, F, V> const& f, S const& contexts) {
  return {with_contexts(f.f, contexts), tail_of<T>(contexts)};
}
template <class S, class F, view V>
constexpr auto full_contexts(lowered<S, F, V> const& f) {
  if constexpr (layers<F>::full::empty)
    return S(f);
  else
    return full_contexts(f.f);
}
template <class F>
constexpr stack<> full_contexts(F const&) {
  return {};
}

} // namespace detail

/// map(f, xs...) on several threads: one for each processor, or parallel_map.on(n). f must be thread-safe. Runs in order on this thread if
/// a context with state cannot fork and join, if f has captures and a context has state (captures may refer to the context), or if an
/// element has a destructor. After all threads have ended, the exception of the first element that failed is thrown.
struct parallel_map_t {
  OVERDUB_PRIMITIVE("parallel_map", control)
  int threads = 0;

  /// The same, on n threads.
  constexpr parallel_map_t on(int n) const { return {n}; }

  template <class F, class... A>
  OVERDUB_INLINE constexpr auto operator()(F const& f, A const&... xs) const {
    return detail::dispatch(*this, f, xs...);
  }
  template <class S, class K, class F, class... A>
  OVERDUB_INLINE static constexpr auto
  lower(S const& stack, K const& call_lowered, F const& f, A const&... xs) {
    return map_t::lower(stack, call_lowered, f, xs...);
  }

  // In a program it is a map, whose iterations the executor schedules.
  template <class F, class... A>
  OVERDUB_INLINE static constexpr auto decompose(F const& f, A const&... xs) {
    return map(f, xs...);
  }

  template <class F, class... A>
  auto compute(F const& f, A const&... xs) const {
    if constexpr (!map_t::takes<F, A...>())
      return detail::refused{};
    else
      return run<F>(f, xs...);
  }

private:
  template <class F, class... A>
  auto run(F const& f, A const&... xs) const {
    using layers = detail::layers<F>;
    using S = typename layers::full;
    using E = std::remove_cvref_t<decltype(f(detail::element(xs, 0)...))>;
    constexpr bool follows =
        std::is_empty_v<S> || (detail::all_follow<S> && std::is_empty_v<typename layers::function>);
    if constexpr (!follows || !std::is_trivially_destructible_v<E>)
      return map_t::compute(f, xs...);
    else {
      i64 const n = detail::sizes_of("parallel_map", xs...);
      i64 const wanted = threads > 0 ? threads : static_cast<i64>(std::thread::hardware_concurrency());
      i64 const parts = std::clamp<i64>(wanted, 1, std::max<i64>(n, 1));
      if (parts == 1) return map_t::compute(f, xs...);

      auto out = detail::make_builders<E, detail::lowered_from_t<F>>(n);
      auto run_part = [&](auto const& g, i64 part) {
        for (i64 i = n * part / parts; i < n * (part + 1) / parts; ++i)
          detail::put_element(out, i, g(detail::element(xs, i)...));
      };
      run_parts(f, parts, run_part);
      return detail::finish_elements(std::move(out), n);
    }
  }

  template <class F, class Run>
  static void run_parts(F const& f, i64 parts, Run const& run_part) {
    auto const caller = detail::full_contexts(f);
    struct part_t {
      detail::forked<std::remove_cv_t<decltype(caller)>> contexts;
      std::exception_ptr failure;
      std::thread thread;
    };
    std::vector<part_t> all;
    all.reserve(static_cast<std::size_t>(parts));
    for (i64 i = 0; i < parts; ++i) all.push_back({detail::forked(caller), nullptr, {}});

    detail::begun_lifetime<OVERDUB_CHECKED && !std::is_empty_v<decltype(caller)>> const forks_live;
    auto run_one = [&](i64 i) {
      part_t& part = all[static_cast<std::size_t>(i)];
      try {
        auto const g = detail::with_contexts(f, part.contexts.contexts(forks_live.get()));
        run_part(g, i);
      } catch (...) {
        part.failure = std::current_exception();
      }
    };
    i64 started = 1;
    try {
      for (; started < parts; ++started)
        all[static_cast<std::size_t>(started)].thread = std::thread(run_one, started);
    } catch (...) {
      // No more threads can be started: the remaining elements run on this thread.
    }
    run_one(0);
    for (i64 i = started; i < parts; ++i) run_one(i);
    for (part_t& part : all)
      if (part.thread.joinable()) part.thread.join();

    std::exception_ptr first;
    for (part_t& part : all) {
      part.contexts.join(caller);
      if (part.failure && !first) first = part.failure;
    }
    if (first) std::rethrow_exception(first);
  }
};
inline constexpr parallel_map_t parallel_map{};

} // namespace overdub
