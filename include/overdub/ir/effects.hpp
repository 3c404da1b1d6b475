// What operations and functions do besides giving results: their own effect, that of their regions, and of their callees.
#pragma once

#include <overdub/call/effect.hpp>
#include <overdub/ir/program.hpp>

#include <cstdint>
#include <vector>

namespace overdub::ir {

/// Several effects. What has none is pure: it can be dropped, repeated and moved.
class effect_set {
public:
  constexpr effect_set() = default;
  constexpr effect_set(effect e) : effect_set(e == effect::pure ? 0u : bit(e)) {}

  constexpr effect_set operator|(effect_set other) const { return effect_set(bits_ | other.bits_); }
  constexpr effect_set& operator|=(effect_set other) { return *this = *this | other; }
  constexpr effect_set without(effect e) const { return effect_set(bits_ & ~bit(e)); }
  constexpr bool operator==(effect_set const&) const = default;

  constexpr bool is_pure() const { return bits_ == 0; }
  constexpr bool has(effect e) const { return (bits_ & bit(e)) != 0; }
  /// Whether it may be dropped when its results are not used: nothing but reading.
  constexpr bool can_drop() const { return (bits_ & ~bit(effect::reads_context)) == 0; }
  /// Whether equal operands give equal results, wherever it stands.
  constexpr bool can_merge() const { return (bits_ & ~bit(effect::may_fail)) == 0; }
  /// Whether it may change places with any other operation that it does not depend on.
  constexpr bool can_move() const { return bits_ == 0; }

private:
  explicit constexpr effect_set(unsigned bits) : bits_(static_cast<std::uint8_t>(bits)) {}
  static constexpr unsigned bit(effect e) { return 1u << static_cast<unsigned>(e); }
  std::uint8_t bits_ = 0;
};

/// The effects of a program's functions, and of its operations. Valid as long as functions keep their effects. A function
/// that may call itself may fail: the stack has an end.
class effects {
public:
  /// O(functions × nodes) at worst; O(nodes) where functions stand behind their callees.
  explicit effects(program const& p) : of_(p.functions.size()) {
    for (std::uint32_t i = 0; i < of_.size(); ++i)
      if (calls_itself(p, function_id{i})) of_[i] = effect::may_fail;
    for (bool changed = true; changed;) {
      changed = false;
      for (std::uint32_t i = 0; i < of_.size(); ++i) {
        effect_set const found = of_[i] | in_region(p.functions[i], function::body);
        if (found == of_[i]) continue;
        of_[i] = found;
        changed = true;
      }
    }
  }

  effect_set of(function_id f) const { return of_[index_of(f)]; }

  /// Of an operation, with its regions and callees. O(operations in its regions).
  effect_set of(function const& f, node_id n) const {
    function::node const& node = f[n];
    switch (node.code) {
    case op::call:
      return of(node.attributes.callee());
    case op::host:
      return node.attributes.effects;
    case op::div: // of floating-point numbers
      return f.type_of(f.result(n)).is_floating() ? effect_set() : effect_set(effect::may_fail);
    case op::reduce: {
      effect_set own =
          node.attributes.is_started() && node.operand_count == 2 ? effect::pure : effect::may_fail;
      for (region_id const r : f.regions_of(n)) own |= in_region(f, r);
      return own;
    }
    case op::accumulate:
      return in_region(f, f.region_at(n, 0)).without(effect::accumulates);
    default: {
      effect_set own = row_of(node.code).effects;
      for (region_id const r : f.regions_of(n)) own |= in_region(f, r);
      return own;
    }
    }
  }
  effect_set in_region(function const& f, region_id r) const {
    effect_set all;
    for (node_id const n : f.nodes_of(r)) all |= of(f, n);
    return all;
  }

private:
  static bool calls_itself(program const& p, function_id start) {
    std::vector<bool> seen(p.functions.size());
    std::vector<function_id> open{start};
    while (!open.empty()) {
      function const& f = p[open.back()];
      open.pop_back();
      for (std::uint32_t i = 0; i < f.node_count(); ++i) {
        function::node const& node = f[node_id{i}];
        if (node.parent == nothing || (node.code != op::call && node.code != op::closure)) continue;
        function_id const callee = node.attributes.callee();
        if (callee == start) return true;
        if (seen[index_of(callee)]) continue;
        seen[index_of(callee)] = true;
        open.push_back(callee);
      }
    }
    return false;
  }

  std::vector<effect_set> of_;
};

} // namespace overdub::ir
