// Which functions of a program call one another, callees first: the order of every analysis that goes from callees to
// callers.
#pragma once

#include <overdub/ir/program.hpp>

#include <algorithm>
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
  explicit call_components(program const& p)
      : number_(p.functions.size(), 0), low_(p.functions.size(), 0), recursive_(p.functions.size()) {
    for (std::uint32_t i = 0; i < p.functions.size(); ++i)
      if (number_[i] == 0 && !p.is_erased(function_id{i})) search(p, function_id{i});
  }

  std::size_t size() const { return first_.size(); }
  std::span<function_id const> operator[](std::size_t i) const {
    std::size_t const end = i + 1 < first_.size() ? first_[i + 1] : order_.size();
    return std::span(order_).subspan(first_[i], end - first_[i]);
  }
  /// Whether a function may call itself, directly or through others.
  bool is_recursive(function_id f) const { return recursive_[index_of(f)]; }
  /// All functions, each behind those that it calls, as far as they do not call it.
  std::span<function_id const> order() const { return order_; }

private:
  void search(program const& p, function_id start) {
    struct position {
      function_id function;
      std::uint32_t node; // that is looked at next
    };
    std::vector<position> path;
    auto enter = [&](function_id f) {
      number_[index_of(f)] = low_[index_of(f)] = ++last_number_;
      open_.push_back(f);
      path.push_back({f, 0});
    };
    enter(start);
    while (!path.empty()) {
      std::uint32_t const at = index_of(path.back().function);
      function const& f = p.functions[at];
      if (path.back().node < f.node_count()) {
        function::node const& node = f[node_id{path.back().node++}];
        if (node.parent == nothing || (node.code != op::call && node.code != op::closure)) continue;
        std::uint32_t const callee = node.attributes.subject;
        if (callee == at) recursive_[at] = true;
        if (number_[callee] == 0)
          enter(function_id{callee});
        else
          low_[at] = std::min(low_[at], number_[callee]); // closed ones have the largest number
        continue;
      }
      path.pop_back();
      if (!path.empty()) {
        std::uint32_t& low = low_[index_of(path.back().function)];
        low = std::min(low, low_[at]);
      }
      if (low_[at] == number_[at]) close(at);
    }
  }
  // What was entered since, and is still open, is one component.
  void close(std::uint32_t at) {
    first_.push_back(order_.size());
    bool const several = index_of(open_.back()) != at;
    for (std::uint32_t closed = ~at; closed != at; open_.pop_back()) {
      closed = index_of(open_.back());
      order_.push_back(open_.back());
      number_[closed] = low_[closed] = ~0u;
      if (several) recursive_[closed] = true;
    }
  }

  std::vector<std::uint32_t> number_; // in the order of entering, from 1
  std::vector<std::uint32_t> low_;    // the least number that is reached
  std::vector<bool> recursive_;
  std::vector<function_id> open_;
  std::uint32_t last_number_ = 0;
  std::vector<function_id> order_;
  std::vector<std::size_t> first_; // of each component, in order_
};

} // namespace overdub::ir
