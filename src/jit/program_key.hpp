// The key of a compiled program in the disk cache: the text of all data on which its machine code depends.
#pragma once

#include <overdub/ir/program.hpp>
#include <overdub/jit/jit.hpp>

#include <string>
#include <vector>

namespace overdub::jit {

struct program_key {
  std::string text;                       // versions, processor, options; then the functions
  std::vector<ir::function_id> functions; // reachable from the entry, in the order of the text
};

/// O(reachable functions).
program_key key_of(ir::program const& p, ir::function_id entry, options const& o);

} // namespace overdub::jit
