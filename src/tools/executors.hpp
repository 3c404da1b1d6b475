// The executors of programs, by name.
#pragma once

#include <overdub/execute/datum.hpp>
#include <overdub/ir/program.hpp>

#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace overdub::tools {

/// An executor. To add one, add a row in executors.cpp, and a source in executors/; every text test then runs on it.
struct executor_row {
  std::string_view name;
  std::string_view what; // a description
  std::vector<datum> (*run)(ir::program const&, ir::function_id, std::span<datum const>);
};
std::span<executor_row const> executors();
/// The executors that a name selects: one, or all. Throws failure.
std::vector<executor_row const*> executors_called(std::string_view name);

std::vector<datum> run_by_evaluate(ir::program const&, ir::function_id, std::span<datum const>);
/// Sets the source location of the operation that throws.
std::vector<datum>
run_by_evaluate(ir::program const&, ir::function_id, std::span<datum const>, ir::place_id& thrown_at);
std::vector<datum> run_by_interpreter(ir::program const&, ir::function_id, std::span<datum const>);
/// Requires overdub::jit.
std::vector<datum> run_by_jit(ir::program const&, ir::function_id, std::span<datum const>);

/// The results of a run, or its error.
struct outcome {
  std::vector<datum> values;
  std::string error;   // its type: "index_error", or "exception" for errors of others; empty without an error
  std::string message; // the message
  bool is_limit = false; // the executor has reached a limit, such as call depth: another may succeed
  friend bool operator==(outcome const& a, outcome const& b) {
    return a.values == b.values && a.error == b.error;
  }
};
outcome execute(executor_row const&, ir::program const&, ir::function_id, std::span<datum const>);

/// The source location of a call's error, by evaluating the call once more. Null if that does not reproduce the error.
ir::place_id place_of_error(outcome const&, ir::program const&, ir::function_id, std::span<datum const>);

/// Whether `execute` can return errors of this type.
bool is_error_type(std::string_view name);

/// Values as text: 1.0, [2, 3]; "nothing" for none.
std::string text_of(std::span<datum const> values);
/// Values, or the error: "throws index_error: ...".
std::string text_of(outcome const&);

} // namespace overdub::tools
