// Serialisation of compiled code's metadata. Host calls are found again in the program, by their operations.
#pragma once

#include <overdub/execute/code.hpp>
#include <overdub/ir/program.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace overdub::jit {

/// An operation of a program.
struct program_node {
  ir::function_id function;
  ir::node_id node;
};

/// Serialises; nothing if the code has parts that are not supported. `functions`: of the key. O(code).
std::optional<std::string> write_parts(
    execute::code const&, ir::program const&, std::span<ir::function_id const> functions,
    std::span<program_node const> hosts, std::span<program_node const> samples);

/// Deserialises into code that has its frame and its registry; returns whether the bytes are valid, and whether it may
/// throw fails_ahead. With invalid bytes, the code may be partially filled. Throws host_error and not_executable, as
/// compilation does.
bool read_parts(
    std::span<char const> bytes, execute::code&, bool& looks_ahead, ir::program const&,
    std::span<ir::function_id const> functions);

} // namespace overdub::jit
