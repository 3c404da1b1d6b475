#include <overdub/implementation/execute/control_handlers.hpp>
#include <overdub/implementation/execute/emitter.hpp>
#include <overdub/implementation/execute/scalar_tables.hpp>

namespace overdub::execute {
namespace {

std::size_t type_index_of_jump(ir::scalar type) {
  return type == ir::scalar::i64 ? 0 : type == ir::scalar::f64 ? 1 : 2;
}
bool commutes(ir::op op) { return ir::row_of(op).has(ir::op_traits::commutes); }

} // namespace

void emitter::elementwise(
    ir::op op, ir::scalar type, std::span<operand const> x, ir::value_id result, offset out) {
  variants const& all = scalar_handlers[static_cast<std::size_t>(op)][type_index(type)];
  if (x.size() == 2 && (fuse(op, type, x[0], x[1], side::left, result, out) ||
                        fuse(op, type, x[1], x[0], side::right, result, out)))
    return;
  unsigned variant = 0;
  if (x.size() < 3) {
    if (is_last(x[0].value)) variant |= register_a;
    if (x.size() == 2 && is_last(x[1].value)) variant |= register_b;
    if (all[variant] == nullptr) variant = 0;
    if (variant != 0) pass(x[(variant & register_a) != 0 ? 0 : 1].only_use);
  }
  bool const is_function = !ir::is_elementwise(op) ? false : x.size() < 3 && all[register_a] == nullptr;
  emit(
      all[variant], out, x[0].at, x.size() > 1 ? x[1].at : 0,
      x.size() > 2  ? x[2].at
      : is_function ? ir::number_in(math_, op)
                    : 0);
  made(result, op, type, &all, variant);
}

std::uint32_t emitter::plain(ir::op op, ir::scalar type, offset out, offset a, offset b) {
  return emit(scalar_handlers[static_cast<std::size_t>(op)][type_index(type)][0], out, a, b);
}

void emitter::load(ir::scalar type, offset array, operand const& index, ir::value_id result, offset out) {
  variants const& all = load_handlers[type_index(type)];
  bool const in_register = is_last(index.value);
  bool const was_passed = in_register && pass(index.only_use);
  emit(all[in_register ? register_b : 0], out, array, index.at);
  made(result, ir::op::at, type, &all, in_register ? register_b : 0);
  last_.index_is_stored = !was_passed;
}

void emitter::plain_load(ir::scalar type, offset array, offset index, offset out) {
  emit(load_handlers[type_index(type)][0], out, array, index);
}

void emitter::load2(ir::scalar type, offset array, offset row, offset index, offset out) {
  emit(load2_handlers[type_index(type)], out, array, row, index);
}

void emitter::convert(ir::scalar from, ir::scalar to, offset x, offset out) {
  emit(convert_handlers[type_index(from)][type_index(to)], out, x);
}

std::uint32_t emitter::jump_if_false(operand const& mask) {
  if (is_last(mask.value)) {
    auto const index = type_index_of_jump(last_.type);
    if (last_.code != ir::op::none && mask.only_use && index < 2) {
      handler const fused = jump_handlers[static_cast<std::size_t>(last_.code)][index]
                                         [last_.variant & (register_a | register_b)];
      if (fused != nullptr) {
        instruction const comparison = pop();
        return emit(fused, 0, comparison.a, comparison.b);
      }
    }
    pass(mask.only_use);
    return emit(&jump_unless<source::in_register>::run, 0, mask.at);
  }
  return emit(&jump_unless<source::frame>::run, 0, mask.at);
}

bool emitter::fuse(
    ir::op op, ir::scalar type, operand const& x, operand const& other, side on, ir::value_id result,
    offset out) {
  if (!is_last(x.value) || !x.only_use || x.value == other.value || last_.type != type) return false;
  if (commutes(op)) on = side::left;
  auto const register_in_pair = [&](unsigned first) {
    return first == 0 && before_.value != ir::nothing && before_.value == other.value ? register_b : first;
  };
  if (last_.code == ir::op::at) {
    if (type != ir::scalar::f64 || !last_.index_is_stored) return false;
    for (fused_load_row const& row : fused_load_rows)
      if (row.second == op && row.on == on) {
        unsigned const variant = last_.variant == 0 ? register_in_pair(0) : 0;
        instruction const first = pop();
        if (variant != 0) pass(other.only_use);
        emit(row.on_doubles[variant], out, first.a, first.b, other.at);
        made(result, op, type, &row.on_doubles, variant);
        last_.code = ir::op::none;
        return true;
      }
    return false;
  }
  if (type != ir::scalar::i64 && type != ir::scalar::f64) return false;
  unsigned first_variant = last_.variant & (register_a | register_b);
  bool const swapped = first_variant == register_b;
  if (first_variant == (register_a | register_b) || (swapped && !commutes(last_.code))) return false;
  if (swapped) first_variant = register_a;
  for (fused_row const& row : fused_rows)
    if (row.first == last_.code && row.second == op && row.on == on) {
      auto const& all = row.integer_double[type == ir::scalar::f64];
      unsigned const variant = register_in_pair(first_variant);
      instruction const first = pop();
      if (variant == register_b) pass(other.only_use);
      emit(all[variant], out, swapped ? first.b : first.a, swapped ? first.a : first.b, other.at);
      made(result, op, type, &all, variant);
      last_.code = ir::op::none;
      return true;
    }
  return false;
}

} // namespace overdub::execute
