// What compilation makes: a program that was rewritten, optimised and made executable, and how that was done. Immutable,
// and shared by threads.
#pragma once

#include <overdub/call/error.hpp>
#include <overdub/execute/interpreter.hpp>
#include <overdub/header_only.hpp>
#include <overdub/ir/program.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace overdub {

/// A pass of a context made a program that breaks a rule. `what()` names the pass, and `program` is the text of what it made.
struct pass_error : error {
  pass_error(message const& why, std::string text) : error(why), program(std::move(text)) {}
  std::string program;
};

inline namespace OVERDUB_EXECUTE_ABI {

/// A pass of a context, with the fingerprint that it was given.
struct context_pass {
  std::string name; // of the context
  std::function<void(ir::program&)> run;
};

/// What one step of a compilation did.
struct compilation_step {
  std::string name;
  std::int64_t nanoseconds = 0;
  std::size_t operations_before = 0, operations_after = 0;
};

struct artifact {
  std::string name;                    // of the function
  ir::program staged;                  // as the contexts' rules made it, before passes
  std::vector<context_pass> passes;    // of the contexts, outermost first
  std::vector<compilation_step> steps; // staging, passes, lowering
  ir::program program;                 // as it is executed
  executable run;
  std::size_t bytes = 0; // an estimate of what it takes
};

/// How an artifact was made: steps with their times, and the program's text before and after each pass, which are run again
/// for it. O(compilation + text).
OVERDUB_DECL std::string explain(artifact const& a);

} // namespace OVERDUB_EXECUTE_ABI

namespace detail {

/// Runs the contexts' passes and the default pipeline on a staged program, and makes it executable. Throws pass_error where
/// a pass breaks it, what a pass throws, and what `executable` throws. O(operations) besides the contexts' passes.
OVERDUB_DECL std::shared_ptr<artifact const> made_artifact(
    std::string name, ir::program staged, std::int64_t staging_nanoseconds, std::vector<context_pass> passes);

} // namespace detail
} // namespace overdub

#if OVERDUB_HEADER_ONLY
#include <overdub/compile/artifact.ipp>
#endif
