// loop, while_ and scan: loops with loop-carried values, which contexts intercept.
#pragma once

#include <overdub/array/primitives.hpp>
#include <overdub/call/dispatch.hpp>
#include <overdub/call/lowered.hpp>

#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub {
namespace detail {

template <class State, class Next>
consteval bool carried_state() {
  constexpr bool same = std::is_same_v<State, Next>;
  static_assert(
      same || is_refused<Next>,
      "overdub: the body of this loop returns another type than the state it was given; if the state starts "
      "as a plain constant and becomes a value of a context, start it there: cx.lift(0.0), or cx(loop, n, "
      "0.0, body); else convert it: overdub::convert<double>(x)");
  return same;
}

} // namespace detail

/// loop(n, state, body): state = body(i, state) for i = 0, ..., n - 1. The state, the loop-carried value, is a scalar, an array or a tree
/// of them.
struct loop_t {
  OVERDUB_PRIMITIVE("loop", control)
  template <class N, class X, class F>
  OVERDUB_INLINE constexpr auto operator()(N const& n, X&& state, F const& body) const {
    return detail::dispatch(*this, n, std::forward<X>(state), body);
  }
  template <class S, class K, class N, class X, class F>
  OVERDUB_INLINE static constexpr auto
  lower(S const& stack, K const& call_lowered, N const& n, X&& state, F const& body) {
    return call_lowered(
        detail::decisive(stack, n), detail::lift_down(stack, std::forward<X>(state)),
        detail::lower(stack, body));
  }
  template <class N, class X, class F>
  OVERDUB_INLINE static constexpr std::remove_cvref_t<X> compute(N const& count, X&& start, F const& body) {
    i64 const n = detail::as_index(count);
    using State = std::remove_cvref_t<X>;
    State state(std::forward<X>(start));
    if constexpr (detail::carried_state<
                      State, std::remove_cvref_t<decltype(body(i64{}, std::move(state)))>>())
      for (i64 i = 0; i < n; ++i) state = detail::call_given(body, i, std::move(state));
    return State(std::move(state)); // a copy, not in the caller's memory, so that it stays in registers
  }
};
inline constexpr loop_t loop{};

/// while_(state, condition, body): state = body(state) as long as condition(state).
struct while_t {
  OVERDUB_PRIMITIVE("while", control)
  template <class X, class C, class F>
  OVERDUB_INLINE constexpr auto operator()(X&& state, C const& condition, F const& body) const {
    return detail::dispatch(*this, std::forward<X>(state), condition, body);
  }
  template <class S, class K, class X, class C, class F>
  OVERDUB_INLINE static constexpr auto
  lower(S const& stack, K const& call_lowered, X&& state, C const& condition, F const& body) {
    return call_lowered(
        detail::lift_down(stack, std::forward<X>(state)), detail::lower_predicate(stack, condition),
        detail::lower(stack, body));
  }
  template <class X, class C, class F>
  OVERDUB_INLINE static constexpr std::remove_cvref_t<X>
  compute(X&& start, C const& condition, F const& body) {
    using State = std::remove_cvref_t<X>;
    State state(std::forward<X>(start));
    if constexpr (detail::carried_state<State, std::remove_cvref_t<decltype(body(std::move(state)))>>())
      while (detail::call_given(condition, std::as_const(state)))
        state = detail::call_given(body, std::move(state));
    return State(std::move(state)); // a copy, not in the caller's memory, so that it stays in registers
  }
};
inline constexpr while_t while_{};

