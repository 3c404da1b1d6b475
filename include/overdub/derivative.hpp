// Functions built on forward mode: derivatives, gradients, Jacobians, and directional derivatives.
#pragma once

#include <overdub/compile/held_contexts.hpp>
#include <overdub/contexts/forward/forward_along.hpp>
#include <overdub/ir/derivative.hpp>
#include <overdub/ir/type_of_cpp.hpp>

#include <concepts>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub {
namespace along {

// f in contexts that `forward` encloses: `forward` differentiates f as their rules and passes transformed it.
template <class F, class Contexts>
struct in_contexts;
template <class F, class... Held>
struct in_contexts<F, composition<Held...>> {
  static_assert(
      !(overdub::detail::carries_metadata<overdub::detail::held_context_t<Held>> || ...),
      "overdub: a function in contexts that keep metadata gives tagged, and forward keeps its own for "
      "numbers; run it in a composition, run(compose(contexts, forward()), f, tag(...)), or take "
      "vector_jacobian_product(contexts, f)");

  [[no_unique_address]] F of;
  [[no_unique_address]] overdub::detail::held_contexts<composition<Held...>> contexts;

  template <class... X>
  constexpr auto operator()(X const&... x) const {
    return std::apply([&](auto&... c) { return overdub::overdub(compose(c...), of, x...); }, contexts.all());
  }
};
template <class Context, class F>
constexpr auto in(Context&& contexts, F const& f) {
  auto all = compose(std::forward<Context>(contexts));
  using composed = decltype(all);
  return in_contexts<F, composed>{f, overdub::detail::held_contexts<composed>(std::move(all))};
}

} // namespace along

/// f(x) and its derivative along `direction` (1 by default), as tagged{value, derivative}.
template <class F, class X>
constexpr auto value_and_derivative(F const& f, X const& x) {
  static_assert(
      std::floating_point<plain_t<X>>,
      "overdub: a derivative is taken at a floating-point number; write derivative(f, 3.0) for "
      "derivative(f, 3), and forward_gradient(f, xs) for a function of an array");
  contexts::forward context;
  if constexpr (std::floating_point<plain_t<X>>)
    return overdub::overdub(context, f, overdub::tag(x, plain_t<X>{1}));
  else
    return overdub::tag(x, x);
}

/// The derivative of f at x. f may compute derivatives itself (nested differentiation).
template <class F, class X>
constexpr auto derivative(F const& f, X const& x) {
  return value_and_derivative(f, x).metadata;
}

/// The derivative of f in a context, or in a composition: that of overdub(contexts, f, x). The rules and passes of the contexts transform f
/// before it is differentiated; their hooks observe f's calls. The contexts must not have metadata.
template <class Context, class F, class X>
requires overdub::detail::contexts_to_run_in<Context>
constexpr auto value_and_derivative(Context&& contexts, F const& f, X const& x) {
  return value_and_derivative(along::in(std::forward<Context>(contexts), f), x);
}
template <class Context, class F, class X>
requires overdub::detail::contexts_to_run_in<Context>
constexpr auto derivative(Context&& contexts, F const& f, X const& x) {
  return derivative(along::in(std::forward<Context>(contexts), f), x);
}
template <class F, class... X>
requires(!overdub::detail::contexts_to_run_in<F> && sizeof...(X) > 1) constexpr auto derivative(
    F const&, X const&...) {
  constexpr bool has_one_argument = sizeof...(X) == 1;
  static_assert(
      has_one_argument,
      "overdub: derivative(f, x) is that of a function of one number; for others, capture the rest: "
      "derivative([&](auto x) { return f(data, x); }, x), or take gradient<I>(f), directional_derivative(f)");
  return overdub::detail::refused{};
}

