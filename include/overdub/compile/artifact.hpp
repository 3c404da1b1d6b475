// What compilation makes: a program that was rewritten, optimised and made executable, and how that was done. Immutable but for
// the code that runs it, and shared by threads.
#pragma once

#include <overdub/call/error.hpp>
#include <overdub/compile/options.hpp>
#include <overdub/compile/pass_error.hpp>
#include <overdub/compile/tiers.hpp>
#include <overdub/header_only.hpp>
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

/// Two contexts of equal fingerprints make different programs: something else than the fingerprint got into one.
struct OVERDUB_EXPORTED fingerprint_error : rejected_program {
  using rejected_program::rejected_program;
};

/// A context refuses a program for good: the cache keeps the exception, and throws it again for the same function, signature, options and
/// fingerprints, without staging anything. Derive what `after_inference` throws from it where that depends on nothing else.
struct OVERDUB_EXPORTED refusal : rejected_program {
  using rejected_program::rejected_program;
};

/// Where in a compilation a context is asked.
enum class compilation_stage {
  after_inference, // the program is staged, and all types are known
  before_optimise,
  after_optimise
};
constexpr char const* name_of(compilation_stage s) {
  constexpr char const* names[] = {"after_inference", "before_optimise", "after_optimise"};
  return names[static_cast<int>(s)];
}

inline namespace OVERDUB_EXECUTE_ABI {

/// What a context does in a compilation, with the fingerprint that it was given.
struct context_pass {
  std::string name; // of the context
  compilation_stage stage = compilation_stage::before_optimise;
  std::function<void(ir::program&)> run;
};

/// What one step of a compilation did.
struct compilation_step {
  std::string name;
  std::int64_t nanoseconds = 0;
  std::size_t operations_before = 0, operations_after = 0;
};

/// What an artifact is made of.
struct recipe {
  std::string name;                      // of the function
  ir::program staged;                    // as the contexts' rules made it, before passes
  std::int64_t staging_nanoseconds = 0;  // that it took
  std::vector<context_pass> passes = {}; // of the contexts, outermost first
  compile_options options = {};
  std::string arguments = {}; // their types, for messages
};

/// Runs the passes of a recipe for a stage on its staged program. Throws as `rewritten` does.
OVERDUB_DECL void run_passes(recipe& r, compilation_stage at);
/// Runs those for `after_inference` and `before_optimise`, and drops them. Those for `after_optimise` stay, for the program that is
/// made of it.
OVERDUB_DECL void run_early_passes(recipe& r);

/// A staged program, rewritten and optimised.
class rewritten {
public:
  /// Runs the contexts' passes and the options' pipeline on a staged program. Throws pass_error where a pass throws or breaks the
  /// program, refusal where one refuses it, and std::bad_alloc. O(operations) besides the contexts' passes and the user's.
  explicit rewritten(recipe r);
  rewritten(rewritten const&) = delete;
  rewritten& operator=(rewritten const&) = delete;

  std::string const& name() const { return made_of_.name; }
  recipe const& made_of() const { return made_of_; }
  /// As it is executed.
  ir::program const& program() const { return program_; }
  /// Staging, passes, lowering, and what the executor did since. Thread-safe.
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

class artifact : public rewritten, public std::enable_shared_from_this<artifact> {
public:
  /// Makes it executable, too. Throws what `executable` throws.
  explicit artifact(recipe r);

  /// Never used twice.
  std::uint64_t number() const { return number_; }
  /// An estimate of what it takes.
  std::size_t bytes() const { return bytes_; }
  /// What runs it.
  tiered_code const& code() const { return *code_; }
  /// What it is called by now: for tests, and for calls on data.
  executable run() const { return executable(std::shared_ptr<execute::code const>(code_, &code_->code())); }
  /// Has the executor make something faster, in the background, which is swapped in: once. Where there is no memory or no thread
  /// for that, it is interpreted on.
  void heat() const noexcept;

private:
  void make_executable();
  void swap_in() const;

  std::uint64_t number_;
  std::atomic<bool> mutable is_heated_{false};
  std::shared_ptr<tiered_code> code_;
  std::size_t bytes_ = 0;
};

/// Throws fingerprint_error where a recipe makes another program than the artifact's, which has the same key. It tells the first
/// operation that differs. O(compilation + text).
OVERDUB_DECL void check_same(rewritten const& known, recipe again);

/// How an artifact was made: steps with their times, and the program's text before and after each pass, which are run again
/// for it. O(compilation + text).
OVERDUB_DECL std::string explain(artifact const& a);

} // namespace OVERDUB_EXECUTE_ABI
} // namespace overdub

#if OVERDUB_HEADER_ONLY
#include <overdub/compile/artifact.ipp>
#endif
