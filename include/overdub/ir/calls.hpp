// Which functions of a program call one another, callees first: the order of every analysis that goes from callees to
// callers.
#pragma once

#include <overdub/header_only.hpp>
#include <overdub/ir/program.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace overdub::ir {

/// The strong components of the call graph. A component's functions reach each other by calls and closures; it stands
/// behind all components that it calls. Erased functions are in none.
class call_components {
public:
  /// Tarjan's algorithm (Depth-first search and linear graph algorithms, 1972), without recursion. O(nodes of valid
  /// functions).
  explicit call_components(program const& p);

  std::size_t size() const { return first_.size(); }
  std::span<function_id const> operator[](std::size_t i) const;
  /// Whether a function may call itself, directly or through others.
  bool is_recursive(function_id f) const { return recursive_[index_of(f)]; }
  /// All functions, each behind those that it calls, as far as they do not call it.
  std::span<function_id const> order() const { return order_; }

private:
  void search(program const& p, function_id start);
  // What was entered since, and is still open, is one component.
  void close(std::uint32_t at);

  std::vector<std::uint32_t> number_; // in the order of entering, from 1
  std::vector<std::uint32_t> low_;    // the least number that is reached
  std::vector<bool> recursive_;
  std::vector<function_id> open_;
  std::uint32_t last_number_ = 0;
  std::vector<function_id> order_;
  std::vector<std::size_t> first_; // of each component, in order_
};

} // namespace overdub::ir

#if OVERDUB_HEADER_ONLY
#include <overdub/ir/calls.ipp>
#endif
