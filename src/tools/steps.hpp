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

/// A pass of the library.
struct pass_row {
  std::string_view name;
  std::string_view what; // it does
  void (*run)(ir::program&);
};
/// All passes, by name. A new pass is a row here.
std::span<pass_row const> passes();
/// The standard passes, in order.
std::span<std::string_view const> pipeline();

/// One pass, or one context.
struct step {
  pass_row const* pass = nullptr;
  context_row const* context = nullptr;
  std::string_view name() const { return pass ? pass->name : context->name; }
};
/// The passes that a list names: "fold, cse". Throws failure, with the passes that there are.
std::vector<step> pass_steps(std::string_view names);
/// The contexts that a list names, which are composed: the first is closest to the program.
std::vector<step> context_steps(std::string_view names);
std::vector<step> pipeline_steps();

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

/// The operations of a program, yields apart.
std::size_t operations_of(ir::program const& p);

} // namespace overdub::tools
