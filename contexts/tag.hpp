// tag: provenance. Which inputs reached this value?
#pragma once

#include <overdub/overdub.hpp>

#include <bitset>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace overdub::contexts {

/// A set of inputs, numbered from 0.
template <std::size_t N = 64>
using inputs = std::bitset<N>;

/// The set of the i-th input alone.
template <std::size_t N = 64>
inputs<N> input(std::size_t i) {
  return inputs<N>{}.set(i);
}

/// Every value carries the set of inputs that it was computed from: run(tag{}, f, overdub::tag(x, input(0)), ...). The flow of data counts
/// (an index, a number of elements, the condition of select), and the flow of control does not (the condition of if_, a number of
/// iterations). The sets of an array are those of its elements: an empty array has none, and neither has a `size`.
template <std::size_t N>
struct tag_of : context {
  static constexpr std::string_view name = "tag";
  template <class T>
  using metadata = inputs<N>;

  inputs<N> constant(auto const&) const { return {}; }

  template <elementwise F, class... X>
  auto overdub(F f, X... x) {
    return overdub::tag(f(x.inner...), (inputs<N>{} | ... | x.metadata));
  }
  // A native function may use all that it is given.
  template <native_leaf F, class... X>
  auto overdub(rule_call auto call, F, X... x) {
    inputs<N> all;
    (each_leaf([&](auto const& leaf) { unite(all, leaf); }, x), ...);
    return tag_each(call.fallback(x...), all);
  }
  template <class A>
  auto overdub(rule_call auto call, at_t f, A a, auto i) {
    if constexpr (requires { a.metadata; })
      return reached(call.recurse(a, i), i.metadata);
    else // of zipped arrays
      return tree_traits<A>::map([&](auto const& each) { return overdub(call, f, each, i); }, a);
  }
  // What selects elements, or counts them, reaches each of them.
  template <class A>
  auto overdub(rule_call auto call, slice_t, A a, auto first, auto count) {
    return reached(call.recurse(a, first, count), first.metadata | count.metadata);
  }
  template <class X>
  auto overdub(rule_call auto call, fill_t, auto count, X x) {
    return reached(call.recurse(count, x), count.metadata);
  }
  auto overdub(iota_t f, auto count) {
    auto const numbers = f(count.inner);
    return overdub::tag(numbers, fill(size(concrete(numbers)), count.metadata));
  }
  template <class A>
  auto overdub(rule_call auto call, gather_t, A a, auto indices) {
    return gathered(call.recurse(a, indices), indices.metadata);
  }
  // Which element is replaced is known to all of them.
  template <class A, class X>
  auto overdub(rule_call auto call, update_t f, A a, auto i, X x) {
    if constexpr (requires { a.metadata; }) {
      return reached(call.recurse(std::move(a), i, x), i.metadata);
    } else // of zipped arrays
      return tree_traits<A>::map(
          [&](auto const& each, auto const& element) { return overdub(call, f, each, i, element); }, a, x);
  }

private:
  template <class X>
  static void unite(X&, auto const&) {} // not metadata
  static void unite(inputs<N>& all, inputs<N> const& one) { all |= one; }
  static void unite(inputs<N>& all, array<inputs<N>> const& each) {
    for (auto const& one : each) all |= one;
  }
  template <class M>
  static M united(M const& each, inputs<N> const& all) {
    auto const one = [&](auto const& member) { return united(member, all); };
    if constexpr (std::is_same_v<M, inputs<N>>)
      return each | all;
    else if constexpr (overdub::detail::is_array<M>)
      return map(one, each);
    else
      return tree_traits<M>::map(one, each);
  }
  // Tagged values, or a tree of them, that other inputs reached, too.
  template <class R>
  static R reached(R result, inputs<N> const& all) {
    if constexpr (requires { result.metadata; }) {
      if (all.any()) result.metadata = united(result.metadata, all);
      return result;
    } else
      return tree_traits<R>::map([&](auto const& each) { return reached(each, all); }, result);
  }
  template <class R>
  static R gathered(R result, array<inputs<N>> const& of_indices) {
    if constexpr (requires { result.metadata; }) {
      result.metadata = map(
          [](auto const& each, auto const& all) { return united(each, all); }, result.metadata, of_indices);
      return result;
    } else
      return tree_traits<R>::map([&](auto const& each) { return gathered(each, of_indices); }, result);
  }
  template <class R>
  static auto tag_each(R const& result, inputs<N> const& all) {
    if constexpr (is_scalar_leaf<plain_t<R>>)
      return overdub::tag(result, all);
    else if constexpr (requires { typename tree_traits<R>::children; })
      return tree_traits<R>::map([&](auto const& child) { return tag_each(child, all); }, result);
    else
      return result;
  }
};

/// Provenance of up to 64 inputs.
using tag = tag_of<64>;

} // namespace overdub::contexts
