#include "read.hpp"

#include "child.hpp"

#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/Verifier.h>
#include <llvm/IRReader/IRReader.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>
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

// Parses a module. Returns why there is none, or nothing.
std::string parse(std::string const& bytes, llvm::LLVMContext& context, std::unique_ptr<llvm::Module>& m) {
  std::string error, why;
  context.setDiagnosticHandlerCallBack(keep_first_error, &error);
  llvm::SMDiagnostic problem;
  m = llvm::parseIR(llvm::MemoryBufferRef(bytes, "module"), problem, context);
  if (!m || !error.empty()) {
    why = error.empty() ? problem.getMessage().str() : error;
    if (problem.getLineNo() > 0) why = "line " + std::to_string(problem.getLineNo()) + ": " + why;
    if (why.empty()) why = "the reader of LLVM rejects them";
  } else {
    llvm::raw_string_ostream stream(why);
    bool debug_information_is_broken = false;
    llvm::DataLayout const& layout = m->getDataLayout();
    if (!llvm::verifyModule(*m, &stream, &debug_information_is_broken) &&
        (layout.isBigEndian() || layout.getPointerSizeInBits() != 64))
      stream << "the target is not little-endian with pointers of 64 bits";
  }
  context.setDiagnosticHandlerCallBack(nullptr, nullptr);
  return why;
}

// Adds the definitions of a module to another one. Returns why that is not possible, or nothing.
std::string link(llvm::Module& all, std::unique_ptr<llvm::Module> one) {
  llvm::LLVMContext& context = all.getContext();
  std::string error;
  context.setDiagnosticHandlerCallBack(keep_first_error, &error);
  bool const failed = llvm::Linker::linkModules(all, std::move(one));
  context.setDiagnosticHandlerCallBack(nullptr, nullptr);
  if (!failed) return {};
  return "they cannot be linked: " + (error.empty() ? "two of them define one function" : error);
}

// A module, or why there is none.
struct parsed_module {
  read_module read;
  std::string problem;
};
parsed_module parsed(std::vector<std::string> const& modules) {
  parsed_module result;
  result.read.context = std::make_unique<llvm::LLVMContext>();
  for (std::string const& bytes : modules) {
    std::unique_ptr<llvm::Module> m;
    result.problem = parse(bytes, *result.read.context, m);
    if (!result.problem.empty()) break;
    if (!result.read.module)
      result.read.module = std::move(m);
    else
      result.problem = link(*result.read.module, std::move(m));
    if (!result.problem.empty()) break;
  }
  return result;
}

void check_bytes(std::string_view bytes, lift_options const& o) {
  if (bytes.size() > o.bytes)
    throw lift_error(message(
        "overdub: a module of %zu bytes exceeds the limit of %zu; split it, or raise lift_options::bytes",
        bytes.size(), o.bytes));
  bool const is_bitcode = bytes.starts_with("BC\xc0\xde") || bytes.starts_with("\xde\xc0\x17\x0b");
  if (bytes.empty() || (!is_bitcode && bytes.find('\0') != bytes.npos))
    refuse_bytes("they are neither bitcode nor the text of a module; clang++ -emit-llvm -c makes bitcode of "
                 "a source, with the options of "
                 "docs/lifting.md");
}

} // namespace

read_module read(std::span<std::string_view const> modules, lift_options const& o) {
  if (modules.empty()) refuse_bytes("there are none");
  for (std::string_view const bytes : modules) check_bytes(bytes, o);
  std::vector<std::string> const copies(
      modules.begin(), modules.end()); // the parser needs a zero after the bytes
  if (!o.is_trusted) {
    child_end const end = run_in_child(
        [](void const* all) { (void)parsed(*static_cast<std::vector<std::string> const*>(all)); }, &copies,
        60);
    if (end == child_end::crashed)
      refuse_bytes("the reader of LLVM crashes on them; compile the source again");
    if (end == child_end::timed_out) refuse_bytes("the reader of LLVM takes more than 60 s");
  }
  parsed_module result = parsed(copies);
  if (!result.problem.empty()) refuse_bytes(result.problem);
  return std::move(result.read);
}

} // namespace overdub::lifting
