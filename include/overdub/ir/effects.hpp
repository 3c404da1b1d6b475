// What operations and functions do besides giving results: their own effect, that of their regions, and of their callees.
#pragma once

#include <overdub/call/effect.hpp>
#include <overdub/header_only.hpp>
#include <overdub/ir/bounds.hpp>
#include <overdub/ir/calls.hpp>
#include <overdub/ir/program.hpp>
#include <overdub/ir/walk.hpp>

#include <cstdint>
#include <vector>

namespace overdub::ir {

/// Several effects (call/effect.hpp). What has none is pure: it can be dropped, repeated and moved. Whatever has any may
/// also fail: a host function that is declared `ordered` may throw, and so may one that reads.
class effect_set {
public:
  constexpr effect_set() = default;
  constexpr effect_set(effect e) : effect_set(e == effect::pure ? 0u : bit(e)) {}

  constexpr effect_set operator|(effect_set other) const { return effect_set(bits_ | other.bits_); }
  constexpr effect_set& operator|=(effect_set other) { return *this = *this | other; }
  constexpr effect_set without(effect e) const { return effect_set(bits_ & ~bit(e)); }
  constexpr bool operator==(effect_set const&) const = default;

  constexpr bool is_pure() const { return bits_ == 0; }
  /// Whether this very effect is among them.
  constexpr bool has(effect e) const { return (bits_ & bit(e)) != 0; }
  /// Whether it may be dropped when its results are not used. A failure is a result that is always used; only what a
  /// function would have thrown while it reads its context is not missed.
  constexpr bool can_drop() const { return (bits_ & ~bit(effect::reads_context)) == 0; }
  /// Whether of two with equal operands, one dominating the other, the latter may be dropped for the former: both fail, or
  /// both give the same. What reads may read something else in between.
  constexpr bool can_merge() const { return (bits_ & ~bit(effect::may_fail)) == 0; }
  /// Whether it may change places with any other operation that it does not depend on, and be computed where it would not
  /// have been.
  constexpr bool can_move() const { return bits_ == 0; }

private:
  explicit constexpr effect_set(unsigned bits) : bits_(static_cast<std::uint8_t>(bits)) {}
  static constexpr unsigned bit(effect e) { return 1u << static_cast<unsigned>(e); }
  std::uint8_t bits_ = 0;
};

/// Whether an operation only tells somebody of the values that it takes, as hooks of contexts do: it gives nothing.
inline bool is_observer(function const& f, node_id n) {
  return f[n].code == op::host && f[n].result_count == 0 && f[n].attributes.effects == effect::ordered;
}

/// The effects of a valid program's functions, and of its operations. They stay right while functions keep their effects,
/// which passes do not add to. Reading is thread-safe.
///
/// An operation does what its row of the table says, what its regions do, and what its callee does. Better than the table:
/// division of floating-point numbers, the length of one array, and a reduction of one array from an initial value do not
/// fail by themselves; arrays of arrays, and loops that stack them, may, since rows may have different shapes. A function
/// that may call itself may fail: the stack has an end. Adding to an accumulator is an effect up to the `accumulate` that
/// it belongs to; its index may fail beyond. Applying a function value is anything.
class effects {
public:
  /// O(operations): callees come first, and functions that call one another are looked at together.
  explicit effects(program const& p);

  effect_set of(function_id f) const { return of_[index_of(f)]; }
  /// A function that was added does what another one does.
  void add(function_id made, function_id like);

  /// Of an operation, with its regions and callees. O(operations in its regions).
  effect_set of(function const& f, node_id n) const;
  /// Of every operation of a function, by number; pure for erased ones. O(operations, and how far each add_to stands below
  /// its accumulator).
  std::vector<effect_set> of_each(function const& f) const;
  /// Of all operations in a region. O(operations).
  effect_set in_region(function const& f, region_id r) const { return inside(f, r, nothing); }

private:
  // Of an operation without its regions; of add_to, without adding.
  effect_set own(function const& f, node_id n) const;
  // Division fails on integers only.
  static effect_set of_combining(op code, type t) {
    return code == op::div && t.is_floating() ? effect::pure : row_of(code).effects;
  }
  // Whether outputs of a loop are arrays, which may have different shapes.
  static bool stacks_arrays(function const& f, node_id n, std::uint32_t carried);
  // Of a region: one of operation `owner`, whose own accumulators do not count; nothing: by itself.
  effect_set inside(function const& f, region_id r, node_id owner) const;
  static bool adds_outside(function const& f, node_id n, region_id r, node_id owner);

  std::vector<effect_set> of_;
};

} // namespace overdub::ir

#if OVERDUB_HEADER_ONLY
#include <overdub/ir/effects.ipp>
#endif
