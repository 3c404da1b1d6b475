// tag: provenance. Which inputs reached this value?
#pragma once

#include <overdub/overdub.hpp>

#include <bitset>
#include <cstddef>

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
  auto overdub(F f, X... x) {
    return overdub::tag(f(x.inner...), (inputs<N>{} | ... | union_of(x.metadata)));
  }
  auto overdub(at_t f, auto a, auto i) {
    auto element = recurse(*this, f, a, i);
    element.metadata |= i.metadata;
    return element;
  }

private:
  static inputs<N> union_of(inputs<N> const& one) { return one; }
  static inputs<N> union_of(array<inputs<N>> const& each) {
    inputs<N> all;
    for (auto const& one : each) all |= one;
    return all;
  }
};

/// Provenance of up to 64 inputs.
using tag = tag_of<64>;

} // namespace overdub::contexts
