// What a compiled program is found by on disk: all that its machine code depends on, as a text.
#pragma once

#include <overdub/ir/program.hpp>
#include <overdub/jit/jit.hpp>

#include <string>
#include <vector>

namespace overdub::jit {

struct program_key {
  std::string text;                       // versions, processor, options; then the functions
  std::vector<ir::function_id> functions; // that the entry reaches, in the text's order
};

/// O(functions that are reached).
program_key key_of(ir::program const& p, ir::function_id entry, options const& o);

} // namespace overdub::jit
