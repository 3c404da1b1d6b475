// Links an object file into this process.
#pragma once

#include <overdub/core/error.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace overdub::jit {

/// A C++ function that machine code refers to by name.
struct symbol_address {
  std::string name;
  void const* address;
};

/// Machine code, which is freed with its last owner; the addresses of functions for C++, or null.
struct linked_code {
  std::shared_ptr<void const> owner;
  void* entry = nullptr;   // overdub:entry
  void* target = nullptr;  // overdub:target
  void* program = nullptr; // overdub:code
};

/// Out of memory for machine code.
struct no_code_memory : not_executable {
  using not_executable::not_executable;
};

/// Source locations of functions, by their symbols.
using symbol_places = std::map<std::string, std::string, std::less<>>;

/// Links an object file, whose bytes are not needed afterwards. With locations, registers it with perf and gdb. Throws
/// not_executable on failure, without side effects. Thread-safe.
linked_code link(std::span<char const> object, symbol_places const* places);

} // namespace overdub::jit
