// The elementary functions of the consistent mode. The component overdub::sleef compiles them, and registers its table here
// before main; executors, evaluation and passes use the table.
#pragma once

#include <overdub/ir/math_mode.hpp>
#include <overdub/ir/op.hpp>
#include <overdub/ir/type.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace overdub::ir {

/// Whether an operation has a version for the consistent mode: see elementary.def. All others compute the same in both
/// modes.
constexpr bool is_elementary(op code) {
  switch (code) {
#define OVERDUB_ELEMENTARY1(NAME, ...) case op::NAME:
#define OVERDUB_ELEMENTARY1_WITHIN(NAME, ...) case op::NAME:
#define OVERDUB_ELEMENTARY2(NAME, ...) case op::NAME:
#include <overdub/ir/elementary.def>
    return true;
  default:
    return false;
  }
}

/// For each operation: the function on one or two numbers, and on n of them (`out` may be an operand); null for others.
template <class T>
struct elementary_functions {
  std::array<T (*)(T), op_count> one{};
  std::array<T (*)(T, T), op_count> two{};
  std::array<void (*)(T const* x, T* out, std::int64_t n), op_count> many_of_one{};
  std::array<void (*)(T const* x, T const* y, T* out, std::int64_t n), op_count> many_of_two{};
};
/// A function on vectors, in vector registers.
struct vector_function {
  op code;
  scalar type;
  unsigned lanes;
  void const* address;
};
struct consistent_functions {
  elementary_functions<double> f64;
  elementary_functions<float> f32;
  std::span<vector_function const> vectors; // for all vector widths of this architecture

  template <class T>
  elementary_functions<T> const& of() const {
    if constexpr (sizeof(T) == sizeof(double))
      return f64;
    else
      return f32;
  }
};

/// Null if overdub::sleef is not linked.
OVERDUB_HIDDEN inline constinit consistent_functions const* consistent = nullptr;

/// Whether this build can run programs of a mode.
inline bool is_runnable(math_mode m) { return m != math_mode::consistent || consistent != nullptr; }
/// The end of a sentence that rejects such programs.
inline constexpr char const* not_consistent = "its mathematics are consistent, and that takes the functions "
                                              "of SLEEF; link the component overdub::sleef, or set "
                                              "program::math to exact";

/// The index of an operation in tables for both modes: functions of the consistent mode come after the others.
constexpr std::uint32_t number_in(math_mode m, op code) {
  auto const i = static_cast<std::uint32_t>(code);
  return m == math_mode::consistent && is_elementary(code) ? i + static_cast<std::uint32_t>(op_count) : i;
}

} // namespace overdub::ir
