// Lifted programs in executables and shared libraries: sources that overdub-opt --embed writes include this header alone.
#pragma once

#include <overdub/core/library.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace overdub {

/// A native function, and the function of a program that was lifted from it.
struct embedded_function {
  void (*address)();      // null if nothing defines it
  char const* name;       // in the program; empty if it was not lifted
  char const* refusal;    // why it was not lifted
  std::uint64_t returned; // bit i: parameter i is an array that is also a result
};

/// A native function that a program calls by its name.
struct embedded_native {
  char const* name;
  void (*address)();                                                             // null if nothing defines it
  void (*run)(void* object, void const* const* arguments, void* const* results); // as ir::host_binding
};

/// A struct of numbers that a native function receives or returns in registers.
template <class First, class... Rest>
struct native_struct {
  First first;
  native_struct<Rest...> rest;
};
template <class Last>
struct native_struct<Last> {
  Last first;
};

/// Makes a program known to overdub::lifted, as long as this object exists. The arguments must exist as long. Thread-safe.
class embedded_program {
public:
  embedded_program(
      std::string_view text, std::span<embedded_function const> functions,
      std::span<embedded_native const> natives = {});
  embedded_program(embedded_program const&) = delete;
  embedded_program& operator=(embedded_program const&) = delete;
  ~embedded_program();

private:
  std::span<embedded_function const> functions_;
};

} // namespace overdub
