// Reorders the operations of a program without an observable difference.
#pragma once

#include "pass/random_program.hpp"

#include <overdub/ir/effects.hpp>

#include <algorithm>
#include <vector>

namespace random_program {

/// Shuffles the operations of each region. Pure operations move anywhere between their definitions and uses; operations
/// that may fail or read stay between the same ordered effects. Random choices, additions to accumulators, and unused
/// operations keep their order.
class shuffle {
public:
  shuffle(program& p, std::uint64_t seed) : random_(seed), effects_(p) {
    for (std::uint32_t i = 0; i < p.functions.size(); ++i) {
      if (p.is_erased(function_id{i})) continue;
      cursor c(p, function_id{i});
      each_ = effects_.of_each(*c);
      region(c, function::body);
    }
  }

private:
  void region(cursor& c, region_id r) {
    std::vector<node_id> nodes;
    for (node_id const n : c->nodes_of(r)) nodes.push_back(n);
    for (node_id const n : nodes)
      for (region_id const inner : c->regions_of(n)) region(c, inner);
    if (nodes.empty()) return;
    nodes.pop_back(); // its yield

    // waits[i]: the operations that nodes[i] must follow.
    std::vector<std::vector<std::size_t>> waits(nodes.size());
    std::size_t last_ordered = nodes.size(), last_adding = nodes.size(), last_unused = nodes.size(),
                last_choosing = nodes.size();
    std::vector<std::size_t> bound; // since the last ordered effect
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      auto wait = [&](std::size_t k) {
        if (k < nodes.size()) waits[i].push_back(k);
      };
      for (std::size_t k = 0; k < i; ++k)
        if (uses(*c, nodes[i], nodes[k])) wait(k);
      overdub::ir::effect_set const e = each_[index_of(nodes[i])];
      if (e.is_pure()) continue;
      wait(last_ordered);
      if (e.has(effect::ordered)) {
        for (std::size_t const k : bound) wait(k);
        bound.clear();
        last_ordered = i;
        continue;
      }
      bound.push_back(i);
      if (e.has(effect::accumulates)) wait(std::exchange(last_adding, i));
      if (e.has(effect::addressed)) wait(std::exchange(last_choosing, i));
      bool used = false;
      for (value_id const v : c->results_of(nodes[i])) used = used || c->is_used(v);
      if (!used) wait(std::exchange(last_unused, i));
    }
    std::vector<bool> placed(nodes.size());
    c.to_yield(r);
    for (std::size_t done = 0; done < nodes.size(); ++done) {
      std::vector<std::size_t> ready;
      for (std::size_t i = 0; i < nodes.size(); ++i)
        if (!placed[i] &&
            std::all_of(waits[i].begin(), waits[i].end(), [&](std::size_t k) { return placed[k]; }))
          ready.push_back(i);
      std::size_t const chosen = ready[random_.below(ready.size())];
      placed[chosen] = true;
      c.move(nodes[chosen]);
    }
  }
  // Whether n, or something in its regions, uses a result of m.
  static bool uses(function const& f, node_id n, node_id m) {
    for (value_id const v : f.operands_of(n))
      if (f.is_result(v) && f.node_of(v) == m) return true;
    for (region_id const r : f.regions_of(n))
      for (node_id const inner : f.nodes_of(r))
        if (uses(f, inner, m)) return true;
    return false;
  }

  random_numbers random_;
  overdub::ir::effects effects_;
  std::vector<overdub::ir::effect_set> each_;
};

} // namespace random_program
