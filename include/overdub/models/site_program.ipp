#pragma once

#include <overdub/ir/effects.hpp>
#include <overdub/ir/walk.hpp>
#include <overdub/models/choice_lowering.hpp>
#include <overdub/models/site_program.hpp>
#include <overdub/pass/pipeline.hpp>

#include <algorithm>
#include <span>
#include <string_view>

namespace overdub::models {
namespace detail {

/// Copies the operations on which a choice may depend, in the iterations that its indices identify.
class site_lowering : public choice_lowering {
public:
  site_lowering(
      ir::program& p, model_program const& m, choice_schema const& s, std::uint32_t site,
      std::vector<std::vector<choice_callbacks>> const& callbacks)
      : choice_lowering(p, m, s, callbacks, m.sites[site].index_count), site_(site),
        n_(m.sites[site].nodes[0]) {
    for (ir::region_id at = original()[n_].parent;; at = original()[original()[at].parent].parent) {
      enclosing_regions_.insert(enclosing_regions_.begin(), at);
      if (original()[at].parent == ir::nothing) break;
    }
    auto const own = at_->parameters();
    for (std::size_t k = own.size() - m.sites[site].index_count; k < own.size(); ++k)
      indices_.push_back(own[k]);
  }

  void run(site_query q) {
    ignored_outputs_.sites.assign(m_.sites.size(), no_outputs);
    tests_presence_ = q == site_query::is_made;
    copy_operations_before(0);
    if (tests_presence_) return finish({is_made_ == ir::nothing ? at_.literal(true) : is_made_});
    choice_parts const parts = parts_of(p_, original_, n_);
    std::vector<ir::value_id> parameters;
    for (ir::value_id const v : parts.parameters) parameters.push_back(mapped(v));
    switch (q) {
    case site_query::draw: {
      ir::value_id const x = call_host(n_, site_, role::drawn, parameters).first;
      ir::value_id const log_density = at_->result(insert_call(parts.log_density, x, parameters));
      finish(
          {x, log_density,
           at_->result(insert_call(parts.log_density, choice_argument(site_, n_), parameters))});
      return;
    }
    case site_query::density:
      finish({at_->result(insert_call(parts.log_density, choice_argument(site_, n_), parameters))});
      return;
    case site_query::bounds: {
      if (parts.bounds == ir::nothing)
        reject("has infinitely many values, which cannot be tried one by one: observe it, or move it in "
               "another way");
      ir::node_id const call = at_.insert(
          ir::op::call, parameters, std::vector(p_[parts.bounds].results), ir::attributes::of(parts.bounds));
      finish({at_->result(call, 0), at_->result(call, 1)});
      return;
    }
    case site_query::moments:
      if (p_.text(original()[n_].attributes.detail) != "normal")
        reject("is not normal, as elliptical slice sampling wants it: move it in another way");
      finish({parameters[0], parameters[1]});
      return;
    case site_query::is_made:
      break; // handled above, since it needs no distribution
    }
  }

private:
  [[noreturn]] void reject(char const* why) const {
    throw model_error(message("overdub: the choice \"%s\" %s", m_.sites[site_].address.c_str(), why));
  }

  // Copies the operations that precede the choice in the enclosing regions from this depth on.
  void copy_operations_before(std::size_t depth) {
    ir::node_id const next =
        depth + 1 < enclosing_regions_.size() ? original()[enclosing_regions_[depth + 1]].parent : n_;
    std::vector<ir::node_id> nodes;
    for (ir::node_id const n : original().nodes_of(enclosing_regions_[depth])) nodes.push_back(n);
    for (ir::node_id const n : nodes) {
      if (n == next) break;
      lower(n, ignored_outputs_);
    }
    if (next == n_) return;
    ir::region_id const body = enclosing_regions_[depth + 1];
    if (ir::op const code = original()[next].code; code == ir::op::map) {
      map_.insert_or_assign(original().argument(body, 0), indices_[next_index_++]);
    } else if (code == ir::op::loop) {
      enter_loop(next, body);
    } else if (code == ir::op::if_ && tests_presence_) {
      return test_branch(next, depth);
    }
    copy_operations_before(depth + 1);
  }
  // Emits the test whether a branch is taken and the choice is made in it: is_made_ becomes its result.
  void test_branch(ir::node_id branch, std::size_t depth) {
    ir::value_id const operands[] = {mapped(original().operand(branch, 0))};
    ir::type const result[] = {ir::boolean};
    std::vector<ir::type> const no_arguments[] = {{}, {}};
    ir::node_id const choice = at_.insert(ir::op::if_, operands, result, {}, no_arguments);
    bool const is_first = enclosing_regions_[depth + 1] == original().region_at(branch, 0);
    at_.to_end(at_->region_at(choice, is_first ? 0 : 1));
    copy_operations_before(depth + 1);
    ir::value_id const inside[] = {is_made_ == ir::nothing ? at_.literal(true) : is_made_};
    at_.yield(inside);
    at_.to_end(at_->region_at(choice, is_first ? 1 : 0));
    ir::value_id const outside[] = {at_.literal(false)};
    at_.yield(outside);
    at_.to_after(choice);
    is_made_ = at_->result(choice);
  }

