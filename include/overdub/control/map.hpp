// map(f, xs...): f on the elements of arrays; tabulate(n, f): f on indices. Contexts intercept each as one call.
#pragma once

#include <overdub/array/primitives.hpp>
#include <overdub/call/dispatch.hpp>
#include <overdub/call/lowered.hpp>

#include <string_view>
#include <type_traits>
#include <utility>

namespace overdub {

/// map(f, xs, ys...): the array of f(x, y...). If f returns trees, the result is a tree of arrays; for a tree of arrays (zip), f receives
/// trees. Throws size_error if sizes differ. O(n), one allocation for each leaf of the result.
struct map_t {
  OVERDUB_PRIMITIVE("map", control)
  template <class F, class... A>
  OVERDUB_INLINE constexpr auto operator()(F const& f, A const&... xs) const {
    return detail::dispatch(*this, f, xs...);
  }
  template <class S, class K, class F, class... A>
  OVERDUB_INLINE static constexpr auto
  lower(S const& stack, K const& call_lowered, F const& f, A const&... xs) {
    return call_lowered(detail::lower(stack, f), detail::strip(stack, xs)...);
  }
  template <class F, class... A>
  OVERDUB_INLINE static constexpr auto compute(F const& f, A const&... xs) {
    if constexpr (!takes<F, A...>())
      return detail::refused{};
    else {
      using E = std::remove_cvref_t<decltype(f(detail::element(xs, 0)...))>;
      i64 const n = detail::sizes_of("map", xs...);
      auto out = detail::make_builders<E, detail::lowered_from_t<F>>(n);
      for (i64 i = 0; i < n; ++i)
        detail::put_element(out, i, detail::call_given(f, detail::element(xs, i)...));
      return detail::finish_elements(std::move(out), n);
    }
  }

  /// Whether f can be mapped over the arrays; if not, fails a static_assert.
  template <class F, class... A>
  static consteval bool takes() {
    static_assert(sizeof...(A) > 0, "overdub: map(f, xs...) takes one or more arrays after the function");
    if constexpr (sizeof...(A) == 0 || !detail::trees_of_arrays<A...>())
      return false;
    else {
      using E = std::remove_cvref_t<decltype(std::declval<F const&>()(
          detail::element(std::declval<A const&>(), 0)...))>;
      constexpr bool plain = detail::stack_in_t<E>::empty;
      static_assert(
          plain, "overdub: map's arrays are plain, but its function returns values of a context that it "
                 "captured; call map through the scope: cx(map, f, xs), or lift an array: cx.lift(xs)");
      return plain && !detail::is_refused<E>;
    }
  }
};
inline constexpr map_t map{};

/// tabulate(n, f): the array of f(0), ..., f(n - 1). Throws size_error if n is negative. O(n), one allocation for each leaf of the result.
struct tabulate_t {
  OVERDUB_PRIMITIVE("tabulate", control)
  template <class N, class F>
  OVERDUB_INLINE constexpr auto operator()(N const& n, F const& f) const {
    return detail::dispatch(*this, n, f);
  }
  template <class S, class K, class N, class F>
  OVERDUB_INLINE static constexpr auto lower(S const& stack, K const& call_lowered, N const& n, F const& f) {
    return call_lowered(detail::decisive(stack, n), detail::lower(stack, f));
  }
  template <class N, class F>
  OVERDUB_INLINE static constexpr auto compute(N const& count, F const& f) {
    using E = std::remove_cvref_t<decltype(f(i64{}))>;
    constexpr bool plain = detail::stack_in_t<E>::empty;
    static_assert(
        plain, "overdub: tabulate's size is plain, but its function returns values of a context that it "
               "captured; call "
               "tabulate through the scope: cx(tabulate, n, f)");
    if constexpr (!plain || detail::is_refused<E>)
      return detail::refused{};
    else {
      i64 const n = detail::as_index(count);
      if (n < 0) detail::throw_negative("tabulate", n);
      auto out = detail::make_builders<E, detail::lowered_from_t<F>>(n);
      for (i64 i = 0; i < n; ++i) detail::put_element(out, i, detail::call_given(f, i));
      return detail::finish_elements(std::move(out), n);
    }
  }
};
inline constexpr tabulate_t tabulate{};

namespace detail {

template <class E, class S, class T, class Z>
constexpr auto fill_metadata(S const& rest, T const& inner, Z const& z) {
  if constexpr (stack_in_t<E>::empty && !S::empty)
    return fill_metadata<E>(stack<>{}, make_concrete{}(inner), z);
  else if constexpr (is_array<bottom_t<E>> && !is_array<bottom_t<Z>> && array_inside<array_element_t<T>>)
    return call(
        rest, map, [&](auto const& row) { return become<E>(rest, z, row); }, inner);
  else
    return call(rest, fill, call(rest, overdub::size, inner), become<E>(rest, z, inner));
}

template <class Z>
constexpr auto split_metadata(Z const& z) {
  return overdub::map([](auto const& each) { return each; }, z);
}
} // namespace detail

} // namespace overdub
