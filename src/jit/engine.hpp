// From a module to an object file: optimisation and code generation.
#pragma once

#include "llvm.hpp"

#include <overdub/jit/jit.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <llvm/Support/Alignment.h>
#include <string>
#include <vector>

namespace overdub::jit {

/// The target processor and its features, as text.
std::string target_text(options const&);

/// The vector registers of a processor.
struct vector_unit {
  unsigned bits = 128;
  bool has_avx = false; // it also has masked loads
  bool has_avx2 = false;

  /// The alignment of stack memory. Accesses across cache lines are slow, and defeat store forwarding; so memory smaller
  /// than a vector crosses none either.
  llvm::Align alignment(std::uint64_t bytes) const {
    return llvm::Align(std::clamp<std::uint64_t>(std::bit_ceil(bytes), 8, bits / 8));
  }
};
/// The vector width of a program. Code between calls of scalar functions is slower with AVX-512: comparisons use mask
/// registers, which calls do not preserve, and spilled 512-bit vectors take more memory.
enum class vector_width { all, at_most_256 };

/// Sets the target of a module.
vector_unit set_target(llvm::Module&, options const&, vector_width);

/// Optimises a module. Throws not_executable if LLVM fails.
void optimise(llvm::Module&, options const&, vector_width);
/// The LLVM assembly of a module.
std::string text_of(llvm::Module const&);
/// Generates code for an optimised module, as an object file. Throws not_executable if LLVM fails.
std::vector<char> object_of(llvm::Module&, options const&, vector_width);

} // namespace overdub::jit
