// Names of callees that are known when a program runs: those of a program's functions. A callee's name is a static function; that of
// a function of a program is the one that is called on the thread.
//
// What is declared here is defined for those who evaluate programs (stage/program_function.hpp).
#pragma once

#include <overdub/call/config.hpp>
#include <overdub/header_only.hpp>

#include <cstdint>
#include <string_view>
#include <utility>

namespace overdub::detail {

/// A copy of a name that lives as long as the process. O(its length). Thread-safe.
OVERDUB_DECL std::string_view interned_name(std::string_view name);
/// One of two parts, with a dot between them.
OVERDUB_DECL std::string_view interned_name(std::string_view name, std::string_view context);

/// A number for a name, the same in each process, and the interned name of a number that was given. Throws error where two names
/// have one number, or none has. O(length). Thread-safe.
OVERDUB_DECL std::int64_t number_of_name(std::string_view name);
OVERDUB_DECL std::string_view name_of_number(std::int64_t number);

/// The name of the program's function that is called on this thread.
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

/// What is not known before the program is, in constant expressions.
inline constexpr std::string_view name_at_compile_time = "function of a program";

template <class F>
inline constexpr bool is_named_at_run_time = false;
template <class F>
requires requires { F::is_named; }
inline constexpr bool is_named_at_run_time<F> = !F::is_named;
/// Whether the compiler knows a callee's name.
template <class F>
concept named_at_compile_time = !is_named_at_run_time<F>;

} // namespace overdub::detail
