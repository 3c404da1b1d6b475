// if_(condition, then, otherwise): a branch that contexts intercept. Only the branch that is taken runs.
#pragma once

#include <overdub/array/primitives.hpp>
#include <overdub/call/dispatch.hpp>
#include <overdub/call/lowered.hpp>

#include <string_view>
#include <type_traits>
#include <utility>

namespace overdub {
namespace detail {

template <class Then, class Otherwise>
consteval bool branches_agree() {
  constexpr bool same = std::is_same_v<Then, Otherwise>;
  static_assert(
      same || is_refused<Then> || is_refused<Otherwise>,
      "overdub: the branches of if_ return different types; with a plain condition both must be values of "
      "the "
      "same contexts (lift one of them: cx.lift(1.0)), and numbers must be converted: "
      "overdub::convert<double>(x)");
  return same;
}

} // namespace detail

/// Returns the result of then() or of otherwise(), which must have one type; if the condition is a value of contexts, constants are lifted
/// into these.
struct if_t {
  OVERDUB_PRIMITIVE("if", control)
  template <class C, class T, class E>
  OVERDUB_INLINE constexpr auto operator()(C const& condition, T const& then, E const& otherwise) const {
    return detail::dispatch(*this, condition, then, otherwise);
  }
  template <class S, class K, class C, class T, class E>
  OVERDUB_INLINE static constexpr auto
  lower(S const& stack, K const& call_lowered, C const& condition, T const& then, E const& otherwise) {
    return call_lowered(
        detail::decisive(stack, condition), detail::lower(stack, then), detail::lower(stack, otherwise));
  }
  template <class C, class T, class E>
  OVERDUB_INLINE static constexpr auto compute(C const& condition, T const& then, E const& otherwise) {
    static_assert(
        has_bool<C> || detail::is_refused<C>,
        "overdub: the condition of if_ is no boolean; write overdub::if_(x != 0, ...)");
    using R = std::remove_cvref_t<decltype(then())>;
    if constexpr (detail::branches_agree<R, std::remove_cvref_t<decltype(otherwise())>>()) {
      if (condition) return R(detail::call_given(then));
      return R(detail::call_given(otherwise));
    } else
      return detail::refused{};
  }
};
inline constexpr if_t if_{};

} // namespace overdub
