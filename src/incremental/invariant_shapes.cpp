#include <overdub/implementation/incremental/invariant_shapes.hpp>
#include <overdub/implementation/incremental/names_of_values.hpp>
#include <overdub/ir/enclosing.hpp>
#include <overdub/ir/regions.hpp>
#include <overdub/ir/walk.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

namespace overdub::increments {

bool is_outside_loops(ir::function const& f, ir::region_id r) {
  for (auto const around : ir::enclosing_regions(f, r))
    if (!ir::selects_region(f[around.owner].code)) return false;
  return true;
}

/// Visits operations after those that are nested in them and those that dominate them, so that facts of these are known.
class invariant_shapes_finder {
public:
  explicit invariant_shapes_finder(ir::function const& f) : f_(f) {
    found_.loop_carried.resize(f.value_count());
    found_.trip_counts.resize(f.node_count());
    found_.arrays.resize(f.value_count());
  }
  invariant_shapes find() && {
    for (ir::value_id const v : f_.parameters()) found_.arrays[index_of(v)] = true;
    ir::walk(
        f_, ir::function::body, [](ir::node_id) {}, [&](ir::node_id n) { visit(n); });
    return std::move(found_);
  }

private:
  static constexpr int maximum_steps = 1000; // operations that are inspected for one array

  struct loop_carried_array {
    ir::value_id argument, initial;
  };

  void visit(ir::node_id n) {
    ir::op const code = f_[n].code;
    ir::region_flow const flow(f_, n);
    if (ir::is_counted(code)) found_.trip_counts[index_of(n)] = has_invariant_trip_count(n);
    if (ir::is_counted_loop(code))
      for (std::uint32_t k = 0; k < flow.carried(); ++k)
        if (f_.type_of(flow.argument(k)).rank > 0)
          found_.loop_carried[index_of(flow.argument(k))] = keeps_shape(n, k);
    bool const is_outside = is_outside_loops(f_, f_[n].parent);
    for (ir::value_id const v : f_.results_of(n))
      found_.arrays[index_of(v)] = is_outside || has_invariant_shape(v);
  }

  bool is_outside(ir::value_id v) const { return f_.is_literal(v) || is_outside_loops(f_, f_.region_of(v)); }
  bool is_length(ir::value_id v) const { return f_.is_result(v) && f_[f_.node_of(v)].code == ir::op::length; }

  bool has_invariant_trip_count(ir::node_id n) const {
    ir::value_id count = ir::region_flow(f_, n).trip_count();
    while (f_.is_result(count) && !is_outside(count)) { // a literal more or less is invariant, too
      ir::node_id const m = f_.node_of(count);
      if ((f_[m].code != ir::op::add && f_[m].code != ir::op::sub) || !f_.is_literal(f_.operand(m, 1))) break;
      count = f_.operand(m, 0);
    }
    if (is_outside(count)) return true;
    if (!is_length(count)) return false;
    for (ir::value_id const v : f_.operands_of(f_.node_of(count))) {
      bool const is_row =
          f_.is_result(v) && f_[f_.node_of(v)].code == ir::op::at && is_outside(f_.operand(f_.node_of(v), 0));
      if (is_outside(v) || is_row) return true; // the other arrays have the same length
    }
    return false;
  }

  // Of a result in a map or loop.
  bool has_invariant_shape(ir::value_id v) const {
    ir::node_id const n = f_.node_of(v);
    ir::op const code = f_[n].code;
    if (code == ir::op::at) // rows of one array
      return found_.arrays[index_of(f_.operand(n, 0))];
    if (f_.type_of(v).rank > 1 || !ir::is_counted(code)) return false;
    ir::region_flow const flow(f_, n);
    std::uint32_t const i = f_[v].index;
    if (flow.is_stacked(i)) return found_.trip_counts[index_of(n)];
    return found_.loop_carried[index_of(flow.argument(i))] &&
           (f_.is_literal(flow.initial(i)) || found_.arrays[index_of(flow.initial(i))]);
  }

  bool keeps_shape(ir::node_id loop, std::uint32_t k) const {
    int steps = maximum_steps;
    ir::region_flow const flow(f_, loop);
    return has_shape_of(flow.next(k), {flow.argument(k), flow.initial(k)}, 0, steps);
  }

