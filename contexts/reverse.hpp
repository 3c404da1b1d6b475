// reverse: gradients, by a transformation of whole programs. A function becomes one that also goes through its operations
// backwards; the derivatives of the operations are the last column of ir/ops.def, transposed.
#pragma once

#include <overdub/compile/transformed.hpp>
#include <overdub/contexts/reverse/activity.hpp>
#include <overdub/contexts/reverse/gradient_program.hpp>

#include <concepts>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub::contexts {
namespace adjoint {

template <class... L>
consteval bool has_derivative(types<L...>) {
  return (is_differentiable(type_in_programs<L>) || ...);
}

// The arguments of these numbers, or all of A...
template <class Numbers, class... A>
struct chosen;
template <std::size_t... I, class... A>
struct chosen<std::index_sequence<I...>, A...> {
  using all = std::tuple<std::tuple_element_t<I, std::tuple<A...>>...>;
  static constexpr std::size_t count = sizeof...(I);
};
template <class... A>
struct chosen<std::index_sequence<>, A...> {
  using all = std::tuple<A...>;
  static constexpr std::size_t count = sizeof...(A);
};
template <class T>
struct only_one {
  using type = T;
};
template <class T>
struct only_one<std::tuple<T>> {
  using type = T;
};

template <bool KeepsValue, std::size_t... I>
struct gradient_of {
  static constexpr std::string_view name = KeepsValue ? "value_and_gradient" : "gradient";

  template <class... A>
  using gradients = typename only_one<typename chosen<std::index_sequence<I...>, A...>::all>::type;

  template <class R, class... A>
  static consteval bool check() {
    static_assert(
        std::floating_point<R>, "overdub: a gradient is that of a function which gives one floating-point "
                                "number; for others take jacobian(f) or "
                                "pullback(f)");
    constexpr bool rising = [] {
      std::size_t next = 0;
      return ((I >= next && (next = I + 1, true)) && ...);
    }();
    static_assert(rising, "overdub: gradient<I...>(f) names each argument once, in their order");
    constexpr bool exist = ((I < sizeof...(A)) && ...);
    static_assert(exist, "overdub: gradient<I...>(f) names an argument that f is not given");
    if constexpr (exist) {
      constexpr bool real = []<class... C>(std::tuple<C...>*) {
        return (has_derivative(leaves_of<C>{}) && ...);
      }(static_cast<typename chosen<std::index_sequence<I...>, A...>::all*>(nullptr));
      static_assert(
          real, "overdub: an argument without floating-point numbers has no gradient; name the arguments "
                "that are wanted, as in "
                "gradient<0, 2>(f)");
    }
    return true;
  }

  template <class R, class... A>
  using result =
      std::conditional_t<check<R, A...>() && KeepsValue, std::pair<R, gradients<A...>>, gradients<A...>>;

  template <class R, class... A>
  static void apply(ir::program& p) {
    std::vector<bool> asked; // by leaf
    std::size_t argument = 0;
    auto const ask = [&]<class... L>(types<L...>) {
      bool const is_asked = sizeof...(I) == 0 || ((argument == I) || ...);
      asked.insert(asked.end(), sizeof...(L), is_asked);
      ++argument;
    };
    (ask(leaves_of<A>{}), ...);
    differentiate_entry(p, asked, KeepsValue);
  }
};

template <class X>
inline constexpr bool is_row = false;
template <std::floating_point T>
inline constexpr bool is_row<array<T>> = true;

struct jacobian_of {
  static constexpr std::string_view name = "jacobian";

  template <class R, class... A>
  static consteval bool check() {
    static_assert(
        sizeof...(A) == 1 && (is_row<A> && ...) && is_row<R>,
        "overdub: a Jacobian is that of a function of one array of numbers, which gives one; for others take "
        "pullback(f)");
    return true;
  }
  template <class R, class... A>
  requires(check<R, A...>()) using result = array<std::tuple_element_t<0, std::tuple<A...>>>;

