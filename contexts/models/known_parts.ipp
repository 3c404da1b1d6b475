#pragma once

#include <overdub/contexts/models/known_parts.hpp>
#include <overdub/ir/cursor.hpp>
#include <overdub/ir/value_map.hpp>
#include <overdub/ir/walk.hpp>
#include <overdub/pass/pipeline.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

namespace overdub::models {
namespace detail {

class knowledge_splitter {
public:
  knowledge_splitter(ir::program& p, std::vector<bool> const& known) : p_(p), parameters_(known) {}

  parts_by_knowledge run() {
    split_maps();
    find_known();
    std::vector<ir::value_id> const given = known_results();
    parts_by_knowledge parts{p_, p_};
    write_once(parts.once, given);
    write_each(parts.each, given);
    pass::default_pipeline(parts.once);
    pass::default_pipeline(parts.each);
    return parts;
  }

private:
  static constexpr std::uint32_t worth_an_array = 8; // in additions: divisions and functions of libm are

  ir::function const& f() const { return p_[p_.entry]; }

  // Whether an operation uses, also in its regions, only what is known, or is made inside of it.
  bool uses_known(ir::node_id n) const {
    bool all = true;
    auto const look = [&](ir::node_id m) {
      for (ir::value_id const v : f().operands_of(m))
        all = all && (f().is_literal(v) || is_known_[index_of(v)]);
    };
    look(n);
    for (ir::region_id const r : f().regions_of(n)) {
      for (ir::value_id const v : f().arguments_of(r)) is_known_[index_of(v)] = true;
      ir::walk(f(), r, [&](ir::node_id m) {
        for (ir::region_id const inner : f().regions_of(m))
          for (ir::value_id const v : f().arguments_of(inner)) is_known_[index_of(v)] = true;
        for (ir::value_id const v : f().results_of(m)) is_known_[index_of(v)] = true;
      });
      ir::walk(f(), r, look);
    }
    return all;
  }
  void find_known(ir::region_id r) {
    for (ir::node_id const n : f().nodes_of(r)) {
      if (f()[n].code == ir::op::yield) break;
      bool const known = uses_known(n);
      for (ir::value_id const v : f().results_of(n)) is_known_[index_of(v)] = known;
    }
  }
  void find_known() {
    is_known_.assign(f().value_count(), false);
    for (std::size_t k = 0; k < parameters_.size(); ++k)
      is_known_[index_of(f().argument(ir::function::body, static_cast<std::uint32_t>(k)))] = parameters_[k];
    find_known(ir::function::body);
  }
  bool is_known(ir::value_id v) const { return f().is_literal(v) || is_known_[index_of(v)]; }

  // ---- maps

  void split_maps() {
    std::vector<ir::node_id> maps;
    for (ir::node_id const n : f().nodes_of(ir::function::body))
      if (f()[n].code == ir::op::map) maps.push_back(n);
    for (ir::node_id const n : maps) {
      find_known();
      split_map(n);
    }
  }
  // The turns of a map as what is known.
  ir::value_id known_count(ir::cursor& at, ir::node_id n) const {
    ir::value_id const count = f().operand(n, 0);
    if (is_known(count)) return count;
    if (!f().is_result(count) || f()[f().node_of(count)].code != ir::op::length) return ir::nothing;
    std::vector<ir::value_id> arrays;
    for (ir::value_id const a : f().operands_of(f().node_of(count)))
      if (is_known(a)) arrays.push_back(a);
    if (arrays.empty()) return ir::nothing;
    return at->result(at.insert(ir::op::length, arrays));
  }
  void split_map(ir::node_id n) {
    ir::region_id const body = f().region_at(n, 0);
    if (std::ranges::all_of(f().results_of(n), [&](ir::value_id v) { return is_known(v); })) return;
    is_known_[index_of(f().argument(body, 0))] = true;
    find_known(body);
    std::vector<ir::node_id> known_nodes;
    std::vector<ir::value_id> outputs;
    std::vector<std::uint32_t> cost(f().value_count(), 0);
    for (ir::node_id const m : f().nodes_of(body)) {
      if (f()[m].code == ir::op::yield) break;
      if (f()[m].result_count == 0 || !is_known_node(m)) continue;
      known_nodes.push_back(m);
      std::uint32_t own = f()[m].region_count > 0 ? worth_an_array : ir::row_of(f()[m].code).cost;
      for (ir::value_id const v : f().operands_of(m)) own += cost[index_of(v)];
      for (ir::value_id const v : f().results_of(m)) {
        cost[index_of(v)] = own;
        if (own < worth_an_array || !f().type_of(v).is_number()) continue;
        for (ir::use_id const u : f().uses_of(v)) {
          ir::node_id const user = f()[u].user;
          if (f()[user].result_count == 0 || !is_known_node(user)) {
            outputs.push_back(v);
            break;
          }
        }
      }
    }
    if (outputs.empty()) return;
    ir::cursor at(p_, p_.entry);
    at.to_before(n);
    ir::value_id const count = known_count(at, n);
    if (count == ir::nothing) return;
    std::vector<ir::type> results;
    for (ir::value_id const v : outputs) results.push_back(f().type_of(v).array_of());
    std::vector<ir::type> const index[] = {{ir::i64}};
    ir::node_id const made =
        at.insert(ir::op::map, std::span<ir::value_id const>(&count, 1), results, {}, index);
    ir::region_id const inner = f().region_at(made, 0);
    at.to_end(inner);
    ir::value_map<ir::value_id> map;
    map.emplace(f().argument(body, 0), f().argument(inner, 0));
    for (ir::node_id const m : known_nodes) at.clone(p_.entry, m, map);
    std::vector<ir::value_id> yielded;
    for (ir::value_id const v : outputs) yielded.push_back(map.at(v));
    at.yield(yielded);
    for (std::uint32_t k = 0; k < outputs.size(); ++k) {
      at.to_start(body);
      ir::value_id const element = at.add(ir::op::at, f().result(made, k), f().argument(body, 0));
      at.substitute(outputs[k], element);
    }
  }

