#include "read.hpp"

#include "child.hpp"

#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Verifier.h>
#include <llvm/IRReader/IRReader.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Scalar/DCE.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Utils/BreakCriticalEdges.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/LowerSwitch.h>
#include <string>
#include <utility>
#include <vector>

namespace overdub::lifting {
namespace {

[[noreturn]] void refuse_bytes(std::string const& why) {
  throw lift_error(
      message("overdub: the bytes are not a module of LLVM that can be lifted: %.200s", why.c_str()));
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

// A module, or why there is none.
struct parsed_module {
  read_module read;
  std::string problem;
};
parsed_module parsed(std::string const& bytes) {
  parsed_module result;
  result.read.context = std::make_unique<llvm::LLVMContext>();
  std::string error;
  result.read.context->setDiagnosticHandlerCallBack(keep_first_error, &error);
  llvm::SMDiagnostic problem;
  std::unique_ptr<llvm::Module>& m = result.read.module;
  m = llvm::parseIR(llvm::MemoryBufferRef(bytes, "module"), problem, *result.read.context);
  if (!m || !error.empty()) {
    result.problem = error.empty() ? problem.getMessage().str() : error;
    if (problem.getLineNo() > 0)
      result.problem = "line " + std::to_string(problem.getLineNo()) + ": " + result.problem;
    if (result.problem.empty()) result.problem = "the reader of LLVM rejects them";
  } else {
    llvm::raw_string_ostream stream(result.problem);
    bool debug_information_is_broken = false;
    llvm::DataLayout const& layout = m->getDataLayout();
    if (!llvm::verifyModule(*m, &stream, &debug_information_is_broken) &&
        (layout.isBigEndian() || layout.getPointerSizeInBits() != 64))
      stream << "the target is not little-endian with pointers of 64 bits";
  }
  result.read.context->setDiagnosticHandlerCallBack(nullptr, nullptr);
  return result;
}

// A number that memory holds as another type of the same width is loaded and stored as itself: copies of structs have that form.
void access_as_used(llvm::Function& f) {
  for (llvm::BasicBlock& b : f)
    for (llvm::Instruction& i : llvm::make_early_inc_range(b)) {
      auto* const cast = llvm::dyn_cast<llvm::BitCastInst>(&i);
      if (!cast || cast->getType()->isPointerTy()) continue;
      if (auto* const constant = llvm::dyn_cast<llvm::Constant>(cast->getOperand(0))) {
        cast->replaceAllUsesWith(llvm::ConstantExpr::getBitCast(constant, cast->getType()));
        cast->eraseFromParent();
        continue;
      }
      if (auto* const load = llvm::dyn_cast<llvm::LoadInst>(cast->getOperand(0));
          load && load->hasOneUse() && load->isSimple()) {
        llvm::IRBuilder<> at(load);
        auto* const typed =
            at.CreateAlignedLoad(cast->getType(), load->getPointerOperand(), load->getAlign());
        cast->replaceAllUsesWith(typed);
        cast->eraseFromParent();
        load->eraseFromParent();
      } else if (cast->hasOneUse()) {
        auto* const store = llvm::dyn_cast<llvm::StoreInst>(*cast->user_begin());
        if (!store || store->getValueOperand() != cast || !store->isSimple()) continue;
        store->setOperand(0, cast->getOperand(0));
        cast->eraseFromParent();
      }
    }
}

// Small functions that return a pointer, as std::max, become part of their callers, where the array of the pointer is known. The limits
// bound what a function may grow by.
void inline_pointer_functions(llvm::Function& f) {
  constexpr unsigned most_instructions = 100, most_calls = 200;
  std::vector<llvm::CallBase*> calls;
  auto const note = [&](llvm::Instruction& i) {
    auto* const call = llvm::dyn_cast<llvm::CallBase>(&i);
    llvm::Function const* const callee = call ? call->getCalledFunction() : nullptr;
    if (callee && callee != &f && !callee->isDeclaration() && callee->getReturnType()->isPointerTy() &&
        callee->getInstructionCount() <= most_instructions)
      calls.push_back(call);
  };
  for (llvm::Instruction& i : llvm::instructions(f)) note(i);
  for (std::size_t at = 0; at < calls.size() && at < most_calls; ++at) {
    llvm::InlineFunctionInfo info;
    if (!llvm::InlineFunction(*calls[at], info).isSuccess()) continue;
    for (llvm::CallBase* const call : info.InlinedCallSites) note(*call);
  }
}

// The load of the same pointer at the end of the only predecessor, if nothing is written in between.
llvm::LoadInst* earlier_load(llvm::LoadInst const& load) {
  llvm::BasicBlock const* const before = load.getParent()->getSinglePredecessor();
  if (!before || !load.isSimple()) return nullptr;
  for (llvm::Instruction const* i = load.getPrevNode(); i; i = i->getPrevNode())
    if (i->mayWriteToMemory()) return nullptr;
  for (llvm::Instruction const* i = before->getTerminator(); i && !i->mayWriteToMemory();
       i = i->getPrevNode())
    if (auto const* earlier = llvm::dyn_cast<llvm::LoadInst>(i))
      if (earlier->isSimple() && earlier->getPointerOperand() == load.getPointerOperand() &&
          earlier->getType() == load.getType())
        return const_cast<llvm::LoadInst*>(earlier);
  return nullptr;
}

// A load from one of several pointers that predecessors select becomes a load in each predecessor, so that its array is known there.
// Predecessors have one successor, and nothing is loaded that was not loaded before. Returns whether there was one.
bool load_in_predecessors(llvm::Function& f) {
  constexpr std::size_t most = 1000;
  std::vector<llvm::LoadInst*> loads;
  auto const note = [&](llvm::Instruction& i) {
    auto* const load = llvm::dyn_cast<llvm::LoadInst>(&i);
    auto* const phi = load ? llvm::dyn_cast<llvm::PHINode>(load->getPointerOperand()) : nullptr;
    if (!phi || phi->getParent() != load->getParent() || !load->isSimple()) return;
    for (llvm::Instruction* before = load->getPrevNode(); before; before = before->getPrevNode())
      if (before->mayWriteToMemory()) return;
    for (llvm::BasicBlock* const from : phi->blocks())
      if (!from->getSingleSuccessor()) return;
    loads.push_back(load);
  };
  for (llvm::Instruction& i : llvm::make_early_inc_range(llvm::instructions(f))) {
    auto* const load = llvm::dyn_cast<llvm::LoadInst>(&i);
    if (!load || !llvm::isa<llvm::PHINode>(load->getPointerOperand())) continue;
    if (llvm::LoadInst* const earlier = earlier_load(*load)) {
      load->replaceAllUsesWith(earlier);
      load->eraseFromParent();
    }
  }
  for (llvm::Instruction& i : llvm::instructions(f)) note(i);
  for (std::size_t at = 0; at < loads.size() && at < most; ++at) {
    llvm::LoadInst* const load = loads[at];
    auto* const pointers = llvm::cast<llvm::PHINode>(load->getPointerOperand());
    auto* const numbers =
        llvm::PHINode::Create(load->getType(), pointers->getNumIncomingValues(), "", pointers);
    for (unsigned i = 0; i < pointers->getNumIncomingValues(); ++i) {
      llvm::BasicBlock* const from = pointers->getIncomingBlock(i);
      llvm::Value* number = nullptr;
      for (unsigned k = 0; k < i && !number; ++k) // two arcs from one block
        if (pointers->getIncomingBlock(k) == from) number = numbers->getIncomingValue(k);
      if (!number) {
        llvm::IRBuilder<> end(from->getTerminator());
        auto* const moved =
            end.CreateAlignedLoad(load->getType(), pointers->getIncomingValue(i), load->getAlign());
        moved->setDebugLoc(load->getDebugLoc());
        note(*moved);
        number = moved;
      }
      numbers->addIncoming(number, from);
    }
    load->replaceAllUsesWith(numbers);
    load->eraseFromParent();
    if (pointers->use_empty()) pointers->eraseFromParent();
  }
  return !loads.empty();
}

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
        "overdub: a module of %zu bytes exceeds the limit of %zu; split it, or raise lift_options::bytes",
        bytes.size(), o.bytes));
  bool const is_bitcode = bytes.starts_with("BC\xc0\xde") || bytes.starts_with("\xde\xc0\x17\x0b");
  if (bytes.empty() || (!is_bitcode && bytes.find('\0') != bytes.npos))
    refuse_bytes("they are neither bitcode nor the text of a module");
  std::string const copy(bytes); // the parser needs a zero after the bytes
  if (!o.is_trusted) {
    child_end const end = run_in_child(
        [](void const* text) { (void)parsed(*static_cast<std::string const*>(text)); }, &copy, 60);
    if (end == child_end::crashed)
      refuse_bytes("the reader of LLVM crashes on them; compile the source again");
    if (end == child_end::timed_out) refuse_bytes("the reader of LLVM takes more than 60 s");
  }
  parsed_module result = parsed(copy);
  if (!result.problem.empty()) refuse_bytes(result.problem);
  return std::move(result.read);
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
  llvm::FunctionPassManager promotes, passes;
  promotes.addPass(promotion());
  promotes.addPass(llvm::BreakCriticalEdgesPass());
  passes.addPass(llvm::DCEPass());
  passes.addPass(llvm::LowerSwitchPass());
  passes.addPass(llvm::BreakCriticalEdgesPass());
  for (llvm::Function& f : m) {
    if (f.isDeclaration()) continue;
    llvm::removeUnreachableBlocks(f);
    inline_pointer_functions(f);
    promotes.run(f, functions);
    if (load_in_predecessors(f)) {
      functions.clear(f, f.getName());
      promotes.run(f, functions);
    }
    passes.run(f, functions);
    access_as_used(f);
    llvm::removeUnreachableBlocks(f);
    functions.clear(f, f.getName());
  }
}

} // namespace overdub::lifting
