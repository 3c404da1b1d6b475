// The call graph of a program: its components, callees before callers, and the functions that an entry reaches.
#pragma once

#include <overdub/core/function_view.hpp>
#include <overdub/core/library.hpp>
#include <overdub/ir/program.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace overdub::ir {

/// The strongly connected components of the call graph. The functions of a component reach each other by calls and
/// closures; a component comes after all that it calls. Erased functions are in none.
class call_components {
public:
  /// Tarjan's algorithm (Depth-first search and linear graph algorithms, 1972). O(nodes of valid functions).
  explicit call_components(program const& p);

  std::size_t size() const { return first_.size(); }
  std::span<function_id const> operator[](std::size_t i) const;
  /// Whether a function may call itself, directly or through others.
  bool is_recursive(function_id f) const { return recursive_[index_of(f)]; }
  /// All functions, callees before callers, as far as recursion allows.
  std::span<function_id const> order() const { return order_; }

private:
  std::vector<bool> recursive_;
  std::vector<function_id> order_;
  std::vector<std::size_t> first_; // for each component: an index into order_
};

/// By function: whether it has an operation for which `has` holds, or calls a function that does. O(operations).
std::vector<bool> functions_with(
    program const& p, call_components const& components,
    overdub::detail::function_view<bool(function const&, node_id)> has);

enum class with_derivatives : bool { no, yes };

/// The functions that calls and closures reach from `entry`, which is the first; with the rules of their derivatives if `derivatives` is yes.
/// O(nodes of these functions + functions).
std::vector<function_id>
reachable_functions(program const& p, function_id entry, with_derivatives derivatives = with_derivatives::no);

} // namespace overdub::ir