namespace along {

// The number of directions of a tangent argument.
template <class D>
consteval int directions_in() {
  if constexpr (contexts::is_tangents<D>)
    return static_cast<int>(std::tuple_size_v<decltype(D::along)>);
  else if constexpr (overdub::detail::is_array<plain_t<D>>)
    return directions_in<typename plain_t<D>::value_type>();
  else if constexpr (overdub::detail::tree<D>)
    return []<class... Child>(std::tuple<Child...>*) {
      int most = 1;
      ((most = directions_in<std::remove_cvref_t<Child>>() > most
                   ? directions_in<std::remove_cvref_t<Child>>()
                   : most),
       ...);
      return most;
    }(static_cast<typename tree_traits<D>::children*>(nullptr));
  else
    return 1;
}

// Tags each number of a tree with its tangent; inactive numbers stay plain.
struct tag_leaves {
  template <class X, class D>
  constexpr auto operator()(X const& x, D const& change) const {
    if constexpr (overdub::detail::is_leaf<X>) {
      if constexpr (
          std::same_as<D, zero> || ir::is_differentiable(overdub::detail::type_of_cpp<plain_t<X>>) == false)
        return x;
      else
        return overdub::tag(x, change);
    } else if constexpr (overdub::detail::tree<X>)
      return tree_traits<X>::map(*this, x, change);
    else
      return x;
  }
};

// The tangents of a tree of tagged numbers.
struct tangents_of {
  template <class X>
  constexpr auto operator()(X const& x) const {
    if constexpr (overdub::detail::is_tagged<X>)
      return x.metadata;
    else if constexpr (overdub::detail::tree<X>)
      return tree_traits<X>::map(*this, x);
    else
      return zero{};
  }
};

template <class F>
struct directional {
  [[no_unique_address]] F of;

  template <class... Both>
  constexpr auto operator()(Both const&... both) const {
    static_assert(
        sizeof...(Both) % 2 == 0,
        "overdub: directional_derivative(f)(x..., dx...) takes a direction for each argument of f");
    return halves(std::tie(both...), std::make_index_sequence<sizeof...(Both) / 2>{});
  }

private:
  template <class All, std::size_t... I>
  constexpr auto halves(All const& all, std::index_sequence<I...>) const {
    constexpr std::size_t count = sizeof...(I);
    constexpr int directions = [] {
      int most = 1;
      for (int const each :
           {most, directions_in<std::remove_cvref_t<std::tuple_element_t<count + I, All>>>()...})
        most = each > most ? each : most;
      return most;
    }();
    contexts::forward_along<directions> context;
    return tangents_of{}(
        overdub::overdub(context, of, tag_leaves{}(std::get<I>(all), std::get<count + I>(all))...));
  }
};

} // namespace along

/// The Jacobian-vector product: directional_derivative(f)(x..., dx...) is the product of f's Jacobian with dx, a tree with the structure of
/// f's result. The dx have the types of the x; that of an integer is ignored. For several directions at once, the dx are `tangents` (and
/// arrays of them), and so is the result. One run of f, which must not have captures. The product may be differentiated again. Thread-safe.
template <class F>
constexpr auto directional_derivative(F const&) {
  static_assert(
      std::is_empty_v<F>, "overdub: a function that is differentiated along a direction captures nothing; "
                          "give it what it captured "
                          "as an argument");
  return fn<"directional_derivative">(along::directional<F>{});
}
/// The Jacobian-vector product of f in a context, or in a composition: that of overdub(contexts, f, x...). The rules and passes of the
/// contexts transform f before it is differentiated. Contexts that are lvalues are held by reference, must outlive the function, and
/// observe each call. They must not have metadata.
///   directional_derivative(fast_math(), f)(x, dx)
template <class Context, class F>
requires overdub::detail::contexts_to_run_in<Context>
constexpr auto directional_derivative(Context&& contexts, F const& f) {
  static_assert(
      std::is_empty_v<F>, "overdub: a function that is differentiated along a direction captures nothing; "
                          "give it what it captured "
                          "as an argument");
  auto in = along::in(std::forward<Context>(contexts), f);
  return fn<"directional_derivative">(along::directional<decltype(in)>{std::move(in)});
}

