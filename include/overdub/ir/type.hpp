// The types of values in programs: scalars, arrays of them of any rank, functions, opaque objects and random keys.
#pragma once

#include <overdub/core/error.hpp>
#include <overdub/core/requirements.hpp>

#include <cstdint>

namespace overdub::ir {

enum class scalar : std::uint8_t {
  none, // the null type: not inferred, or invalid
  boolean,
  i64,
  f32,
  f64,
  key,     // a key of a random generator
  opaque,  // a host object
  function // a function value
};

/// The largest rank of an array.
inline constexpr int max_rank = 127;

namespace detail {
[[noreturn, gnu::cold]] inline void throw_rank() {
  throw rejected_program(message("overdub: an array has at most %d axes", max_rank));
}
} // namespace detail

/// A type, in 32 bits. Shapes are dynamic, ranks static: f64[][] is a rectangular array of rank 2, indexed by its leading
/// axis first. `index` is the index of the signature, or of the name of an opaque type, in the program's table; 0 for other
/// types.
struct type {
  scalar element = scalar::none;
  std::uint8_t rank : 7 = 0;
  bool is_accumulator : 1 = false; // a write-only array, to which `add_to` adds, as in Futhark
  std::uint16_t index = 0;

  friend constexpr bool operator==(type const&, type const&) = default;

  constexpr bool is_scalar() const { return rank == 0 && !is_accumulator; }
  constexpr bool is_array() const { return rank > 0 && !is_accumulator; }
  constexpr bool is_number() const {
    return is_scalar() && (element == scalar::i64 || element == scalar::f32 || element == scalar::f64);
  }
  constexpr bool is_floating() const {
    return is_scalar() && (element == scalar::f32 || element == scalar::f64);
  }
  constexpr bool is_function() const { return is_scalar() && element == scalar::function; }
  /// Whether values of the type have literals.
  constexpr bool is_literal() const { return is_number() || (is_scalar() && element == scalar::boolean); }
  constexpr explicit operator bool() const { return element != scalar::none; }

  /// The type of an array of values of this type, one rank higher. Throws rejected_program at max_rank.
  constexpr type array_of() const {
    if (rank == max_rank) detail::throw_rank();
    type t = *this;
    ++t.rank;
    return t;
  }
  /// The type of an element along the leading axis, one rank lower. Requires rank > 0.
  constexpr type element_type() const {
    type t = *this;
    --t.rank;
    return t;
  }
  constexpr type accumulator() const {
    type t = *this;
    t.is_accumulator = true;
    return t;
  }
  /// The array type of an accumulator's result.
  constexpr type accumulated() const {
    type t = *this;
    t.is_accumulator = false;
    return t;
  }
};
static_assert(sizeof(type) == 4);

inline constexpr type boolean{scalar::boolean};
inline constexpr type i64{scalar::i64};
inline constexpr type f32{scalar::f32};
inline constexpr type f64{scalar::f64};
inline constexpr type key{scalar::key};

/// How a function value is called. The operation `reabstract` converts between conventions.
enum class convention : std::uint8_t {
  direct,   // scalars in registers
  indirect, // by address
  boxed     // type erased
};

} // namespace overdub::ir
