// batch: one function on a whole batch of arguments. batch(f) is f on each element of arrays; the context `batched` has the elements
// run through loops together, in vectors.
#pragma once

#include <overdub/contexts/batch/interchange.hpp>
#include <overdub/overdub.hpp>
#include <overdub/pass/inline.hpp>

#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace overdub::contexts {
namespace batching {

template <class X>
concept is_batch = requires(plain_t<X> const& x) {
  x.span();
};
// The i-th element of an array; what is no array is the same for all.
template <class X>
constexpr auto element(X const& x, auto const& i) {
  if constexpr (is_batch<X>)
    return overdub::at(x, i);
  else
    return x;
}
// The number of elements of those that are arrays, which must be the same.
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

/// f on each element of arrays that have one size, as a function: batch(f)(xs, ys, 2.0) is the array of f(xs[i], ys[i], 2.0), or a
/// tuple of arrays where f gives one. Arguments that are not arrays are the same for all; the elements of arrays of arrays are rows. At
/// least one is an array. It works in all contexts, and is staged where f is. Throws size_error where sizes differ. O(calls of f).
template <function F>
constexpr auto batch(F const& f) {
  if constexpr (std::is_empty_v<F>) // captures nothing, and so can be staged
    return fn<"batch">([](auto... x) {
      return tabulate(
          batching::size_of(x...), [&](auto const& i) { return F{}(batching::element(x, i)...); });
    });
  else
    return fn<"batch">([f](auto... x) {
      return tabulate(batching::size_of(x...), [&](auto const& i) { return f(batching::element(x, i)...); });
    });
}

/// A context that interchanges maps, and so batches, with loops in them that have one trip count for all elements: each iteration runs for
/// blocks of 64 elements, so that machine code is vectorised. Results are the same to the bit; which of several errors is thrown is
/// unspecified. Other control is unchanged: each element runs by itself. For machine code: the interpreter runs loops in
/// blocks anyway, and is slower with it.
struct batched : context {
  static constexpr std::string_view name = "batched";

  static void before_optimise(ir::program& p) {
    constexpr std::size_t small = 400; // in operations: loops in functions are found where they are called
    pass::inline_calls(p, small);
    batching::interchange(p);
  }
};

} // namespace overdub::contexts
