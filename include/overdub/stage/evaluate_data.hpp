// evaluate(program, function, data): runs a program on values whose types are found out at run time. It needs what
// evaluate.hpp needs, and is as slow to compile.
#pragma once

#include <overdub/execute/datum.hpp>
#include <overdub/stage/evaluate.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace overdub {

/// Runs a function of a program, as evaluate<R>(program, function, x...) does where C++ knows the types. Throws
/// verify_error, argument_error, evaluation_error, and what the program's operations throw; says in `failed`, when that is given, which
/// operation threw. Thread-safe.
inline std::vector<datum> evaluate(
    ir::program const& p, ir::function_id id, std::span<datum const> arguments,
    evaluation_place* failed = nullptr) {
  ir::verify(p);
  using evaluator = detail::evaluator<stack<>>;
  ir::function const& f = p[id];
  std::string const name(p.name_of(id));
  if (arguments.size() != f.parameters().size())
    throw argument_error(message(
        "overdub: @%s takes %zu arguments, and was given %zu", name.c_str(), f.parameters().size(),
        arguments.size()));
  std::vector<evaluator::any> cells;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    ir::type const wanted = f.type_of(f.parameters()[i]);
    if (arguments[i].type() != wanted)
      throw argument_error(message(
          "overdub: @%s: argument %zu is %s, and was given %s", name.c_str(), i + 1,
          ir::text_of(p, wanted).c_str(), detail::text_of(arguments[i].type()).c_str()));
    cells.push_back(detail::with_type(
        wanted, [&]<class T>(std::type_identity<T>) { return evaluator::any(arguments[i].as<T>()); }));
  }
  stack<> const no_context;
  evaluator run(p, no_context);
  try {
    std::vector<datum> results;
    for (evaluator::any const& c : run.run(id, cells))
      results.push_back(c.visit([](auto const& x) { return datum(x); }));
    return results;
  } catch (...) {
    if (failed) *failed = run.failed();
    throw;
  }
}
inline std::vector<datum> evaluate(ir::program const& p, std::span<datum const> arguments) {
  return evaluate(p, detail::entry_of(p), arguments);
}

} // namespace overdub
