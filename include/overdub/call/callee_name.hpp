// Names of a program's functions, which are known only at run time. `name()` of a callee is static: for a function of a program it returns
// the name of the function that the thread is calling.
//
// src/call/callee_name.cpp has the definitions: units that evaluate programs link the library.
#pragma once

#include <overdub/core/config.hpp>

#include <cstdint>
#include <string_view>
#include <utility>

namespace overdub::detail {

/// Returns a copy of a name that lives as long as the process. O(length). Thread-safe.
std::string_view interned_name(std::string_view name);
/// The same for `name.context`.
std::string_view interned_name(std::string_view name, std::string_view context);

/// Returns the hash of a name, which is the same in each process, or the interned name of a hash. Throws error for a hash collision, or for
/// an unknown hash. O(length). Thread-safe.
std::int64_t number_of_name(std::string_view name);
std::string_view name_of_number(std::int64_t number);

/// The name of the program's function that this thread is calling.
OVERDUB_HIDDEN inline std::string_view& called_name() {
  thread_local std::string_view name;
  return name;
}
class name_during_call {
public:
  OVERDUB_HIDDEN explicit name_during_call(std::string_view name)
      : before_(std::exchange(called_name(), name)) {}
  name_during_call(name_during_call const&) = delete;
  name_during_call& operator=(name_during_call const&) = delete;
  OVERDUB_HIDDEN ~name_during_call() { called_name() = before_; }

private:
  std::string_view before_;
};

/// The name of a program's function in constant expressions, where it is unknown.
inline constexpr std::string_view name_at_compile_time = "function of a program";

template <class F>
inline constexpr bool is_named_at_run_time = false;
template <class F>
requires requires { F::is_named; }
inline constexpr bool is_named_at_run_time<F> = !F::is_named;
/// Whether a callee's name is known at compile time.
template <class F>
concept named_at_compile_time = !is_named_at_run_time<F>;

} // namespace overdub::detail
