#include "engine.hpp"

#include "outlining.hpp"

#include <overdub/core/error.hpp>

#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/DivRemPairs.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopLoadElimination.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopRotation.h>
#include <llvm/Transforms/Scalar/LoopUnrollPass.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Vectorize/LoopVectorize.h>
#include <llvm/Transforms/Vectorize/SLPVectorizer.h>
#include <llvm/Transforms/Vectorize/VectorCombine.h>
#include <mutex>
#include <utility>

namespace overdub::jit {
namespace {

[[noreturn]] void fail(llvm::Error e, char const* what) {
  std::string const why = llvm::toString(std::move(e));
  throw not_executable(message("overdub: LLVM cannot %s: %s", what, why.c_str()));
}
template <class T>
T checked(llvm::Expected<T> x, char const* what) {
  if (!x) fail(x.takeError(), what);
  return std::move(*x);
}

// These are never destroyed: another thread may compile while the program exits.
llvm::orc::JITTargetMachineBuilder host_machine() {
  static auto const& host = *new llvm::orc::JITTargetMachineBuilder([] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    auto found = checked(llvm::orc::JITTargetMachineBuilder::detectHost(), "find out what this processor is");
    found.getOptions().AllowFPOpFusion = llvm::FPOpFusion::Strict;
    found.getOptions().LoopAlignment = 64; // loop speed varies by up to 1.3 times with alignment
    found.setRelocationModel(llvm::Reloc::PIC_);
    found.setCodeModel(llvm::CodeModel::Small); // distant functions are called through stubs
    return found;
  }());
  return host;
}

// A pool of target machines: construction is slow, and each is used by one thread at a time.
class target_machines {
public:
  using machine = std::unique_ptr<llvm::TargetMachine>;
  struct key {
    std::string cpu, features;
    int level;
    vector_width width;
    bool operator==(key const&) const = default;
  };

