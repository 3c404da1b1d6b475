// library: functions in programs that may be defined anew while they are called. What was compiled follows.
#pragma once

#include <overdub/compile/cache.hpp>
#include <overdub/header_only.hpp>
#include <overdub/ir/program.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace overdub {

/// A definition is there already, or is not there, or calls what is not there.
struct OVERDUB_EXPORTED library_error : rejected_program {
  using rejected_program::rejected_program;
};

namespace detail {
class world;
class definition;

/// A function with all that it reaches, in one world.
struct linked_function {
  std::vector<std::shared_ptr<definition const>> definitions; // of the function first
  std::string key;                                            // the numbers of the definitions
};
} // namespace detail

inline namespace OVERDUB_EXECUTE_ABI {

/// A function of a library, by its name: library_call.hpp.
template <class S>
class library_function;

/// Functions by name. Each change makes a new world; what is called runs in the world that it began in, to its end. Equal
/// definitions are one: to define a function as it is changes nothing. Copies are the same library. Thread-safe.
class library {
public:
  library();

  /// Adds all functions of a program, or none. They may call each other, and those of the library. Throws library_error where
  /// one is defined otherwise already, or calls what is not defined; verify_error; parse_error. O(program).
  void define(ir::program const& p);
  void define(std::string_view text);
  /// Replaces functions, and adds those that are new. Throws library_error where one calls what is not defined, or a caller
  /// of it would not fit its new types.
  void redefine(ir::program const& p);
  void redefine(std::string_view text);
  /// Takes a function away. Throws library_error where it is not there, or another function calls it.
  void remove(std::string_view name);

  /// How often it was changed.
  std::uint64_t world() const;
  bool contains(std::string_view name) const;
  /// In order.
  std::vector<std::string> names() const;
  /// A function with all that it calls, as it is now: a program whose entry it is. Throws library_error. O(text).
  ir::program program(std::string_view name) const;

  /// A function to be called and compiled: library.function<double(double)>("norm"). It need not be there yet.
  template <class S>
  library_function<S> function(std::string name) const {
    return library_function<S>(*this, std::move(name));
  }

  // ---- for compile

  /// The world as it is now, which stays as it is.
  std::shared_ptr<detail::world const> now() const;
  /// What a name stands for in a world. Throws library_error.
  static std::shared_ptr<detail::linked_function const> link(detail::world const& w, std::string const& name);
  static std::uint64_t number_of(detail::world const& w);
  static ir::program assemble(detail::linked_function const& f);
  /// Has the entry of a key dropped when one of its definitions is replaced: at once, if one was since.
  void watch(
      detail::linked_function const& f, std::weak_ptr<artifact const> made,
      compilation_cache::dropper drop) const;
  /// Tells libraries apart.
  std::uint64_t number() const;

private:
  void add(std::string_view text, bool may_replace);

  class state;
  std::shared_ptr<state> state_;
};

} // namespace OVERDUB_EXECUTE_ABI
} // namespace overdub

#if OVERDUB_HEADER_ONLY
#include <overdub/compile/library.ipp>
#endif
