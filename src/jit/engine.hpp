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

/// All that is known of the processor that code is made for.
std::string target_text(options const&);

/// The vectors of a processor.
struct vector_unit {
  unsigned bits = 128;
  bool has_avx = false; // it loads parts of vectors, too
  bool has_avx2 = false;

  /// Of memory that code takes by itself. Vectors that cross a line of the cache are slow, and wait for stores of parts of them; so memory
  /// of less than a vector crosses none either.
  llvm::Align alignment(std::uint64_t bytes) const {
    return llvm::Align(std::clamp<std::uint64_t>(std::bit_ceil(bytes), 8, bits / 8));
  }
};
/// Which of a processor's vectors a program uses. Code between calls of functions on scalars is slower with AVX-512: comparisons go to
/// mask registers, which calls do not keep, and vectors of 512 bits take more memory where they are kept around calls.
enum class vector_width { all, at_most_256 };

/// Fills in what a module must say of the processor that it is for.
vector_unit set_target(llvm::Module&, options const&, vector_width);

/// Optimises a module. Throws not_executable where LLVM fails.
void optimise(llvm::Module&, options const&, vector_width);
/// A module in LLVM's assembly language.
std::string text_of(llvm::Module const&);
/// Makes machine code of an optimised module, as the bytes of an object file. Throws not_executable where LLVM fails.
std::vector<char> object_of(llvm::Module&, options const&, vector_width);

} // namespace overdub::jit
