// The primitives that create, index and copy arrays. They do no arithmetic on elements, whose metadata are moved with them. A tree of arrays
// is a tuple, pair or described struct of arrays and trees of arrays.
//
// `lower` forwards a call to the next inner context. `strip(x)` removes the outermost context, and keeps its metadata as a tag; `inner(x)`
// removes both; `lift_down(x)` is `strip`, but gives metadata to constants (call/lift.hpp).
#pragma once

#include <overdub/array/elements.hpp>
#include <overdub/call/dispatch.hpp>
#include <overdub/call/value.hpp>

#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace overdub {

/// at(a, i): the i-th element of an array, or of each array of a tree. Throws index_error. O(1) for each array.
struct at_t {
  OVERDUB_PRIMITIVE("at", data)
  template <class A, class I>
  OVERDUB_INLINE constexpr auto operator()(A const& a, I const& i) const {
    return detail::dispatch(*this, a, i);
  }
  template <class S, class K, class A, class I>
  OVERDUB_INLINE static constexpr auto lower(S const& stack, K const& call_lowered, A const& a, I const& i) {
    return call_lowered(detail::strip(stack, a), detail::inner(stack, i));
  }
  template <class A, class I>
  OVERDUB_INLINE static constexpr auto compute(A const& a, I const& i) {
    if constexpr (detail::trees_of_arrays<A>())
      return detail::checked_element("at", a, detail::as_index(i));
    else
      return detail::refused{};
  }
};
inline constexpr at_t at{};

/// size(a), size(a, b...): the number of elements of an array, or of each of several arrays of one size. Throws size_error if sizes differ.
/// O(1).
struct array_size_t {
  OVERDUB_PRIMITIVE("size", data)
  template <class... A>
  OVERDUB_INLINE constexpr auto operator()(A const&... a) const {
    return detail::dispatch(*this, a...);
  }
  template <class... A>
  OVERDUB_INLINE static constexpr i64 compute(A const&... a) {
    static_assert(sizeof...(A) > 0, "overdub: size(a) takes an array");
    if constexpr (sizeof...(A) == 0)
      return 0;
    else if constexpr (detail::trees_of_arrays<A...>())
      return detail::sizes_of("size", a...);
    else
      return 0;
  }
};
inline constexpr array_size_t size{};

/// iota(n): 0, 1, ..., n - 1. Throws size_error if n is negative. O(n), one allocation.
struct iota_t {
  OVERDUB_PRIMITIVE("iota", data)
  template <class N>
  OVERDUB_INLINE constexpr auto operator()(N const& n) const {
    return detail::dispatch(*this, n);
  }
  template <class N>
  static array<i64> compute(N const& count) {
    i64 const n = detail::as_index(count);
    if (n < 0) detail::throw_negative("iota", n);
    detail::array_builder<i64> out(n);
    for (i64 i = 0; i < n; ++i) out.put(i, i);
    return out.finish(n);
  }
};
inline constexpr iota_t iota{};

/// fill(n, x): an array of n elements x, or a tree of arrays for a tree x. Throws size_error if n is negative. O(n), one allocation for each
/// array.
struct fill_t {
  OVERDUB_PRIMITIVE("fill", data)
  template <class N, class X>
  OVERDUB_INLINE constexpr auto operator()(N const& n, X const& x) const {
    return detail::dispatch(*this, n, x);
  }
  template <class S, class K, class N, class X>
  OVERDUB_INLINE static constexpr auto lower(S const& stack, K const& call_lowered, N const& n, X const& x) {
    return call_lowered(detail::inner(stack, n), detail::strip(stack, X(x)));
  }
  template <class N, class X>
  static auto compute(N const& count, X const& x) {
    i64 const n = detail::as_index(count);
    if (n < 0) detail::throw_negative("fill", n);
    auto out = detail::make_builders<X>(n);
    for (i64 i = 0; i < n; ++i) detail::put_element(out, i, x);
    return detail::finish_elements(std::move(out), n);
  }
};
inline constexpr fill_t fill{};

