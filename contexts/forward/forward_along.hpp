// forward: forward-mode differentiation along one direction, or along N at once (vector forward mode). Each number carries
// its tangent as metadata; the derivatives of operations are the last column of core/ops.def. The values of nested
// runs have different types (`level`, call/stack.hpp), which prevents perturbation confusion.
#pragma once

#include <overdub/call/named_functions.hpp>
#include <overdub/contexts/forward/tangent_rules.hpp>
#include <overdub/contexts/forward/tangents.hpp>
#include <overdub/overdub.hpp>
#include <overdub/stage/evaluated_in_library.hpp>

#include <concepts>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace overdub::contexts {

/// Forward-mode differentiation in N directions. Arguments are overdub::tag(x, tangents), and so is the result. For N > 1, tangents are
/// `tangents<T, N>`.
template <int N>
struct forward_along : context {
  static constexpr std::string_view name = "forward";

  template <class T>
  using metadata = std::conditional_t<
      !std::floating_point<plain_t<T>>, zero, std::conditional_t<N == 1, T, tangents<T, N>>>;

  // An array of numbers has the N tangents of each element side by side. An array of values of an inner context has N arrays of tangents.
  template <class A>
  requires(N > 1 && std::floating_point<plain_t<element_t<A>>>) using array_metadata =
      std::conditional_t<in_context<A>, tangents<A, N>, array<metadata<element_t<A>>>>;

  constexpr zero constant(auto const&) const { return {}; }

  // Elementwise operations, by the tangents in their rows of core/ops.def. Results that are not floating-point numbers have no tangent.
  template <elementwise F, class... X>
  OVERDUB_INLINE constexpr auto overdub(F f, X const&... x) {
    auto r = f(x.inner...);
    constexpr bool has_tangents = !(std::same_as<decltype(x.metadata), zero> && ...);
    if constexpr (!has_tangents || !std::floating_point<plain_t<decltype(r)>>)
      return overdub::tag(r, zero{});
    else
      return overdub::tag(
          r, rules::template in_precision_of<plain_t<decltype(r)>>(f.tangent(r, x.inner..., x.metadata...)));
  }
  template <class To, class X>
  OVERDUB_INLINE constexpr auto overdub(convert_t<To> f, X x) {
    auto r = f(x.inner);
    if constexpr (!std::floating_point<To>)
      return overdub::tag(r, zero{});
    else
      return overdub::tag(r, rules::template in_precision_of<plain_t<decltype(r)>>(x.metadata));
  }

  // A sum is linear: its tangent is the sum of tangents.
  template <class F, class... X>
  requires(
      is_lowered<F, add_t> && !(std::same_as<decltype(X::metadata), zero> || ...) &&
      (N == 1 || (is_tangents<decltype(X::metadata)> && ...))) //
      constexpr auto overdub(reduce_t f, F const&, X const&... x) {
    auto const along = [&](auto const&... dx) { return f(add, dx...); };
    if constexpr (N == 1)
      return overdub::tag(f(add, x.inner...), along(x.metadata...));
    else
      return overdub::tag(f(add, x.inner...), along_each<N>(along, x.metadata...));
  }

  // For N = 1, the definition of `fill` fills the tangents.
  template <class Count, class X>
  requires(N > 1) constexpr auto overdub(fill_t, Count const& count, X const& x) {
    return rules::filled(detail::take_inner{}(count), x);
  }

  // Calls native functions whose arguments or results are inactive, and rejects others: their derivatives are unknown.
  template <rule_call Call, primitive F, class... X>
  requires(!elementwise<F> && !data_movement<F> && !control<F>) constexpr auto overdub(
      Call const& call, F, X... x) {
    auto result = call.fallback(x...);
    constexpr bool is_constant =
        !(rules::template has_numbers<X>() || ...) || !rules::template has_numbers<decltype(result)>();
    if constexpr (detail::native_with_symbol<F>) {
      if constexpr (!is_constant)
        throw rejected_program(message(
            "overdub: forward cannot differentiate the native function \"%.*s\"; extend the context with a "
            "rule for it: auto overdub(decltype(f), auto x) { return overdub::tag(f(x.inner), derivative * "
            "x.metadata); }",
            static_cast<int>(F::name().size()), F::name().data()));
    } else
      static_assert(
          is_constant,
          "overdub: forward cannot differentiate this native function; extend the context with a rule for "
          "it: auto overdub(decltype(f), auto x) { return overdub::tag(f(x.inner), derivative * x.metadata); "
          "}");
    return result;
  }

  // A function that declares its derivative (control/derivative_rule.hpp). Its body is not differentiated.
  template <rule_call Call, function F, class... X>
  requires(
      detail::says_derivative<F> &&
      (!detail::derivative_of<F>::is_rule ||
       detail::takes_as_written<F>)) constexpr auto overdub(Call const& call, F const&, X const&... x) {
    auto const result = call.fallback(x...);
    return rules::template by_declared_derivative<F>(call, result, x...);
  }

  /// The number of tangents of a value.
  static constexpr int directions = N;
  /// Whether programs can be evaluated in this context.
  static constexpr bool evaluates_programs = N == 1;

private:
  using rules = tangent_rules<forward_along, N>;
};

/// Forward-mode differentiation with one tangent.
using forward = forward_along<1>;

} // namespace overdub::contexts

namespace overdub::detail {
using forward_alone = stack<level<contexts::forward, void>>;
using forward_of_symbols = stack<level<contexts::forward, void>, level<staging, void>>;
template <>
inline constexpr bool evaluated_in_library<forward_alone> = true;
template <>
inline constexpr bool evaluated_in_library<forward_of_symbols> = true;
} // namespace overdub::detail
