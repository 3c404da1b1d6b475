// Debug information as DWARF: functions, files and lines in the user's source.
#pragma once

#include "llvm.hpp"

#include <overdub/ir/program.hpp>

#include <llvm/IR/DIBuilder.h>
#include <map>

namespace overdub::jit {

class debug_lines {
public:
  debug_lines(llvm::Module& to, ir::program const& p);

  /// Adds a function. Returns its location: every instruction needs one.
  llvm::DebugLoc begin(llvm::Function& made, ir::function const& f);
  /// The location of an operation of the current function; that of the function if it has none.
  llvm::DebugLoc location(ir::place_id at);
  /// Call it after all functions are compiled.
  void finish() { builder_.finalize(); }

private:
  llvm::DIFile* file_of(ir::place_id at);

  ir::program const& p_;
  llvm::LLVMContext& context_;
  llvm::DIBuilder builder_;
  std::map<ir::symbol, llvm::DIFile*> files_;
  llvm::DISubprogram* function_ = nullptr;
  ir::place_id definition_ = ir::nothing;
};

} // namespace overdub::jit
