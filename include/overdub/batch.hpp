// batch: maps a function over arrays of arguments. The context `batched` interchanges such maps with the loops in them, so
// that the elements run in vectors.
#pragma once

#include <overdub/overdub.hpp>
#include <overdub/pass/inline.hpp>
#include <overdub/pass/interchange.hpp>

#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace overdub {
namespace batching {

template <class X>
concept is_batch = requires(plain_t<X> const& x) {
  x.span();
};
// The i-th element of an array; other arguments are the same for all elements.
template <class X>
constexpr auto element(X const& x, auto const& i) {
  if constexpr (is_batch<X>)
    return overdub::at(x, i);
  else
    return x;
}
// The common number of elements of the array arguments.
template <class... X>
constexpr auto size_of(X const&... x) {
  static_assert(
      (is_batch<X> || ...),
      "overdub: batch: one of the arguments must be an array, whose elements are the batch");
  auto const only_arrays = []<class Y>(Y const& y) {
    if constexpr (is_batch<Y>)
      return std::tuple<Y>(y);
    else
      return std::tuple<>();
  };
  return std::apply(overdub::size, std::tuple_cat(only_arrays(x)...));
}

} // namespace batching

/// f on each element of arrays of equal size: batch(f)(xs, ys, 2.0) is the array of f(xs[i], ys[i], 2.0), or a tuple of
/// arrays if f returns a tuple. Other arguments are the same for all elements; the elements of arrays of arrays are rows.
/// At least one argument is an array. It works in all contexts, and is staged like f. Throws size_error if sizes differ.
/// O(calls of f).
template <function F>
constexpr auto batch(F const& f) {
  if constexpr (std::is_empty_v<F>) // without captures, it can be staged
    return fn<"batch">([](auto... x) {
      return tabulate(
          batching::size_of(x...), [&](auto const& i) { return F{}(batching::element(x, i)...); });
    });
  else
    return fn<"batch">([f](auto... x) {
      return tabulate(batching::size_of(x...), [&](auto const& i) { return f(batching::element(x, i)...); });
    });
}

/// A context that interchanges maps, and so batches, with the loops in them that have one trip count for all elements: each
/// iteration runs for blocks of 64 elements, so that machine code is vectorised. Results are the same to the bit; which of
/// several errors is thrown is unspecified. Other control flow is unchanged: each element runs by itself. For machine code:
/// the interpreter vectorises loops itself, and is slower with this context.
struct batched : context {
  static constexpr std::string_view name = "batched";

  static void before_optimise(ir::program& p) {
    constexpr std::size_t small = 400; // in operations; inlining finds loops in called functions
    pass::inline_calls(p, small);
    pass::interchange(p);
  }
};

} // namespace overdub