/// slice(a, first, count): the elements first, ..., first + count - 1 of an array, or of each array of a tree. Throws index_error if an
/// element is out of range, and size_error if count is negative, or if arrays of the tree differ in size. O(count), one allocation for each
/// array.
struct slice_t {
  OVERDUB_PRIMITIVE("slice", data)
  template <class A, class I, class N>
  OVERDUB_INLINE constexpr auto operator()(A const& a, I const& first, N const& count) const {
    return detail::dispatch(*this, a, first, count);
  }
  template <class S, class K, class A, class I, class N>
  OVERDUB_INLINE static constexpr auto
  lower(S const& stack, K const& call_lowered, A const& a, I const& first, N const& count) {
    return call_lowered(detail::strip(stack, a), detail::inner(stack, first), detail::inner(stack, count));
  }
  template <class A, class I, class N>
  static auto compute(A const& a, I const& first_index, N const& element_count) {
    if constexpr (detail::trees_of_arrays<A>()) {
      (void)detail::sizes_of("slice", a);
      i64 const first = detail::as_index(first_index), count = detail::as_index(element_count);
      return detail::map_arrays([=](auto const& of) { return slice_of(of, first, count); }, a);
    } else
      return detail::refused{};
  }

private:
  template <class A>
  static A slice_of(A const& a, i64 first, i64 count) {
    if (count < 0) detail::throw_negative("slice", count);
    if (first < 0 || first > a.size()) detail::throw_index("slice", first, a.size());
    if (count > a.size() - first)
      detail::throw_index("slice", a.size(), a.size()); // the first index out of range
    return A::copy_of(a.span().subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)));
  }
};
inline constexpr slice_t slice{};

/// gather(a, indices): the elements of an array, or of each array of a tree, at these indices. Throws index_error, and size_error if
/// arrays of the tree differ in size. O(size(indices)), one allocation for each array.
struct gather_t {
  OVERDUB_PRIMITIVE("gather", data)
  template <class A, class I>
  OVERDUB_INLINE constexpr auto operator()(A const& a, I const& indices) const {
    return detail::dispatch(*this, a, indices);
  }
  template <class S, class K, class A, class I>
  OVERDUB_INLINE static constexpr auto
  lower(S const& stack, K const& call_lowered, A const& a, I const& indices) {
    return call_lowered(detail::strip(stack, a), detail::inner(stack, indices));
  }
  template <class A, class I>
  static auto compute(A const& a, I const& indices) {
    if constexpr (!detail::trees_of_arrays<A>() || !detail::one_array<I>())
      return detail::refused{};
    else {
      (void)detail::sizes_of("gather", a);
      return detail::map_arrays([&](auto const& from) { return gathered(from, indices); }, a);
    }
  }

private:
  template <class A, class I>
  static A gathered(A const& a, I const& indices) {
    detail::array_builder<typename A::value_type> out(indices.size());
    for (i64 k = 0; k < indices.size(); ++k)
      out.put(k, detail::checked_element("gather", a, detail::as_index(indices.data()[k])));
    return out.finish(indices.size());
  }
};
inline constexpr gather_t gather{};

