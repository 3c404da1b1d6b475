// Where instructions come from in the user's source, for debuggers: functions, files and lines, as DWARF has them.
#pragma once

#include "llvm.hpp"

#include <overdub/ir/program.hpp>

#include <llvm/IR/DIBuilder.h>
#include <map>

namespace overdub::jit {

class debug_lines {
public:
  debug_lines(llvm::Module& to, ir::program const& p);

  /// Makes a function known. Returns the place of its definition: all its instructions have a place.
  llvm::DebugLoc begin(llvm::Function& made, ir::function const& f);
  /// The place of an operation of the function that was begun last; that of the function, where it has none.
  llvm::DebugLoc location(ir::place_id at);
  /// When all functions are compiled.
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
