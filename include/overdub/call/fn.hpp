// fn<"name">(body): a function object whose calls contexts intercept.
#pragma once

#include <overdub/call/body.hpp>
#include <overdub/call/derived.hpp>
#include <overdub/call/leaf.hpp>
#include <overdub/call/name.hpp>
#include <overdub/call/scope.hpp>

#include <string_view>
#include <type_traits>
#include <utility>

namespace overdub {
namespace detail {

// The type of an argument as a parameter by value: an array of C++ and a function are passed as pointers.
template <class A>
using passed_t = std::conditional_t<
    std::is_array_v<std::remove_reference_t<A>> || std::is_function_v<std::remove_reference_t<A>>,
    std::decay_t<A>, A>;

} // namespace detail

/// A function with a name. Its body is any function object, called as body(x...), or as body(cx, x...) with the scope. A function without
/// captures is an empty class. As thread-safe as the body.
template <fixed_string Name, class Body>
struct fn_t {
  using overdub_callee = kind::function;
  static constexpr int depth = 0;
  static constexpr std::string_view name() { return Name.view(); }
  static_assert(
      !detail::names_version(Name.view()), "overdub: the name of a function cannot end in # and a number: in "
                                           "programs, norm#2 is the second version of norm");

  [[no_unique_address]] Body body;

  /// Calls the function in the contexts of its arguments, or directly if they have none.
  template <class... A>
  OVERDUB_INLINE constexpr auto operator()(A&&... a) const
      -> detail::result_t<detail::outermost_t<detail::passed_t<A>...>, fn_t, detail::passed_t<A>...> {
    return detail::dispatch(*this, static_cast<detail::passed_t<A>&&>(a)...);
  }

  template <class S, class... X>
  using body_type = typename detail::body_call<fn_t, Body, detail::running<S, fn_t>, X...>::type;
  template <class S, class... X>
  static consteval bool declares_type() {
    return detail::find_form<Body, detail::running<S, fn_t>, X...>() == detail::body_form::scoped;
  }
  template <class S, class... X>
  OVERDUB_INLINE constexpr body_type<S, std::remove_cvref_t<X>...> run(S const& stack, X&&... x) const {
    return detail::run_body(stack, *this, std::forward<X>(x)...);
  }
};

namespace detail {

// A function object that calls a member function of its first argument.
template <class M>
struct member_function {
  M member;
  template <class Self, class... X>
  constexpr decltype(auto) operator()(Self&& self, X&&... x) const requires requires {
    (std::forward<Self>(self).*member)(std::forward<X>(x)...);
  }
  { return (std::forward<Self>(self).*member)(std::forward<X>(x)...); }
};

template <class... Bodies>
struct overloaded : Bodies... {
  using Bodies::operator()...;
};

// Whether a body is a pointer to a C++ function of plain numbers. Contexts cannot intercept calls in its body.
template <class B>
inline constexpr bool is_native_body = false;
template <class R, class... P>
inline constexpr bool is_native_body<R (*)(P...)> = sizeof...(P) > 0 && std::is_arithmetic_v<R> &&
                                                    (std::is_arithmetic_v<P> && ...);
template <class R, class... P>
inline constexpr bool is_native_body<R (*)(P...) noexcept> = is_native_body<R (*)(P...)>;

template <class B>
constexpr auto as_body(B body) {
  if constexpr (std::is_member_function_pointer_v<B>)
    return member_function<B>{body};
  else
    return body;
}

} // namespace detail

/// Creates a function from a function object, from several of different arity, or from a pointer to a member function (called with the
/// object first): fn<"norm">([](auto x, auto y) { return sqrt(x * x + y * y); }). A recursive body must accept the scope, declare its
/// return type, and call cx.self. A C++ function of plain numbers, double f(double), makes a leaf.
template <fixed_string Name, class... Body>
constexpr auto fn(Body... body) {
  static_assert(sizeof...(Body) > 0, "overdub: fn<\"name\"> takes the function's body");
  if constexpr (sizeof...(Body) == 0)
    return detail::refused{};
  else if constexpr (sizeof...(Body) == 1) {
    auto one = (detail::as_body(std::move(body)), ...);
    if constexpr (detail::is_native_body<decltype(one)>)
      return leaf<Name>(one);
    else
      return fn_t<Name, decltype(one)>{std::move(one)};
  } else {
    using All = detail::overloaded<decltype(detail::as_body(std::move(body)))...>;
    return fn_t<Name, All>{All{detail::as_body(std::move(body))...}};
  }
}

} // namespace overdub