  template <class R, class... A>
  static void apply(ir::program& p) {
    take_jacobian(p);
  }
};

// The arguments, and behind them a cotangent.
template <class Arguments>
struct without_last;
template <class... A>
struct without_last<std::tuple<A...>> {
  template <std::size_t... I>
  static types<std::tuple_element_t<I, std::tuple<A...>>...> first(std::index_sequence<I...>);
  using type = decltype(first(std::make_index_sequence<sizeof...(A) - 1>{}));
};
struct transpose_of {
  static constexpr std::string_view name = "transposed";

  template <class... A>
  using arguments = typename without_last<std::tuple<A...>>::type;

  template <class R, class... A>
  struct cotangents_of {
    static_assert(
        std::is_same_v<R, std::tuple_element_t<sizeof...(A) - 1, std::tuple<A...>>>,
        "overdub: a pullback takes a cotangent of the type that the function gives");
    template <class... X>
    static std::tuple<X...> as_tuple(types<X...>);
    using type = typename only_one<decltype(as_tuple(arguments<A...>{}))>::type;
  };
  template <class R, class... A>
  using result = typename cotangents_of<R, A...>::type;

  template <class R, class... A>
  static void apply(ir::program& p) {
    transpose_entry(p);
  }
};

// A tree without references to the memory of another one.
template <class X>
X owned(X const& x) {
  if constexpr (requires { x.owned(); })
    return x.owned();
  else if constexpr (requires { typename tree_traits<X>::children; })
    return tree_traits<X>::map([](auto const& child) { return owned(child); }, x);
  else
    return x;
}

} // namespace adjoint

/// The gradient of f, a function that gives one floating-point number: gradient(f)(x, y) is a tuple of its derivatives by x and by
/// y, of the same types as they are; of one argument, it is that derivative. gradient<1>(f)(x, y) is the one by y alone. Arguments
/// are numbers, arrays, tuples and described structs; integers among them have a 0 in its place,
/// and arrays of integers an empty array.
///
/// f's program is made once for the types of its arguments (`compile(gradient(f), signature<double>, options)` chooses how it is
/// run), and goes through f's operations backwards: it takes the time of a few runs of f, however many numbers it is
/// differentiated by. Inside of other functions, and of contexts, it is a function as any other: gradients of gradients are.
/// Throws differentiation_error where something that changes has no derivative. Thread-safe.
template <std::size_t... I, class F>
constexpr auto gradient(F const& f) {
  return transformed<"gradient", adjoint::gradient_of<false, I...>>(f);
}
/// The same, and the value: a pair of it and of the gradient.
template <std::size_t... I, class F>
constexpr auto value_and_gradient(F const& f) {
  return transformed<"value_and_gradient", adjoint::gradient_of<true, I...>>(f);
}

/// The Jacobian of f, a function of an array that gives one: jacobian(f)(xs) is an array with a row for each result. It takes the
/// time of as many gradients.
template <class F>
constexpr auto jacobian(F const& f) {
  return transformed<"jacobian", adjoint::jacobian_of>(f);
}

/// vector_jacobian_product(f)(x..., c): a cotangent c of what f gives, which has its type, becomes those of f's arguments, as
/// `gradient` has them. f may give a number, an array, or a tree of them.
template <class F>
constexpr auto vector_jacobian_product(F const& f) {
  return transformed<"vector_jacobian_product", adjoint::transpose_of>(f);
}

/// pullback(f)(x...): a pair of f(x...), and of a function from a cotangent of it to those of the arguments, which owns what it
/// needs, and may be called many times. Each call runs f again.
template <class F>
constexpr auto pullback(F const& f) {
  return [f](auto const&... x) {
    return std::pair(f(x...), [f, arguments = std::tuple(adjoint::owned(x)...)](auto const& cotangent) {
      return std::apply(
          [&](auto const&... argument) { return vector_jacobian_product(f)(argument..., cotangent); },
          arguments);
    });
  };
}

} // namespace overdub::contexts