/// scan(f, state, xs): {state, y} = f(state, x) for each element x in order. Returns {the last state, the array of the y}.
struct scan_t {
  OVERDUB_PRIMITIVE("scan", control)
  template <class F, class X, class... A>
  OVERDUB_INLINE constexpr auto operator()(F const& f, X&& state, A const&... xs) const {
    return detail::dispatch(*this, f, std::forward<X>(state), xs...);
  }
  template <class S, class K, class F, class X, class... A>
  OVERDUB_INLINE static constexpr auto
  lower(S const& stack, K const& call_lowered, F const& f, X&& state, A const&... xs) {
    return call_lowered(
        detail::lower(stack, f), detail::lift_down(stack, std::forward<X>(state)),
        detail::strip(stack, xs)...);
  }
  template <class F, class X, class A>
  OVERDUB_INLINE static constexpr auto compute(F const& f, X&& start, A const& xs) {
    using State = std::remove_cvref_t<X>;
    if constexpr (!detail::trees_of_arrays<A>())
      return std::tuple<State, detail::refused>{State(start), {}};
    else {
      using Step = std::remove_cvref_t<decltype(f(std::declval<State>(), detail::element(xs, 0)))>;
      constexpr bool pair = requires { std::tuple_size<Step>::value; };
      static_assert(
          pair || detail::is_refused<Step>,
          "overdub: the function of scan returns std::tuple{state, output}");
      if constexpr (pair)
        return run<State, Step>(f, std::forward<X>(start), xs);
      else
        return std::tuple<State, detail::refused>{State(start), {}};
    }
  }
  template <class F, class X, class... A>
  requires(sizeof...(A) != 1) static constexpr auto compute(F const&, X const& start, A const&...) {
    static_assert(
        sizeof...(A) == 1, "overdub: scan(f, state, xs) takes one array; give several as std::tuple{xs, ys}, "
                           "of whose elements f takes a tuple");
    return std::tuple<X, detail::refused>{start, {}};
  }

private:
  template <class State, class Step, class F, class X, class A>
  OVERDUB_INLINE static constexpr auto run(F const& f, X&& start, A const& xs) {
    using Next = std::remove_cvref_t<decltype(std::get<0>(std::declval<Step>()))>;
    using Output = std::remove_cvref_t<decltype(std::get<1>(std::declval<Step>()))>;
    i64 const n = detail::sizes_of("scan", xs);
    auto out = detail::make_builders<Output, detail::lowered_from_t<F>>(n);
    State state(std::forward<X>(start));
    if constexpr (detail::carried_state<State, Next>())
      for (i64 i = 0; i < n; ++i) {
        auto step = detail::call_given(f, std::move(state), detail::element(xs, i));
        state = std::get<0>(std::move(step));
        detail::put_element(out, i, std::get<1>(std::move(step)));
      }
    auto outputs = detail::finish_elements(std::move(out), n);
    return std::tuple<State, decltype(outputs)>{std::move(state), std::move(outputs)};
  }
};
inline constexpr scan_t scan{};

namespace detail {

// The arrays of the outputs of iterations, in their order, or from the last to the first. Origin: the function that computed them.
template <bool Reversed, class Origin, class Output>
constexpr auto collected(std::vector<Output>&& outputs) {
  i64 const n = static_cast<i64>(outputs.size());
  auto out = make_builders<Output, Origin>(n);
  for (i64 i = 0; i < n; ++i)
    put_element(out, i, std::move(outputs[static_cast<std::size_t>(Reversed ? n - 1 - i : i)]));
  return finish_elements(std::move(out), n);
}

/// The indexed scan of programs: {state, y} = f(i, state) for i = 0, ..., n - 1, or from the last to the first. In both cases the y of
/// iteration i has the index i.
template <bool Reversed>
struct indexed_scan_t {
  OVERDUB_PRIMITIVE("scan", control)
  template <class S, class K, class N, class X, class F>
  static constexpr auto lower(S const& stack, K const& call_lowered, N const& n, X&& state, F const& f) {
    return call_lowered(
        decisive(stack, n), lift_down(stack, std::forward<X>(state)), overdub::detail::lower(stack, f));
  }
  template <class N, class X, class F>
  static constexpr auto compute(N const& count, X&& start, F const& f) {
    using State = std::remove_cvref_t<X>;
    using Step = std::remove_cvref_t<decltype(f(i64{}, std::declval<State>()))>;
    i64 const n = as_index(count) < 0 ? 0 : as_index(count);
    State state(std::forward<X>(start));
    std::vector<std::remove_cvref_t<decltype(std::get<1>(std::declval<Step>()))>> outputs;
    for (i64 k = 0; k < n; ++k) {
      auto step = call_given(f, Reversed ? n - 1 - k : k, std::move(state));
      state = std::get<0>(std::move(step));
      outputs.push_back(std::get<1>(std::move(step)));
    }
    auto arrays = collected<Reversed, lowered_from_t<F>>(std::move(outputs));
    return std::tuple<State, decltype(arrays)>{std::move(state), std::move(arrays)};
  }
};

/// The `while` of programs with outputs: {state, y} = body(state) as long as condition(state). Returns {the last state, the array of the
/// y}.
struct while_scan_t {
  OVERDUB_PRIMITIVE("while", control)
  template <class S, class K, class X, class C, class F>
  static constexpr auto
  lower(S const& stack, K const& call_lowered, X&& state, C const& condition, F const& body) {
    return call_lowered(
        lift_down(stack, std::forward<X>(state)), lower_predicate(stack, condition),
        overdub::detail::lower(stack, body));
  }
  template <class X, class C, class F>
  static constexpr auto compute(X&& start, C const& condition, F const& body) {
    using State = std::remove_cvref_t<X>;
    using Step = std::remove_cvref_t<decltype(body(std::declval<State>()))>;
    State state(std::forward<X>(start));
    std::vector<std::remove_cvref_t<decltype(std::get<1>(std::declval<Step>()))>> outputs;
    while (call_given(condition, std::as_const(state))) {
      auto step = call_given(body, std::move(state));
      state = std::get<0>(std::move(step));
      outputs.push_back(std::get<1>(std::move(step)));
    }
    auto arrays = collected<false, lowered_from_t<F>>(std::move(outputs));
    return std::tuple<State, decltype(arrays)>{std::move(state), std::move(arrays)};
  }
};

} // namespace detail

} // namespace overdub
