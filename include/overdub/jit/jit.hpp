// Compilation of programs to machine code, by LLVM. It gives the same executables as the interpreter does, and the same
// results, to the bit. Link to overdub::jit, which is built where LLVM is found.
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

/// A function that sees the LLVM module of a program, and may change it: to look at it, to mark functions, to run passes of LLVM's. What
/// the program computes must stay. What it leaves is verified. Include LLVM's headers, of the version that overdub was built with, to write
/// one. Several threads may call it at once, each with a module of its own; what it throws, compiling throws.
struct module_callback {
  /// Says what it does, with a version: machine code is kept, in this process and on disk, for callbacks of this name. Code that was made
  /// with a callback without a name is kept for the one executor alone, and not on disk.
  std::string name = {};
  std::function<void(llvm::Module&)> run = {};
};

/// How a program is compiled; results do not depend on it.
struct options {
  int optimisation = 2;      // 0 to 3, as compilers have it; less compiles faster
  std::string cpu = {};      // LLVM's name of the processor; this machine's, if empty
  std::string features = {}; // what it has besides, as in "+avx2,-avx512f"; of a named processor alone
  bool debug = false;        // gdb knows functions and lines of the user's source, perf the functions
  std::shared_ptr<disk_cache> cache = {};   // where machine code is kept for later processes, if anywhere
  module_callback before_optimisation = {}; // is given a program's module as it was written
  module_callback after_optimisation = {};  // and as machine code is made of it
};

/// How many bytes of memory the machine code of this process takes, by whole pages.
std::size_t machine_code_bytes();
/// How many it may take from now on; compiling throws not_executable where more is needed. Without it, as many as there are.
/// What is there already stays.
void limit_machine_code(std::size_t bytes);

namespace detail {

std::shared_ptr<execute::code const>
compile(ir::program const& p, ir::function_id f, execute::host_registry const& hosts, options const& o);
// What LLVM's passes make of a function and all that it calls, in LLVM's assembly language: for tests and for the curious.
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

/// Compiles a function, and all that it calls. Throws verify_error where the program is not valid, host_error where a host
/// function is missing or has other types, not_executable where something is not supported, where a callback left a module that is not
/// valid, and where there is no memory for machine code. What callbacks throw, too. Thread-safe.
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

/// How many functions were made for function values that become ones of another type: at most one for each two types. 0 where
/// passes cancelled all reabstractions, and for programs that are interpreted.
inline std::size_t thunks(executable const& compiled) { return compiled.code()->thunks; }

/// A compiled function of one or more numbers and truths, which is called like a pointer to a function. Copies share the
/// machine code; threads may call it at once. It throws what the program throws.
template <class R, class... A>
class function<R(A...)> {
  static_assert(
      (detail::is_scalar<R> && ... && detail::is_scalar<A>),
      "overdub: a compiled function of this kind takes and gives bool, i64, float and double; call the "
      "executable with arrays");

public:
  /// Throws argument_error and type_error where the executable's types are others, and not_executable where it is not
  /// compiled.
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
  /// The machine code itself, which can be called as long as this or a copy of it lives.
  R (*pointer() const)(A...) { return run_; }

private:
  std::shared_ptr<execute::code const> code_;
  R (*run_)(A...) = nullptr;
};

} // namespace overdub::jit
