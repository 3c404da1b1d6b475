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

/// Every value carries the set of inputs that it was computed from: run(tag{}, f, overdub::tag(x, input(0)),
/// ...). The flow of data counts (an index, the condition of select), the flow of control (the condition of
/// if_) does not.
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
    if constexpr (requires { a.metadata; }) {
      auto element = call.recurse(a, i);
      element.metadata = united(element.metadata, i.metadata);
      return element;
    } else // of zipped arrays
      return tree_traits<A>::map([&](auto const& each) { return overdub(call, f, each, i); }, a);
  }
  // Which element is replaced is known to all of them.
  template <class A, class X>
  auto overdub(rule_call auto call, update_t f, A a, auto i, X x) {
    if constexpr (requires { a.metadata; }) {
      auto updated = call.recurse(std::move(a), i, x);
      if (i.metadata.any())
        updated.metadata = map([&](auto const& one) { return one | i.metadata; }, updated.metadata);
      return updated;
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
    if constexpr (std::is_same_v<M, inputs<N>>)
      return each | all;
    else
      return tree_traits<M>::map([&](auto const& one) { return united(one, all); }, each);
  }
  template <class R>
  static auto tag_each(R const& result, inputs<N> const& all) {
    if constexpr (is_carried<plain_t<R>>)
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
