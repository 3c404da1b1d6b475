// hessian: second derivatives, forward mode over reverse mode.
#pragma once

#include <overdub/reverse.hpp>
#include <overdub/reverse/hessian_program.hpp>

#include <utility>

namespace overdub {
namespace adjoint {

template <class... A>
consteval bool check_hessian() {
  static_assert(
      sizeof...(A) == 1,
      "overdub: a Hessian is that of a function of one argument; give it one array, or a struct");
  return true;
}

struct hessian_of {
  static constexpr std::string_view name = "hessian";

  template <class X>
  struct square {
    static_assert(
        std::floating_point<X> || std::floating_point<typename X::value_type>,
        "overdub: a Hessian is that of a function of one number, or of one array of numbers");
    using type = array<X>;
  };
  template <std::floating_point X>
  struct square<X> {
    using type = X;
  };

  template <class R, class... A>
  requires(check_hessian<A...>()) using result =
      typename square<std::tuple_element_t<0, std::tuple<A...>>>::type;

  template <class R, class... A>
  static void apply(ir::program& p, program_use) {
    static_assert(
        std::floating_point<R> || overdub::detail::is_refused<R>,
        "overdub: a Hessian is that of a function which returns one floating-point number");
    take_hessian(p);
  }
};

struct hessian_product {
  static constexpr std::string_view name = "hessian_vector_product";

  template <class X, class V>
  using arguments = types<X>;
  template <class R, class X, class V>
  using result = X;
  template <class R, class X, class V>
  static void apply(ir::program& p, program_use) {
    static_assert(
        std::is_same_v<X, V>,
        "overdub: hessian_vector_product(f)(x, v) takes a direction of the type of its argument");
    static_assert(
        std::floating_point<R> || overdub::detail::is_refused<R>,
        "overdub: a Hessian is that of a function which returns one floating-point number");
    multiply_by_hessian(p);
  }
};

} // namespace adjoint

/// The Hessian of f, a function of an array that returns one number: hessian(f)(xs) is an array of rows; for a function of
/// one number, it is the second derivative. It takes the time of as many gradients as the array has elements. Throws what
/// `gradient` throws. Thread-safe.
template <class F>
constexpr auto hessian(F const& f) {
  return transformed<"hessian", adjoint::hessian_of>(f);
}
/// The Hessian of f in contexts, as `gradient` has it.
template <class Context, class F>
requires adjoint::contexts_to_run_in<Context>
constexpr auto hessian(Context&& contexts, F const& f) {
  return transformed<"hessian", adjoint::hessian_of>(std::forward<Context>(contexts), f);
}

/// The Hessian-vector product of f, a function of one argument: hessian_vector_product(f)(x, v), in the time of two
/// gradients.
template <class F>
constexpr auto hessian_vector_product(F const& f) {
  return transformed<"hessian_vector_product", adjoint::hessian_product>(f);
}
/// The Hessian-vector product of f in contexts, as `gradient` has it.
template <class Context, class F>
requires adjoint::contexts_to_run_in<Context>
constexpr auto hessian_vector_product(Context&& contexts, F const& f) {
  return transformed<"hessian_vector_product", adjoint::hessian_product>(std::forward<Context>(contexts), f);
}

} // namespace overdub
