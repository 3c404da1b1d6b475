// The executors that run programs, by name.
#pragma once

#include <overdub/execute/datum.hpp>
#include <overdub/ir/program.hpp>

#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace overdub::tools {

/// An executor. A new one is a row in executors.cpp, and a source in executors/; every text test runs under it then.
struct executor_row {
  std::string_view name;
  std::string_view what; // it is
  std::vector<datum> (*run)(ir::program const&, ir::function_id, std::span<datum const>);
};
std::span<executor_row const> executors();
/// Those that a name stands for: one, or all of them. Throws failure.
std::vector<executor_row const*> executors_called(std::string_view name);

std::vector<datum> run_by_evaluate(ir::program const&, ir::function_id, std::span<datum const>);
/// The same; sets the place of the operation that throws.
std::vector<datum>
run_by_evaluate(ir::program const&, ir::function_id, std::span<datum const>, ir::place_id& thrown_at);
std::vector<datum> run_by_interpreter(ir::program const&, ir::function_id, std::span<datum const>);
/// Where overdub::jit is built.
std::vector<datum> run_by_jit(ir::program const&, ir::function_id, std::span<datum const>);

/// What a run gave, or threw.
struct outcome {
  std::vector<datum> values;
  std::string
      error; // its type: "index_error", and "exception" for what is not overdub's; empty, when nothing was thrown
  std::string message;   // what it says
  bool is_limit = false; // of the executor, such as memory or the depth of calls: another one may go further
  friend bool operator==(outcome const& a, outcome const& b) {
    return a.values == b.values && a.error == b.error;
  }
};
outcome execute(executor_row const&, ir::program const&, ir::function_id, std::span<datum const>);

/// Where a call throws its error: the call is evaluated once more. Nothing, when that does not show it.
ir::place_id place_of_error(outcome const&, ir::program const&, ir::function_id, std::span<datum const>);

/// Whether `execute` can give errors of this type.
bool is_error_type(std::string_view name);

/// Values as they stand in text: 1.0, [2, 3]; nothing for none.
std::string text_of(std::span<datum const> values);
/// Values, or the error: "throws index_error: ...".
std::string text_of(outcome const&);

} // namespace overdub::tools
