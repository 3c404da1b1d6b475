// Lowers the operation `sample`: a model's program becomes one in which each choice is an argument, or a call of a host function, and whose
// results are the scores, choices and log densities that a schema requests.
#pragma once

#include <overdub/implementation/ir/value_map.hpp>
#include <overdub/implementation/ir/zero_value.hpp>
#include <overdub/ir/builder.hpp>
#include <overdub/ir/cursor.hpp>
#include <overdub/ir/enclosing.hpp>
#include <overdub/models/choice_program.hpp>

#include <array>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace overdub::models::detail {

/// Writes the lowered program as a new function, and makes it the entry. Scores and choices leave maps, loops and branches as additional
/// results, after those of the model.
class choice_lowering {
public:
  choice_lowering(
      ir::program& p, model_program const& m, choice_schema const& s,
      std::vector<std::vector<choice_callbacks>> const& callbacks, std::uint32_t indices = 0)
      : p_(p), m_(m), s_(s), callbacks_(callbacks), original_(p.entry), lowered_(add_function(indices)),
        at_(p, lowered_, ir::function::body), site_of_(m.function().node_count(), none) {
    auto const own = original().parameters();
    for (std::uint32_t k = 0; k < own.size(); ++k) map_.emplace(own[k], at_->argument(ir::function::body, k));
    for (std::uint32_t k = 0; k < m.sites.size(); ++k)
      for (std::uint32_t i = 0; i < m.sites[k].nodes.size(); ++i) {
        site_of_[index_of(m.sites[k].nodes[i])] = k;
        makes_choices_.insert_or_assign(m.sites[k].nodes[i], true);
        for (auto const around : ir::enclosing_regions(original(), m.sites[k].nodes[i]))
          makes_choices_.insert_or_assign(around.owner, true);
      }
  }

  void run() {
    outputs all = lower(ir::function::body);
    std::vector<ir::value_id> results;
    if (s_.results)
      for (ir::value_id const v : original().operands_of(original().yield_of(ir::function::body)))
        results.push_back(mapped(v));
    for (std::size_t k = 0; k < score_count(); ++k)
      results.push_back(all.scores[k] == ir::nothing ? at_.literal(0.0) : all.scores[k]);
    for (std::size_t const what : requested_parts())
      for (std::uint32_t k = 0; k < m_.sites.size(); ++k)
        if (is_requested(what, k)) results.push_back(all.sites[k][what]);
    finish(results);
  }

protected:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  enum part : std::size_t { value, unconstrained, presence, density };
  using site_outputs = std::array<ir::value_id, 4>;
  static constexpr site_outputs no_outputs{ir::nothing, ir::nothing, ir::nothing, ir::nothing};
  // The values of a region that the schema requests, besides those that it yields.
  struct outputs {
    std::array<ir::value_id, 2> scores{ir::nothing, ir::nothing};
    std::vector<site_outputs> sites;
  };
  struct node_hash {
    std::size_t operator()(ir::node_id n) const { return index_of(n) * std::size_t{0x9e3779b97f4a7c15}; }
  };

  // Completes the new function with these results, and makes it the program's entry.
  void finish(std::vector<ir::value_id> const& results) {
    at_.to_end(ir::function::body);
    at_.yield(results);
    for (ir::value_id const v : results) p_[lowered_].results.push_back(at_->type_of(v));
    p_.entry = lowered_;
  }

  ir::function const& original() const { return p_[original_]; }
  ir::builder build() { return ir::builder(at_); }
  std::size_t score_count() const { return static_cast<std::size_t>(s_.score); }
  std::vector<std::size_t> requested_parts() const {
    std::vector<std::size_t> all;
    if (s_.values) all.push_back(value);
    if (s_.unconstrained_values) all.push_back(unconstrained);
    if (s_.presence) all.push_back(presence);
    if (s_.densities) all.push_back(density);
    return all;
  }
  bool is_requested(std::size_t what, std::uint32_t k) const {
    if (what == unconstrained)
      return parts_of(p_, original_, m_.sites[k].nodes[0]).unconstrain != ir::nothing;
    return what != presence || m_.sites[k].is_conditional;
  }
  // A zero of the part's type: the value where the choice is not made.
  ir::value_id value_when_absent(std::size_t what, std::uint32_t k, std::uint32_t enclosing_loop_count) {
    ir::type t = what == density ? ir::f64 : what == presence ? ir::boolean : m_.sites[k].type;
    for (std::uint32_t i = enclosing_loop_count; i < m_.sites[k].index_count; ++i) t = t.array_of();
    return ir::zero_value(at_, t);
  }

