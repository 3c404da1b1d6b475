// A plugin of clang: instruments each function with a body by a call at its begin and one at each end, exceptions included. The names of
// functions, also of local ones, are constants of the object file.
#include <cstddef>
#include <cstdlib>
#include <llvm/ADT/SmallString.h>
#include <llvm/Demangle/Demangle.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Passes/PassPlugin.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/GlobPattern.h>
#include <llvm/Transforms/Utils/EscapeEnumerator.h>
#include <memory>
#include <string>
#include <vector>

namespace {

using namespace llvm;

cl::list<std::string>
    only("overtrace-only", cl::desc("Instrument the functions whose names match this pattern"));
cl::list<std::string>
    except("overtrace-except", cl::desc("Do not instrument the functions whose names match this pattern"));
cl::list<std::string> except_files(
    "overtrace-except-file", cl::desc("Do not instrument the functions of files that match this pattern"));
cl::opt<bool> after_inlining(
    "overtrace-after-inlining", cl::desc("Do not instrument functions where they are inlined"));

bool any_matches(cl::list<std::string> const& patterns, StringRef text) {
  return any_of(patterns, [&](std::string const& pattern) {
    Expected<GlobPattern> glob = GlobPattern::create(pattern);
    if (!glob) report_fatal_error(glob.takeError());
    return glob->match(text);
  });
}

// The path of the file with a function's definition. Without debug information it is the file that is compiled; empty for inline functions and
// templates, which may be of a header.
std::string file_of(Function const& f) {
  DISubprogram const* const place = f.getSubprogram();
  if (place == nullptr) {
    if (!f.hasExternalLinkage() && !f.hasLocalLinkage()) return {};
    SmallString<128> path(f.getParent()->getSourceFileName());
    sys::fs::make_absolute(path);
    return path.str().str();
  }
  std::string const name = place->getFilename().str();
  return name.empty() || name.front() == '/' ? name : (place->getDirectory() + "/" + name).str();
}

// Whether a function is in a namespace of the standard library, or of overdub, which records calls, by its mangled name.
bool is_in_library_namespace(Function const& f) {
  std::string const mangled = f.getName().str(); // which the demangler refers to
  ItaniumPartialDemangler name;
  if (name.partialDemangle(mangled.c_str())) return f.getName().starts_with("__clang_");
  std::size_t size = 0;
  std::unique_ptr<char, decltype(&std::free)> const scope(
      name.getFunctionDeclContextName(nullptr, &size), &std::free);
  StringRef const text = scope == nullptr ? "" : scope.get();
  for (StringRef const local :
       {"_ZZSt", "_ZZNSt", "_ZZNKSt", "_ZZN7overdub", "_ZZNK7overdub"}) // in a function of them
    if (StringRef(mangled).starts_with(local)) return true;
  return text == "std" || text == "overdub" || text.starts_with("std::") || text.starts_with("overdub::") ||
         text.starts_with("__gnu_cxx");
}
bool is_of_library(Function const& f, StringRef file) {
  return file.starts_with("/usr/include/") || file.starts_with("/usr/lib/") || is_in_library_namespace(f);
}

// clang gives this attribute to the functions without the attribute no_instrument_function, by -finstrument-functions-after-inlining. Another pass
// would insert calls by it at the end.
constexpr char const *marked = "instrument-function-entry-inlined",
                     *marked_end = "instrument-function-exit-inlined";

// clang does not mark the lambdas outside of functions.
bool is_lambda(Function const& f) {
  std::string const mangled = f.getName().str();
  ItaniumPartialDemangler name;
  if (name.partialDemangle(mangled.c_str())) return false;
  std::size_t size = 0;
  std::unique_ptr<char, decltype(&std::free)> const base(
      name.getFunctionBaseName(nullptr, &size), &std::free);
  std::unique_ptr<char, decltype(&std::free)> const scope(
      name.getFunctionDeclContextName(nullptr, &size), &std::free);
  if (base == nullptr || scope == nullptr || StringRef(base.get()) != "operator()") return false;
  return StringRef(scope.get()).contains("'lambda") || StringRef(scope.get()).contains("$_");
}

bool is_chosen(Function const& f, StringRef name, StringRef file) {
  if (f.isDeclaration() || f.hasAvailableExternallyLinkage() || f.hasFnAttribute(Attribute::Naked) ||
      f.hasFnAttribute(Attribute::PresplitCoroutine))
    return false;
  if (!only.empty()) return any_matches(only, name);
  return !is_of_library(f, file) && !any_matches(except, name) &&
         (file.empty() || !any_matches(except_files, file));
}

class instrumentation {
public:
  explicit instrumentation(Module& m) : module_(m) {
    LLVMContext& c = m.getContext();
    Type* const pointer = PointerType::getUnqual(c);
    AttributeList const nothrow = AttributeList().addFnAttribute(c, Attribute::NoUnwind);
    begin_ = m.getOrInsertFunction("overtrace_begin", nothrow, Type::getVoidTy(c), pointer, pointer);
    end_ = m.getOrInsertFunction("overtrace_end", nothrow, Type::getVoidTy(c), pointer, pointer);
  }