  machine take(key const& k) {
    {
      std::lock_guard const lock(mutex_);
      for (auto& [known, free] : free_)
        if (known == k && free) return std::move(free);
    }
    auto builder = host_machine();
    if (!k.cpu.empty()) {
      builder.setCPU(k.cpu);
      builder.getFeatures() = llvm::SubtargetFeatures(k.features);
    }
    if (k.width == vector_width::at_most_256 && builder.getTargetTriple().isX86())
      builder.getFeatures().AddFeature("avx512f", false); // and all features that require it
    // The highest level costs little, and duplicates short tests into their predecessors (tail duplication).
    builder.setCodeGenOptLevel(
        k.level == 0   ? generation_level::None
        : k.level == 1 ? generation_level::Less
                       : generation_level::Aggressive);
    auto made = checked(builder.createTargetMachine(), "make code for this processor");
    if (!k.cpu.empty() && !made->getMCSubtargetInfo()->isCPUStringValid(k.cpu))
      throw not_executable(message(
          "overdub: LLVM has no processor \"%s\"; leave jit::options::cpu empty for this machine's",
          k.cpu.c_str()));
    // Otherwise LLVM would abort the process.
    for (char const* const needed : {"+64bit", "+sse2"})
      if (made->getTargetTriple().isX86() && !made->getMCSubtargetInfo()->checkFeatures(needed))
        throw not_executable(message(
            "overdub: the processor \"%s\", with features \"%s\", has no %s, and cannot run programs",
            k.cpu.c_str(), k.features.c_str(), needed + 1));
    return made;
  }
  void give(key k, machine m) {
    std::lock_guard const lock(mutex_);
    for (auto& [known, free] : free_)
      if (known == k && !free) {
        free = std::move(m);
        return;
      }
    if (free_.size() < 16) free_.emplace_back(std::move(k), std::move(m));
  }

private:
  std::mutex mutex_;
  std::vector<std::pair<key, machine>> free_;
};
target_machines& machines() {
  static auto& all = *new target_machines;
  return all;
}

// A target machine for a scope.
struct borrowed_target_machine {
  target_machines::key key;
  target_machines::machine machine;
  borrowed_target_machine(options const& o, vector_width widest)
      : key{o.cpu, o.features, o.optimisation, widest}, machine(machines().take(key)) {}
  ~borrowed_target_machine() { machines().give(std::move(key), std::move(machine)); }
};

// Loop load elimination: forwards a store to the next iteration's load in a register. It compares accesses in pairs, so
// that long functions are skipped.
struct load_elimination : llvm::PassInfoMixin<load_elimination> {
  llvm::PreservedAnalyses run(llvm::Function& f, llvm::FunctionAnalysisManager& all) const {
    constexpr unsigned most = 5000;
    if (f.getInstructionCount() > most) return llvm::PreservedAnalyses::all();
    return llvm::LoopLoadEliminationPass().run(f, all);
  }
};

// Vectorises two divisions by the same number, which take the time of one: a number and its partial derivative often share
// a divisor. In fast programs, both are multiplications by the reciprocal.
struct division_pairs : llvm::PassInfoMixin<division_pairs> {
  llvm::PreservedAnalyses run(llvm::Function& f, llvm::FunctionAnalysisManager&) const {
    using namespace llvm;
    bool any = false;
    for (BasicBlock& block : f) {
      for (auto const& [first, second] : pairs_in(block)) {
        any = true;
        IRBuilder<> build(first);
        Value* const both = build.CreateFDiv(
            build.CreateInsertElement(
                build.CreateVectorSplat(2, first->getOperand(0)), second->getOperand(0), std::uint64_t{1}),
            build.CreateVectorSplat(2, first->getOperand(1)));
        first->replaceAllUsesWith(build.CreateExtractElement(both, std::uint64_t{0}));
        second->replaceAllUsesWith(build.CreateExtractElement(both, std::uint64_t{1}));
        second->eraseFromParent();
        first->eraseFromParent();
      }
    }
    if (!any) return PreservedAnalyses::all();
    PreservedAnalyses preserved;
    preserved.preserveSet<CFGAnalyses>();
    return preserved;
  }

private:
  // The order within a block is valid as long as nothing is inserted: all pairs are found first.
  using pair = std::pair<llvm::BinaryOperator*, llvm::BinaryOperator*>;
  static llvm::SmallVector<pair, 4> pairs_in(llvm::BasicBlock& block) {
    using namespace llvm;
    SmallVector<pair, 4> all;
    SmallDenseMap<Value*, BinaryOperator*, 4> single; // divisions without a partner, by divisor
    for (Instruction& each : block) {
      auto* const second = dyn_cast<BinaryOperator>(&each);
      if (second == nullptr || second->getOpcode() != Instruction::FDiv || !second->getType()->isDoubleTy())
        continue;
      BinaryOperator*& first = single[second->getOperand(1)];
      auto* const numerator = dyn_cast<Instruction>(second->getOperand(0));
      if (first == nullptr ||
          (numerator != nullptr && numerator->getParent() == &block && !numerator->comesBefore(first))) {
        first = second;
        continue;
      }
      all.push_back({std::exchange(first, nullptr), second});
    }
    return all;
  }
};

// LLVM's default pipeline without passes that do not apply here (globals, argument promotion, C idioms), and without passes
// of quadratic time.
llvm::ModulePassManager pipeline(llvm::PassBuilder& builder, int level) {
  using namespace llvm;
  if (level <= 0) return builder.buildO0DefaultPipeline(OptimizationLevel::O0);
  ModulePassManager all;
  auto const inlining = level == 1   ? OptimizationLevel::O1
                        : level == 2 ? OptimizationLevel::O2
                                     : OptimizationLevel::O3;
  all.addPass(builder.buildInlinerPipeline(inlining, ThinOrFullLTOPhase::None));
  all.addPass(GlobalDCEPass());
  if (level == 1) return all;
  FunctionPassManager late;
  LoopPassManager rotate;
  rotate.addPass(LoopRotatePass());
  late.addPass(createFunctionToLoopPassAdaptor(std::move(rotate)));
  late.addPass(LoopVectorizePass());
  late.addPass(load_elimination());
  late.addPass(InstCombinePass());
  late.addPass(SimplifyCFGPass(SimplifyCFGOptions().hoistCommonInsts(true).sinkCommonInsts(true)));
  late.addPass(division_pairs());
  if (level > 2) late.addPass(SLPVectorizerPass()); // takes longer than all other passes on long functions
  late.addPass(VectorCombinePass());
  // Fully unrolls loops with a known trip count; the vectoriser unrolls others where that pays.
  late.addPass(LoopUnrollPass(LoopUnrollOptions(level).setRuntime(level > 2).setPartial(level > 2)));
  late.addPass(InstCombinePass());
  // With LLVM's own limits.
  late.addPass(
      createFunctionToLoopPassAdaptor(LICMPass(100, 250, /*AllowSpeculation=*/true), /*UseMemorySSA=*/true));
  late.addPass(DivRemPairsPass());
  late.addPass(SimplifyCFGPass());
  all.addPass(createModuleToFunctionPassAdaptor(std::move(late)));
  return all;
}

void run_pipeline(llvm::Module& m, llvm::TargetMachine& target, int level) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.SLPVectorization = level >= 2;
  tuning.LoopUnrolling = level >= 2;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&target, tuning);
  // Functions have no library semantics, except those that LLVM itself introduces.
  llvm::TargetLibraryInfoImpl library(target.getTargetTriple());
  library.disableAllFunctions();
  for (auto const f : {llvm::LibFunc_memcpy, llvm::LibFunc_memmove, llvm::LibFunc_memset})
    library.setAvailable(f);
  functions.registerPass([&] { return llvm::TargetLibraryAnalysis(library); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  pipeline(builder, level).run(m, modules);
}

// Code generation without loop strength reduction and the analyses that it needs: it takes a third of the time, and gives
// each array of a loop a register of its own, which exceeds the registers here.
class generation_passes final : public llvm::legacy::PassManager {
public:
  void add(llvm::Pass* pass) override {
    llvm::StringRef const name = pass->getPassName();
    if (name == "Loop Strength Reduction" || name == "Canonicalize Freeze Instructions in Loops")
      delete pass;
    else
      PassManager::add(pass);
  }
};

// Splits long blocks, since schedulers and other passes take superlinear time in the size of a block. A block address that
// appears to be taken prevents LLVM from merging them again.
void split_long_blocks(llvm::Module& m) {
  constexpr std::size_t longest = 2000;
  for (llvm::Function& f : m) {
    std::vector<llvm::BasicBlock*> all;
    for (llvm::BasicBlock& b : f)
      if (b.size() > longest) all.push_back(&b);
    for (llvm::BasicBlock* b : all) {
      // Static allocas stay in the first block.
      llvm::Instruction* at = &b->front();
      for (llvm::Instruction& each : *b)
        if (llvm::isa<llvm::AllocaInst>(each)) at = &each;
      llvm::SmallVector<llvm::Instruction*, 16> cuts;
      for (std::size_t count = 0; !at->isTerminator();) {
        at = at->getNextNode();
        if (++count < longest || at->isTerminator() || llvm::isa<llvm::PHINode>(at)) continue;
        cuts.push_back(at);
        count = 0;
      }
      split_block(cuts);
      for (llvm::Instruction* const each : cuts) (void)llvm::BlockAddress::get(each->getParent());
    }
  }
}

// Spilled vectors are aligned only if the stack is realigned, and LLVM decides that before register allocation: only if
// there is a frame pointer. Without one, the run time of a function depends on its caller's stack.
void align_spilled_vectors(llvm::Module& m) {
  constexpr std::uint64_t aligned_anyway = 128; // bits
  auto const is_wide = [&](llvm::Instruction const& i) {
    llvm::Type const* const t = i.getType();
    return llvm::isa<llvm::FixedVectorType>(t) &&
           t->getPrimitiveSizeInBits().getFixedValue() > aligned_anyway;
  };
  for (llvm::Function& f : m)
    if (llvm::any_of(llvm::instructions(f), is_wide)) f.addFnAttr("frame-pointer", "all");
}

} // namespace

