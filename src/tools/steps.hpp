// What overdub-opt makes of a program, step by step: passes and contexts, by name.
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
  std::string_view what; // it does
  bool keeps_error;      // of several errors that a program may throw, the same one is thrown
};
std::span<pass_row const> passes();
/// The passes of the standard pipeline, in order.
std::span<pass_row const> pipeline_passes();

/// A pass, the standard pipeline, or a context.
struct step {
  enum kind { pass, pipeline, context };
  kind what = pass;
  std::string_view name;
  context_row const* row = nullptr; // of a context
};
/// The passes that a list names: "fold, cse". Throws failure, with the passes that there are.
std::vector<step> pass_steps(std::string_view names);
/// The contexts that a list names, which are composed: the first is closest to the program.
std::vector<step> context_steps(std::string_view names);
std::vector<step> pipeline_steps();
/// Whether of several errors that a program may throw the same one is thrown behind the steps.
bool keep_error(std::span<step const> steps);

/// What a step took, and made.
struct step_time {
  std::string name;
  double milliseconds = 0;
  std::size_t before = 0; // operations
  std::size_t after = 0;
};
/// Runs steps on a program, and verifies it behind each. Throws failure, when a step throws, or leaves a program that is
/// not valid.
void run_steps(ir::program& p, std::span<step const> steps, observed& seen, std::vector<step_time>* times);

} // namespace overdub::tools
