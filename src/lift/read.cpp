#include "read.hpp"

#include "child.hpp"

#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/Verifier.h>
#include <llvm/IRReader/IRReader.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>
#include <string>
#include <utility>

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

} // namespace overdub::lifting
