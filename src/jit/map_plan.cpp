#include "map_plan.hpp"

#include "affine_index.hpp"
#include "outputs.hpp"
#include "scalars.hpp"

#include <overdub/implementation/ir/only_reduction.hpp>
#include <overdub/ir/regions.hpp>

#include <algorithm>

namespace overdub::jit {
namespace {

bool is_number(ir::type t) {
  return t.rank == 0 &&
         (t.element == ir::scalar::f64 || t.element == ir::scalar::f32 || t.element == ir::scalar::i64);
}
bool is_floating(ir::type t) { return is_number(t) && t != ir::i64; }

class map_planner {
public:
  map_planner(function_state const& fn, node_id n) : fn_(fn), n_(n), body_(fn.f.region_at(n, 0)) {}

  map_plan plan() {
    node_id const last = fn_.f.yield_of(body_);
    for (std::uint32_t k = 0; k < fn_.f[n_].result_count; ++k) {
      value_id const result = fn_.f.result(n_, k), yielded = fn_.f.operand(last, k);
      if (node_id const reduction = only_sum(result); reduction != ir::nothing)
        made_.sums.push_back({result, yielded, reduction});
      else
        made_.arrays.push_back({result, yielded, can_fill_row(fn_, yielded, body_)});
    }
    if (fn_.program.how.optimisation < 2) return std::move(made_);
    auto checks = fn_.e.current_handler ? std::nullopt : plan_checks(fn_, body_);
    bool const is_straight = checks && is_vectorisable(*checks);
    if (is_straight && !made_.sums.empty() && fits_vectors()) {
      made_.vectors = std::move(checks);
      return std::move(made_);
    }
    made_.points = points();
    // LLVM vectorises straight-line bodies itself.
    if (!is_straight || !made_.sums.empty()) made_.blocks = blocks();
    return std::move(made_);
  }

private:
  // The sum of an array of numbers, if it is the only use.
  node_id only_sum(value_id v) const {
    ir::type const t = fn_.type_of(v);
    node_id const found = ir::only_reduction(fn_.f, v);
    bool const is_sum = found != ir::nothing && fn_.f[found].attributes.operation == ir::op::add &&
                        t.rank == 1 && t.element != ir::scalar::boolean;
    return is_sum ? found : node_id(ir::nothing);
  }
  bool sums_floating_alone() const {
    return std::ranges::none_of(
        made_.sums, [&](summed const& s) { return fn_.type_of(s.result).element == ir::scalar::i64; });
  }

  // ---- straight-line code of light operations

  bool is_vectorisable(check_plan const& checks) const {
    if (!checks.complete) return false;
    std::uint32_t accesses = 0;
    for (node_id const n : fn_.f.nodes_of(body_)) {
      ir::op const code = fn_.f[n].code;
      if (code == ir::op::yield || code == ir::op::length || code == ir::op::convert) continue;
      if (code == ir::op::at) {
        ir::type const t = fn_.type_of(fn_.f.result(n));
        if (t.rank > 0 || t.element == ir::scalar::boolean) return false;
        ++accesses;
        if (!is_read_in_line(fn_.f, n, body_)) return false;
        continue;
      }
      if (!ir::is_elementwise(code) || !is_light(fn_, code, fn_.type_of(fn_.f.result(n)))) return false;
    }
    return accesses > 0;
  }
  bool fits_vectors() const {
    return sums_floating_alone() && std::ranges::all_of(made_.arrays, [&](mapped const& m) {
             ir::type const t = fn_.type_of(m.result);
             return t.rank == 1 && t.element != ir::scalar::boolean;
           });
  }

  // ---- bodies with loops

  std::optional<points_plan> points() const {
    bool const has_loops =
        std::ranges::any_of(fn_.f.nodes_of(body_), [&](node_id m) { return ir::is_counted(fn_.f[m].code); });
    if (!fn_.program.is_repeatable || fn_.e.current_handler || !has_loops) return {};
    for (summed const& s : made_.sums)
      if (!is_floating(fn_.type_of(s.yielded))) return {};
    for (mapped const& m : made_.arrays)
      if (!is_number(fn_.type_of(m.yielded))) return {};
    points_plan found;
    if (!fits_points(body_, found)) return {};
    return found;
  }
  bool fits_points(region_id r, points_plan& found) const {
    return std::ranges::all_of(fn_.f.nodes_of(r), [&](node_id n) { return fits_points(n, r, found); });
  }
  bool fits_points(node_id n, region_id r, points_plan& found) const {
    auto const is_invariant = [&](value_id v) { return !ir::is_defined_in(fn_.f, v, body_); };
    switch (ir::op const code = fn_.f[n].code) {
    case ir::op::yield:
    case ir::op::convert:
      return true;
    case ir::op::length:
      return std::ranges::all_of(fn_.f.operands_of(n), is_invariant);
    case ir::op::at: {
      if (!is_number(fn_.type_of(fn_.f.result(n))) || !is_invariant(fn_.f.operand(n, 0))) return false;
      for (std::uint32_t k = 0; k + 1 < fn_.f[n].operand_count; ++k)
        if (!fn_.in_range.has(n, k)) return false;
      if (!is_read_in_line(fn_.f, n, body_)) found.reads_apart = true;
      return true;
    }
    case ir::op::map:
      if (!is_invariant(fn_.f.operand(n, 0))) return false;
      found.counts.push_back(fn_.f.operand(n, 0));
      for (std::uint32_t k = 0; k < fn_.f[n].result_count; ++k) {
        node_id const reduction = vector_reduction_of(fn_, fn_.f.result(n, k));
        if (reduction == ir::nothing) return false;
        if (!fn_.f[reduction].attributes.is_started()) found.at_least_one.push_back(fn_.f.operand(n, 0));
        if (fn_.f[reduction].attributes.operation != ir::op::add) found.has_sums_alone = false;
      }
      return fits_points(fn_.f.region_at(n, 0), found);
    case ir::op::reduce: {
      value_id const array = fn_.f.operand(n, 0);
      return fn_.f.is_result(array) && fn_.f.region_of(array) == r && vector_reduction_of(fn_, array) == n &&
             fn_.f[fn_.f.node_of(array)].code == ir::op::map;
    }
    default: {
      if (ir::is_counted_loop(code)) return fits_loop(n, found);
      if (!ir::is_elementwise(code)) return false;
      ir::type const t = fn_.type_of(fn_.f.result(n));
      // Heavy operations are called for one element at a time.
      return is_light(fn_, code, t) || (is_floating(t) && other_of_sine_and_cosine(fn_, n) == ir::nothing);
    }
    }
  }
  bool fits_loop(node_id n, points_plan& found) const {
    if (ir::is_defined_in(fn_.f, fn_.f.operand(n, 0), body_) || ir::region_flow(fn_.f, n).stacked() > 0)
      return false;
    for (std::uint32_t k = 0; k < fn_.f[n].result_count; ++k)
      if (ir::type const t = fn_.type_of(fn_.f.result(n, k)); !is_number(t) && t != ir::boolean) return false;
    found.has_sums_alone = false;
    return fits_points(fn_.f.region_at(n, 0), found);
  }

