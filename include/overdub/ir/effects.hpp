// Side effects of operations and functions: their own, those of their regions, and those of their callees.
#pragma once

#include <overdub/core/effect.hpp>
#include <overdub/core/library.hpp>
#include <overdub/ir/bounds.hpp>
#include <overdub/ir/calls.hpp>
#include <overdub/ir/program.hpp>
#include <overdub/ir/walk.hpp>

#include <cstdint>
#include <vector>

namespace overdub::ir {

/// A set of effects (core/effect.hpp). Without effects, an operation is pure: it can be erased, repeated and moved. An
/// operation with effects may also fail: a host function that is declared `ordered`, or that reads, may throw.
class effect_set {
public:
  constexpr effect_set() = default;
  constexpr effect_set(effect e) : effect_set(e == effect::pure ? 0u : bit(e)) {}

  constexpr effect_set operator|(effect_set other) const { return effect_set(bits_ | other.bits_); }
  constexpr effect_set& operator|=(effect_set other) { return *this = *this | other; }
  constexpr effect_set without(effect e) const { return effect_set(bits_ & ~bit(e)); }
  constexpr bool operator==(effect_set const&) const = default;

  constexpr bool is_pure() const { return bits_ == 0; }
  /// Whether the set contains this effect.
  constexpr bool has(effect e) const { return (bits_ & bit(e)) != 0; }
  /// Whether an operation may be erased if its results are unused. A failure counts as a use of the result, except failures
  /// of a function that only reads its context.
  constexpr bool can_drop() const { return (bits_ & ~bit(effect::reads_context)) == 0; }
  /// Whether the later of two operations with equal operands may be replaced by the dominating one: both fail, or both
  /// return the same. After a read, the value may have changed.
  constexpr bool can_merge() const { return (bits_ & ~bit(effect::may_fail)) == 0; }
  /// Whether an operation may be reordered with independent ones, and executed speculatively.
  constexpr bool can_move() const { return bits_ == 0; }

private:
  explicit constexpr effect_set(unsigned bits) : bits_(static_cast<std::uint8_t>(bits)) {}
  static constexpr unsigned bit(effect e) { return 1u << static_cast<unsigned>(e); }
  std::uint8_t bits_ = 0;
};

/// Whether an operation only observes values, as hooks of contexts do, and returns nothing.
inline bool is_observer(function const& f, node_id n) {
  return f[n].code == op::host && f[n].result_count == 0 && f[n].attributes.effects == effect::ordered;
}

/// The effects of a valid program's functions and operations. They remain valid while passes add no effects to functions.
/// Reading is thread-safe.
///
/// An operation has the effects of its row in the table, of its regions and of its callee. More precisely than in the
/// table: floating-point division, the length of one array, and a reduction of one array from an initial value do not fail
/// by themselves; arrays of arrays, and loops that stack them, may fail, since rows may differ in shape. A recursive
/// function may fail by stack overflow. Adding to an accumulator is an effect inside of its `accumulate` only; a wrong
/// index may fail beyond. Applying a function value may have any effect.
class effects {
public:
  /// O(operations): bottom-up over strongly connected components of the call graph.
  explicit effects(program const& p);

  effect_set of(function_id f) const { return of_[index_of(f)]; }
  /// Gives an added function the effects of another.
  void add(function_id made, function_id like);

  /// The effects of an operation, with regions and callees. O(operations in its regions).
  effect_set of(function const& f, node_id n) const;
  /// The effects of every operation of a function, by index; pure for erased ones. O(operations, and the distance of each
  /// add_to from its accumulate).
  std::vector<effect_set> of_each(function const& f) const;
  /// The effects of all operations in a region. O(operations).
  effect_set in_region(function const& f, region_id r) const { return inside(f, r, nothing); }

private:
  // The effects of an operation without its regions; of add_to, without the addition.
  effect_set own(function const& f, node_id n) const;
  // Only integer division fails.
  static effect_set of_combining(op code, type t) {
    return code == op::div && t.is_floating() ? effect::pure : row_of(code).effects;
  }
  // Whether a loop stacks arrays, which may differ in shape.
  static bool stacks_arrays(function const& f, node_id n);
  // The effects of a region of operation `owner`, whose own accumulators do not count; nothing: of the region by itself.
  effect_set inside(function const& f, region_id r, node_id owner) const;
  static bool adds_outside(function const& f, node_id n, region_id r, node_id owner);

  std::vector<effect_set> of_;
};

} // namespace overdub::ir
