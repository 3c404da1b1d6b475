#include <overdub/implementation/ir/dependents.hpp>
#include <overdub/implementation/ir/value_map.hpp>
#include <overdub/implementation/models/binding_time.hpp>
#include <overdub/implementation/pass/cost.hpp>
#include <overdub/ir/builder.hpp>
#include <overdub/ir/cursor.hpp>
#include <overdub/ir/effects.hpp>
#include <overdub/ir/walk.hpp>
#include <overdub/pass/pipeline.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace overdub::models {
namespace detail {

class binding_time_splitter {
public:
  binding_time_splitter(ir::program& p, std::vector<bool> const& static_parameters)
      : p_(p), parameters_(static_parameters), effects_(p), costs_(p) {}

  binding_time_split run() {
    split_maps();
    find_static_values();
    std::vector<ir::value_id> const precomputed = precomputed_values();
    binding_time_split parts{p_, p_};
    write_static_part(parts.static_part, precomputed);
    write_dynamic_part(parts.dynamic_part, precomputed);
    pass::default_pipeline(parts.static_part);
    pass::default_pipeline(parts.dynamic_part);
    return parts;
  }

private:
  static constexpr double minimum_cost = 8; // in additions: of what an array of results pays for

  ir::function const& f() const { return p_[p_.entry]; }

  // A value is dynamic if it depends on a dynamic argument, or on what reads, writes or draws, and does so at each point.
  void find_static_values() {
    std::vector<ir::value_id> dynamic;
    for (std::uint32_t k = 0; k < parameters_.size(); ++k)
      if (!parameters_[k]) dynamic.push_back(f().argument(ir::function::body, k));
    std::vector<ir::effect_set> const effects = effects_.of_each(f());
    ir::walk(f(), ir::function::body, [&](ir::node_id n) {
      if (!effects[index_of(n)].can_merge())
        for (ir::value_id const v : f().results_of(n)) dynamic.push_back(v);
    });
    dynamic_.emplace(
        f(), ir::dependents::sources{.values = dynamic}, ir::dependence_rules{.has_control = true});
  }
  bool is_static(ir::value_id v) const { return !dynamic_->of(v); }

  // ---- maps

  void split_maps() {
    std::vector<ir::node_id> maps;
    for (ir::node_id const n : f().nodes_of(ir::function::body))
      if (ir::is_map(f()[n].code)) maps.push_back(n);
    for (ir::node_id const n : maps) {
      find_static_values();
      split_map(n);
    }
  }
  // The trip count of a map as a static value; nothing, where it is dynamic.
  ir::value_id static_trip_count(ir::cursor& at, ir::node_id n) const {
    ir::value_id const count = ir::region_flow(f(), n).trip_count();
    if (is_static(count)) return count;
    if (!f().is_result(count) || f()[f().node_of(count)].code != ir::op::length) return ir::nothing;
    std::vector<ir::value_id> arrays;
    for (ir::value_id const a : f().operands_of(f().node_of(count)))
      if (is_static(a)) arrays.push_back(a);
    if (arrays.empty()) return ir::nothing;
    return at->result(at.insert(ir::op::length, arrays));
  }
  void split_map(ir::node_id n) {
    ir::region_id const body = ir::region_flow(f(), n).body();
    ir::value_id const index = ir::region_flow(f(), n).index();
    if (std::ranges::all_of(f().results_of(n), [&](ir::value_id v) { return is_static(v); })) return;
    std::vector<ir::node_id> static_nodes;
    std::vector<ir::value_id> outputs;
    std::vector<double> cost(f().value_count(), 0);
    for (ir::node_id const m : f().nodes_of(body)) {
      if (f()[m].code == ir::op::yield) break;
      if (!is_static_node(m)) continue;
      static_nodes.push_back(m);
      double own = costs_.of(f(), m);
      for (ir::value_id const v : f().operands_of(m)) own += cost[index_of(v)];
      for (ir::value_id const v : f().results_of(m)) {
        cost[index_of(v)] = own;
        if (own < minimum_cost || !f().type_of(v).is_number()) continue;
        for (ir::use_id const u : f().uses_of(v)) {
          ir::node_id const user = f()[u].user;
          if (!is_static_node(user)) {
            outputs.push_back(v);
            break;
          }
        }
      }
    }
    if (outputs.empty()) return;
    ir::cursor at(p_, p_.entry);
    at.to_before(n);
    ir::value_id const count = static_trip_count(at, n);
    if (count == ir::nothing) return;
    auto const made = ir::builder(at).map(count, [&](ir::value_id own) {
      ir::value_map<ir::value_id> map;
      map.emplace(index, own);
      for (ir::node_id const m : static_nodes) at.clone(p_.entry, m, map);
      std::vector<ir::value_id> yielded;
      for (ir::value_id const v : outputs) yielded.push_back(map.at(v));
      return yielded;
    });
    for (std::uint32_t k = 0; k < outputs.size(); ++k) {
      at.to_start(body);
      ir::value_id const element = at.add(ir::op::at, made.results[k], index);
      at.substitute(outputs[k], element);
    }
  }

  // ---- two functions

