// Which arrays of a loop have the same shape in each iteration.
#pragma once

#include <overdub/implementation/reverse/callee_properties.hpp>
#include <overdub/implementation/reverse/update_chains.hpp>
#include <overdub/ir/bounds.hpp>
#include <overdub/ir/regions.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace overdub::adjoint {

/// Whether the shape of an array is the same in each iteration of a region, found by following its definition. `carried`
/// are the loop-carried values; each is replaced by the operand of `end` of the same index. O(operations of the
/// definition).
class fixed_shapes {
public:
  fixed_shapes(
      function const& f, callee_properties const& callees, region_id iteration, std::vector<value_id> carried,
      node_id end)
      : f_(f), callees_(callees), iteration_(iteration), carried_(std::move(carried)), end_(end) {}

  bool has(value_id v) const { return has(v, maximum_steps); }

private:
  static constexpr int maximum_steps = 12;

  bool is_outside(value_id v) const { return !ir::is_defined_in(f_, v, iteration_); }
  bool is_same(value_id number, int steps) const {
    if (is_outside(number)) return true;
    if (steps == 0 || !f_.is_result(number)) return false;
    node_id const n = f_.node_of(number);
    if (f_[n].code == op::length) {
      for (value_id const v : f_.operands_of(n))
        if (has(v, steps - 1)) return true;
      return false;
    }
    if (!ir::is_elementwise(f_[n].code)) return false;
    for (value_id const v : f_.operands_of(n))
      if (!is_same(v, steps - 1)) return false;
    return true;
  }
  bool has(value_id v, int steps) const {
    if (f_.type_of(v).rank == 0 || is_outside(v)) return true;
    if (steps == 0) return false;
    if (f_.is_argument(v)) return carries_shape(v, steps);
    node_id const n = f_.node_of(v);
    auto const operand = [&](std::uint32_t i) { return f_.operand(n, i); };
    std::uint32_t const i = f_[v].index;
    ir::region_flow const flow(f_, n);
    if (i < flow.carried()) return has(flow.initial(i), steps - 1) && preserves_shape(n, i);
    if (i < flow.first_yielded()) return has(operand(i), steps - 1);
    if (ir::is_counted(f_[n].code)) return is_same(operand(0), steps - 1) && has(flow.yielded(i), steps - 1);
    switch (f_[n].code) {
    case op::update:
    case op::copy:
    case op::at:
      return has(operand(0), steps - 1);
    case op::fill:
      return is_same(operand(0), steps - 1) && has(operand(1), steps - 1);
    case op::iota:
      return is_same(operand(0), steps - 1);
    case op::slice:
      return is_same(operand(2), steps - 1) && (f_.type_of(v).rank == 1 || has(operand(0), steps - 1));
    case op::gather:
      return has(operand(1), steps - 1) && (f_.type_of(v).rank == 1 || has(operand(0), steps - 1));
    case op::array:
    case op::concat:
      for (value_id const part : f_.operands_of(n))
        if (!has(part, steps - 1)) return false;
      return true;
    case op::call: {
      auto const from = callees_.shape_of(f_[n].attributes.callee(), i);
      if (!from) return false;
      for (std::uint32_t const k : *from)
        if (f_.type_of(operand(k)).rank > 0 ? !has(operand(k), steps - 1) : !is_same(operand(k), steps - 1))
          return false;
      return true;
    }
    default:
      return false;
    }
  }
  // A loop-carried array of this loop, or of a nested one.
  bool carries_shape(value_id v, int steps) const {
    if (f_.region_of(v) == iteration_) {
      for (std::uint32_t i = 0; i < carried_.size(); ++i)
        if (carried_[i] == v) return preserves_shape(f_.operand(end_, i), v);
      return false;
    }
    node_id const n = ir::owner_of(f_, v);
    if (n == ir::nothing) return false;
    ir::region_flow const flow(f_, n);
    auto const i = flow.carried_index(v);
    return i && preserves_shape(n, *i) && has(flow.initial(*i), steps - 1);
  }
  bool preserves_shape(node_id n, std::uint32_t i) const {
    ir::region_flow const flow(f_, n);
    return preserves_shape(flow.next(i), flow.argument(i));
  }
  // Whether a value has the shape of an argument from which it is computed.
  bool preserves_shape(value_id v, value_id argument) const {
    for (int step = 0; step < maximum_steps && f_.is_result(v); ++step) {
      node_id const m = f_.node_of(v);
      std::uint32_t const k = f_[v].index;
      ir::region_flow const flow(f_, m);
      if (value_id const before = update_chains(f_).previous(v); before != ir::nothing)
        v = before;
      else if (k < flow.first_yielded())
        v = f_.operand(m, k);
      else if (ir::is_counted(f_[m].code) && k < flow.carried() && preserves_shape(m, k))
        v = flow.initial(k);
      else if (ir::selects_region(f_[m].code) && branches_preserve(m, k, argument))
        return true;
      else if (ir::is_map(f_[m].code) && f_.type_of(v).rank == 1)
        return is_length_of(f_.operand(m, 0), argument);
      else
        return false;
    }
    return v == argument;
  }
  // Whether a number is the length of an argument, or of an array of the same shape.
  bool is_length_of(value_id count, value_id argument) const {
    if (!f_.is_result(count) || f_[f_.node_of(count)].code != op::length) return false;
    for (value_id const v : f_.operands_of(f_.node_of(count)))
      if (preserves_shape(v, argument)) return true;
    return false;
  }
  bool branches_preserve(node_id n, std::uint32_t i, value_id argument) const {
    for (region_id const r : f_.regions_of(n))
      if (ir::before_updates(f_, f_.operand(f_.yield_of(r), i)) != argument) return false;
    return true;
  }

  function const& f_;
  callee_properties const& callees_;
  region_id iteration_;
  std::vector<value_id> carried_;
  node_id end_;
};

} // namespace overdub::adjoint
