// Splitting a function out of another.
#pragma once

#include <overdub/ir/cursor.hpp>

#include <tsl/robin_map.h>
#include <tsl/robin_set.h>

namespace overdub::ir {

inline node_id cursor::split(node_id first, node_id last, std::string_view name) {
  struct hash {
    std::size_t operator()(value_id v) const { return index_of(v) * std::size_t{0x9e3779b97f4a7c15}; }
  };
  tsl::robin_set<value_id, hash> inside;
  std::vector<value_id> captured;
  std::vector<type> parameters;
  std::vector<node_id> moved;
  {
    function const& f = here();
    for (node_id n = first;; n = f[n].next) {
      moved.push_back(n);
      if (n == last) break;
    }
    tsl::robin_set<value_id, hash> seen;
    auto look = [&](auto& self, node_id n) -> void {
      for (value_id const v : f.operands_of(n))
        if (!f.is_literal(v) && !inside.contains(v) && seen.insert(v).second) {
          captured.push_back(v);
          parameters.push_back(f.type_of(v));
        }
      for (value_id const v : f.results_of(n)) inside.insert(v);
      for (region_id const r : f.regions_of(n)) {
        for (value_id const v : f.arguments_of(r)) inside.insert(v);
        for (node_id const m : f.nodes_of(r)) self(self, m);
      }
    };
    for (node_id const n : moved) look(look, n);
  }
  std::vector<value_id> outputs;
  for (node_id const n : moved)
    for (value_id const v : here().results_of(n))
      for (use_id const u : here().uses_of(v)) {
        bool within = false;
        for (node_id const m : moved) within = within || is_within(here()[u].user, m);
        if (within) continue;
        outputs.push_back(v);
        break;
      }

  function_id const made = program_->add(name, parameters);
  cursor into(*program_, made, function::body);
  tsl::robin_map<value_id, value_id, hash> map;
  for (std::uint32_t i = 0; i < captured.size(); ++i)
    map.emplace(captured[i], into->argument(function::body, i));
  for (node_id const n : moved) into.clone(id_, n, map);
  std::vector<value_id> yielded;
  std::vector<type> results;
  for (value_id const v : outputs) {
    yielded.push_back(map.at(v));
    results.push_back(here().type_of(v));
  }
  into.yield(yielded);
  (*program_)[made].results = results;

  to_before(first);
  node_id const call = insert(op::call, captured, results, attributes::of(made));
  for (std::uint32_t i = 0; i < outputs.size(); ++i) substitute(outputs[i], here().result(call, i));
  for (std::size_t i = moved.size(); i-- > 0;) erase(moved[i]);
  return call;
}

} // namespace overdub::ir
