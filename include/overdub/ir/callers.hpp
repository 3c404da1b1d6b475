// The reversed call graph: the callers of each function.
#pragma once

#include <overdub/core/library.hpp>
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
  explicit callers(program const& p);

  /// The calls and closures of a function, in the order of callers in the program. O(1).
  std::span<function_call const> of(function_id f) const {
    return std::span(calls_).subspan(first_[index_of(f)], first_[index_of(f) + 1] - first_[index_of(f)]);
  }

private:
  std::vector<std::uint32_t> first_; // for each function: an index into calls_
  std::vector<function_call> calls_; // by callee
};

} // namespace overdub::ir
