// evaluate(program, function, data) runs a program on values with a dynamic type. It includes evaluate.hpp, with its compile
// time.
#pragma once

#include <overdub/execute/datum.hpp>
#include <overdub/stage/evaluate.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace overdub {

/// Runs a function of a program, like evaluate<R>(program, function, x...), with types that are known only at run time. Throws
/// verify_error, argument_error, evaluation_error, and the exceptions of the program's operations; then, if `failed` is given,
/// sets it to the operation that threw. Thread-safe.
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
