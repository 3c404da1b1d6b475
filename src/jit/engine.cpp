#include "engine.hpp"

#include "llvm_engine.hpp"
#include "names.hpp"
#include "symbols.hpp"

#include <overdub/call/error.hpp>

#include <atomic>
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
void check(llvm::Error e, char const* what) {
  if (e) fail(std::move(e), what);
}

llvm::orc::JITTargetMachineBuilder host_machine() {
  static llvm::orc::JITTargetMachineBuilder const host = [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    auto found = checked(llvm::orc::JITTargetMachineBuilder::detectHost(), "find out what this processor is");
    found.getOptions().AllowFPOpFusion = llvm::FPOpFusion::Strict;
    found.getOptions().LoopAlignment = 64; // a loop may take 1.3 times as long at another address
    found.setRelocationModel(llvm::Reloc::PIC_);
    found.setCodeModel(llvm::CodeModel::Small); // what is far away is called by stubs
    return found;
  }();
  return host;
}

// Target machines take long to make; each is used by one thread at a time.
class target_machines {
public:
  using machine = std::unique_ptr<llvm::TargetMachine>;
  struct key {
    std::string cpu, features;
    int level;
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
    builder.setCodeGenOptLevel(
        k.level == 0   ? generation_level::None
        : k.level == 1 ? generation_level::Less
        : k.level == 2 ? generation_level::Default
                       : generation_level::Aggressive);
    auto made = checked(builder.createTargetMachine(), "make code for this processor");
    if (!k.cpu.empty() && !made->getMCSubtargetInfo()->isCPUStringValid(k.cpu))
      throw not_executable(message(
          "overdub: LLVM knows no processor \"%s\"; leave jit::options::cpu empty for this machine's",
          k.cpu.c_str()));
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
  static target_machines all;
  return all;
}

// A target machine until the end of a scope.
struct borrowed_machine {
  target_machines::key key;
  target_machines::machine machine;
  explicit borrowed_machine(options const& o)
      : key{o.cpu, o.features, o.optimisation}, machine(machines().take(key)) {}
  ~borrowed_machine() { machines().give(std::move(key), std::move(machine)); }
};

// What LLVM's own pipeline does, but for what is of no use here (globals, exceptions by value, idioms of C), and for passes
// whose time grows with the square of a function's size.
llvm::ModulePassManager pipeline(llvm::PassBuilder& builder, int level) {
  using namespace llvm;
  if (level <= 0) return builder.buildO0DefaultPipeline(OptimizationLevel::O0);
  ModulePassManager all;
  all.addPass(builder.buildInlinerPipeline(inlining_level(level), ThinOrFullLTOPhase::None));
  all.addPass(GlobalDCEPass());
  if (level == 1) return all;
  FunctionPassManager late;
  LoopPassManager rotate;
  rotate.addPass(LoopRotatePass());
  late.addPass(createFunctionToLoopPassAdaptor(std::move(rotate)));
  if (vectorises_loops) late.addPass(LoopVectorizePass());
  late.addPass(InstCombinePass());
  late.addPass(SimplifyCFGPass(SimplifyCFGOptions().hoistCommonInsts(true).sinkCommonInsts(true)));
  if (level > 2 && vectorises_loops)
    late.addPass(SLPVectorizerPass()); // takes longer than all else on long functions
  late.addPass(VectorCombinePass());
  late.addPass(LoopUnrollPass(LoopUnrollOptions(level)));
  late.addPass(InstCombinePass());
  late.addPass(createFunctionToLoopPassAdaptor(new_licm(), /*UseMemorySSA=*/true));
  late.addPass(DivRemPairsPass());
  late.addPass(SimplifyCFGPass());
  all.addPass(createModuleToFunctionPassAdaptor(std::move(late)));
  return all;
}

void optimise(llvm::Module& m, llvm::TargetMachine& target, int level) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.SLPVectorization = level >= 2;
  tuning.LoopUnrolling = level >= 2;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&target, tuning);
  // No function is one that LLVM knows, but those that it makes calls of itself.
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

// ---- linking

