#include <overdub/implementation/models/choice_lowering.hpp>
#include <overdub/implementation/pass/dead_code.hpp>
#include <overdub/ir/enclosing.hpp>
#include <overdub/ir/walk.hpp>
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
    for (auto const around : ir::enclosing_regions(original(), n_))
      enclosing_regions_.push_back(around.region);
    enclosing_regions_.push_back(ir::function::body);
    std::ranges::reverse(enclosing_regions_);
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
        reject("has no normal prior, which elliptical slice sampling requires; use another move");
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
    if (ir::op const code = original()[next].code; ir::is_map(code)) {
      map_.insert_or_assign(ir::region_flow(original(), next).index(), indices_[next_index_++]);
    } else if (ir::is_counted_loop(code)) {
      enter_loop(next);
    } else if (ir::selects_region(code) && tests_presence_) {
      return test_branch(next, depth);
    }
    copy_operations_before(depth + 1);
  }
  // Emits the test whether a branch is taken and the choice is made in it: is_made_ becomes its result.
  void test_branch(ir::node_id branch, std::size_t depth) {
    auto const inside = [&] {
      copy_operations_before(depth + 1);
      return is_made_ == ir::nothing ? at_.literal(true) : is_made_;
    };
    auto const outside = [&] { return at_.literal(false); };
    ir::value_id const condition = mapped(original().operand(branch, 0));
    bool const is_first = enclosing_regions_[depth + 1] == original().region_at(branch, 0);
    is_made_ = is_first ? build().if_(condition, inside, outside) : build().if_(condition, outside, inside);
  }

  // Computes the loop-carried values at the iteration of the choice.
  void enter_loop(ir::node_id loop) {
    ir::region_flow const flow(original(), loop);
    ir::value_id const index = indices_[next_index_++];
    bool const reversed = original()[loop].attributes.is_reversed();
    ir::value_id const one = at_.literal(std::int64_t{1});
    ir::value_id before = index; // the number of iterations before that of the choice
    if (reversed) before = at_.add(ir::op::sub, at_.add(ir::op::sub, mapped(flow.trip_count()), one), index);
    std::vector<ir::value_id> start;
    for (std::uint32_t k = 0; k < flow.carried(); ++k) start.push_back(mapped(flow.initial(k)));
    if (!start.empty()) {
      std::vector<ir::value_id> const state = is_determined_by_choices(loop)
                                                  ? previous_iteration(loop, index, before, reversed, start)
                                                  : previous_iterations(loop, before, reversed, start);
      for (std::uint32_t k = 0; k < flow.carried(); ++k) map_.insert_or_assign(flow.argument(k), state[k]);
    }
    map_.insert_or_assign(flow.index(), index);
  }

  // Whether an iteration's loop-carried results depend on the loop-carried values of the previous iteration through choices alone.
  bool is_determined_by_choices(ir::node_id loop) const {
    ir::function const& f = original();
    ir::region_flow const flow(f, loop);
    std::vector<bool> depends(f.value_count(), false);
    for (std::uint32_t k = 0; k < flow.carried(); ++k) depends[index_of(flow.argument(k))] = true;
    for (ir::node_id const n : f.nodes_of(flow.body())) {
      bool any = false;
      auto const visit = [&](ir::node_id m) {
        if (f[m].code == ir::op::sample) return;
        for (ir::value_id const v : f.operands_of(m)) any = any || depends[index_of(v)];
      };
      visit(n);
      for (ir::region_id const r : f.regions_of(n)) ir::walk(f, r, visit);
      for (ir::value_id const v : f.results_of(n)) depends[index_of(v)] = any;
    }
    for (std::uint32_t k = 0; k < flow.carried(); ++k)
      if (depends[index_of(flow.next(k))]) return false;
    return true;
  }
  // Copies an iteration to the cursor, and returns its loop-carried results.
  std::vector<ir::value_id>
  copy_iteration(ir::node_id loop, ir::value_id index, std::vector<ir::value_id> const& state) {
    ir::region_flow const flow(original(), loop);
    map_.insert_or_assign(flow.index(), index);
    for (std::uint32_t k = 0; k < state.size(); ++k) map_.insert_or_assign(flow.argument(k), state[k]);
    std::vector<ir::node_id> nodes;
    for (ir::node_id const n : original().nodes_of(flow.body())) nodes.push_back(n);
    nodes.pop_back();
    for (ir::node_id const n : nodes) lower(n, ignored_outputs_);
    std::vector<ir::value_id> next;
    for (std::uint32_t k = 0; k < state.size(); ++k) next.push_back(mapped(flow.next(k)));
    return next;
  }
  std::vector<ir::value_id> previous_iteration(
      ir::node_id loop, ir::value_id index, ir::value_id before, bool reversed,
      std::vector<ir::value_id> const& start) {
    auto const previous = [&] {
      ir::value_id const i =
          at_.add(reversed ? ir::op::add : ir::op::sub, index, at_.literal(std::int64_t{1}));
      return copy_iteration(loop, i, start);
    };
    ir::value_id const any = at_.add(ir::op::gt, before, at_.literal(std::int64_t{0}));
    return build().if_(any, previous, [&] { return start; }).results;
  }
  std::vector<ir::value_id> previous_iterations(
      ir::node_id loop, ir::value_id before, bool reversed, std::vector<ir::value_id> const& start) {
    auto const iteration = [&](ir::value_id index, std::vector<ir::value_id> const& state) {
      if (!reversed) return copy_iteration(loop, index, state);
      ir::value_id const count = mapped(ir::region_flow(original(), loop).trip_count());
      ir::value_id const last = at_.add(ir::op::sub, count, at_.literal(std::int64_t{1}));
      return copy_iteration(loop, at_.add(ir::op::sub, last, index), state);
    };
    return build().loop(before, start, iteration).results;
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

} // namespace detail

ir::program site_program_of(
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
  // The run that made the trace executed the operations that may fail, without failure.
  pass::drop_dead_code(p, p.entry, pass::erasable::what_may_fail);
  pass::default_pipeline(p);
  return p;
}

} // namespace overdub::models