  void add(Function& f, StringRef name, StringRef file) {
    GlobalVariable* const description = describe(name, file);
    IRBuilder<> first(&*f.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
    place(first, f);
    first.CreateCall(begin_, {description, frame(first)});
    // Where an exception leaves a call, this adds a landing pad that resumes.
    EscapeEnumerator ends(f, "overtrace", !f.doesNotThrow());
    while (IRBuilder<>* const at = ends.Next()) {
      place(*at, f);
      at->CreateCall(end_, {description, frame(*at)});
    }
  }

private:
  // Calls in functions with debug information have a place.
  static void place(IRBuilder<>& at, Function& f) {
    if (DISubprogram* const subprogram = f.getSubprogram())
      if (!at.getCurrentDebugLocation())
        at.SetCurrentDebugLocation(DILocation::get(f.getContext(), subprogram->getLine(), 0, subprogram));
  }
  // Where the return address is: for the library, which notices the calls that longjmp leaves by their frames.
  static Value* frame(IRBuilder<>& at) {
    return at.CreateIntrinsic(Intrinsic::addressofreturnaddress, {at.getPtrTy()}, {});
  }
  Constant* text(StringRef characters) {
    Constant* const data = ConstantDataArray::getString(module_.getContext(), characters, false);
    auto* const variable =
        new GlobalVariable(module_, data->getType(), true, GlobalValue::PrivateLinkage, data);
    variable->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
    return variable;
  }
  // An overtrace_function of hooks.cpp.
  GlobalVariable* describe(StringRef name, StringRef file) {
    LLVMContext& c = module_.getContext();
    Type* const pointer = PointerType::getUnqual(c);
    IntegerType* const size = module_.getDataLayout().getIntPtrType(c);
    StructType* const type = StructType::get(pointer, size, pointer, size, pointer);
    Constant* const value = ConstantStruct::get(
        type, text(name), ConstantInt::get(size, name.size()), text(file),
        ConstantInt::get(size, file.size()), ConstantPointerNull::get(PointerType::getUnqual(c)));
    return new GlobalVariable(module_, type, false, GlobalValue::PrivateLinkage, value);
  }

  Module& module_;
  FunctionCallee begin_, end_;
};

struct instrument : PassInfoMixin<instrument> {
  static bool isRequired() { return true; } // also at -O0

  PreservedAnalyses run(Module& m, ModuleAnalysisManager&) {
    struct chosen {
      Function* function;
      std::string name, file;
    };
    std::vector<chosen> all;
    bool const are_marked = any_of(m, [](Function const& f) { return f.hasFnAttribute(marked); });
    for (Function& f : m) {
      if (are_marked && !f.hasFnAttribute(marked) && !is_lambda(f)) continue;
      f.removeFnAttr(marked);
      f.removeFnAttr(marked_end);
      std::string name = demangle(f.getName().str());
      std::string file = file_of(f);
      if (is_chosen(f, name, file)) all.push_back({&f, std::move(name), std::move(file)});
    }
    if (all.empty()) return PreservedAnalyses::all();
    instrumentation to(m);
    for (chosen const& each : all) to.add(*each.function, each.name, each.file);
    return PreservedAnalyses::none();
  }
};

} // namespace

extern "C" LLVM_ATTRIBUTE_WEAK PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "overtrace", "1", [](PassBuilder& builder) {
            builder.registerPipelineStartEPCallback([](ModulePassManager& passes, OptimizationLevel) {
              if (!after_inlining) passes.addPass(instrument());
            });
            builder.registerOptimizerLastEPCallback([](ModulePassManager& passes, OptimizationLevel) {
              if (after_inlining) passes.addPass(instrument());
            });
          }};
}
