#pragma once

#include <overdub/contexts/models/choice_writer.hpp>
#include <overdub/contexts/models/site_program.hpp>
#include <overdub/ir/effects.hpp>
#include <overdub/ir/walk.hpp>
#include <overdub/pass/pipeline.hpp>

#include <algorithm>
#include <span>
#include <string_view>

namespace overdub::models {
namespace detail {

/// Writes what stands before a choice, in the turns of its indices.
class site_writer : public choice_writer {
public:
  site_writer(
      ir::program& p, model_program const& m, choice_schema const& s, std::uint32_t site,
      std::vector<std::vector<choice_source>> const& sources)
      : choice_writer(p, m, s, sources, m.sites[site].index_count), site_(site), n_(m.sites[site].nodes[0]) {
    for (ir::region_id at = original()[n_].parent;; at = original()[original()[at].parent].parent) {
      way_.insert(way_.begin(), at);
      if (original()[at].parent == ir::nothing) break;
    }
    auto const own = at_->parameters();
    for (std::size_t k = own.size() - m.sites[site].index_count; k < own.size(); ++k)
      indices_.push_back(own[k]);
  }

  void run(site_question q) {
    unused_.sites.assign(m_.sites.size(), no_outputs);
    asks_whether_made_ = q == site_question::made;
    open(0);
    if (asks_whether_made_) return finish({is_made_ == ir::nothing ? at_.literal(true) : is_made_});
    choice_parts const parts = parts_of(p_, from_, n_);
    std::vector<ir::value_id> parameters;
    for (ir::value_id const v : parts.parameters) parameters.push_back(mapped(v));
    switch (q) {
    case site_question::draw: {
      ir::value_id const x = asked_of_host(n_, site_, role::drawn, parameters).first;
      ir::value_id const there = at_->result(calling(parts.log_density, x, parameters));
      finish({x, there, at_->result(calling(parts.log_density, argument(site_, n_), parameters))});
      return;
    }
    case site_question::density:
      finish({at_->result(calling(parts.log_density, argument(site_, n_), parameters))});
      return;
    case site_question::bounds: {
      if (parts.bounds == ir::nothing)
        refuse("has infinitely many values, which cannot be tried one by one: observe it, or move it in "
               "another way");
      ir::node_id const call = at_.insert(
          ir::op::call, parameters, std::vector(p_[parts.bounds].results), ir::attributes::of(parts.bounds));
      finish({at_->result(call, 0), at_->result(call, 1)});
      return;
    }
    case site_question::moments:
      if (p_.text(original()[n_].attributes.detail) != "normal")
        refuse("is not normal, as elliptical slice sampling wants it: move it in another way");
      finish({parameters[0], parameters[1]});
      return;
    case site_question::made:
      break; // answered before its distribution was asked for
    }
  }

private:
  [[noreturn]] void refuse(char const* why) const {
    throw model_error(message("overdub: the choice \"%s\" %s", m_.sites[site_].address.c_str(), why));
  }

  // The operations before the choice, from the region of this depth on.
  void open(std::size_t depth) {
    ir::node_id const next = depth + 1 < way_.size() ? original()[way_[depth + 1]].parent : n_;
    std::vector<ir::node_id> nodes;
    for (ir::node_id const n : original().nodes_of(way_[depth])) nodes.push_back(n);
    for (ir::node_id const n : nodes) {
      if (n == next) break;
      write(n, unused_);
    }
    if (next == n_) return;
    ir::region_id const body = way_[depth + 1];
    if (ir::op const code = original()[next].code; code == ir::op::map) {
      map_.insert_or_assign(original().argument(body, 0), indices_[turn_++]);
    } else if (code == ir::op::loop) {
      enter_loop(next, body);
    } else if (code == ir::op::if_ && asks_whether_made_) {
      return ask_within(next, depth);
    }
    open(depth + 1);
  }
  // Whether a branch is taken, and what it is asked then.
  void ask_within(ir::node_id branch, std::size_t depth) {
    ir::value_id const operands[] = {mapped(original().operand(branch, 0))};
    ir::type const result[] = {ir::boolean};
    std::vector<ir::type> const no_arguments[] = {{}, {}};
    ir::node_id const choice = at_.insert(ir::op::if_, operands, result, {}, no_arguments);
    bool const is_first = way_[depth + 1] == original().region_at(branch, 0);
    at_.to_end(at_->region_at(choice, is_first ? 0 : 1));
    open(depth + 1);
    ir::value_id const inside[] = {is_made_ == ir::nothing ? at_.literal(true) : is_made_};
    at_.yield(inside);
    at_.to_end(at_->region_at(choice, is_first ? 1 : 0));
    ir::value_id const outside[] = {at_.literal(false)};
    at_.yield(outside);
    at_.to_after(choice);
    is_made_ = at_->result(choice);
  }