class session {
public:
  session()
      : execution_(checked(llvm::orc::SelfExecutorProcessControl::Create(), "prepare this process")),
        linking_(execution_), runtime_(execution_.createBareJITDylib("overdub")) {
    linking_.addPlugin(std::make_unique<llvm::orc::EHFrameRegistrationPlugin>(
        execution_, std::make_unique<llvm::jitlink::InProcessEHFrameRegistrar>()));
    write_names(execution_, linking_);
    llvm::orc::SymbolMap all;
    for (symbol_address const& s : runtime_symbols()) {
      auto const flags = llvm::JITSymbolFlags::Exported | llvm::JITSymbolFlags::Callable;
      all[execution_.intern(s.name)] = symbol_at(s.address, flags);
    }
    check(runtime_.define(llvm::orc::absoluteSymbols(std::move(all))), "define the runtime");
  }
  session(session const&) = delete;
  session& operator=(session const&) = delete;
  ~session() { llvm::consumeError(execution_.endSession()); }

  llvm::orc::JITDylib& load(std::unique_ptr<llvm::MemoryBuffer> object) {
    auto& made = execution_.createBareJITDylib("program " + std::to_string(++count_));
    made.addToLinkOrder(runtime_);
    check(linking_.add(made, std::move(object)), "load machine code");
    return made;
  }
  void* find(llvm::orc::JITDylib& in, char const* name) {
    auto found = execution_.lookup({&in}, execution_.intern(name));
    if (!found) return llvm::consumeError(found.takeError()), nullptr;
    return address_of(*found);
  }
  void find_entry(llvm::orc::JITDylib& in, char const* name) {
    if (auto found = execution_.lookup({&in}, execution_.intern(name)); !found)
      fail(found.takeError(), "link machine code");
  }
  void remove(llvm::orc::JITDylib& d) { llvm::consumeError(execution_.removeJITDylib(d)); }

private:
  llvm::orc::ExecutionSession execution_;
  llvm::orc::ObjectLinkingLayer linking_;
  llvm::orc::JITDylib& runtime_;
  std::atomic<unsigned long> count_ = 0;
};
// Machine code may outlive all statics.
std::shared_ptr<session> the_session() {
  static auto const one = std::make_shared<session>();
  return one;
}

class loaded_code final : public machine_code {
public:
  loaded_code(std::shared_ptr<session> s, llvm::orc::JITDylib& d) : session_(std::move(s)), symbols_(d) {}
  ~loaded_code() override { session_->remove(symbols_); }
  void* find(char const* name) const override { return session_->find(symbols_, name); }

private:
  std::shared_ptr<session> session_;
  llvm::orc::JITDylib& symbols_;
};

} // namespace

vector_unit set_target(llvm::Module& m, options const& o) {
  borrowed_machine const target(o);
  m.setDataLayout(target.machine->createDataLayout());
  set_triple(m, *target.machine);
  if (!target.machine->getTargetTriple().isX86()) return {};
  auto const has = [&](char const* feature) {
    return target.machine->getMCSubtargetInfo()->checkFeatures(feature);
  };
  bool const avx = has("+avx");
  return {avx && has("+avx512f") ? 512u : avx ? 256u : 128u, avx, has("+avx2")};
}

std::vector<char> object_of(llvm::Module& m, options const& o) {
  borrowed_machine const target(o);
#if !defined(NDEBUG)
  std::string why;
  llvm::raw_string_ostream faults(why);
  if (llvm::verifyModule(m, &faults))
    throw not_executable(
        message("overdub: a program was compiled to what LLVM refuses: %s", faults.str().c_str()));
#endif
  optimise(m, *target.machine, o.optimisation);
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream out(bytes);
  llvm::legacy::PassManager passes;
  if (target.machine->addPassesToEmitFile(passes, out, nullptr, object_file))
    throw not_executable(message("overdub: LLVM makes no machine code for this processor"));
  passes.run(m);
  return {bytes.begin(), bytes.end()};
}

std::shared_ptr<machine_code const> load(std::vector<char> object) {
  auto const all = the_session();
  auto& symbols = all->load(
      llvm::MemoryBuffer::getMemBufferCopy(llvm::StringRef(object.data(), object.size()), "overdub program"));
  auto made = std::make_shared<loaded_code>(all, symbols);
  all->find_entry(symbols, "overdub:entry");
  return made;
}

} // namespace overdub::jit