  // The parameters: those of the model, the arrays of choices, and `indices` integers.
  ir::function_id add_function(std::uint32_t indices) {
    std::vector<ir::type> parameters;
    for (ir::value_id const v : original().parameters()) parameters.push_back(original().type_of(v));
    parameter_of_.assign(m_.sites.size(), none);
    for (std::uint32_t k = 0; k < m_.sites.size(); ++k)
      if (s_.roles[k] == role::given || s_.roles[k] == role::unconstrained) {
        parameter_of_[k] = static_cast<std::uint32_t>(parameters.size());
        parameters.push_back(m_.sites[k].type_of_all());
      }
    parameters.insert(parameters.end(), indices, ir::i64);
    std::string name = std::string(p_.name_of(original_)) + ".choices";
    while (p_.find(name)) name += '\'';
    return p_.add(name, parameters);
  }

  ir::value_id mapped(ir::value_id v) {
    if (auto const found = map_.find(v); found != map_.end()) return found->second;
    return at_.literal(original().type_of(v), original().bits_of(v));
  }
  std::vector<ir::value_id> mapped_operands(ir::node_id n) {
    std::vector<ir::value_id> all;
    for (ir::value_id const v : original().operands_of(n)) all.push_back(mapped(v));
    return all;
  }

  // Copies a region's operations to the cursor, without its yield.
  outputs lower(ir::region_id r) {
    outputs all;
    all.sites.assign(m_.sites.size(), no_outputs);
    std::vector<ir::node_id> nodes;
    for (ir::node_id const n : original().nodes_of(r)) nodes.push_back(n);
    for (ir::node_id const n : nodes)
      if (original()[n].code != ir::op::yield) lower(n, all);
    return all;
  }
  void lower(ir::node_id n, outputs& all) {
    ir::op const code = original()[n].code;
    if (!makes_choices_.contains(n))
      at_.clone(original_, n, map_);
    else if (code == ir::op::sample)
      lower_choice(n, all);
    else if (ir::selects_region(code))
      lower_branch(n, all);
    else
      lower_loop(n, all);
  }

  void add_score(ir::value_id& to, ir::value_id x) {
    if (x == ir::nothing) return;
    to = to == ir::nothing ? x : at_.add(ir::op::add, to, x);
  }

  // ---- a choice

