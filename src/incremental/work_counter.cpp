#include <overdub/implementation/incremental/work_counter.hpp>
#include <overdub/implementation/ir/value_map.hpp>
#include <overdub/implementation/pass/cost.hpp>
#include <overdub/implementation/pass/dead_code.hpp>
#include <overdub/ir/builder.hpp>
#include <overdub/ir/cursor.hpp>
#include <overdub/ir/walk.hpp>
#include <overdub/pass/dce.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

namespace overdub::increments {

/// Copies a program, inserts the counts, and erases what they do not use.
class work_counter_writer {
public:
  explicit work_counter_writer(ir::program const& p) : made_(p), costs_(p), from_(p.entry) {}

  ir::program write() && {
    std::vector<ir::type> types;
    for (ir::value_id const v : original().parameters()) types.push_back(original().type_of(v));
    ir::function_id const f = made_.add("work", types);
    ir::cursor at(made_, f, ir::function::body);
    at_ = &at;
    for (std::uint32_t k = 0; k < types.size(); ++k)
      here_.insert_or_assign(
          original().argument(ir::function::body, k), made_[f].argument(ir::function::body, k));
    ir::value_id const all[] = {total(write(ir::function::body))};
    at.yield(all);
    made_[f].results = {ir::i64};
    made_.entry = f;
    // The program itself fails and has side effects; the count does not.
    pass::drop_dead_code(made_, f, pass::erasable::any);
    pass::dce(made_);
    return std::move(made_);
  }

private:
  // A constant part, and values that are added to it.
  struct amount {
    std::int64_t fixed = 0;
    std::vector<ir::value_id> counted;
  };
  // Iterations of a loop depend on each other; those of maps run in parallel lanes.
  static constexpr std::int64_t waiting = 4;
  static constexpr std::int64_t element = 2;   // written, and read again
  static constexpr std::int64_t row_guess = 8; // the assumed length of a row

  ir::function const& original() const { return made_[from_]; }
  ir::value_id mapped(ir::value_id v) {
    return original().is_literal(v) ? at_->literal(original().type_of(v), original().bits_of(v))
                                    : here_.at(v);
  }
  ir::value_id literal(std::int64_t x) { return at_->literal(x); }
  ir::value_id total(amount const& a) {
    ir::value_id sum = literal(a.fixed);
    for (ir::value_id const v : a.counted) sum = at_->add(ir::op::add, sum, v);
    return sum;
  }
  ir::value_id times(ir::value_id v, std::int64_t by) {
    return by == 1 ? v : at_->add(ir::op::mul, v, literal(by));
  }
  // The length of an array. For the result of a map or a loop, its trip count, and for the sums of an accumulator, the length of the array
  // that is added to, so that the array need not be computed.
  ir::value_id length(ir::value_id array) {
    ir::function const& f = original();
    if (f.is_result(array)) {
      ir::node_id const n = f.node_of(array);
      ir::region_flow const flow(f, n);
      std::uint32_t const i = f[array].index;
      if (ir::is_counted(f[n].code) && flow.is_stacked(i)) return mapped(flow.trip_count());
      if (ir::has_accumulators(f[n].code) && i < flow.first_yielded()) return length(f.operand(n, i));
    }
    return at_->add(ir::op::length, mapped(array));
  }
  ir::value_id sum_of(ir::value_id array) { return ir::builder(*at_).reduce(ir::op::add, array, literal(0)); }

  amount write(ir::region_id r) {
    amount all;
    for (ir::node_id n = original()[r].first; n != original()[r].last; n = original()[n].next) {
      all.fixed += own_cost(n);
      ir::op const code = original()[n].code;
      if (ir::is_counted(code) || ir::carries_values(code) || ir::selects_region(code)) {
        write_regions(n, all);
      } else if (code == ir::op::length) {
        here_.insert_or_assign(original().result(n), length(original().operand(n, 0)));
      } else {
        at_->clone(from_, n, here_);
        add_elements(n, all);
      }
    }
    return all;
  }

