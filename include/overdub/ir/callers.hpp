// The reversed call graph: the callers of each function.
#pragma once

#include <overdub/ir/program.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace overdub::ir {

/// A call or a closure of a function, in another one.
struct function_call {
  function_id caller = nothing;
  function_id callee = nothing;
  node_id at = nothing; // in the caller
  friend bool operator==(function_call const&, function_call const&) = default;
};

/// The calls of each function of a program, by callee. A snapshot: later edits are not in it. Construction is
/// O(operations); the size is O(calls). Thread-safe.
class callers {
public:
  explicit callers(program const& p) : first_(p.functions.size() + 1, 0) {
    for_each_call(p, [&](function_call const& c) { ++first_[index_of(c.callee) + 1]; });
    for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
    calls_.resize(first_.back());
    std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
    for_each_call(p, [&](function_call const& c) { calls_[next[index_of(c.callee)]++] = c; });
  }

  /// The calls and closures of a function, in the order of callers in the program. O(1).
  std::span<function_call const> of(function_id f) const {
    return std::span(calls_).subspan(first_[index_of(f)], first_[index_of(f) + 1] - first_[index_of(f)]);
  }

private:
  template <class F>
  static void for_each_call(program const& p, F const& f) {
    for (std::uint32_t i = 0; i < p.functions.size(); ++i) {
      function const& caller = p.functions[i];
      if (p.is_erased(function_id{i})) continue;
      for (std::uint32_t n = 0; n < caller.node_count(); ++n) {
        function::node const& node = caller[node_id{n}];
        if (node.parent == nothing || (node.code != op::call && node.code != op::closure)) continue;
        f(function_call{function_id{i}, node.attributes.callee(), node_id{n}});
      }
    }
  }

  std::vector<std::uint32_t> first_; // for each function: an index into calls_
  std::vector<function_call> calls_; // by callee
};

} // namespace overdub::ir
