// Elementary functions by the mode of a program's mathematics: the exact one calls libm; the consistent one SLEEF's
// functions, one by one and in vectors; the fast one libm, and in vectors libmvec or, where that has none, SLEEF.
#pragma once

#include "engine.hpp"
#include "linking.hpp"

#include <overdub/ir/consistent.hpp>

#include <string>
#include <vector>

namespace overdub::jit {

/// A function on vectors.
struct vector_variant {
  unsigned lanes;
  std::string name;
};

class elementary_functions {
public:
  elementary_functions(llvm::Module& m, ir::math_mode mode, vector_unit const& unit)
      : module_(m), mode_(mode), unit_(unit) {}

  /// The function that computes an operation on numbers of a type. Loops of calls of it become calls of its variants.
  llvm::Function* declare(ir::op, ir::scalar);
  /// The widest variant of at most so many lanes; null where there is none. `lanes` becomes how many it has.
  llvm::Function* declare_vector(ir::op, ir::scalar, unsigned& lanes);
  bool has_vectors(ir::op code, ir::scalar s) const { return !variants(code, s).empty(); }
  /// To be called when all is declared: keeps the variants until loops are vectorised.
  void keep_variants();

private:
  std::vector<vector_variant> variants(ir::op, ir::scalar) const;
  llvm::Function* declare_variant(llvm::Function* of, vector_variant const&);

  llvm::Module& module_;
  ir::math_mode mode_;
  vector_unit unit_;
  std::vector<llvm::GlobalValue*> kept_;
};

/// Which functions this process has for a mode: what is compiled where there are others is not the same.
std::string functions_for(ir::math_mode);

/// The functions of the consistent mode, and those of libmvec.
void append_elementary_symbols(std::vector<symbol_address>&);

} // namespace overdub::jit
