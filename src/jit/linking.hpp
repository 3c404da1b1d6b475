// From the bytes of an object file to machine code in this process.
#pragma once

#include <overdub/call/error.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace overdub::jit {

/// A function of C++ that machine code refers to by its name.
struct symbol_address {
  std::string name;
  void const* address;
};

/// Machine code, which is freed with its last owner; where what C++ calls stands in it, or null.
struct linked_code {
  std::shared_ptr<void const> owner;
  void* entry = nullptr;   // overdub:entry
  void* target = nullptr;  // overdub:target
  void* program = nullptr; // overdub:code
};

/// There is no memory for machine code.
struct no_code_memory : not_executable {
  using not_executable::not_executable;
};

/// Where functions stand in the user's source, by their names in the object file.
using symbol_places = std::map<std::string, std::string, std::less<>>;

/// Loads an object file, whose bytes may be dropped then. With places, perf and gdb are told of it. Throws not_executable where
/// that fails; nothing is left of it then. Thread-safe.
linked_code link(std::span<char const> object, symbol_places const* places);

/// A part of an object file, and where it stands in memory.
struct placed_section {
  std::string name;
  void const* address;
};
struct placed_function {
  std::string name;
  void const* address;
  std::size_t bytes;
};

/// Adds functions to the names that perf reads, in /tmp/perf-<process>.map.
void tell_perf(std::span<placed_function const> functions);

/// Machine code that gdb knows, as long as this lives.
class known_to_gdb {
public:
  known_to_gdb(std::span<char const> object, std::span<placed_section const> sections);
  known_to_gdb(known_to_gdb const&) = delete;
  known_to_gdb& operator=(known_to_gdb const&) = delete;
  ~known_to_gdb();

private:
  struct entry;
  std::vector<char> object_;
  std::unique_ptr<entry> entry_;
};

} // namespace overdub::jit
