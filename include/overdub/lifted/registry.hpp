// The lifted programs of a process: which function of a program was lifted from a native function.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/ir/program.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace overdub::detail {

/// The types that the program of a native function must have.
struct lifted_signature {
  std::span<ir::type const> parameters;
  std::optional<ir::type> returned; // none: void
  std::uint64_t may_write;          // bit i: parameter i is a pointer by which the function may write
};

/// What is known of a native function.
struct lifted_program {
  ir::program program;        // verified; its entry was lifted from the function. Empty if there is none
  std::uint64_t returned = 0; // bit i: parameter i is an array that is also a result
  std::string why_native;     // why calls in contexts run the native function; empty if they run the program
  mutable std::atomic<std::uint64_t> lifted_calls = 0, native_calls = 0; // in contexts
};

/// Finds the program of a native function. The first call for a function copies what it calls of its module, which the first of all parses,
/// O(text); later ones take O(log functions). Thread-safe.
std::shared_ptr<lifted_program const> find_lifted(void (*address)(), lifted_signature const& signature);

} // namespace overdub::detail
