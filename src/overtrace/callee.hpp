// Callees of instrumented code: their names, and whether their calls are recorded.
#pragma once

#include <overdub/contexts/trace/record.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace overdub::overtrace {

/// A function whose calls are instrumented. Records have the address of `info`. Never freed.
struct callee {
  contexts::tracing::callee_info info;
  bool is_recorded;
};

/// Which functions are recorded, by patterns of fnmatch, and down to which depth of recorded calls.
struct filters {
  std::vector<std::string> only, except, files; // no pattern in `only` or `files`: all
  std::uint32_t depth = 0xffff'ffff;

  /// Of OVERTRACE_ONLY, OVERTRACE_EXCEPT, OVERTRACE_FILES, whose patterns are separated by semicolons, and OVERTRACE_DEPTH. Reports a depth
  /// that is no number to stderr, and ignores it.
  static filters of_environment();
  bool records(std::string_view name, std::string_view file) const;
};

/// Returns the filters of the process. Thread-safe.
filters const& process_filters();

/// Returns the callee at the address of a function, which is known from then on (callee_table.hpp). Reads the symbols of the object with
/// the function. Thread-safe. Throws std::bad_alloc.
callee const& callee_at(void const* function);
/// Returns a new callee with a name and file that the compiler plugin stored. The name is not copied.
callee const& add_callee(std::string_view name, std::string_view file);

} // namespace overdub::overtrace
