// Registration of machine code with profilers and debuggers.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace overdub::jit {

/// A section of an object file, and its address.
struct placed_section {
  std::string name;
  void const* address;
};
/// A function of machine code.
struct placed_function {
  std::string name;
  void const* address;
  std::size_t bytes;
};

/// Appends symbols to perf's file /tmp/perf-<process>.map. If the file cannot be written, does nothing. Thread-safe.
void register_with_perf(std::span<placed_function const> functions);

/// Registers machine code with gdb for its lifetime. `object` is an object file that LLVM wrote. Thread-safe.
class gdb_registration {
public:
  gdb_registration(std::span<char const> object, std::span<placed_section const> sections);
  gdb_registration(gdb_registration const&) = delete;
  gdb_registration& operator=(gdb_registration const&) = delete;
  ~gdb_registration();

private:
  struct entry;
  std::vector<char> object_;
  std::unique_ptr<entry> entry_;
};

} // namespace overdub::jit
