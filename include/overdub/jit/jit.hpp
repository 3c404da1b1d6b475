// Just-in-time compilation of programs by LLVM. Executables and results are the same as the interpreter's, to the bit. Link
// to overdub::jit, which requires LLVM.
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

/// A callback that inspects or changes the LLVM module of a program: to read it, to add attributes, or to run LLVM passes.
/// The program must keep its results. The module is verified afterwards. Callbacks need LLVM's headers, of the version that
/// overdub was built with. Several threads may call it concurrently, each with its own module; compilation rethrows its
/// exceptions.
struct module_callback {
  /// Identifies the callback and its version: machine code is cached, in this process and on disk, by this name. Code from
  /// an unnamed callback is cached for the one executor only, and not on disk.
  std::string name = {};
  std::function<void(llvm::Module&)> run = {};
};

/// Options of compilation; results do not depend on them.
struct options {
  int optimisation = 2;      // 0 to 3, as in compilers; lower levels compile faster
  std::string cpu = {};      // LLVM's name of the processor; empty: this machine's
  std::string features = {}; // additional features, as in "+avx2,-avx512f"; for a named processor only
  bool debug = false;        // gdb shows functions and source lines, perf functions
  std::shared_ptr<disk_cache> cache = {};   // the disk cache, if any
  module_callback before_optimisation = {}; // called with the module before optimisation
  module_callback after_optimisation = {};  // called with the module from which machine code is generated
};

/// The memory of this process's machine code, in bytes, by whole pages.
std::size_t machine_code_bytes();
/// Limits this memory; compilation throws not_executable if it needs more. Unlimited by default. Existing code stays.
void limit_machine_code(std::size_t bytes);

namespace detail {

std::shared_ptr<execute::code const>
compile(ir::program const& p, ir::function_id f, execute::host_registry const& hosts, options const& o);
// The optimised LLVM assembly of a function and its callees, for tests and inspection.
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

/// Compiles a function with its callees. Throws verify_error if the program is invalid, host_error if a host function is
/// missing or has other types, and not_executable if something is not supported, if a callback leaves an invalid module, or
/// if memory for machine code runs out. Rethrows exceptions of callbacks. Thread-safe.
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

/// The number of thunks, functions generated for reabstractions: at most one for each pair of types. 0 if passes cancelled all
/// reabstractions, and for interpreted programs.
inline std::size_t thunks(executable const& compiled) { return compiled.code()->thunks; }

/// A compiled function of numbers and bools, called like a function pointer. Copies share the machine code; threads may call it
/// concurrently. Throws what the program throws.
template <class R, class... A>
class function<R(A...)> {
  static_assert(
      (detail::is_scalar<R> && ... && detail::is_scalar<A>),
      "overdub: a compiled function of this kind takes and gives bool, i64, float and double; call the "
      "executable with arrays");

public:
  /// Throws argument_error and type_error if the executable has other types, and not_executable if it is not compiled.
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
  /// The address of the machine code, which is valid as long as this or a copy of it lives.
  R (*pointer() const)(A...) { return run_; }

private:
  std::shared_ptr<execute::code const> code_;
  R (*run_)(A...) = nullptr;
};

} // namespace overdub::jit
