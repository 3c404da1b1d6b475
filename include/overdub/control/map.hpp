// map(f, xs...): f on the elements of arrays, which contexts see as one call.
#pragma once

#include <overdub/array/primitives.hpp>
#include <overdub/call/dispatch.hpp>

#include <string_view>
#include <type_traits>
#include <utility>

namespace overdub {

/// map(f, xs, ys...): the array of f(x, y...). A function that returns a tree gives a tree of arrays; a tree
/// of arrays (zip) gives f a tree. Throws size_error where sizes differ. O(n), one allocation a leaf of the
/// result.
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
    static_assert(sizeof...(A) > 0, "overdub: map(f, xs...) takes the arrays behind the function");
    static_assert((detail::tree_of_arrays<A>::checked && ...));
    using E = std::remove_cvref_t<decltype(f(detail::element(xs, 0)...))>;
    static_assert(
        detail::stack_in_t<E>::empty, "overdub: map's arrays are plain, but its function returns values of a "
                                      "context that it captured; call map "
                                      "through the scope: cx(map, f, xs), or lift an array: cx.lift(xs)");
    i64 const n = detail::sizes_of("map", xs...);
    auto out = detail::make_builders<E>(n);
    for (i64 i = 0; i < n; ++i) detail::put_element(out, i, detail::call_given(f, detail::element(xs, i)...));
    return detail::finish_elements(std::move(out), n);
  }
};
inline constexpr map_t map{};

} // namespace overdub