  // Whether a value in the loop has the shape of a loop-carried array, from an axis on. Returns false after `steps` operations: branches
  // in a row would be inspected once for each path.
  bool has_shape_of(ir::value_id v, loop_carried_array const& a, std::uint32_t axis, int& steps) const {
    for (;;) {
      if (v == a.argument) return axis == 0;
      if (!f_.is_result(v)) return false;
      ir::node_id const n = f_.node_of(v);
      switch (f_[n].code) {
      case ir::op::at: {
        std::uint32_t const indices = f_[n].operand_count - 1;
        if (indices > axis) return false;
        axis -= indices;
        v = f_.operand(n, 0);
        continue;
      }
      case ir::op::update:
      case ir::op::copy:
        v = f_.operand(n, 0);
        continue;
      default:
        break;
      }
      if (--steps < 0) return false;
      ir::op const code = f_[n].code;
      ir::region_flow const flow(f_, n);
      if (ir::is_counted_loop(code)) {
        if (!is_final_of_kept_shape(v)) return false;
        v = flow.initial(f_[v].index);
        continue;
      }
      if (ir::selects_region(code))
        return std::ranges::all_of(f_.regions_of(n), [&](ir::region_id r) {
          return has_shape_of(f_.operand(f_.yield_of(r), f_[v].index), a, axis, steps);
        });
      if (code != ir::op::fill && !ir::is_map(code)) return false;
      return is_length_of(f_.operand(n, 0), a, axis, steps) &&
             (f_.type_of(v).rank == 1 || has_shape_of(element_of(v), a, axis + 1, steps));
    }
  }
  // The elements of the result of a `fill` or a map.
  ir::value_id element_of(ir::value_id v) const {
    ir::node_id const n = f_.node_of(v);
    if (f_[n].code == ir::op::fill) return f_.operand(n, 1);
    return f_.operand(f_.yield_of(ir::region_flow(f_, n).body()), f_[v].index);
  }
  // The final value of a loop-carried array that has its initial shape.
  bool is_final_of_kept_shape(ir::value_id v) const {
    ir::region_flow const flow(f_, f_.node_of(v));
    std::uint32_t const i = f_[v].index;
    return i < flow.carried() && found_.loop_carried[index_of(flow.argument(i))];
  }

  // Whether a number is the length of a loop-carried array along an axis.
  bool is_length_of(ir::value_id count, loop_carried_array const& a, std::uint32_t axis, int& steps) const {
    if (is_length(count))
      for (ir::value_id const v : f_.operands_of(f_.node_of(count)))
        if (f_.type_of(v).rank + axis == f_.type_of(a.argument).rank && has_shape_of(v, a, axis, steps))
          return true;
    return has_length(a.initial, count, axis, steps);
  }

  // Whether an array has this length along an axis.
  bool has_length(ir::value_id v, ir::value_id count, std::uint32_t axis, int& steps) const {
    auto const is_count = [&](ir::value_id c) {
      if (c == count) return true;
      if (f_.is_literal(c) || f_.is_literal(count))
        return f_.is_literal(c) && f_.is_literal(count) && f_.bits_of(c) == f_.bits_of(count);
      if (!is_length(c) || !is_length(count)) return false; // lengths of several arrays are equal
      auto const all = f_.operands_of(f_.node_of(count));
      return std::ranges::any_of(f_.operands_of(f_.node_of(c)), [&](ir::value_id x) {
        return std::ranges::find(all, x) != all.end();
      });
    };
    while (--steps >= 0) {
      if (axis == 0 && is_length(count))
        for (ir::value_id const x : f_.operands_of(f_.node_of(count)))
          if (x == v) return true;
      if (!f_.is_result(v)) return false;
      ir::node_id const n = f_.node_of(v);
      ir::op const code = f_[n].code;
      if (code == ir::op::copy) {
        v = f_.operand(n, 0);
      } else if (code == ir::op::fill || ir::is_map(code)) {
        if (axis == 0) return is_count(f_.operand(n, 0));
        v = element_of(v);
        --axis;
      } else if (ir::is_counted_loop(code) && is_final_of_kept_shape(v)) {
        v = ir::region_flow(f_, n).initial(f_[v].index);
      } else {
        return false;
      }
    }
    return false;
  }

  ir::function const& f_;
  invariant_shapes found_;
};

invariant_shapes find_invariant_shapes(ir::function const& f) { return invariant_shapes_finder(f).find(); }

std::string text_of(invariant_shapes const& shapes, ir::program const& p, ir::function const& f) {
  names_of_values const names(p, f);
  std::string text;
  ir::walk(f, ir::function::body, [&](ir::node_id n) {
    ir::op const code = f[n].code;
    if (!ir::is_counted(code)) return;
    std::string invariant;
    auto const add = [&](std::string_view what) {
      if (!invariant.empty()) invariant += ", ";
      invariant += what;
    };
    if (shapes.trip_counts[index_of(n)]) add("trip count");
    for (ir::value_id const v : f.arguments_of(ir::region_flow(f, n).body()))
      if (f.type_of(v).rank > 0 && shapes.loop_carried[index_of(v)]) add("loop-carried " + names[v]);
    for (ir::value_id const v : f.results_of(n))
      if (f.type_of(v).rank > 0 && shapes.arrays[index_of(v)]) add("result " + names[v]);
    text.append(names[f.result(n, 0)]).append(" = ").append(ir::name_of(code)).append(": ");
    text += invariant.empty() ? "nothing" : invariant;
    text += '\n';
  });
  return text;
}

} // namespace overdub::increments