  // Computes the loop-carried values at the iteration of the choice.
  void enter_loop(ir::node_id loop, ir::region_id body) {
    ir::value_id const index = indices_[next_index_++];
    bool const reversed = original()[loop].attributes.is_reversed();
    ir::value_id const one = at_.literal(std::int64_t{1});
    ir::value_id before = index; // the number of iterations before that of the choice
    if (reversed)
      before = at_.add(ir::op::sub, at_.add(ir::op::sub, mapped(original().operand(loop, 0)), one), index);
    std::size_t const loop_carried = original().arguments_of(body).size() - 1;
    std::vector<ir::value_id> start;
    for (std::uint32_t k = 0; k < loop_carried; ++k) start.push_back(mapped(original().operand(loop, k + 1)));
    if (loop_carried > 0) {
      std::vector<ir::value_id> const state = is_determined_by_choices(body)
                                                  ? previous_iteration(body, index, before, reversed, start)
                                                  : previous_iterations(loop, body, before, reversed, start);
      for (std::uint32_t k = 0; k < loop_carried; ++k)
        map_.insert_or_assign(original().argument(body, k + 1), state[k]);
    }
    map_.insert_or_assign(original().argument(body, 0), index);
  }

  // Whether an iteration's loop-carried results depend on the loop-carried values of the previous iteration through choices alone.
  bool is_determined_by_choices(ir::region_id body) const {
    ir::function const& f = original();
    std::vector<bool> depends(f.value_count(), false);
    for (std::uint32_t k = 1; k < f.arguments_of(body).size(); ++k)
      depends[index_of(f.argument(body, k))] = true;
    for (ir::node_id const n : f.nodes_of(body)) {
      bool any = false;
      auto const visit = [&](ir::node_id m) {
        if (f[m].code == ir::op::sample) return;
        for (ir::value_id const v : f.operands_of(m)) any = any || depends[index_of(v)];
      };
      visit(n);
      for (ir::region_id const r : f.regions_of(n)) ir::walk(f, r, visit);
      for (ir::value_id const v : f.results_of(n)) depends[index_of(v)] = any;
    }
    ir::node_id const last = f.yield_of(body);
    for (std::uint32_t k = 0; k + 1 < f.arguments_of(body).size(); ++k)
      if (depends[index_of(f.operand(last, k))]) return false;
    return true;
  }
  // Copies an iteration to the cursor, and returns its loop-carried results.
  std::vector<ir::value_id>
  copy_iteration(ir::region_id body, ir::value_id index, std::vector<ir::value_id> const& state) {
    map_.insert_or_assign(original().argument(body, 0), index);
    for (std::uint32_t k = 0; k < state.size(); ++k)
      map_.insert_or_assign(original().argument(body, k + 1), state[k]);
    std::vector<ir::node_id> nodes;
    for (ir::node_id const n : original().nodes_of(body)) nodes.push_back(n);
    nodes.pop_back();
    for (ir::node_id const n : nodes) lower(n, ignored_outputs_);
    std::vector<ir::value_id> next;
    for (std::uint32_t k = 0; k < state.size(); ++k)
      next.push_back(mapped(original().operand(original().yield_of(body), k)));
    return next;
  }
  std::vector<ir::type> types_of(std::vector<ir::value_id> const& values) const {
    std::vector<ir::type> types;
    for (ir::value_id const v : values) types.push_back(at_->type_of(v));
    return types;
  }
  std::vector<ir::value_id> results_after(ir::node_id n) {
    at_.to_after(n);
    std::vector<ir::value_id> all;
    for (ir::value_id const v : at_->results_of(n)) all.push_back(v);
    return all;
  }
  std::vector<ir::value_id> previous_iteration(
      ir::region_id body, ir::value_id index, ir::value_id before, bool reversed,
      std::vector<ir::value_id> const& start) {
    ir::value_id const any = at_.add(ir::op::gt, before, at_.literal(std::int64_t{0}));
    std::vector<ir::type> const no_arguments[] = {{}, {}};
    ir::value_id const operands[] = {any};
    ir::node_id const choice = at_.insert(ir::op::if_, operands, types_of(start), {}, no_arguments);
    at_.to_end(at_->region_at(choice, 0));
    ir::value_id const previous =
        at_.add(reversed ? ir::op::add : ir::op::sub, index, at_.literal(std::int64_t{1}));
    at_.yield(copy_iteration(body, previous, start));
    at_.to_end(at_->region_at(choice, 1));
    at_.yield(start);
    return results_after(choice);
  }
  std::vector<ir::value_id> previous_iterations(
      ir::node_id loop, ir::region_id body, ir::value_id before, bool reversed,
      std::vector<ir::value_id> const& start) {
    std::vector<ir::type> arguments = types_of(start);
    arguments.insert(arguments.begin(), ir::i64);
    std::vector<ir::value_id> operands = start;
    operands.insert(operands.begin(), before);
    std::vector<ir::type> const regions[] = {arguments};
    ir::node_id const made = at_.insert(ir::op::loop, operands, types_of(start), {}, regions);
    ir::region_id const inner = at_->region_at(made, 0);
    at_.to_end(inner);
    ir::value_id index = at_->argument(inner, 0);
    if (reversed) {
      ir::value_id const last =
          at_.add(ir::op::sub, mapped(original().operand(loop, 0)), at_.literal(std::int64_t{1}));
      index = at_.add(ir::op::sub, last, index);
    }
    std::vector<ir::value_id> state;
    for (std::uint32_t k = 0; k < start.size(); ++k) state.push_back(at_->argument(inner, k + 1));
    at_.yield(copy_iteration(body, index, state));
    return results_after(made);
  }

