// Fuses loops of the forward pass with adjoint loops. Where an iteration of the adjoint loop reads values of the same
// iteration of the primal loop only, and nothing computed after that loop, both become one loop, and the values stay in
// registers. The fused loop iterates in the primal direction, so that contributions to one element are added in that order.
//
// Adjoints fail only where the primal code does, so that the order of errors is preserved.
#pragma once

#include <overdub/implementation/reverse/captures.hpp>
#include <overdub/implementation/reverse/prepare.hpp>
#include <overdub/ir/builder.hpp>
#include <overdub/ir/effects.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace overdub::adjoint {

class loop_fuser {
public:
  loop_fuser(ir::program& p, function_id f) : p_(p), of_(f), at_(p, f, function::body), effects_(p) {}

  /// Returns the number of fused loops. O(operations × loops fused).
  std::size_t run() {
    std::size_t fused = 0;
    std::vector<region_id> open{region_id(function::body)};
    while (!open.empty()) {
      region_id const r = open.back();
      open.pop_back();
      fused += join_in(r);
      for (node_id const n : f().nodes_of(r))
        for (region_id const inner : f().regions_of(n)) open.push_back(inner);
    }
    return fused;
  }

private:
  // A primal loop; the accumulate, later in the same region, that contains the adjoint loop; and the adjoint loop.
  struct candidate {
    node_id loop, accumulate, adjoint;
  };

  function const& f() const { return *at_; }
  ir::builder build() { return ir::builder(at_); }
  ir::region_flow flow(node_id n) const { return {f(), n}; }
  bool is_stacked(value_id result) const { return flow(f().node_of(result)).is_stacked(f()[result].index); }

  std::size_t join_in(region_id r) {
    std::size_t fused = 0;
    while (auto const found = find_in(r)) {
      fuse(*found);
      ++fused;
    }
    return fused;
  }
  std::optional<candidate> find_in(region_id r) {
    position_.assign(f().node_count(), 0);
    std::vector<node_id> loops;
    std::uint32_t next = 0;
    for (node_id const n : f().nodes_of(r)) {
      position_[index_of(n)] = ++next;
      if (ir::is_counted(f()[n].code)) loops.push_back(n);
      if (!ir::has_accumulators(f()[n].code)) continue;
      for (node_id const adjoint : f().nodes_of(flow(n).body())) {
        if (!ir::is_counted(f()[adjoint].code) || f()[adjoint].result_count > 0) continue;
        // The nearest candidate is its primal loop, or one whose adjoint is not needed.
        int left = maximum_tried;
        for (auto loop = loops.rbegin(); loop != loops.rend() && left > 0; ++loop) {
          if (f().operand(*loop, 0) != f().operand(adjoint, 0)) continue;
          --left;
          if (candidate const found{*loop, n, adjoint}; can_join(found)) return found;
        }
      }
    }
    return {};
  }

  bool can_join(candidate const& p) {
    if (f()[p.loop].attributes.is_reversed() || !is_profitable(p) || !reads_same_iteration(p)) return false;
    for (node_id n = p.loop; n != p.accumulate; n = f()[n].next)
      if (!effects_of(n).can_merge()) return false;
    return effects_of(p.accumulate).without(effect::accumulates).can_merge() && find_needed(p);
  }
  // Loops with straight-line bodies are vectorised; fusion could prevent that.
  bool is_profitable(candidate const& p) const {
    return flow(p.loop).carried() > 0 || has_loops(p.loop) || has_loops(p.adjoint);
  }
  bool has_loops(node_id n) const {
    bool found = false;
    ir::walk(f(), flow(n).body(), [&](node_id m) { found = found || ir::is_counted(f()[m].code); });
    return found;
  }
  // Cached by operation: fusion inserts new operations, and changes no effects of others.
  ir::effect_set effects_of(node_id n) {
    if (effects_known_.size() < f().node_count()) effects_known_.resize(f().node_count());
    auto& known = effects_known_[index_of(n)];
    if (!known) known = effects_.of(f(), n);
    return *known;
  }
  // Whether the accumulate reads the results of the loop only as elements at the iteration's own index.
  bool reads_same_iteration(candidate const& p) const {
    region_id const inside = flow(p.accumulate).body(), iteration = flow(p.adjoint).body();
    for (value_id const v : f().results_of(p.loop))
      for (ir::use_id const u : f().uses_of(v)) {
        node_id const user = f()[u].user;
        if (user == p.accumulate) return false;
        if (!ir::is_within(f(), user, inside)) continue;
        if (f()[user].code != op::at || f().operand(user, 0) != v || !is_stacked(v)) return false;
        if (f().operand(user, 1) != f().argument(iteration, 0)) return false;
      }
    return true;
  }
  // Finds the operations between the two that the accumulate depends on, in order. Returns false if one of them cannot be
  // moved before the loop.
  bool find_needed(candidate const& p) {
    needed_.clear();
    known_.resize(f().node_count());
    std::vector<node_id> open{p.accumulate};
    ++stamp_;
    while (!open.empty()) {
      node_id const user = open.back();
      open.pop_back();
      auto const look = [&](value_id v) {
        if (!f().is_result(v)) return true;
        node_id const n = f().node_of(v);
        if (position_[index_of(n)] < position_[index_of(p.loop)] || known_[index_of(n)] == stamp_)
          return true;
        if (n == p.loop) return user == p.accumulate; // which reads the same iteration only
        if (!effects_of(n).is_pure() && !is_filled_as_before(n, p.loop)) return false;
        known_[index_of(n)] = stamp_;
        open.push_back(n);
        needed_.push_back(n);
        return true;
      };
      for (value_id const v : f().operands_of(user))
        if (!look(v)) return false;
      if (f()[user].region_count == 0) continue;
      for (value_id const v : ir::captures_of(f(), user))
        if (!look(v)) return false;
    }
    std::sort(needed_.begin(), needed_.end(), [&](node_id a, node_id b) {
      return position_[index_of(a)] < position_[index_of(b)];
    });
    return true;
  }

