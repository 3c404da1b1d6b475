// Just-in-time compilation of programs to machine code, by LLVM. It creates the same kind of executables as the interpreter, with the same
// results, to the bit. Link overdub::jit, which is built if LLVM is found.
#pragma once

#include <overdub/execute/interpreter.hpp>
#include <overdub/jit/disk_cache.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace llvm {
class Module;
}

namespace overdub::jit {

/// A callback with the LLVM module of a program, which it may inspect or change: to set attributes, or to run LLVM passes. It must preserve
/// the results of the program. LLVM's verifier checks the module afterwards. Include the headers of the LLVM version that overdub was built
/// with. Several threads may call it concurrently, each with a module of its own; `compile` rethrows its exceptions.
struct module_callback {
  /// Identifies the callback and its version: it is part of the key of machine code in this process and on disk. With a callback without a
  /// name, code is shared only within one executor, and is not stored on disk.
  std::string name = {};
  std::function<void(llvm::Module&)> run = {};
};

/// Options of the compilation. Results do not depend on them.
struct options {
  int optimisation = 2;                     // 0 to 3, as -O of compilers; lower levels compile faster
  std::string cpu = {};                     // the target processor, by LLVM's name; this machine if empty
  std::string features = {};                // its features, as "+avx2,-avx512f"; only with `cpu`
  bool debug = false;                       // emits functions and lines for gdb, and functions for perf
  std::shared_ptr<disk_cache> cache = {};   // stores machine code for later processes
  module_callback before_optimisation = {}; // called with the module before LLVM's passes
  module_callback after_optimisation = {};  // called with the module after LLVM's passes
};

/// The memory of all machine code in this process, in bytes; a multiple of the page size.
std::size_t machine_code_bytes();
/// Limits that memory; beyond the limit, compiling throws not_executable. The default is unlimited. Existing code is not affected.
void limit_machine_code(std::size_t bytes);

namespace detail {

std::shared_ptr<execute::code const>
compile(ir::program const& p, ir::function_id f, execute::host_registry const& hosts, options const& o);
// The optimised LLVM IR of a function and its callees, as text: for tests and debugging.
std::string
llvm_text(ir::program const& p, ir::function_id f, execute::host_registry const& hosts, options const& o);

template <class T>
inline constexpr bool is_scalar = datum_type<T>&& overdub::detail::type_of_cpp<T>.rank == 0;

inline void check_parameter(execute::code const& c, std::size_t i, ir::type given) {
  if (given != c.parameters[i]) execute::throw_argument_type(c, i, given);
}
[[noreturn, gnu::cold, gnu::noinline]] inline void throw_not_compiled(execute::code const& c) {
  throw not_executable(message(
      "overdub: @%s is interpreted, and has no machine code; make it by jit::compile(program)",
      c.name.c_str()));
}

} // namespace detail

/// Compiles a function and its callees. Throws verify_error if the program is not valid, host_error if a host function is missing or has
/// other types, and not_executable if a part of the program is not supported, if a callback made the module invalid, or if there is no
/// memory for machine code; rethrows exceptions of callbacks. Thread-safe.
inline executable
compile(ir::program const& p, ir::function_id f, hosts const& h = {}, options const& o = {}) {
  return executable(detail::compile(p, f, h.registry(), o));
}
/// Compiles the program's entry.
inline executable compile(ir::program const& p, hosts const& h = {}, options const& o = {}) {
  return compile(p, p.entry, h, o);
}

template <class S>
class function;

/// The number of thunks for conversions between types of function values: at most one for each pair of types. 0 if passes removed all
/// `reabstract` operations, and for interpreted programs.
inline std::size_t thunks(executable const& compiled) { return compiled.code()->thunks; }

/// A compiled function of one or more numbers and bools, which is called like a function pointer. Copies share the machine code.
/// Thread-safe. Throws the exceptions of the program.
template <class R, class... A>
class function<R(A...)> {
  static_assert(
      (detail::is_scalar<R> && ... && detail::is_scalar<A>),
      "overdub: a compiled function of this kind takes and returns bool, i64, float and double; call the "
      "executable with arrays");

public:
  /// Throws argument_error or type_error if the executable has other types, and not_executable if it is interpreted.
  explicit function(executable const& compiled) : code_(compiled.code()) {
    auto const& c = *code_;
    std::size_t i = 0;
    if (sizeof...(A) != c.parameters.size()) execute::throw_argument_count(c, sizeof...(A));
    (detail::check_parameter(c, i++, overdub::detail::type_of_cpp<A>), ...);
    execute::program_run::check_results<R>(c);
    if (c.target == nullptr) detail::throw_not_compiled(c);
    run_ = reinterpret_cast<R (*)(A...)>(c.target);
  }

  R operator()(A... a) const { return run_(a...); }
  /// The address of the machine code, which is valid as long as this object or a copy of it lives.
  R (*pointer() const)(A...) { return run_; }

private:
  std::shared_ptr<execute::code const> code_;
  R (*run_)(A...) = nullptr;
};

} // namespace overdub::jit
