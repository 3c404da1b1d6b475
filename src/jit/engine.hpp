// From a module to an object file: optimisation and code generation.
#pragma once

#include "llvm.hpp"

#include <overdub/jit/jit.hpp>

#include <string>
#include <vector>

namespace overdub::jit {

/// All that is known of the processor that code is made for.
std::string target_text(options const&);

/// The vectors of a processor.
struct vector_unit {
  unsigned bits = 128;
  bool has_avx = false; // it loads parts of vectors, too
  bool has_avx2 = false;
};
/// Fills in what a module must say of the processor that it is for.
vector_unit set_target(llvm::Module&, options const&);

/// Optimises a module, and makes machine code of it, as the bytes of an object file. Throws not_executable where LLVM fails.
std::vector<char> object_of(llvm::Module&, options const&);

} // namespace overdub::jit
