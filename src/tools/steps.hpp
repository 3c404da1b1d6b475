// The transformation steps of overdub-opt: passes and contexts, by name.
#pragma once

#include "contexts.hpp"

#include <overdub/ir/program.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace overdub::tools {

/// A pass of the library, as in pass/pipeline.hpp.
struct pass_row {
  std::string_view name;
  std::string_view what; // a description
  bool keeps_error;      // preserves which of several possible errors is thrown
};
std::span<pass_row const> passes();
/// The passes of the standard pipeline, in order.
std::span<pass_row const> pipeline_passes();

/// A pass, the standard pipeline, or a context.
struct step {
  enum kind { pass, pipeline, context };
  kind what = pass;
  std::string_view name;
  context_row const* row = nullptr; // for a context
};
/// Parses a list of passes: "fold, cse". Throws failure, with the available passes.
std::vector<step> pass_steps(std::string_view names);
/// Parses a list of contexts. The program is rewritten in their composition, in which the first context is the outermost.
std::vector<step> context_steps(std::string_view names);
std::vector<step> pipeline_steps();
/// Whether the steps preserve which of several possible errors is thrown.
bool keep_error(std::span<step const> steps);

/// The time of a step, and its result.
struct step_time {
  std::string name;
  double milliseconds = 0;
  std::size_t before = 0; // number of operations
  std::size_t after = 0;
};
/// Runs steps on a program, and verifies it after each. Throws failure if a step throws, or leaves an invalid program.
void run_steps(ir::program& p, std::span<step const> steps, observed& seen, std::vector<step_time>* times);

} // namespace overdub::tools
