#include "debug_lines.hpp"

#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/DebugInfoMetadata.h>

namespace overdub::jit {

debug_lines::debug_lines(llvm::Module& to, ir::program const& p)
    : p_(p), context_(to.getContext()), builder_(to) {
  to.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
  to.addModuleFlag(llvm::Module::Warning, "Dwarf Version", 4);
  // As a C unit: names are not mangled.
  builder_.createCompileUnit(llvm::dwarf::DW_LANG_C99, file_of(ir::nothing), "overdub", true, "", 0);
}

llvm::DIFile* debug_lines::file_of(ir::place_id at) {
  ir::symbol const name = at == ir::nothing ? ir::symbol{ir::nothing} : p_[at].file;
  llvm::DIFile*& file = files_[name];
  if (file == nullptr)
    file = builder_.createFile(
        name == ir::nothing ? llvm::StringRef("overdub program") : llvm::StringRef(p_.text(name)), "");
  return file;
}

llvm::DebugLoc debug_lines::begin(llvm::Function& made, ir::function const& f) {
  definition_ = f.place;
  unsigned const line = f.place == ir::nothing ? 0 : p_[f.place].line;
  auto* const type = builder_.createSubroutineType(builder_.getOrCreateTypeArray({}));
  llvm::StringRef const name = p_.text(f.name);
  function_ = builder_.createFunction(
      file_of(f.place), name, "", file_of(f.place), line, type, line, llvm::DINode::FlagZero,
      llvm::DISubprogram::SPFlagDefinition | llvm::DISubprogram::SPFlagOptimized);
  made.setSubprogram(function_);
  return location(f.place);
}

llvm::DebugLoc debug_lines::location(ir::place_id at) {
  if (at == ir::nothing) at = definition_;
  if (at == ir::nothing) return llvm::DILocation::get(context_, 0, 0, function_);
  llvm::DIScope* scope = function_;
  if (file_of(at) != function_->getFile()) scope = builder_.createLexicalBlockFile(function_, file_of(at));
  return llvm::DILocation::get(context_, p_[at].line, p_[at].column, scope);
}

} // namespace overdub::jit
