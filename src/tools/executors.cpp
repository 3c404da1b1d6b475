#include "executors.hpp"

#include "name_lists.hpp"

#include <overdub/core/error.hpp>
#include <overdub/execute/datum_text.hpp>
#include <overdub/ir/error.hpp>
#include <overdub/stage/cell.hpp>

#include <algorithm>
#include <array>
#include <new>
#include <stdexcept>

namespace overdub::tools {
namespace {

// The types of errors that programs throw, derived ones first. Some mean that an executor has reached a limit.
struct error_row {
  std::string_view name;
  bool (*is)(std::exception const*);
  bool is_limit = false;
};
template <class T>
bool is(std::exception const* e) {
  return dynamic_cast<T const*>(e) != nullptr;
}
constexpr std::array error_rows{
    error_row{"index_error", is<index_error>},
    error_row{"size_error", is<array_too_large>, true},
    error_row{"size_error", is<size_error>},
    error_row{"division_by_zero", is<division_by_zero>},
    error_row{"type_error", is<type_error>},
    error_row{"argument_error", is<argument_error>},
    error_row{"assertion_failed", is<assertion_failed>},
    error_row{"stack_overflow", is<stack_overflow>, true},
    error_row{"host_error", is<host_error>},
    error_row{"not_executable", is<not_executable>, true},
    error_row{"error", is<evaluation_error>, true},
    error_row{"verify_error", is<ir::verify_error>},
    error_row{"error", is<error>},
    error_row{"out_of_memory", is<std::bad_alloc>, true},
    error_row{"out_of_memory", is<std::length_error>, true},
    error_row{"exception", is<std::exception>},
};

template <class Run>
outcome outcome_of(Run const& run) {
  outcome result;
  try {
    result.values = run();
  } catch (std::exception const& e) {
    error_row const& row =
        *std::ranges::find_if(error_rows, [&](error_row const& each) { return each.is(&e); });
    result.error = row.name;
    result.message = e.what();
    result.is_limit = row.is_limit;
  }
  return result;
}

} // namespace

std::span<executor_row const> executors() {
  static constexpr std::array rows {
    executor_row{"evaluate", "the reference: dispatches each operation", run_by_evaluate},
        executor_row{"interpreter", "executes a lowered form", run_by_interpreter},
#if OVERDUB_TOOLS_JIT
        executor_row{"jit", "compiles to machine code, by LLVM", run_by_jit},
#endif
  };
  return rows;
}

std::vector<executor_row const*> executors_called(std::string_view name) {
  std::vector<executor_row const*> all;
  if (name != "all") return {&row_called(name, executors(), "executor")};
  for (executor_row const& row : executors()) all.push_back(&row);
  return all;
}

outcome execute(
    executor_row const& executor, ir::program const& p, ir::function_id f, std::span<datum const> arguments) {
  return outcome_of([&] { return executor.run(p, f, arguments); });
}

ir::place_id place_of_error(
    outcome const& thrown, ir::program const& p, ir::function_id f, std::span<datum const> arguments) {
  ir::place_id at = ir::nothing;
  outcome const again = outcome_of([&] { return run_by_evaluate(p, f, arguments, at); });
  return again.error == thrown.error ? at : ir::place_id(ir::nothing);
}

bool is_error_type(std::string_view name) {
  return std::ranges::any_of(error_rows, [&](error_row const& row) { return row.name == name; });
}

std::string text_of(std::span<datum const> values) {
  std::string text;
  for (datum const& d : values) {
    if (!text.empty()) text += ", ";
    text += overdub::text_of(d);
  }
  return text;
}

std::string text_of(outcome const& o) {
  if (!o.error.empty()) return "throws " + o.error + ": " + o.message;
  return o.values.empty() ? "returns nothing" : text_of(o.values);
}

} // namespace overdub::tools
