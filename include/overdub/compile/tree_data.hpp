// Conversion of C++ trees to data and back, for programs that are run on data.
#pragma once

#include <overdub/compile/staged_call.hpp>
#include <overdub/execute/datum.hpp>

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub {

/// The leaves of trees, in order. Arrays are shared, except borrowed ones, which are copied. O(leaves + copied elements).
template <class... X>
std::vector<datum> data_of(X const&... x) {
  std::vector<datum> all;
  [[maybe_unused]] auto const put = [&](auto const& leaf) { all.emplace_back(leaf); };
  (detail::for_each_leaf(x, put), ...);
  return all;
}

/// Builds a tree from its leaves, in order. Throws type_error if one has another type. O(leaves).
template <class X>
X tree_of(std::span<datum const> leaves) {
  std::size_t i = 0;
  auto const next = [&]<class T>(std::type_identity<T>) { return leaves[i++].template as<T>(); };
  return detail::leaf_reader<decltype(next)>{next}(std::type_identity<X>{});
}

} // namespace overdub
