// Callees of instrumented code: their names, and whether their calls are recorded.
#pragma once

#include <overdub/contexts/trace/record.hpp>

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace overdub::overtrace {

enum class choice : unsigned char {
  unknown, // recorded, and skipped by readers if the name is not chosen
  recorded,
  left_out
};

/// A function whose calls are instrumented. Records have the address of `info`. Never freed.
struct callee {
  contexts::tracing::callee_info info; // without a name until name_new_callees, unless the plugin stored it
  std::string_view file;               // of the plugin, if it is chosen by files
  std::atomic<void const*>
      function; // its address, if the plugin did not store its name; null after its object was unloaded
  std::atomic<choice> is{choice::recorded}; // whether its calls are recorded
  callee* older = nullptr;
};

/// Which functions are recorded, by patterns of fnmatch, and down to which depth of recorded calls.
struct filters {
  std::vector<std::string> only, except, files; // no pattern in `only` or `files`: all
  std::uint32_t depth = 0xffff'ffff;

  /// Of OVERTRACE_ONLY, OVERTRACE_EXCEPT, OVERTRACE_FILES, whose patterns are separated by semicolons, and OVERTRACE_DEPTH. Reports a depth
  /// that is no number to stderr, and ignores it.
  static filters of_environment();
  bool are_by_name() const { return !only.empty() || !except.empty() || !files.empty(); }
  bool records(std::string_view name, std::string_view file) const;
};

/// Returns the filters of the process. Thread-safe.
filters const& process_filters();

/// Returns a new callee, which callee_table finds from then on; null if there is no memory. Async-signal-safe.
callee const* add_callee(void const* function) noexcept;
/// Returns a new callee with a copy of the name and file that the compiler plugin stored: an object may be unloaded while records refer to
/// them. Null if there is no memory. Async-signal-safe.
callee const* add_callee(std::string_view name, std::string_view file) noexcept;

/// Waits until it is known whether the calls of a callee are recorded, at most 0.1 s: a signal handler may have interrupted code that holds a
/// lock which the search for names needs. Async-signal-safe.
choice wait_for_choice(callee const& c) noexcept;

/// Finds the names of the callees that were added since the last time, and whether they are chosen. Reads the symbols of the objects with
/// the functions. Thread-safe. Throws std::bad_alloc.
void name_new_callees();

/// Whether the filters leave out all functions that were called. O(functions that were called).
bool all_callees_are_left_out();

struct call_stack;

/// During its lifetime, calls on this thread are not recorded: those that this library makes.
class unobserved {
public:
  unobserved() noexcept;
  unobserved(unobserved const&) = delete;
  unobserved& operator=(unobserved const&) = delete;
  ~unobserved();
  /// Whether this is the outermost one of the thread.
  bool is_first() const noexcept;

private:
  call_stack* before_;
};

} // namespace overdub::overtrace