/// update(a, i, x): a with the i-th element replaced by x. Throws index_error. O(1), in place, if `a` is an rvalue and no other array
/// shares its elements, as in `a = update(std::move(a), i, x)`; otherwise a copy, O(n).
struct update_t {
  OVERDUB_PRIMITIVE("update", data)
  template <class A, class I, class X>
  OVERDUB_INLINE constexpr auto operator()(A&& a, I const& i, X const& x) const {
    return detail::dispatch(*this, std::forward<A>(a), i, x);
  }
  template <class S, class K, class A, class I, class X>
  OVERDUB_INLINE static constexpr auto
  lower(S const& stack, K const& call_lowered, A&& a, I const& i, X const& x) {
    return call_lowered(
        detail::lift_down(stack, std::forward<A>(a)), detail::inner(stack, i), detail::lift_down(stack, x));
  }
  template <class A, class I, class X>
  OVERDUB_INLINE static constexpr auto compute(A&& a, I const& i, X const& x) {
    using T = std::remove_cvref_t<A>;
    if constexpr (!detail::trees_of_arrays<T>())
      return detail::refused{};
    else
      return detail::map_arrays(
          [k = detail::as_index(i)](auto&& array, auto const& e)
              OVERDUB_INLINE { return set(std::forward<decltype(array)>(array), k, e); },
          std::forward<A>(a), x);
  }

private:
  template <class A, class X>
  OVERDUB_INLINE static constexpr std::remove_cvref_t<A> set(A&& a, i64 i, X const& x) {
    constexpr bool same = std::is_same_v<typename std::remove_cvref_t<A>::value_type, X>;
    static_assert(
        same || detail::is_refused<X>, "overdub: update: the new element is not of the type of the array's "
                                       "elements; write overdub::convert<T>(x)");
    if constexpr (same)
      return std::forward<A>(a).with(i, x);
    else
      return std::forward<A>(a);
  }
};
inline constexpr update_t update{};

/// concat(a, b): the elements of a, then those of b. Throws size_error if the arrays of a tree have different sizes. O(size(a) + size(b)),
/// one allocation for each array.
struct concat_t {
  OVERDUB_PRIMITIVE("concat", data)
  template <class A, class B>
  OVERDUB_INLINE constexpr auto operator()(A const& a, B const& b) const {
    return detail::dispatch(*this, a, b);
  }
  template <class S, class K, class A, class B>
  OVERDUB_INLINE static constexpr auto lower(S const& stack, K const& call_lowered, A const& a, B const& b) {
    return call_lowered(detail::lift_down(stack, a), detail::lift_down(stack, b));
  }
  template <class A, class B>
  static auto compute(A const& a, B const& b) {
    using E = decltype(detail::element(a, 0));
    constexpr bool same = std::is_same_v<E, decltype(detail::element(b, 0))>;
    if constexpr (!detail::trees_of_arrays<A, B>())
      return detail::refused{};
    else {
      static_assert(
          same,
          "overdub: concat joins arrays of one element type; convert one of them: map(convert<double>, a)");
      (void)detail::sizes_of("concat", a);
      (void)detail::sizes_of("concat", b);
      if constexpr (same)
        return detail::map_arrays([](auto const& x, auto const& y) { return join(x, y); }, a, b);
      else
        return a;
    }
  }

private:
  template <class A, class B>
  static A join(A const& a, B const& b) {
    detail::array_builder<typename A::value_type> out(a.size() + b.size());
    out.put_all(0, a.span());
    out.put_all(a.size(), b.span());
    return out.finish(a.size() + b.size());
  }
};
inline constexpr concat_t concat{};

/// zip(a, b, ...): the tuple of the arrays; at(zip(a, b), i) is the tuple {a[i], b[i]}. Throws size_error if the sizes differ. O(1).
struct zip_t {
  OVERDUB_PRIMITIVE("zip", data)
  template <class... A>
  OVERDUB_INLINE constexpr auto operator()(A const&... a) const {
    return detail::dispatch(*this, a...);
  }
  template <class S, class K, class... A>
  OVERDUB_INLINE static constexpr auto lower(S const& stack, K const& call_lowered, A const&... a) {
    return call_lowered(detail::strip(stack, a)...);
  }
  template <class... A>
  static auto compute(A const&... a) {
    if constexpr (!detail::trees_of_arrays<A...>())
      return detail::refused{};
    else {
      (void)detail::sizes_of("zip", a...);
      return std::tuple<std::remove_cvref_t<A>...>{a...};
    }
  }
};
inline constexpr zip_t zip{};

namespace values {
template <class T, class C, class R>
template <class I>
constexpr auto value<T, C, R>::operator[](I const& index) const {
  return overdub::at(*this, index);
}
} // namespace values

} // namespace overdub
