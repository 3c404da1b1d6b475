// Elementary functions for each math mode: exact calls libm; consistent calls SLEEF, in scalars and in vectors; fast calls
// libm, and in vectors libmvec or, where that has none, SLEEF.
#pragma once

#include "engine.hpp"
#include "linking.hpp"

#include <overdub/ir/consistent.hpp>

#include <string>
#include <vector>

namespace overdub::jit {

/// A vector version of a function.
struct vector_variant {
  unsigned lanes;
  std::string name;
};

class elementary_functions {
public:
  elementary_functions(llvm::Module& m, ir::math_mode mode, vector_unit const& unit)
      : module_(m), mode_(mode), unit_(unit) {}

  /// Declares the function that computes an operation on numbers of a type. The loop vectoriser replaces calls of it by
  /// calls of its variants.
  llvm::Function* declare(ir::op, ir::scalar);
  /// Declares the widest variant with at most `lanes` lanes, and sets `lanes` to its width; null if there is none.
  llvm::Function* declare_vector(ir::op, ir::scalar, unsigned& lanes);
  bool has_vectors(ir::op code, ir::scalar s) const { return !variants(code, s).empty(); }
  /// Call it after all declarations: keeps the variants until loops are vectorised.
  void keep_variants();

private:
  std::vector<vector_variant> variants(ir::op, ir::scalar) const;
  llvm::Function* declare_variant(llvm::Function* of, vector_variant const&);

  llvm::Module& module_;
  ir::math_mode mode_;
  vector_unit unit_;
  std::vector<llvm::GlobalValue*> variants_;
};

/// The functions that this process has for a mode, as part of the cache key.
std::string functions_for(ir::math_mode);

/// Symbols of the consistent mode, and of libmvec.
void append_elementary_symbols(std::vector<symbol_address>&);

} // namespace overdub::jit