  std::uint32_t site_;
  ir::node_id n_;
  std::vector<ir::region_id> enclosing_regions_; // outermost first
  std::vector<ir::value_id> indices_;
  std::size_t next_index_ = 0;
  outputs ignored_outputs_;
  bool tests_presence_ = false;
  ir::value_id is_made_ = ir::nothing; // the test of the branches that were copied so far
};

// Erases unused operations, even those that may fail: the run that made the trace executed them without failure.
inline void erase_unused(ir::program& p) {
  auto const effects = ir::effects(p).of_each(p[p.entry]);
  std::vector<ir::node_id> nodes;
  ir::walk(p[p.entry], ir::function::body, [&](ir::node_id n) { nodes.push_back(n); });
  ir::cursor c(p, p.entry);
  for (std::size_t k = nodes.size(); k-- > 0;) {
    ir::node_id const n = nodes[k];
    bool is_used = false;
    for (ir::value_id const v : c->results_of(n)) is_used = is_used || c->is_used(v);
    if (!is_used && !c->is_erased(n) && (*c)[n].code != ir::op::yield &&
        effects[index_of(n)].without(effect::may_fail).can_drop())
      c.erase(n);
  }
}

} // namespace detail

OVERDUB_DECL ir::program site_program_of(
    model_program const& m, std::uint32_t site, site_query q,
    std::vector<std::vector<choice_callbacks>> const& callbacks) {
  if (m.sites[site].nodes.size() > 1)
    throw model_error(message(
        "overdub: the choice \"%s\" has one address in two branches, so that its distribution is not known "
        "from its address; give each branch an address of its own to move it alone",
        m.sites[site].address.c_str()));
  ir::program p = m.program;
  choice_schema const s{
      .roles = std::vector<role>(m.sites.size(), role::given), .score = choice_schema::scores::none};
  detail::site_lowering(p, m, s, site, callbacks).run(q);
  pass::default_pipeline(p);
  detail::erase_unused(p);
  pass::default_pipeline(p);
  return p;
}

} // namespace overdub::models