  std::int64_t own_cost(ir::node_id n) const {
    return original()[n].code == ir::op::length ? 0 : whole(costs_.of_own(original(), n));
  }
  static std::int64_t whole(double cost) { return static_cast<std::int64_t>(std::min(cost, 1e9)); }
  // Adds the work of an operation whose regions are not copied: the estimated cost of these, and the elements of the arrays that it
  // reads or writes. The trip count of a reduction is known.
  void add_elements(ir::node_id n, amount& to) {
    ir::function const& f = original();
    ir::op const code = f[n].code;
    if (code == ir::op::reduce) {
      std::int64_t cost = 1;
      if (f[n].region_count == 0) cost += ir::row_of(f[n].attributes.operation).cost;
      for (std::uint32_t k = 0; k < f[n].region_count; ++k) cost += whole(costs_.of(f, f.region_at(n, k)));
      return to.counted.push_back(times(length(f.operand(n, 0)), cost));
    }
    to.fixed += whole(costs_.of_regions(f, n));
    bool const is_part = ir::row_of(code).result == ir::array_result::part;
    bool const is_in_place = code == ir::op::update && loops_ > 0;
    if (is_part || is_in_place || code == ir::op::array) return;
    for (std::uint32_t k = 0; k < f[n].result_count; ++k)
      if (ir::value_id const v = f.result(n, k); f.type_of(v).rank > 0)
        to.counted.push_back(times(length(v), f.type_of(v).rank > 1 ? row_guess : 1));
  }

  // Elements that only reductions use stay in registers.
  bool is_written(ir::value_id v) const {
    for (ir::use_id const u : original().uses_of(v))
      if (ir::op const code = original()[original()[u].user].code;
          code != ir::op::reduce && code != ir::op::length)
        return true;
    return false;
  }

  void write_regions(ir::node_id n, amount& to) {
    ir::op const code = original()[n].code;
    bool const is_loop = ir::carries_values(code);
    std::vector<ir::value_id> operands;
    for (ir::value_id const v : original().operands_of(n)) operands.push_back(mapped(v));
    ir::builder build(*at_);
    ir::node_id const made = build.open_like(original(), n, operands);

    std::int64_t each = 1; // the fixed cost of an iteration
    if (ir::is_map(code))
      for (ir::value_id const v : original().results_of(n)) each += is_written(v) ? element : 0;
    if (is_loop) ++loops_;
    bool varies = false; // whether iterations differ in cost
    for (std::uint32_t i = 0; i < original()[n].region_count; ++i)
      build.in_region(made, i, [&] {
        ir::region_id const from = original().region_at(n, i);
        for (std::uint32_t k = 0; k < original()[from].argument_count; ++k)
          here_.insert_or_assign(original().argument(from, k), (*at_)->argument(at_->region(), k));
        amount inside = write(from);
        std::vector<ir::value_id> yielded;
        for (ir::value_id const v : original().operands_of(original().yield_of(from)))
          yielded.push_back(mapped(v));
        inside.fixed += each;
        if (!ir::region_flow(original(), n).yields_results(from)) { // not counted: varying work of conditions
          each = inside.fixed;
          return yielded;
        }
        varies = !inside.counted.empty() || !ir::is_counted(code);
        if (varies)
          yielded.push_back(total(inside));
        else
          each = inside.fixed;
        return yielded;
      });
    if (is_loop) --loops_;
    auto const results = build.close(made).results;
    std::uint32_t const own = original()[n].result_count;
    for (std::uint32_t k = 0; k < own; ++k) here_.insert_or_assign(original().result(n, k), results[k]);
    ir::value_id count;
    if (!varies)
      count = times(at_->add(ir::op::max, operands[0], literal(0)), each);
    else
      count = ir::selects_region(code) ? results[own] : sum_of(results[own]);
    to.counted.push_back(times(count, is_loop ? waiting : 1));
  }

  ir::program made_;
  pass::costs costs_;
  ir::function_id from_;
  ir::cursor* at_ = nullptr;
  ir::value_map<ir::value_id> here_;
  int loops_ = 0; // the number of enclosing loops
};

ir::program work_counter_of(ir::program const& p) { return work_counter_writer(p).write(); }

} // namespace overdub::increments
