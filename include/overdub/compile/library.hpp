// library: functions of programs that can be redefined while they are called; dependent functions are recompiled.
#pragma once

#include <overdub/compile/cache.hpp>
#include <overdub/core/library.hpp>
#include <overdub/ir/program.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace overdub {

/// A change of a library that it rejects: a function has another definition already, or none, or calls an undefined function, or its new
/// types do not match a caller, or it is removed while another function calls it.
struct OVERDUB_EXPORTED library_error : rejected_program {
  using rejected_program::rejected_program;
};

namespace detail {
class world;
class definition;

/// A function with all functions that it can reach, in one world.
struct linked_function {
  std::vector<std::shared_ptr<definition const>> definitions; // that of the function first
  std::string key;                                            // the numbers of the definitions, as text
};
} // namespace detail

/// A function of a library, by its name: library_call.hpp.
template <class S>
class library_function;

/// Functions by name. Each change creates a new world (as in Julia); a call runs in the world in which it began, to its end. Redefining a
/// function by an equal definition changes nothing. Copies refer to the same library. Thread-safe.
class library {
public:
  library();

  /// Adds all functions of a program, or none. They may call each other, and functions of the library. Throws library_error if one has a
  /// different definition already, or calls an undefined function; verify_error; parse_error. O(program).
  void define(ir::program const& p);
  void define(std::string_view text);
  /// Replaces existing functions, and adds new ones. Throws library_error if one calls an undefined function, or if its new types do not
  /// match a caller.
  void redefine(ir::program const& p);
  void redefine(std::string_view text);
  /// Removes a function. Throws library_error if it does not exist, or if another function calls it.
  void remove(std::string_view name);

  /// The number of changes.
  std::uint64_t world() const;
  bool contains(std::string_view name) const;
  /// The names of all functions, sorted.
  std::vector<std::string> names() const;
  /// A function with its callees, in the current world, as a program with this entry. Throws library_error. O(text).
  ir::program program(std::string_view name) const;

  /// A function to call or compile: library.function<double(double)>("norm"). It may be defined later.
  template <class S>
  library_function<S> function(std::string name) const {
    return library_function<S>(*this, std::move(name));
  }

  // ---- for compile

  /// The current world, which is immutable.
  std::shared_ptr<detail::world const> now() const;
  /// The function of a name in a world, with its callees. Throws library_error.
  static std::shared_ptr<detail::linked_function const> link(detail::world const& w, std::string const& name);
  static std::uint64_t number_of(detail::world const& w);
  static ir::program assemble(detail::linked_function const& f);
  /// Registers the cached artifact of `f`: `drop` removes it from its cache when a definition of `f` is replaced, or at once if one was
  /// replaced already.
  void watch(
      detail::linked_function const& f, std::weak_ptr<artifact const> made,
      compilation_cache::dropper drop) const;
  /// A unique number of the library.
  std::uint64_t number() const;

private:
  void add(std::string_view text, bool may_replace);

  class state;
  std::shared_ptr<state> state_;
};

} // namespace overdub
