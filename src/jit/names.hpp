// The names of compiled functions, for profilers and debuggers: where OVERDUB_JIT_NAMES is set in the environment, they are
// written to /tmp/perf-<process>.map, as perf reads them, and gdb is told.
#pragma once

#include "llvm_engine.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <unistd.h>

namespace overdub::jit {

/// Writes the names of all functions that are loaded.
class name_writer : public llvm::orc::ObjectLinkingLayer::Plugin {
public:
  void modifyPassConfig(
      llvm::orc::MaterializationResponsibility&, llvm::jitlink::LinkGraph&,
      llvm::jitlink::PassConfiguration& passes) override {
    passes.PostFixupPasses.push_back([](llvm::jitlink::LinkGraph& g) {
      std::string const path = "/tmp/perf-" + std::to_string(getpid()) + ".map";
      std::FILE* const file = std::fopen(path.c_str(), "a");
      if (file == nullptr) return llvm::Error::success();
      for (auto* const s : g.defined_symbols())
        if (s->hasName() && s->isCallable())
          std::fprintf(
              file, "%llx %llx %s\n", static_cast<unsigned long long>(s->getAddress().getValue()),
              static_cast<unsigned long long>(s->getSize()), symbol_name(*s).c_str());
      std::fclose(file);
      return llvm::Error::success();
    });
  }
  llvm::Error notifyFailed(llvm::orc::MaterializationResponsibility&) override {
    return llvm::Error::success();
  }
#if LLVM_VERSION_MAJOR >= 17
  llvm::Error notifyRemovingResources(llvm::orc::JITDylib&, llvm::orc::ResourceKey) override {
    return llvm::Error::success();
  }
  void
  notifyTransferringResources(llvm::orc::JITDylib&, llvm::orc::ResourceKey, llvm::orc::ResourceKey) override {
  }
#else
  llvm::Error notifyRemovingResources(llvm::orc::ResourceKey) override { return llvm::Error::success(); }
  void notifyTransferringResources(llvm::orc::ResourceKey, llvm::orc::ResourceKey) override {}
#endif

private:
  static std::string symbol_name(llvm::jitlink::Symbol const& s) {
#if LLVM_VERSION_MAJOR >= 20
    return std::string(*s.getName());
#else
    return s.getName().str();
#endif
  }
};

/// Has the names of functions written, where that is wanted.
inline void write_names(llvm::orc::ExecutionSession& session, llvm::orc::ObjectLinkingLayer& linking) {
  if (std::getenv("OVERDUB_JIT_NAMES") == nullptr) return;
  linking.addPlugin(std::make_unique<name_writer>());
#if LLVM_VERSION_MAJOR >= 17 && LLVM_VERSION_MAJOR < 21
  auto registrar = llvm::orc::createJITLoaderGDBRegistrar(session);
  if (registrar)
    linking.addPlugin(std::make_unique<llvm::orc::DebugObjectManagerPlugin>(
        session, std::move(*registrar), /*RequireDebugSections=*/false, /*AutoRegisterCode=*/true));
  else
    llvm::consumeError(registrar.takeError());
#else
  (void)session;
#endif
}

} // namespace overdub::jit
