#include "linking.hpp"

#include "debuggers.hpp"
#include "llvm.hpp"
#include "symbols.hpp"

#include <overdub/core/error.hpp>
#include <overdub/jit/jit.hpp>

#include <atomic>
#include <cstdlib>
#include <llvm/ExecutionEngine/JITLink/EHFrameSupport.h>
#include <llvm/ExecutionEngine/JITLink/JITLink.h>
#include <llvm/ExecutionEngine/Orc/TargetProcess/RegisterEHFrames.h>
#include <llvm/Support/Process.h>
#include <map>
#include <optional>
#include <utility>

namespace overdub::jit {
namespace {

namespace jl = llvm::jitlink;
using llvm::orc::ExecutorAddr;
using finalized = jl::JITLinkMemoryManager::FinalizedAlloc;

// The memory of machine code, and its limit.
std::atomic<std::size_t> bytes_in_use = 0, bytes_allowed = ~std::size_t{0};

bool reserve(std::size_t bytes) {
  std::size_t used = bytes_in_use.load(std::memory_order_relaxed);
  do {
    std::size_t const allowed = bytes_allowed.load(std::memory_order_relaxed);
    if (used > allowed || allowed - used < bytes) return false;
  } while (!bytes_in_use.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  return true;
}

std::size_t page_size() {
  static std::size_t const known = llvm::sys::Process::getPageSizeEstimate();
  return known;
}

// The memory of a graph: sections of equal protection share pages.
std::size_t memory_of(jl::LinkGraph& graph) {
  std::map<unsigned, std::size_t> bytes;
  for (auto& section : graph.sections())
    for (auto* const block : section.blocks())
      bytes[static_cast<unsigned>(section.getMemProt())] += block->getSize() + block->getAlignment();
  std::size_t all = 0;
  for (auto const& [protection, each] : bytes) all += (each + page_size() - 1) / page_size() * page_size();
  return all;
}

using address_table = std::map<std::string, void const*, std::less<>>;
address_table const& addresses() {
  static auto const& all = *new address_table([] { // never destroyed, as in engine.cpp
    address_table made;
    for (symbol_address& s : runtime_symbols()) made.emplace(std::move(s.name), s.address);
    return made;
  }());
  return all;
}

// The result of linking, filled step by step.
struct outcome {
  std::optional<std::string> failure;
  bool is_memory = false; // out of memory
  std::size_t bytes = 0;  // reserved bytes
  finalized memory;
  linked_code code;
  ExecutorAddr frames; // of unwind information
  std::size_t frames_size = 0;
  std::vector<placed_function> functions;
  std::vector<placed_section> sections;
};

class memory_manager final : public jl::JITLinkMemoryManager {
public:
  memory_manager() : pages_(page_size()) {}
  void allocate(jl::JITLinkDylib const* in, jl::LinkGraph& graph, OnAllocatedFunction then) override {
    pages_.allocate(in, graph, std::move(then));
  }
  void deallocate(std::vector<finalized> all, OnDeallocatedFunction then) override {
    pages_.deallocate(std::move(all), std::move(then));
  }
  using JITLinkMemoryManager::allocate;
  using JITLinkMemoryManager::deallocate;

private:
  jl::InProcessMemoryManager pages_;
};
// Machine code may outlive all statics.
std::shared_ptr<memory_manager> the_memory() {
  static auto const& one = *new std::shared_ptr<memory_manager>(std::make_shared<memory_manager>());
  return one;
}

// Callbacks of the linker, all within the call of link().
class linking_context final : public jl::JITLinkContext {
public:
  linking_context(memory_manager& memory, outcome& to, bool named)
      : JITLinkContext(nullptr), memory_(memory), to_(to), named_(named) {}

  jl::JITLinkMemoryManager& getMemoryManager() override { return memory_; }
  void notifyFailed(llvm::Error e) override { to_.failure = llvm::toString(std::move(e)); }
  void notifyFinalized(finalized memory) override { to_.memory = std::move(memory); }

  void lookup(LookupMap const& wanted, std::unique_ptr<jl::JITLinkAsyncLookupContinuation> then) override {
    jl::AsyncLookupResult found;
    for (auto const& each : wanted) {
      auto const at = addresses().find(std::string_view(each.first));
      if (at == addresses().end())
        return then->run(llvm::createStringError(
            llvm::inconvertibleErrorCode(), "it calls \"" + each.first.str() + "\", which is not there"));
      found[each.first] = symbol_at<jl::AsyncLookupResult::mapped_type>(at->second);
    }
    then->run(std::move(found));
  }

  llvm::Error notifyResolved(jl::LinkGraph& graph) override {
    for (auto* const s : graph.defined_symbols()) {
      if (!s->hasName()) continue;
      std::string const name = s->getName().str();
      auto* const address = s->getAddress().toPtr<char*>();
      if (name == "overdub:entry") to_.code.entry = address;
      if (name == "overdub:target") to_.code.target = address;
      if (name == "overdub:code") to_.code.program = address;
      if (named_ && s->isCallable()) to_.functions.push_back({name, address, s->getSize()});
    }
    if (named_)
      for (auto& section : graph.sections())
        to_.sections.push_back(
            {section.getName().str(), jl::SectionRange(section).getStart().toPtr<char*>()});
    return llvm::Error::success();
  }

  llvm::Error modifyPassConfig(jl::LinkGraph& graph, jl::PassConfiguration& passes) override {
    // After the last pass that adds memory: its size is known.
    passes.PostPrunePasses.push_back([this](jl::LinkGraph& g) -> llvm::Error {
      std::size_t const bytes = memory_of(g);
      to_.is_memory = !reserve(bytes);
      if (to_.is_memory)
        return llvm::createStringError(
            llvm::inconvertibleErrorCode(), "it takes " + std::to_string(bytes) +
                                                " bytes more, and all machine code of the process may take " +
                                                std::to_string(bytes_allowed.load()));
      to_.bytes = bytes;
      return llvm::Error::success();
    });
    passes.PostFixupPasses.push_back(
        jl::createEHFrameRecorderPass(graph.getTargetTriple(), [this](ExecutorAddr at, std::size_t size) {
          to_.frames = at;
          to_.frames_size = size;
        }));
    return llvm::Error::success();
  }

private:
  memory_manager& memory_;
  outcome& to_;
  bool named_;
};

class code_in_memory {
public:
  code_in_memory() : memory_(the_memory()) {}
  code_in_memory(code_in_memory const&) = delete;
  code_in_memory& operator=(code_in_memory const&) = delete;
  ~code_in_memory() {
    debugger_.reset();
    if (is_registered_)
      llvm::consumeError(llvm::orc::deregisterEHFrameSection(made_.frames.toPtr<void*>(), made_.frames_size));
    if (made_.memory) llvm::consumeError(memory_->deallocate(std::move(made_.memory)));
    bytes_in_use -= made_.bytes;
  }

  linked_code load(std::span<char const> object, symbol_places const* places) {
    llvm::MemoryBufferRef const bytes(llvm::StringRef(object.data(), object.size()), "overdub program");
    auto graph = jl::createLinkGraphFromObject(bytes);
    if (!graph) fail(llvm::toString(graph.takeError()));
    jl::link(std::move(*graph), std::make_unique<linking_context>(*memory_, made_, places != nullptr));
    if (made_.failure) fail(*made_.failure);
    if (made_.code.entry == nullptr) fail("it has no entry");
    if (made_.frames_size > 0) {
      if (auto e = llvm::orc::registerEHFrameSection(made_.frames.toPtr<void*>(), made_.frames_size))
        fail(llvm::toString(std::move(e)));
      is_registered_ = true;
    }
    if (places != nullptr) {
      for (placed_function& f : made_.functions)
        if (auto const at = places->find(f.name); at != places->end()) f.name += ' ' + at->second;
      register_with_perf(made_.functions);
      debugger_.emplace(object, made_.sections);
    }
    return std::move(made_.code);
  }

private:
  [[noreturn]] void fail(std::string const& why) const {
    if (made_.is_memory)
      throw no_code_memory(message(
          "overdub: there is no memory for machine code: %s; free compiled executables, or allow more by "
          "jit::limit_machine_code",
          why.c_str()));
    throw not_executable(message("overdub: machine code cannot be loaded: %s", why.c_str()));
  }

  std::shared_ptr<memory_manager> memory_;
  outcome made_;
  bool is_registered_ = false;
  std::optional<gdb_registration> debugger_;
};

} // namespace

linked_code link(std::span<char const> object, symbol_places const* places) {
  (void)addresses();
  static bool const always_named = std::getenv("OVERDUB_JIT_NAMES") != nullptr;
  auto const made = std::make_shared<code_in_memory>();
  static auto const& none = *new symbol_places;
  linked_code code = made->load(object, places == nullptr && always_named ? &none : places);
  code.owner = made;
  return code;
}

std::size_t machine_code_bytes() { return bytes_in_use; }
void limit_machine_code(std::size_t bytes) { bytes_allowed = bytes; }

} // namespace overdub::jit
