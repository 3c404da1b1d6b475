// Compiles where LLVM's headers are those of its package, and links where its library fits them and the compiler: it has code for this
// processor, names std::string as the compiler's standard library does, and knows the types of its classes at run time.
#include <llvm/Config/llvm-config.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>

#include <string>
#include <string_view>

static_assert(std::string_view(OVERDUB_LLVM_VERSION) == LLVM_VERSION_STRING);
#ifndef LLVM_NATIVE_TARGET
#error "this LLVM has no code generator for this processor"
#endif

class no_stream final : public llvm::raw_ostream {
  void write_impl(char const*, std::size_t) override {}
  std::uint64_t current_pos() const override { return 0; }
};

int main() {
  no_stream stream;
  std::string error;
  llvm::InitializeNativeTarget();
  return llvm::TargetRegistry::lookupTarget(error, error) ? 0 : 1;
}