  // Whether an operation fills an array of a size that the loop, or an operation before it, uses as a size already, so that
  // it cannot fail.
  bool is_filled_as_before(node_id n, node_id loop) const {
    if (f()[n].code != op::fill) return false;
    for (ir::use_id const u : f().uses_of(f().operand(n, 0))) {
      node_id const other = f()[u].user;
      bool const is_size =
          ir::is_map(f()[other].code) || f()[other].code == op::fill || f()[other].code == op::iota;
      if (is_size && f()[other].parent == f()[loop].parent && index_of(u) == f()[other].first_operand &&
          position_[index_of(other)] <= position_[index_of(loop)])
        return true;
    }
    return false;
  }

  void fuse(candidate const& p) {
    p_.notes.push_back(
        {std::string(1, '@').append(p_.name_of(of_)) + ": " + std::string(ir::name_of(f()[p.loop].code)) +
             " is fused with its adjoint: each backward iteration reads values of the same forward iteration "
             "alone",
         f()[p.loop].place});
    at_.to_before(p.loop);
    for (node_id const n : needed_) at_.move(n);
    std::vector<value_id> const still_used = used_outside(p);
    auto const outer =
        build().accumulate(copy_of(f().operands_of(p.accumulate)), [&](auto const& accumulators) {
          std::vector<value_id> yielded = at_.splice(flow(p.accumulate).body(), accumulators);
          at_.to_before(p.adjoint);
          std::vector<value_id> const both = fuse_bodies(p, still_used);
          at_.erase(p.adjoint);
          yielded.insert(yielded.end(), both.begin(), both.end());
          return yielded;
        });
    std::vector<value_id> replaced = copy_of(f().results_of(p.accumulate));
    replaced.insert(replaced.end(), still_used.begin(), still_used.end());
    for (std::size_t k = 0; k < replaced.size(); ++k) at_.substitute(replaced[k], outer.results[k]);
    at_.erase(p.accumulate);
    at_.erase(p.loop);
  }
  // Inserts a loop with both bodies. Returns its results, which replace those that are still used.
  std::vector<value_id> fuse_bodies(candidate const& p, std::vector<value_id> const& still_used) {
    region_id const body = flow(p.loop).body();
    std::vector<ir::type> arguments;
    for (value_id const v : f().arguments_of(body)) arguments.push_back(f().type_of(v));
    ir::attributes const says = f()[p.loop].attributes;
    node_id const both = build().open(f()[p.loop].code, copy_of(f().operands_of(p.loop)), 1, arguments, says);
    build().in_region(both, 0, [&] {
      region_id const iteration = at_.region();
      std::vector<value_id> const made = at_.splice(body, copy_of(f().arguments_of(iteration)));
      value_id const index = f().argument(iteration, 0);
      (void)at_.splice(flow(p.adjoint).body(), ir::cursor::values(&index, 1));
      for (std::size_t k = 0; k < made.size(); ++k) {
        value_id const stacked = f().result(p.loop, static_cast<std::uint32_t>(k));
        for (node_id const read : readers_within(stacked, iteration)) use_value(read, made[k]);
      }
      std::vector<value_id> returned;
      for (value_id const v : still_used) returned.push_back(made[f()[v].index]);
      return returned;
    });
    return build().close(both).results;
  }
  // The final loop-carried values, and the stacked results that something outside of the accumulate uses.
  std::vector<value_id> used_outside(candidate const& p) const {
    std::vector<value_id> all;
    for (value_id const v : f().results_of(p.loop)) {
      bool used = !is_stacked(v);
      for (ir::use_id const u : f().uses_of(v))
        used = used || !ir::is_within(f(), f()[u].user, flow(p.accumulate).body());
      if (used) all.push_back(v);
    }
    return all;
  }
  std::vector<node_id> readers_within(value_id v, region_id r) const {
    std::vector<node_id> all;
    for (ir::use_id const u : f().uses_of(v))
      if (ir::is_within(f(), f()[u].user, r)) all.push_back(f()[u].user);
    return all;
  }
  // Replaces the read of an element by the value that the iteration computes.
  void use_value(node_id read, value_id element) {
    if (f()[read].operand_count == 2) return at_.replace(read, ir::cursor::values(&element, 1));
    std::vector<value_id> operands{element};
    for (std::uint32_t k = 2; k < f()[read].operand_count; ++k) operands.push_back(f().operand(read, k));
    at_.set_operands(read, operands);
  }
  template <class Values>
  static std::vector<value_id> copy_of(Values const& all) {
    return {all.begin(), all.end()};
  }

  ir::program& p_;
  function_id of_;
  ir::cursor at_;
  ir::effects effects_;
  static constexpr int maximum_tried = 4; // primal loops that are tried for an adjoint loop
  std::vector<std::optional<ir::effect_set>> effects_known_; // for each operation
  std::vector<std::uint32_t> known_;                         // for each operation: the search that found it
  std::uint32_t stamp_ = 0;
  std::vector<std::uint32_t> position_; // positions in the current region, from 1
  std::vector<node_id> needed_;
};

/// Fuses loops in functions from this index on, after dead-code elimination. Returns how many.
inline std::size_t fuse_loops(ir::program& p, std::uint32_t first) {
  tidy(p);
  std::size_t fused = 0;
  for (std::uint32_t i = first; i < p.functions.size(); ++i)
    if (!p.is_erased(function_id{i})) fused += loop_fuser(p, function_id{i}).run();
  return fused;
}

} // namespace overdub::adjoint
