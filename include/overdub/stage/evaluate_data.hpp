// evaluate(program, function, data): runs a program on values whose types are found out at run time. It needs what
// evaluate.hpp needs.
#pragma once

#include <overdub/execute/datum.hpp>
#include <overdub/stage/evaluate.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace overdub {

/// Runs a function of a program, as evaluate<R>(program, function, x...) does where C++ knows the types. Throws
/// verify_error, argument_error, evaluation_error, and what the program's operations throw; says in `failed`, when that is
/// given, which operation threw. Thread-safe.
inline std::vector<datum> evaluate(
    ir::program const& p, ir::function_id id, std::span<datum const> arguments,
    evaluation_place* failed = nullptr) {
  ir::verify(p);
  using cell = detail::cell<stack<>>;
  std::vector<ir::type> given;
  for (datum const& d : arguments) given.push_back(d.type());
  detail::check_arguments(p, id, given);
  std::vector<cell> cells;
  for (datum const& d : arguments)
    cells.push_back(
        detail::with_type(d.type(), [&]<class T>(std::type_identity<T>) { return cell(d.as<T>()); }));
  std::vector<datum> results;
  for (cell const& c : detail::evaluation<stack<>>::run(p, {}, id, cells, failed))
    results.push_back(c.visit([](auto const& x) { return datum(x); }));
  return results;
}
inline std::vector<datum> evaluate(ir::program const& p, std::span<datum const> arguments) {
  return evaluate(p, detail::entry_of(p), arguments);
}

} // namespace overdub