std::string target_text(options const& o) {
  auto host = host_machine();
  return host.getTargetTriple().str() + ' ' +
         (o.cpu.empty() ? host.getCPU() + ' ' + host.getFeatures().getString() : o.cpu + ' ' + o.features);
}

vector_unit set_target(llvm::Module& m, options const& o, vector_width widest) {
  borrowed_target_machine const target(o, widest);
  m.setDataLayout(target.machine->createDataLayout());
  m.setTargetTriple(target.machine->getTargetTriple().str());
  if (!target.machine->getTargetTriple().isX86()) return {};
  auto const has = [&](char const* feature) {
    return target.machine->getMCSubtargetInfo()->checkFeatures(feature);
  };
  bool const avx = has("+avx");
  return {avx && has("+avx512f") ? 512u : avx ? 256u : 128u, avx, has("+avx2")};
}

namespace {

// The type of a function that C++ calls; null if the module has none.
llvm::FunctionType const* type_of_entry(llvm::Module const& m, char const* name) {
  llvm::Function const* const f = m.getFunction(name);
  return f == nullptr || f->isDeclaration() ? nullptr : f->getFunctionType();
}

void run_callback(module_callback const& callback, char const* when, llvm::Module& m) {
  if (!callback.run) return;
  auto const entries = [&] {
    return std::pair(type_of_entry(m, "overdub:entry"), type_of_entry(m, "overdub:target"));
  };
  auto const before = entries();
  char const* const name = callback.name.empty() ? "without a name" : callback.name.c_str();
  callback.run(m);
  std::string why;
  llvm::raw_string_ostream faults(why);
  if (llvm::verifyModule(m, &faults))
    throw not_executable(message(
        "overdub: the callback %s %s optimisation left a module that LLVM refuses: %s", name, when,
        faults.str().c_str()));
  if (entries() != before)
    throw not_executable(message(
        "overdub: the callback %s %s optimisation removed a function that C++ calls, or changed its type",
        name, when));
}

} // namespace

void optimise(llvm::Module& m, options const& o, vector_width widest) {
  run_callback(o.before_optimisation, "before", m);
  borrowed_target_machine const target(o, widest);
#if !defined(NDEBUG)
  std::string why;
  llvm::raw_string_ostream faults(why);
  if (llvm::verifyModule(m, &faults))
    throw not_executable(
        message("overdub: a program was compiled to what LLVM refuses: %s", faults.str().c_str()));
#endif
  run_pipeline(m, *target.machine, o.optimisation);
  outline_long_functions(m);
  split_long_blocks(m);
  align_spilled_vectors(m);
  run_callback(o.after_optimisation, "after", m);
}

std::string text_of(llvm::Module const& m) {
  std::string text;
  llvm::raw_string_ostream out(text);
  m.print(out, nullptr);
  return out.str();
}

std::vector<char> object_of(llvm::Module& m, options const& o, vector_width widest) {
  borrowed_target_machine const target(o, widest);
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream out(bytes);
  generation_passes passes;
  if (target.machine->addPassesToEmitFile(passes, out, nullptr, object_file))
    throw not_executable(message("overdub: LLVM makes no machine code for this processor"));
  passes.run(m);
  return {bytes.begin(), bytes.end()};
}

} // namespace overdub::jit
