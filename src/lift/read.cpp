#include "read.hpp"

#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/Verifier.h>
#include <llvm/IRReader/IRReader.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Utils/BreakCriticalEdges.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/LowerSwitch.h>

#include <string>

namespace overdub::lifting {
namespace {

[[noreturn]] void refuse_bytes(std::string const& why) {
  throw lift_error(message("overdub: the bytes are not a module of LLVM that can be lifted: %.200s", why.c_str()));
}

// LLVM's default handler ends the process at an error.
void keep_first(llvm::DiagnosticInfo const& info, void* text) {
  if (info.getSeverity() != llvm::DS_Error) return;
  auto& out = *static_cast<std::string*>(text);
  if (!out.empty()) return;
  llvm::raw_string_ostream stream(out);
  llvm::DiagnosticPrinterRawOStream printer(stream);
  info.print(printer);
}

#if LLVM_VERSION_MAJOR >= 19
void keep_first_error(llvm::DiagnosticInfo const* info, void* text) { keep_first(*info, text); }
#else
void keep_first_error(llvm::DiagnosticInfo const& info, void* text) { keep_first(info, text); }
#endif

llvm::SROAPass promotion() {
#if LLVM_VERSION_MAJOR >= 16
  return llvm::SROAPass(llvm::SROAOptions::ModifyCFG);
#else
  return llvm::SROAPass();
#endif
}

} // namespace

read_module read(std::string_view bytes, lift_options const& o) {
  if (bytes.size() > o.bytes)
    throw lift_error(message(
        "overdub: a module of %zu bytes exceeds the limit of %zu; split it, or raise lift_options::bytes", bytes.size(), o.bytes));
  read_module result{std::make_unique<llvm::LLVMContext>(), nullptr};
  std::string error;
  result.context->setDiagnosticHandlerCallBack(keep_first_error, &error);
  llvm::SMDiagnostic problem;
  std::string const copy(bytes); // the parser needs a zero after the bytes
  result.module = llvm::parseIR(llvm::MemoryBufferRef(copy, "module"), problem, *result.context);
  if (!result.module || !error.empty()) {
    std::string why = error.empty() ? problem.getMessage().str() : error;
    if (problem.getLineNo() > 0) why = "line " + std::to_string(problem.getLineNo()) + ": " + why;
    refuse_bytes(why.empty() ? "the reader of LLVM rejects them" : why);
  }
  std::string broken;
  llvm::raw_string_ostream stream(broken);
  bool debug_information_is_broken = false;
  if (llvm::verifyModule(*result.module, &stream, &debug_information_is_broken)) refuse_bytes(stream.str());
  llvm::DataLayout const& layout = result.module->getDataLayout();
  if (layout.isBigEndian() || layout.getPointerSizeInBits() != 64)
    refuse_bytes("the target is not little-endian with pointers of 64 bits");
  result.context->setDiagnosticHandlerCallBack(nullptr, nullptr);
  return result;
}

void prepare(llvm::Module& m) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::FunctionPassManager passes;
  passes.addPass(promotion());
  passes.addPass(llvm::LowerSwitchPass());
  passes.addPass(llvm::BreakCriticalEdgesPass());
  for (llvm::Function& f : m) {
    if (f.isDeclaration()) continue;
    llvm::removeUnreachableBlocks(f);
    passes.run(f, functions);
    llvm::removeUnreachableBlocks(f);
    functions.clear(f, f.getName());
  }
}

} // namespace overdub::lifting
