// evaluate(program, function, data) runs a program on values with a dynamic type. It includes evaluate.hpp, with its compile
// time.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/execute/datum.hpp>
#include <overdub/stage/evaluate.hpp>

#include <span>
#include <vector>

namespace overdub {

/// Runs a function of a program, like evaluate<R>(program, function, x...), with types that are known only at run time. Throws
/// verify_error, argument_error, evaluation_error, and the exceptions of the program's operations; then, if `failed` is given,
/// sets it to the operation that threw. Thread-safe.
std::vector<datum> evaluate(
    ir::program const& p, ir::function_id id, std::span<datum const> arguments,
    evaluation_place* failed = nullptr);
std::vector<datum> evaluate(ir::program const& p, std::span<datum const> arguments);

} // namespace overdub