  void lower_choice(ir::node_id n, outputs& all) {
    std::uint32_t const k = site_of_[index_of(n)];
    choice_parts const parts = parts_of(p_, original_, n);
    std::vector<ir::value_id> parameters;
    for (ir::value_id const v : parts.parameters) parameters.push_back(mapped(v));
    ir::value_id x = ir::nothing, was_given = ir::nothing, jacobian = ir::nothing;
    switch (s_.roles[k]) {
    case role::given:
      x = choice_argument(k, n);
      break;
    case role::unconstrained: {
      if (parts.constrain == ir::nothing)
        throw model_error(message(
            "overdub: the choice \"%s\" is discrete, or its values are not transformed to numbers without "
            "constraints: it has no gradient; give it a value, or sample it by moves of its own",
            m_.sites[k].address.c_str()));
      std::tie(x, jacobian) = constrained(parts.constrain, choice_argument(k, n), parameters);
      break;
    }
    case role::drawn:
    case role::chosen:
      std::tie(x, was_given) = call_host(n, k, s_.roles[k], parameters);
      break;
    }
    map_.insert_or_assign(original().result(n), x);
    if (s_.score != choice_schema::scores::none || s_.densities) {
      ir::value_id log_density = at_->result(insert_call(parts.log_density, x, parameters));
      if (jacobian != ir::nothing) log_density = at_.add(ir::op::add, log_density, jacobian);
      all.sites[k][density] = log_density;
      score(k, log_density, was_given, all);
    }
    all.sites[k][value] = x;
    if (s_.unconstrained_values && parts.unconstrain != ir::nothing)
      all.sites[k][unconstrained] = at_->result(insert_call(parts.unconstrain, x, parameters));
    all.sites[k][presence] = at_.literal(true);
  }
  // The choice for an unconstrained y, and log |det J| of the transform; nothing where that is the constant 0.
  std::pair<ir::value_id, ir::value_id>
  constrained(ir::function_id f, ir::value_id y, std::vector<ir::value_id> const& parameters) {
    auto const given = p_[f].operands_of(p_[f].yield_of(ir::function::body));
    bool const is_zero = p_[f].is_literal(given[1]) && p_[f].bits_of(given[1]) == 0;
    if (is_zero && given[0] == p_[f].argument(ir::function::body, 0)) return {y, ir::nothing};
    ir::node_id const call = insert_call(f, y, parameters);
    return {at_->result(call, 0), is_zero ? ir::value_id(ir::nothing) : at_->result(call, 1)};
  }
  void score(std::uint32_t k, ir::value_id log_density, ir::value_id was_given, outputs& all) {
    if (s_.score == choice_schema::scores::none) return;
    if (s_.score == choice_schema::scores::total) return add_score(all.scores[0], log_density);
    if (was_given == ir::nothing)
      return add_score(all.scores[s_.roles[k] == role::drawn ? 1 : 0], log_density);
    ir::value_id const zero = at_.literal(0.0);
    add_score(all.scores[0], at_.add(ir::op::select, was_given, log_density, zero));
    add_score(all.scores[1], at_.add(ir::op::select, was_given, zero, log_density));
  }
  // The element of a site's array for the present iteration of the enclosing maps and loops.
  ir::value_id choice_argument(std::uint32_t k, ir::node_id n) {
    ir::value_id const all = at_->argument(ir::function::body, parameter_of_[k]);
    if (m_.sites[k].index_count == 0) return all;
    std::vector<ir::value_id> operands{all};
    for (std::uint32_t i = 0; i < m_.sites[k].index_count; ++i)
      operands.push_back(mapped(original().operand(n, i)));
    return at_->result(at_.insert(ir::op::at, operands));
  }
  ir::node_id insert_call(ir::function_id f, ir::value_id x, std::vector<ir::value_id> const& parameters) {
    std::vector<ir::value_id> operands{x};
    operands.insert(operands.end(), parameters.begin(), parameters.end());
    return at_.insert(ir::op::call, operands, std::vector(p_[f].results), ir::attributes::of(f));
  }
  std::pair<ir::value_id, ir::value_id>
  call_host(ir::node_id n, std::uint32_t k, role r, std::vector<ir::value_id> const& parameters) {
    bool const is_drawn = r == role::drawn;
    std::size_t i = 0;
    while (m_.sites[k].nodes[i] != n) ++i;
    choice_callbacks const& callbacks = callbacks_.at(k).at(i);
    ir::host_binding b = is_drawn ? callbacks.draw : callbacks.choose;
    std::string name = std::string(is_drawn ? "draw " : "choose ") + m_.sites[k].address +
                       (i > 0 ? '#' + std::to_string(i + 1) : "");
    while (p_.host(p_.intern(name)) != nullptr) name += '\'';
    b.name = p_.intern(name);
    p_.hosts.push_back(b);
    ir::attributes a = ir::attributes::of(b.name);
    a.effects = effect::addressed;
    std::vector<ir::value_id> operands;
    for (std::uint32_t j = 0; j < m_.sites[k].index_count; ++j)
      operands.push_back(mapped(original().operand(n, j)));
    operands.insert(operands.end(), parameters.begin(), parameters.end());
    std::vector<ir::type> results{m_.sites[k].type};
    if (!is_drawn) results.push_back(ir::boolean);
    ir::node_id const call = at_.insert(ir::op::host, operands, results, a);
    return {at_->result(call, 0), is_drawn ? ir::value_id(ir::nothing) : at_->result(call, 1)};
  }

  // ---- regions

  // A copy of the operation with empty regions and no results: `set_results` adds these when the regions are written.
  ir::node_id insert_with_empty_regions(ir::node_id n, std::vector<ir::value_id> const& operands) {
    ir::node_id const made = build().open_like(original(), n, operands);
    for (std::uint32_t i = 0; i < original()[n].region_count; ++i) {
      ir::region_id const from = original().region_at(n, i), to = at_->region_at(made, i);
      for (std::uint32_t k = 0; k < original()[from].argument_count; ++k)
        map_.insert_or_assign(original().argument(from, k), at_->argument(to, k));
    }
    return made;
  }
  // An additional result of a region and its operation. Scores are before parts of sites.
  struct extra_result {
    bool is_score;
    std::size_t what; // the index of the score, or the part
    std::uint32_t site;
  };
  std::vector<extra_result> extra_results_of(std::vector<outputs const*> const& regions) const {
    std::vector<extra_result> all;
    for (std::size_t i = 0; i < score_count(); ++i)
      for (outputs const* const o : regions)
        if (o->scores[i] != ir::nothing) {
          all.push_back({true, i, 0});
          break;
        }
    for (std::size_t const what : requested_parts())
      for (std::uint32_t k = 0; k < m_.sites.size(); ++k)
        for (outputs const* const o : regions)
          if (is_requested(what, k) && o->sites[k][what] != ir::nothing) {
            all.push_back({false, what, k});
            break;
          }
    return all;
  }
  static ir::value_id& in(outputs& o, extra_result const& s) {
    return s.is_score ? o.scores[s.what] : o.sites[s.site][s.what];
  }
  void set_results(ir::node_id n, ir::node_id made) {
    at_.to_after(made);
    build().close(made);
    for (std::uint32_t i = 0; i < original()[n].result_count; ++i)
      map_.insert_or_assign(original().result(n, i), at_->result(made, i));
  }