  // ---- two functions

  // What the rest needs of what is known, but for parameters.
  std::vector<ir::value_id> known_results() const {
    std::vector<ir::value_id> all;
    std::vector<bool> is_listed(f().value_count(), false);
    auto const look = [&](ir::node_id n) {
      for (ir::value_id const v : f().operands_of(n))
        if (f().is_result(v) && is_known_[index_of(v)] && f().region_of(v) == ir::function::body &&
            !is_length(f().node_of(v)) && !is_listed[index_of(v)]) {
          is_listed[index_of(v)] = true;
          all.push_back(v);
        }
    };
    for (ir::node_id const n : f().nodes_of(ir::function::body)) {
      if (f()[n].code != ir::op::yield && is_known_node(n) && !is_length(n)) continue;
      look(n);
      for (ir::region_id const r : f().regions_of(n)) ir::walk(f(), r, look);
    }
    return all;
  }
  // Lengths are taken of arguments again: where elements are read, it is seen then that they are there.
  bool is_length(ir::node_id n) const { return f()[n].code == ir::op::length; }
  bool is_known_node(ir::node_id n) const {
    return std::ranges::all_of(f().results_of(n), [&](ir::value_id v) { return is_known(v); });
  }
  std::vector<ir::type> types_of(auto const& values) const {
    std::vector<ir::type> types;
    for (ir::value_id const v : values) types.push_back(f().type_of(v));
    return types;
  }
  void finish(ir::cursor& at, std::vector<ir::value_id> const& results) const {
    at.to_end(ir::function::body);
    at.yield(results);
    ir::program& p = at.owner();
    for (ir::value_id const v : results) p[at.id()].results.push_back(at->type_of(v));
    p.entry = at.id();
  }
  void write_once(ir::program& p, std::vector<ir::value_id> const& given) const {
    std::vector<ir::value_id> known;
    for (std::uint32_t k = 0; k < parameters_.size(); ++k)
      if (parameters_[k]) known.push_back(f().argument(ir::function::body, k));
    ir::function_id const from = p.entry;
    ir::function_id const made = p.add(std::string(p.name_of(from)) + ".once", types_of(known));
    ir::cursor at(p, made, ir::function::body);
    ir::value_map<ir::value_id> map;
    for (std::uint32_t k = 0; k < known.size(); ++k)
      map.emplace(known[k], at->argument(ir::function::body, k));
    for (ir::node_id const n : f().nodes_of(ir::function::body))
      if (f()[n].code != ir::op::yield && is_known_node(n)) at.clone(from, n, map);
    std::vector<ir::value_id> results;
    for (ir::value_id const v : given) results.push_back(map.at(v));
    finish(at, results);
  }
  void write_each(ir::program& p, std::vector<ir::value_id> const& given) const {
    std::vector<ir::type> types = types_of(f().parameters());
    for (ir::value_id const v : given) types.push_back(f().type_of(v));
    ir::function_id const from = p.entry;
    ir::function_id const made = p.add(std::string(p.name_of(from)) + ".each", types);
    ir::cursor at(p, made, ir::function::body);
    ir::value_map<ir::value_id> map;
    auto const own = static_cast<std::uint32_t>(parameters_.size());
    for (std::uint32_t k = 0; k < own; ++k)
      map.emplace(f().argument(ir::function::body, k), at->argument(ir::function::body, k));
    for (std::uint32_t k = 0; k < given.size(); ++k)
      map.emplace(given[k], at->argument(ir::function::body, own + k));
    std::vector<ir::value_id> results;
    for (ir::node_id const n : f().nodes_of(ir::function::body)) {
      if (f()[n].code == ir::op::yield) {
        for (ir::value_id const v : f().operands_of(n)) {
          auto const found = map.find(v);
          results.push_back(found != map.end() ? found->second : at.literal(f().type_of(v), f().bits_of(v)));
        }
        break;
      }
      if (is_known_node(n) && !is_length(n)) continue;
      ir::node_id const copy = at.clone(from, n, map);
      if (f()[n].code == ir::op::length) add_arrays(at, copy, n, given, map);
    }
    finish(at, results);
  }
  // The length of arrays is that of what was made in as many turns, too: elements are known to be there.
  void add_arrays(
      ir::cursor& at, ir::node_id copy, ir::node_id n, std::vector<ir::value_id> const& given,
      ir::value_map<ir::value_id> const& map) const {
    std::vector<ir::value_id> operands;
    for (ir::value_id const v : at->operands_of(copy)) operands.push_back(v);
    std::vector<ir::value_id> known;
    for (ir::value_id const v : f().operands_of(n))
      if (is_known(v)) known.push_back(v);
    for (ir::value_id const v : given) {
      if (f()[f().node_of(v)].code != ir::op::map) continue;
      ir::value_id const count = f().operand(f().node_of(v), 0);
      if (!f().is_result(count) || f()[f().node_of(count)].code != ir::op::length) continue;
      auto const arrays = f().operands_of(f().node_of(count));
      if (std::ranges::equal(std::vector(arrays.begin(), arrays.end()), known)) operands.push_back(map.at(v));
    }
    at.set_operands(copy, operands);
  }

  ir::program& p_;
  std::vector<bool> parameters_;
  mutable std::vector<bool> is_known_; // by value
};

} // namespace detail

OVERDUB_DECL parts_by_knowledge split_known(ir::program p, std::vector<bool> const& known) {
  return detail::knowledge_splitter(p, known).run();
}

} // namespace overdub::models
