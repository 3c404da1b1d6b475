#include "host_operations.hpp"

#include "refuse.hpp"

#include <overdub/implementation/execute/host_calls.hpp>

namespace overdub::jit {

std::uint32_t host_operations::add(ir::program const& p, program_node operation) {
  ir::function const& f = p[operation.function];
  refuser const refuse{p, operation.function};
  if (f[operation.node].code == ir::op::sample) {
    samples_.push_back(operation);
    to_.samples.push_back(execute::sample_call_of(p, f, operation.node, to_, refuse));
    return static_cast<std::uint32_t>(to_.samples.size() - 1);
  }
  calls_.push_back(operation);
  to_.hosts.push_back(execute::host_call_of(p, f, operation.node, to_, refuse));
  return static_cast<std::uint32_t>(to_.hosts.size() - 1);
}

std::uint32_t host_operations::add_offsets(std::vector<execute::offset> const& offsets) {
  auto const first = static_cast<std::uint32_t>(to_.lists.size());
  to_.lists.insert(to_.lists.end(), offsets.begin(), offsets.end());
  return first;
}

} // namespace overdub::jit