  // ---- bodies that end in elementary functions

  std::optional<blocks_plan> blocks() const {
    // The arrays of a block are on the stack: with more values, the map is not split.
    constexpr std::size_t maximum_crossing = 64;
    if (fn_.p.math == ir::math_mode::exact || !sums_floating_alone()) return {};
    blocks_plan made{vector_ends(), {}};
    if (made.ends.empty()) return {};
    auto const look = [&](value_id v) {
      if (!fn_.f.is_result(v) || made.ends[index_of(fn_.f.node_of(v))] || fn_.f.region_of(v) != body_) return;
      if (std::ranges::find(made.crossing, v) == made.crossing.end()) made.crossing.push_back(v);
    };
    for (node_id const n : fn_.f.nodes_of(body_))
      if (made.ends[index_of(n)] && made.crossing.size() <= maximum_crossing)
        for (value_id const v : fn_.f.operands_of(n)) look(v);
    for (summed const& s : made_.sums) look(s.yielded);
    if (made.crossing.size() + made_.arrays.size() > maximum_crossing) return {};
    return made;
  }
  // The operations that nothing outside of the second part depends on. Empty if none of them has a vector version.
  std::vector<bool> vector_ends() const {
    std::vector<bool> ends(fn_.f.node_count());
    std::vector<node_id> nodes;
    for (node_id const n : fn_.f.nodes_of(body_)) nodes.push_back(n);
    node_id const last = fn_.f.yield_of(body_);
    bool gains = false;
    for (auto at = nodes.rbegin(); at != nodes.rend(); ++at) {
      if (*at == last || !is_pure_scalar(*at)) continue;
      bool is_end = true;
      for (ir::use_id const u : fn_.f.uses_of(fn_.f.result(*at)))
        is_end = is_end && (fn_.f[u].user == last || ends[index_of(fn_.f[u].user)]);
      ends[index_of(*at)] = is_end;
      gains = gains || (is_end && fn_.program.elementary.has_vectors(
                                      fn_.f[*at].code, fn_.type_of(fn_.f.result(*at)).element));
    }
    if (!gains) ends.clear();
    return ends;
  }
  // A scalar operation without side effects that cannot fail.
  bool is_pure_scalar(node_id n) const {
    ir::op const code = fn_.f[n].code;
    if (fn_.f[n].result_count != 1) return false;
    ir::type const t = fn_.type_of(fn_.f.result(n));
    if (t.rank > 0 || t.element == ir::scalar::function || t.element == ir::scalar::opaque) return false;
    if (code == ir::op::convert) return true;
    if (!ir::is_elementwise(code) || code == ir::op::digamma || code == ir::op::polygamma) return false;
    return t != ir::i64 || (code != ir::op::div && code != ir::op::rem);
  }

  function_state const& fn_;
  node_id const n_;
  region_id const body_;
  map_plan made_;
};

} // namespace

map_plan plan_map(function_state const& fn, node_id n) { return map_planner(fn, n).plan(); }

bool is_light(function_state const& fn, ir::op code, ir::type t) {
  if (fn.program.elementary.has_vectors(code, t.element)) return true;
  if ((ir::row_of(code).cost >= 9 && code != ir::op::sqrt) || t.is_function()) return false;
  switch (code) {
  case ir::op::fdim:
  case ir::op::nextafter:
  case ir::op::ldexp:
  case ir::op::logb:
  case ir::op::lerp:
    return false;
  case ir::op::div:
  case ir::op::rem:
    return t != ir::i64;
  default:
    return true;
  }
}

node_id vector_reduction_of(function_state const& fn, value_id v) {
  node_id const found = ir::only_reduction(fn.f, v);
  ir::type const element = fn.type_of(v).element_type();
  bool const fits =
      found != ir::nothing && is_number(element) && is_light(fn, fn.f[found].attributes.operation, element);
  return fits ? found : node_id(ir::nothing);
}

} // namespace overdub::jit
