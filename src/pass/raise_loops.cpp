#include <overdub/implementation/pass/raise_plan.hpp>
#include <overdub/ir/bounds.hpp>
#include <overdub/ir/builder.hpp>
#include <overdub/ir/effects.hpp>
#include <overdub/pass/ir_names.hpp>
#include <overdub/pass/raise_loops.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace overdub::pass {
namespace {

// Raises one loop by its plan.
class raising {
public:
  raising(program& p, function_id id, loop_plan const& plan) : c_(p, id), plan_(plan) {}

  void run() {
    node_id const n = plan_.loop;
    c_.to_before(n);
    c_.set_place(f()[n].place);
    ir::region_flow const flow(f(), n);
    // A loop with a negative trip count has no iterations.
    count_ = flow.trip_count();
    if (!ir::is_size(f(), count_)) count_ = c_.add(op::max, count_, c_.literal(std::int64_t{0}));

    ir::builder::built const map = ir::builder(c_).map(count_, [&](value_id i) { return iteration(i); });
    values results;
    std::uint32_t next = 0; // of the map's results
    for (std::uint32_t k = 0; k < plan_.carried.size(); ++k) {
      carried_plan const& one = plan_.carried[k];
      value_id const initial = flow.initial(k);
      if (one.is == carried_plan::kind::unchanged) results.push_back(initial);
      if (one.is == carried_plan::kind::counter) results.push_back(counter(steps_[k], initial, count_));
      if (one.is == carried_plan::kind::sum)
        results.push_back(sum(combined_by_[k], map.results[next++], initial));
      if (one.is == carried_plan::kind::elements) results.push_back(map.results[next++]);
    }
    results.insert(results.end(), map.results.begin() + next, map.results.end());
    c_.replace(n, results);
  }

private:
  using values = std::vector<value_id>;
  struct step {
    value_id by = ir::nothing;
    op code = op::none; // add, or sub
  };

  function const& f() const { return *c_; }

  // Moves the body into the map. Returns what it yields: the terms and elements, and then the stacked values.
  values iteration(value_id i) {
    ir::region_flow const flow(f(), plan_.loop);
    std::uint32_t const carried = flow.carried();
    steps_.resize(carried);
    combined_by_.resize(carried, op::none);
    values arguments{i};
    for (std::uint32_t k = 0; k < carried; ++k) {
      carried_plan const& one = plan_.carried[k];
      value_id argument = flow.initial(k);
      if (one.is == carried_plan::kind::counter) {
        steps_[k] = {f().operand(one.made_by, one.operand), f()[one.made_by].code};
        if (f().is_used(flow.argument(k))) argument = counter(steps_[k], argument, i);
      }
      arguments.push_back(argument);
    }
    values const yielded = c_.splice(flow.body(), arguments);
    values outputs;
    for (std::uint32_t k = 0; k < carried; ++k) {
      carried_plan const& one = plan_.carried[k];
      if (one.made_by == ir::nothing) continue;
      if (one.is != carried_plan::kind::counter) outputs.push_back(output(k));
      if (!f().is_used(f().result(one.made_by))) c_.erase(one.made_by);
    }
    outputs.insert(outputs.end(), yielded.begin() + carried, yielded.end());
    return outputs;
  }
  // The term, or the element. A difference is a sum of negated terms, to the bit.
  value_id output(std::uint32_t k) {
    carried_plan const& one = plan_.carried[k];
    value_id const made = f().operand(one.made_by, one.operand);
    combined_by_[k] = f()[one.made_by].code;
    if (combined_by_[k] != op::sub) return made;
    combined_by_[k] = op::add;
    return c_.add(op::neg, made);
  }

  // The value of a counter after some number of steps.
  value_id counter(step const& by, value_id initial, value_id times) {
    value_id const all =
        f().is_literal(by.by) && f().bits_of(by.by) == 1 ? times : c_.add(op::mul, times, by.by);
    bool const starts_at_zero = f().is_literal(initial) && f().bits_of(initial) == 0;
    return starts_at_zero && by.code == op::add ? all : c_.add(by.code, initial, all);
  }
  value_id sum(op combine, value_id terms, value_id initial) {
    ir::type const t = f().type_of(initial);
    attributes a = attributes::of(combine);
    a.flags = attributes::started;
    if (!is_associative(combine, t)) a.flags |= attributes::in_order;
    return f().result(c_.insert(op::reduce, std::array{terms, initial}, std::array{t}, a));
  }

  cursor c_;
  loop_plan const& plan_;
  value_id count_ = ir::nothing;
  std::vector<step> steps_;     // for each loop-carried value: of a counter
  std::vector<op> combined_by_; // and of a sum, the operation of its reduction
};

} // namespace

std::size_t raise_loops(program& p) {
  std::size_t raised = 0;
  effects const known(p);
  for (std::uint32_t i = 0; i < p.functions.size(); ++i) {
    function_id const id{i};
    if (p.is_erased(id)) continue;
    for (loop_plan const& one : plan_to_raise(known, p[id])) {
      if (!one.remains.empty()) continue;
      raising(p, id, one).run();
      ++raised;
    }
  }
  return raised;
}

} // namespace overdub::pass