  // What a loop carries into the turn of the choice.
  void enter_loop(ir::node_id loop, ir::region_id body) {
    ir::value_id const index = indices_[turn_++];
    bool const reversed = original()[loop].attributes.is_reversed();
    ir::value_id const one = at_.literal(std::int64_t{1});
    ir::value_id before = index; // how many turns are before it
    if (reversed)
      before = at_.add(ir::op::sub, at_.add(ir::op::sub, mapped(original().operand(loop, 0)), one), index);
    std::size_t const carried = original().arguments_of(body).size() - 1;
    std::vector<ir::value_id> start;
    for (std::uint32_t k = 0; k < carried; ++k) start.push_back(mapped(original().operand(loop, k + 1)));
    if (carried > 0) {
      std::vector<ir::value_id> const state = depends_on_choices_alone(body)
                                                  ? turn_before(body, index, before, reversed, start)
                                                  : turns_before(loop, body, before, reversed, start);
      for (std::uint32_t k = 0; k < carried; ++k)
        map_.insert_or_assign(original().argument(body, k + 1), state[k]);
    }
    map_.insert_or_assign(original().argument(body, 0), index);
  }

  // Whether what a turn gives to the next is computed from choices, and not from what it was given itself.
  bool depends_on_choices_alone(ir::region_id body) const {
    ir::function const& f = original();
    std::vector<bool> depends(f.value_count(), false);
    for (std::uint32_t k = 1; k < f.arguments_of(body).size(); ++k)
      depends[index_of(f.argument(body, k))] = true;
    for (ir::node_id const n : f.nodes_of(body)) {
      bool any = false;
      auto const look = [&](ir::node_id m) {
        if (f[m].code == ir::op::sample) return;
        for (ir::value_id const v : f.operands_of(m)) any = any || depends[index_of(v)];
      };
      look(n);
      for (ir::region_id const r : f.regions_of(n)) ir::walk(f, r, look);
      for (ir::value_id const v : f.results_of(n)) depends[index_of(v)] = any;
    }
    ir::node_id const last = f.yield_of(body);
    for (std::uint32_t k = 0; k + 1 < f.arguments_of(body).size(); ++k)
      if (depends[index_of(f.operand(last, k))]) return false;
    return true;
  }
  // What a turn yields to the next one, where operations go.
  std::vector<ir::value_id>
  turn(ir::region_id body, ir::value_id index, std::vector<ir::value_id> const& state) {
    map_.insert_or_assign(original().argument(body, 0), index);
    for (std::uint32_t k = 0; k < state.size(); ++k)
      map_.insert_or_assign(original().argument(body, k + 1), state[k]);
    std::vector<ir::node_id> nodes;
    for (ir::node_id const n : original().nodes_of(body)) nodes.push_back(n);
    nodes.pop_back();
    for (ir::node_id const n : nodes) write(n, unused_);
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
  std::vector<ir::value_id> results_behind(ir::node_id n) {
    at_.to_after(n);
    std::vector<ir::value_id> all;
    for (ir::value_id const v : at_->results_of(n)) all.push_back(v);
    return all;
  }
  std::vector<ir::value_id> turn_before(
      ir::region_id body, ir::value_id index, ir::value_id before, bool reversed,
      std::vector<ir::value_id> const& start) {
    ir::value_id const any = at_.add(ir::op::gt, before, at_.literal(std::int64_t{0}));
    std::vector<ir::type> const no_arguments[] = {{}, {}};
    ir::value_id const operands[] = {any};
    ir::node_id const choice = at_.insert(ir::op::if_, operands, types_of(start), {}, no_arguments);
    at_.to_end(at_->region_at(choice, 0));
    ir::value_id const previous =
        at_.add(reversed ? ir::op::add : ir::op::sub, index, at_.literal(std::int64_t{1}));
    at_.yield(turn(body, previous, start));
    at_.to_end(at_->region_at(choice, 1));
    at_.yield(start);
    return results_behind(choice);
  }
  std::vector<ir::value_id> turns_before(
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
    at_.yield(turn(body, index, state));
    return results_behind(made);
  }

  std::uint32_t site_;
  ir::node_id n_;
  std::vector<ir::region_id> way_; // regions around the choice, outermost first
  std::vector<ir::value_id> indices_;
  std::size_t turn_ = 0;
  outputs unused_;
  bool asks_whether_made_ = false;
  ir::value_id is_made_ = ir::nothing; // in what was written so far
};

// Erases what nobody needs, even where it may fail: choices of a trace have been through it.
inline void drop_unneeded(ir::program& p) {
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
    model_program const& m, std::uint32_t site, site_question q,
    std::vector<std::vector<choice_source>> const& sources) {
  if (m.sites[site].nodes.size() > 1)
    throw model_error(message(
        "overdub: the choice \"%s\" has one address in two branches, so that its distribution is not known "
        "from its address; give each branch an address of its own to move it alone",
        m.sites[site].address.c_str()));
  ir::program p = m.program;
  choice_schema const s{
      .roles = std::vector<role>(m.sites.size(), role::given), .score = choice_schema::scores::none};
  detail::site_writer(p, m, s, site, sources).run(q);
  pass::default_pipeline(p);
  detail::drop_unneeded(p);
  pass::default_pipeline(p);
  return p;
}

} // namespace overdub::models
