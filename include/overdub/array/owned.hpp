// owned: a value that refers to no borrowed memory, so that it can be stored.
#pragma once

#include <overdub/array/array.hpp>
#include <overdub/call/tree.hpp>

namespace overdub::detail {

/// Returns x with copies of the borrowed arrays inside of arrays and trees. O(1) for an array of numbers that owns its elements, and
/// O(rows) for an array of arrays.
template <class X>
X owned(X const& x) {
  if constexpr (requires { x.owned(); }) {
    if constexpr (requires(typename X::value_type const& element) { element.owned(); }) {
      array_builder<typename X::value_type> rows(x.size());
      for (i64 i = 0; i < x.size(); ++i) rows.put(i, owned(x[i]));
      return rows.finish(x.size());
    } else
      return x.owned();
  } else if constexpr (requires { typename tree_traits<X>::children; })
    return tree_traits<X>::map([](auto const& child) { return owned(child); }, x);
  else
    return x;
}

} // namespace overdub::detail