  // The static values that dynamic operations use, without parameters.
  std::vector<ir::value_id> precomputed_values() const {
    std::vector<ir::value_id> all;
    std::vector<bool> is_listed(f().value_count(), false);
    auto const visit = [&](ir::node_id n) {
      for (ir::value_id const v : f().operands_of(n))
        if (f().is_result(v) && is_static(v) && f().region_of(v) == ir::function::body &&
            !is_length(f().node_of(v)) && !is_listed[index_of(v)]) {
          is_listed[index_of(v)] = true;
          all.push_back(v);
        }
    };
    for (ir::node_id const n : f().nodes_of(ir::function::body)) {
      if (is_static_node(n) && !is_length(n)) continue;
      visit(n);
      for (ir::region_id const r : f().regions_of(n)) ir::walk(f(), r, visit);
    }
    return all;
  }
  // The dynamic part computes lengths of arguments again: range checks need `length` to prove that an index is in range.
  bool is_length(ir::node_id n) const { return f()[n].code == ir::op::length; }
  // An operation without results is there for its effects, and is dynamic.
  bool is_static_node(ir::node_id n) const {
    return f()[n].result_count > 0 &&
           std::ranges::all_of(f().results_of(n), [&](ir::value_id v) { return is_static(v); });
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
  void write_static_part(ir::program& p, std::vector<ir::value_id> const& precomputed) const {
    std::vector<ir::value_id> static_values;
    for (std::uint32_t k = 0; k < parameters_.size(); ++k)
      if (parameters_[k]) static_values.push_back(f().argument(ir::function::body, k));
    ir::function_id const from = p.entry;
    ir::function_id const made = p.add(std::string(p.name_of(from)) + ".static", types_of(static_values));
    ir::cursor at(p, made, ir::function::body);
    ir::value_map<ir::value_id> map;
    for (std::uint32_t k = 0; k < static_values.size(); ++k)
      map.emplace(static_values[k], at->argument(ir::function::body, k));
    for (ir::node_id const n : f().nodes_of(ir::function::body))
      if (is_static_node(n)) at.clone(from, n, map);
    std::vector<ir::value_id> results;
    for (ir::value_id const v : precomputed) results.push_back(map.at(v));
    finish(at, results);
  }
  void write_dynamic_part(ir::program& p, std::vector<ir::value_id> const& precomputed) const {
    std::vector<ir::type> types = types_of(f().parameters());
    for (ir::value_id const v : precomputed) types.push_back(f().type_of(v));
    ir::function_id const from = p.entry;
    ir::function_id const made = p.add(std::string(p.name_of(from)) + ".dynamic", types);
    ir::cursor at(p, made, ir::function::body);
    ir::value_map<ir::value_id> map;
    auto const own = static_cast<std::uint32_t>(parameters_.size());
    for (std::uint32_t k = 0; k < own; ++k)
      map.emplace(f().argument(ir::function::body, k), at->argument(ir::function::body, k));
    for (std::uint32_t k = 0; k < precomputed.size(); ++k)
      map.emplace(precomputed[k], at->argument(ir::function::body, own + k));
    std::vector<ir::value_id> results;
    for (ir::node_id const n : f().nodes_of(ir::function::body)) {
      if (f()[n].code == ir::op::yield) {
        for (ir::value_id const v : f().operands_of(n)) {
          auto const found = map.find(v);
          results.push_back(found != map.end() ? found->second : at.literal(f().type_of(v), f().bits_of(v)));
        }
        break;
      }
      if (is_static_node(n) && !is_length(n)) continue;
      ir::node_id const copy = at.clone(from, n, map);
      if (f()[n].code == ir::op::length) add_arrays(at, copy, n, precomputed, map);
    }
    finish(at, results);
  }
  // Adds precomputed arrays of the same trip count to the operands of `length`, which proves their elements to be in range.
  void add_arrays(
      ir::cursor& at, ir::node_id copy, ir::node_id n, std::vector<ir::value_id> const& precomputed,
      ir::value_map<ir::value_id> const& map) const {
    std::vector<ir::value_id> operands;
    for (ir::value_id const v : at->operands_of(copy)) operands.push_back(v);
    std::vector<ir::value_id> static_values;
    for (ir::value_id const v : f().operands_of(n))
      if (is_static(v)) static_values.push_back(v);
    for (ir::value_id const v : precomputed) {
      if (!ir::is_map(f()[f().node_of(v)].code)) continue;
      ir::value_id const count = ir::region_flow(f(), f().node_of(v)).trip_count();
      if (!f().is_result(count) || f()[f().node_of(count)].code != ir::op::length) continue;
      auto const arrays = f().operands_of(f().node_of(count));
      if (std::ranges::equal(std::vector(arrays.begin(), arrays.end()), static_values))
        operands.push_back(map.at(v));
    }
    at.set_operands(copy, operands);
  }

  ir::program& p_;
  std::vector<bool> parameters_;
  ir::effects effects_;
  pass::costs costs_;
  std::optional<ir::dependents> dynamic_;
};

} // namespace detail

binding_time_split split_by_binding_time(ir::program p, std::vector<bool> const& static_parameters) {
  return detail::binding_time_splitter(p, static_parameters).run();
}

} // namespace overdub::models
