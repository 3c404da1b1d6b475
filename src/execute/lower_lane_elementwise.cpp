#include <overdub/implementation/execute/lane_tables.hpp>
#include <overdub/implementation/execute/lane_values.hpp>
#include <overdub/implementation/execute/lower_lane_elementwise.hpp>
#include <overdub/implementation/ir/operands.hpp>

#include <utility>

namespace overdub::execute {
namespace {

ir::op mirrored(ir::op code) {
  using ir::op;
  switch (code) {
  case op::add:
  case op::mul:
  case op::eq:
  case op::ne:
  case op::bit_and:
  case op::bit_or:
  case op::bit_xor:
    return code;
  case op::lt:
    return op::gt;
  case op::gt:
    return op::lt;
  case op::le:
    return op::ge;
  case op::ge:
    return op::le;
  default:
    return op::none;
  }
}

// Fuses the last instruction and an operation on its result x.
bool fuse_in_lanes(function_lowering& fn, ir::op code, value_id x, value_id other, side on, node_id n) {
  auto const last = fn.lanes->last;
  if (last.value == ir::nothing || last.at + 1 != fn.out.here() || last.value != x || x == other ||
      !is_only_use(fn.f, x, n))
    return false;
  if (ir::row_of(code).has(ir::op_traits::commutes)) on = side::left;
  bool const uniform = !fn.is_lanes(other);
  if (uniform && last.b_uniform) return false;
  for (lane_fused_row const& row : lane_fused_rows)
    if (row.first == last.code && row.second == code && row.on == on) {
      instruction const first = fn.out.pop();
      offset const c = fn.at(other);
      end_lanes(fn, n);
      fn.out.emit(
          row.handlers
              [last.b_uniform ? 1
               : uniform      ? 2
                              : 0],
          new_lanes(fn, fn.f.result(n)), first.a, first.b, c);
      fn.lanes->last = {};
      return true;
    }
  return false;
}

// Lowers an operation whose result is strided: computes the first lane and the stride.
void lane_strided(function_lowering& fn, node_id n) {
  value_id const a = fn.f.operand(n, 0), b = fn.f.operand(n, 1);
  ir::op const code = fn.f[n].code;
  bool const a_is_strided = fn.is_lanes(a), b_is_strided = fn.is_lanes(b);
  frame_slot const &left = fn.slots[a], &right = fn.slots[b];
  auto const compute = [&](ir::op c, offset to, offset x, offset y) {
    fn.out.plain(c, ir::scalar::i64, to, x, y);
  };
  auto const new_step = [&] { return fn.lanes->steps.emplace_back(fn.slots.allocate(1)); };
  offset step = a_is_strided ? left.step : right.step;
  if (a_is_strided && b_is_strided) {
    step = new_step();
    compute(code, step, left.step, right.step);
  } else if (code == ir::op::mul) {
    offset const factor = fn.at(a_is_strided ? b : a), by = step;
    step = new_step();
    compute(code, step, by, factor);
  } else if (code == ir::op::sub && b_is_strided) {
    step = new_step();
    compute(ir::op::neg, step, right.step, 0);
  }
  offset const first = fn.slots.allocate(1);
  compute(code, first, a_is_strided ? left.first : fn.at(a), b_is_strided ? right.first : fn.at(b));
  make_strided(fn, fn.f.result(n), first, step);
}

} // namespace

void lower_elementwise_in_lanes(function_lowering& fn, node_id n) {
  ir::op code = fn.f[n].code;
  value_id const result = fn.f.result(n);
  if (fn.lanes->plan.is_strided(result)) return lane_strided(fn, n);
  std::uint32_t const count = fn.f[n].operand_count;
  ir::scalar const type = fn.type_of(fn.f.operand(n, ir::main_operand(code))).element;
  lane_variants const& all = lane_handlers[static_cast<std::size_t>(code)][type_index(type)];
  if (count == 2 && type == ir::scalar::f64) {
    if (fuse_in_lanes(fn, code, fn.f.operand(n, 0), fn.f.operand(n, 1), side::left, n)) return;
    if (fuse_in_lanes(fn, code, fn.f.operand(n, 1), fn.f.operand(n, 0), side::right, n)) return;
  }
  offset x[3]{};
  std::size_t variant = 0;
  handler run = all[0];
  if (count == 2) {
    value_id a = fn.f.operand(n, 0), b = fn.f.operand(n, 1);
    // A uniform number becomes the right operand, if the operation has a mirrored form.
    if (ir::op const swapped = mirrored(code); !fn.is_lanes(a) && fn.is_lanes(b) && swapped != ir::op::none) {
      std::swap(a, b);
      code = swapped;
    }
    lane_variants const& swapped = lane_handlers[static_cast<std::size_t>(code)][type_index(type)];
    variant = fn.is_lanes(a) ? (fn.is_lanes(b) ? 0 : 1) : (fn.is_lanes(b) ? 2 : 0);
    if (swapped[variant] == nullptr) variant = 0;
    run = swapped[variant];
    x[0] = variant == 2 ? fn.at(a) : lanes_of(fn, a);
    x[1] = variant == 1 ? fn.at(b) : lanes_of(fn, b);
  } else
    for (std::uint32_t i = 0; i < count; ++i) x[i] = lanes_of(fn, fn.f.operand(n, i));
  end_lanes(fn, n);
  offset const to = new_lanes(fn, result);
  std::uint32_t const made = fn.out.emit(run, to, x[0], x[1], count == 3 ? x[2] : fn.number(code));
  if (type == ir::scalar::f64 && count == 2 && variant != 2)
    fn.lanes->last = {made, result, code, variant == 1};
}

void lower_convert_in_lanes(function_lowering& fn, node_id n) {
  value_id const from = fn.f.operand(n, 0), result = fn.f.result(n);
  offset const source = fn.at(from);
  end_lanes(fn, n);
  fn.out.emit(
      lane_convert_handlers[type_index(fn.type_of(from).element)][type_index(fn.type_of(result).element)],
      new_lanes(fn, result), source);
}

void emit_in_lanes(
    function_lowering& fn, ir::op code, ir::scalar type, offset to, offset x, offset y, offset z) {
  fn.out.emit(lane_handlers[static_cast<std::size_t>(code)][type_index(type)][0], to, x, y, z);
}

} // namespace overdub::execute