  void lower_branch(ir::node_id n, outputs& all) {
    ir::node_id const made = insert_with_empty_regions(n, mapped_operands(n));
    std::array<outputs, 2> of;
    for (std::uint32_t i = 0; i < 2; ++i) {
      at_.to_end(at_->region_at(made, i));
      of[i] = lower(original().region_at(n, i));
    }
    auto const slots = extra_results_of({&of[0], &of[1]});
    std::uint32_t const loops = enclosing_loop_count(n);
    for (std::uint32_t i = 0; i < 2; ++i)
      build().in_region(made, i, [&] {
        std::vector<ir::value_id> yielded = mapped_operands(original().yield_of(original().region_at(n, i)));
        for (extra_result const& s : slots) {
          ir::value_id v = in(of[i], s);
          if (v == ir::nothing) v = s.is_score ? at_.literal(0.0) : value_when_absent(s.what, s.site, loops);
          yielded.push_back(v);
        }
        return yielded;
      });
    set_results(n, made);
    take_extra_results(slots, n, made, all, false);
  }
  std::uint32_t enclosing_loop_count(ir::node_id n) const {
    std::uint32_t count = 0;
    for (auto const around : ir::enclosing_regions(original(), n))
      count += !ir::selects_region(original()[around.owner].code);
    return count;
  }

  // A map or a loop stacks the additional results of its iterations; scores are summed after it.
  void lower_loop(ir::node_id n, outputs& all) {
    std::vector<ir::value_id> operands = mapped_operands(n);
    operands[0] = trip_count_of(n, operands[0]);
    ir::node_id const made = insert_with_empty_regions(n, operands);
    std::vector<extra_result> slots;
    build().in_region(made, 0, [&] {
      ir::region_id const body = original().region_at(n, 0);
      outputs of = lower(body);
      slots = extra_results_of({&of});
      std::vector<ir::value_id> yielded = mapped_operands(original().yield_of(body));
      for (extra_result const& s : slots) yielded.push_back(in(of, s));
      return yielded;
    });
    set_results(n, made);
    take_extra_results(slots, n, made, all, true);
  }
  // The trip count as `length` of the arrays of choices, too: passes then know that the iterations read these arrays in full, and in range.
  ir::value_id trip_count_of(ir::node_id n, ir::value_id count) {
    if (original()[original()[n].parent].parent != ir::nothing) return count;
    std::vector<ir::value_id> arrays;
    if (ir::value_id const v = ir::region_flow(original(), n).trip_count();
        original().is_result(v) && original()[original().node_of(v)].code == ir::op::length)
      for (ir::value_id const a : original().operands_of(original().node_of(v))) arrays.push_back(mapped(a));
    else if (!s_.has_trace_shapes)
      return count;
    std::size_t const own = arrays.size();
    for (std::uint32_t k = 0; k < m_.sites.size(); ++k)
      if (parameter_of_[k] != none && !m_.sites[k].has_random_count && m_.sites[k].index_count == 1 &&
          m_.sites[k].nodes.size() == 1 &&
          original()[m_.sites[k].nodes[0]].parent == original().region_at(n, 0))
        arrays.push_back(at_->argument(ir::function::body, parameter_of_[k]));
    return arrays.size() == own ? count : at_->result(at_.insert(ir::op::length, arrays));
  }
  void take_extra_results(
      std::vector<extra_result> const& slots, ir::node_id n, ir::node_id made, outputs& all, bool stacked) {
    std::uint32_t next = original()[n].result_count;
    for (extra_result const& s : slots) {
      ir::value_id v = at_->result(made, next++);
      if (!s.is_score) {
        in(all, s) = v;
        continue;
      }
      if (stacked) v = sum_of_elements(v);
      add_score(all.scores[s.what], v);
    }
  }
  ir::value_id sum_of_elements(ir::value_id x) { return build().reduce(ir::op::add, x, at_.literal(0.0)); }

  ir::program& p_;
  model_program const& m_;
  choice_schema const& s_;
  std::vector<std::vector<choice_callbacks>> const& callbacks_;
  ir::function_id original_;
  std::vector<std::uint32_t> parameter_of_; // by site
  ir::function_id lowered_;
  ir::cursor at_;
  std::vector<std::uint32_t> site_of_; // by operation
  tsl::robin_map<ir::node_id, bool, node_hash> makes_choices_;
  ir::value_map<ir::value_id> map_;
};

} // namespace overdub::models::detail
