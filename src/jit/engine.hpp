// From a module to machine code in this process: optimisation, code generation, linking. The only user of LLVM's ORC.
#pragma once

#include "llvm.hpp"

#include <overdub/jit/jit.hpp>

#include <memory>
#include <string>
#include <vector>

namespace overdub::jit {

/// A function of C++ that machine code refers to by its name.
struct symbol_address {
  std::string name;
  void const* address;
};

/// Machine code; it is freed with its last owner.
class machine_code {
public:
  virtual ~machine_code() = default;
  /// The address of a function or variable; null where there is none of the name.
  virtual void* find(char const* name) const = 0;
};

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

/// Loads an object file. Throws not_executable where that fails. Thread-safe.
std::shared_ptr<machine_code const> load(std::vector<char> object);

} // namespace overdub::jit
