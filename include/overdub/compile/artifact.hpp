// The result of a compilation: a program that was rewritten, optimised and made executable, and the steps of the compilation. Shared by
// threads, and immutable except for the code, which a faster tier may replace.
#pragma once

#include <overdub/compile/options.hpp>
#include <overdub/compile/pass_error.hpp>
#include <overdub/compile/tiers.hpp>
#include <overdub/core/error.hpp>
#include <overdub/core/library.hpp>
#include <overdub/ir/program.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace overdub {

/// Thrown if contexts with equal fingerprints result in different programs: a program depends on data that the fingerprint omits.
struct OVERDUB_EXPORTED fingerprint_error : rejected_program {
  using rejected_program::rejected_program;
};

/// The permanent rejection of a program by a context: the cache stores the exception, and throws it again for the same function, signature,
/// options and fingerprints, without staging. Derive the exceptions that `after_inference` throws from it if they depend on nothing else.
struct OVERDUB_EXPORTED refusal : rejected_program {
  using rejected_program::rejected_program;
};

/// The points of a compilation at which the passes of contexts run.
enum class compilation_stage {
  after_inference, // after staging, when all types are known
  before_optimise,
  after_optimise
};
constexpr char const* name_of(compilation_stage s) {
  constexpr char const* names[] = {"after_inference", "before_optimise", "after_optimise"};
  return names[static_cast<int>(s)];
}

/// A pass of a context, bound to its fingerprint.
struct context_pass {
  std::string name; // of the context
  compilation_stage stage = compilation_stage::before_optimise;
  std::function<void(ir::program&)> run;
};

/// A step of a compilation, for `explain`.
struct compilation_step {
  std::string name;
  std::int64_t nanoseconds = 0;
  std::size_t operations_before = 0, operations_after = 0;
};

namespace detail {
// The time of a steady clock.
std::int64_t steady_nanoseconds();
} // namespace detail

/// The input of a compilation.
struct recipe {
  std::string name;                      // of the function
  ir::program staged;                    // the staged program, before passes
  std::int64_t staging_nanoseconds = 0;  // the time of staging
  std::vector<context_pass> passes = {}; // the passes of contexts, outermost first
  compile_options options = {};
  std::string arguments = {}; // the types of the arguments, for messages
};

/// Runs the contexts' passes of a stage on the staged program. Throws the exceptions of `rewritten`.
void run_passes(recipe& r, compilation_stage at);
/// Runs the passes `after_inference` and `before_optimise`, and removes them from the recipe. The passes `after_optimise` remain: they run
/// on the program that is derived from the recipe's, such as its gradient.
void run_early_passes(recipe& r);

/// A staged program, rewritten and optimised.
class rewritten {
public:
  /// Runs the contexts' passes and the options' pipeline on a staged program. Throws pass_error if a pass throws or makes the program
  /// invalid, refusal if one rejects it, and std::bad_alloc. O(operations), plus the time of the contexts' and the user's passes.
  explicit rewritten(recipe r);
  rewritten(rewritten const&) = delete;
  rewritten& operator=(rewritten const&) = delete;

  std::string const& name() const { return made_of_.name; }
  recipe const& made_of() const { return made_of_; }
  /// The optimised program.
  ir::program const& program() const { return program_; }
  /// The steps: staging, passes, lowering, and compilations by the executor. Thread-safe.
  std::vector<compilation_step> steps() const;

protected:
  ~rewritten();
  void add_step(std::string name, std::int64_t nanoseconds, std::size_t before, std::size_t after) const;

private:
  void run_passes(compilation_stage at);

  recipe made_of_;
  ir::program program_;
  struct step_list;
  std::unique_ptr<step_list> steps_;
};

/// A program that was rewritten, optimised and made executable.
class artifact : public rewritten, public std::enable_shared_from_this<artifact> {
public:
  /// Rewrites and optimises a staged program, and makes it executable. Throws the exceptions of `rewritten` and `executable`.
  explicit artifact(recipe r);

  /// A number that is unique in the process.
  std::uint64_t number() const { return number_; }
  /// An estimate of the memory, in bytes.
  std::size_t bytes() const { return bytes_; }
  /// The code that runs it.
  tiered_code const& code() const { return *code_; }
  /// An executable with the current code, for tests and for calls with arguments of type `datum`.
  executable run() const { return executable(std::shared_ptr<execute::code const>(code_, &code_->code())); }
  /// Starts the compilation by the executor in the background, once; its code then replaces the interpreter. If there is no memory or no
  /// thread, the program remains interpreted.
  void heat() const noexcept;

private:
  void make_executable();
  void swap_in() const;

  std::uint64_t number_;
  std::atomic<bool> mutable is_heated_{false};
  std::shared_ptr<tiered_code> code_;
  std::size_t bytes_ = 0;
};

/// Throws fingerprint_error, with the first operation that differs, if a recipe with the same key results in another program than the
/// artifact's. O(compilation + text).
void check_same(rewritten const& known, recipe again);

/// Describes the compilation of an artifact: steps with their times, and the program's text before and after each pass. Runs the passes
/// again. O(compilation + text).
std::string explain(artifact const& a);

} // namespace overdub
