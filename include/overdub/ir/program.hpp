// A program: functions, and the texts, types and source locations that they share. A regular value: copied, compared,
// printed (print.hpp) and parsed back (parse.hpp).
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/ir/function.hpp>
#include <overdub/ir/math_mode.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace overdub::ir {
namespace detail {
class table_check; // of the verifier
struct program_tables;
} // namespace detail

/// The parameters and results of a function value, and its calling convention.
struct signature {
  convention calls = convention::direct;
  std::vector<type> parameters;
  std::vector<type> results;
  bool operator==(signature const&) const = default;
};

/// A source location. Merged operations keep all of theirs, in a list.
struct place {
  symbol file = nothing;
  std::uint32_t line = 0;   // from 1
  std::uint32_t column = 0; // from 1; 0: not known
  place_id next = nothing;
};

/// A remark for the user, not an error.
struct note {
  std::string text;
  place_id at = nothing;
};

/// A native function that `host` operations call by name. `run` accepts the addresses of the arguments and of the results, which
/// are C++ objects: bool, std::int64_t, float, double, or overdub::array of them. The results are constructed before the call;
/// `run` assigns them.
struct host_binding {
  symbol name = nothing;
  void (*run)(void* object, void const* const* arguments, void* const* results) = nullptr;
  void* object = nullptr; // the receiver of the function, which must outlive runs of the program
  // If it is set, the receiver is this context of the calling run, counted from the outermost: each call supplies its own.
  static constexpr std::uint32_t no_context = ~std::uint32_t{0};
  std::uint32_t context = no_context;
  void const* origin_in_cpp = nullptr; // the key of the C++ type that it was staged from, if any
  bool is_hook = false; // a context's hook, which observes calls of the program and returns nothing
};

/// A program. Ids of functions, symbols and locations are valid in the program that created them. Reading is thread-safe,
/// editing is not.
class program {
public:
  std::vector<function> functions;
  function_id entry = nothing; // the function that `evaluate` runs
  math_mode math = math_mode::exact;
  std::vector<note> notes;         // equality ignores them
  std::vector<host_binding> hosts; // the bound native functions; equality and the text ignore them

  program();
  program(program const& other);
  program(program&& other) noexcept;
  program& operator=(program const& other);
  program& operator=(program&& other) noexcept;
  ~program();

  function& operator[](function_id f) { return functions[index_of(f)]; }
  function const& operator[](function_id f) const { return functions[index_of(f)]; }

  /// Adds a function whose body is still empty. O(parameters).
  function_id add(std::string_view name, std::span<type const> parameters);
  /// Erases a function without callers; its id is not reused.
  void erase(function_id f);
  bool is_erased(function_id f) const { return (*this)[f].name == nothing; }

  /// The native function of this name, if it is bound. O(native functions).
  host_binding const* host(symbol name) const {
    for (host_binding const& h : hosts)
      if (h.name == name) return &h;
    return nullptr;
  }
  /// The function of this name. O(functions).
  std::optional<function_id> find(std::string_view name) const;
  std::string_view name_of(function_id f) const { return text((*this)[f].name); }

  /// Interns a text. O(its length).
  symbol intern(std::string_view text);
  std::optional<symbol> find_symbol(std::string_view text) const;
  std::string_view text(symbol s) const { return texts_[index_of(s)]; }

  /// The type of function values of this signature. O(its length).
  type function_type(signature const& s);
  signature const& signature_of(type t) const { return signatures_[t.index]; }
  /// The type of host objects of this name.
  type opaque_type(std::string_view name);
  symbol opaque_symbol(type t) const { return opaque_[t.index]; }
  std::string_view opaque_name(type t) const { return text(opaque_symbol(t)); }

  /// `next`: the other locations of the same list.
  place_id
  add_place(std::string_view file, std::uint32_t line, std::uint32_t column = 0, place_id next = nothing);
  /// The union of two lists. O(locations of a × locations of b).
  place_id join(place_id a, place_id b);
  place const& operator[](place_id p) const { return places_[index_of(p)]; }

  /// The sizes of the program's tables: texts, function types, opaque types and locations.
  std::size_t symbol_count() const { return texts_.size(); }
  std::size_t signature_count() const { return signatures_.size(); }
  std::size_t opaque_count() const { return opaque_.size(); }
  std::size_t place_count() const { return places_.size(); }

private:
  friend class detail::table_check;
  friend struct corruptor; // of tests, which break invariants to test the verifier

  std::vector<std::string> texts_;
  std::vector<signature> signatures_;
  std::vector<symbol> opaque_;
  std::vector<place> places_;
  overdub::detail::indirect<detail::program_tables>
      tables_; // the numbers of texts, signatures and opaque types
};

/// Whether two valid programs have equal functions, operations, operands and types in the same order. Ignores ids, names of
/// values, locations and notes. O(size of both).
bool operator==(program const& a, program const& b);

} // namespace overdub::ir
