// The operations of a program that call the host, in the order of their numbers in code.
#pragma once

#include "stored_parts.hpp"

#include <overdub/execute/code.hpp>
#include <overdub/ir/program.hpp>

#include <cstdint>
#include <vector>

namespace overdub::jit {

class host_operations {
public:
  explicit host_operations(execute::code& to) : to_(to) {}

  /// Adds a host call or a random choice. Returns its number among those of its kind. Throws host_error and
  /// not_executable.
  std::uint32_t add(ir::program const& p, program_node operation);
  /// Adds the offsets of an operation's operands and results. Returns the position of their list.
  std::uint32_t add_offsets(std::vector<execute::offset> const& offsets);

  std::vector<program_node> const& calls() const { return calls_; }
  std::vector<program_node> const& samples() const { return samples_; }

private:
  execute::code& to_;
  std::vector<program_node> calls_, samples_; // the operations of to_.hosts and to_.samples
};

} // namespace overdub::jit