/// The gradient of f, a function of an array, at xs, with N tangents per run: O(n / N) runs of f. f may have captures and C++ branches. For
/// many numbers, use `gradient` of include/overdub/reverse.hpp, which takes the time of a few runs.
template <int N = 8, class F, std::floating_point T>
array<T> forward_gradient(F const& f, array<T> const& xs) {
  using Tangent = metadata_t<contexts::forward_along<N>, T>;
  auto along = [](auto& tangent, [[maybe_unused]] i64 direction) -> auto& {
    if constexpr (N == 1)
      return tangent;
    else
      return tangent[static_cast<int>(direction)];
  };
  contexts::forward_along<N> context;
  auto const count = static_cast<std::size_t>(xs.size());
  overdub::detail::array_builder<T> result(xs.size());
  for (i64 first = 0; first < xs.size(); first += N) {
    std::vector<Tangent> seeds(count);
    for (i64 i = first; i < xs.size() && i < first + N; ++i)
      along(seeds[static_cast<std::size_t>(i)], i - first) = T{1};
    auto const directions = array<Tangent>::borrow(seeds);
    auto const derivatives = overdub::overdub(context, f, overdub::tag(xs, directions)).metadata;
    for (i64 i = first; i < xs.size() && i < first + N; ++i) result.put(i, along(derivatives, i - first));
  }
  return result.finish(xs.size());
}
/// The gradient of f in contexts, like `derivative` in contexts.
template <int N = 8, class Context, class F, std::floating_point T>
requires overdub::detail::contexts_to_run_in<Context> array<T>
forward_gradient(Context&& contexts, F const& f, array<T> const& xs) {
  return forward_gradient<N>(along::in(std::forward<Context>(contexts), f), xs);
}

/// The Jacobian of f, a function from an array to an array, at xs: a row for each result. N tangents per run, O(n / N) runs of f. Use it for
/// functions of few numbers with many results, and `jacobian` of reverse.hpp (reverse mode) for functions of many numbers with few results.
template <int N = 8, class F, std::floating_point T>
array<array<T>> forward_jacobian(F const& f, array<T> const& xs) {
  using Tangent = metadata_t<contexts::forward_along<N>, T>;
  contexts::forward_along<N> context;
  auto const count = static_cast<std::size_t>(xs.size());
  std::vector<std::vector<T>> rows;
  for (i64 first = 0; first < xs.size(); first += N) {
    std::vector<Tangent> seeds(count);
    for (i64 i = first; i < xs.size() && i < first + N; ++i) {
      if constexpr (N == 1)
        seeds[static_cast<std::size_t>(i)] = T{1};
      else
        seeds[static_cast<std::size_t>(i)][static_cast<int>(i - first)] = T{1};
    }
    auto const directions = array<Tangent>::borrow(seeds);
    auto const columns = overdub::overdub(context, f, overdub::tag(xs, directions)).metadata;
    rows.resize(static_cast<std::size_t>(columns.size()));
    for (std::size_t row = 0; row < rows.size(); ++row)
      for (i64 i = first; i < xs.size() && i < first + N; ++i) {
        auto const derivatives = columns[static_cast<i64>(row)];
        if constexpr (N == 1)
          rows[row].push_back(derivatives);
        else
          rows[row].push_back(derivatives[static_cast<int>(i - first)]);
      }
  }
  std::vector<array<T>> made;
  for (auto const& row : rows) made.push_back(array<T>::copy_of(row));
  return array<array<T>>::copy_of(made);
}
/// The Jacobian of f in contexts, like `derivative` in contexts.
template <int N = 8, class Context, class F, std::floating_point T>
requires overdub::detail::contexts_to_run_in<Context> array<array<T>>
forward_jacobian(Context&& contexts, F const& f, array<T> const& xs) {
  return forward_jacobian<N>(along::in(std::forward<Context>(contexts), f), xs);
}

} // namespace overdub
