#include <overdub/execute/values.hpp>
#include <overdub/implementation/execute/array_handlers.hpp>
#include <overdub/implementation/execute/lower_arrays.hpp>
#include <overdub/implementation/execute/yields.hpp>
#include <overdub/implementation/ir/operands.hpp>

namespace overdub::execute {
namespace {

bool is_parameter(ir::function const& f, value_id v) {
  return f.is_argument(v) && f.region_of(v) == ir::function::body;
}

} // namespace

offset common_length_of(function_lowering& fn, std::span<value_id const> arrays, std::string_view op) {
  if (arrays.size() == 1) return extent_at(fn.at(arrays[0]), 0);
  std::vector<offset> list{static_cast<offset>(arrays.size())};
  for (value_id const v : arrays) list.push_back(fn.at(v));
  offset const where = fn.slots.allocate(1);
  fn.out.emit(&doing<common_length>::run, where, fn.out.list(list), fn.out.text(op));
  return where;
}

std::vector<offset> indexed(function_lowering const& fn, node_id n, std::uint32_t indices) {
  value_id const array = fn.f.operand(n, 0);
  std::vector<offset> list{fn.at(array), offset{fn.type_of(array).rank}, indices};
  for (std::uint32_t i = 1; i <= indices; ++i) list.push_back(fn.at(fn.f.operand(n, i)));
  return list;
}

void retain_part(function_lowering& fn, node_id n) {
  if (fn.counts().retains(n, 0)) fn.out.emit(&retain_owner::run, 0, fn.slots.owner_word(fn.f.result(n)));
}

void reuse_array(function_lowering& fn, node_id n) {
  value_id const array = fn.f.operand(n, 0), result = fn.f.result(n);
  if (fn.counts().transfers(n, 0) && !is_parameter(fn.f, array))
    return fn.slots.assign(result, {.at = fn.at(array), .owns_words = fn.slots.take_words(array, n)});
  offset const where = fn.slots.assign_new(result);
  emit_move(fn, {fn.at(array), where, fn.slots.words_of(array)});
  retain_part(fn, n);
}

void lower_new_array(function_lowering& fn, node_id n) {
  std::uint32_t const count = fn.f[n].operand_count;
  auto const emit = [&](handler run, offset a, offset b) {
    offset const where = fn.slots.assign_new(fn.f.result(n));
    fn.out.emit(run, where, a, b, shape_code(fn.type_of(fn.f.result(n))));
  };
  auto const operand = [&](std::uint32_t k) { return fn.at(fn.f.operand(n, k)); };
  switch (fn.f[n].code) {
  case ir::op::array:
    return emit(&doing<make_of_values>::run, fn.out.list(operand_words(fn, n)), count);
  case ir::op::concat:
    return emit(&doing<concat>::run, fn.out.list(operand_words(fn, n)), count);
  case ir::op::fill:
    return emit(&doing<fill>::run, operand(0), operand(1));
  case ir::op::iota:
    return emit(&doing<iota>::run, operand(0), 0);
  default:
    emit(&doing<gather>::run, operand(0), operand(1));
  }
}

void lower_length(function_lowering& fn, node_id n) {
  value_list arrays;
  for (value_id const v : fn.f.operands_of(n)) arrays.push_back(v);
  offset const length = common_length_of(fn, arrays, "length");
  if (arrays.size() > 1 && !fn.slots.is_hinted(fn.f.result(n)))
    return fn.slots.assign(fn.f.result(n), {.at = length, .owns_words = true});
  emit_move(fn, {length, fn.slots.assign_new(fn.f.result(n)), 1});
  if (arrays.size() > 1) fn.slots.free(length, 1);
}

void lower_at(function_lowering& fn, node_id n) {
  value_id const array = fn.f.operand(n, 0), result = fn.f.result(n);
  std::uint32_t const indices = ir::index_count(fn.f, n);
  ir::type const t = fn.type_of(array);
  if (fn.type_of(result).rank > 0 || t.element == ir::scalar::function) {
    auto const list = indexed(fn, n, indices);
    offset const where = fn.slots.assign_new(result);
    fn.out.emit(&doing<part_of>::run, where, fn.out.list(list), 0, scalar_bytes(t));
    retain_part(fn, n);
    return;
  }
  value_id const first = fn.f.operand(n, 1);
  if (indices == 1) {
    offset const where_index = fn.at(first), where_array = fn.at(array);
    bool const only_use = is_only_use(fn.f, first, n);
    end_scalars(fn, n);
    offset const where = fn.slots.assign_new(result);
    return fn.out.load(t.element, where_array, {first, where_index, only_use}, result, where);
  }
  if (indices == 2) {
    offset const where = fn.slots.assign_new(result);
    fn.out.load2(t.element, fn.at(array), fn.at(first), fn.at(fn.f.operand(n, 2)), where);
    return;
  }
  auto const list = indexed(fn, n, indices);
  offset const where = fn.slots.assign_new(result);
  with_type(t.element, [&]<class T>(T) { fn.out.emit(&doing<load_deep<T>>::run, where, fn.out.list(list)); });
}

void lower_slice(function_lowering& fn, node_id n) {
  value_id const array = fn.f.operand(n, 0), result = fn.f.result(n);
  offset const list[] = {
      fn.at(array), fn.at(fn.f.operand(n, 1)), fn.at(fn.f.operand(n, 2)), offset{fn.type_of(array).rank}};
  offset const where = fn.slots.assign_new(result);
  fn.out.emit(&doing<slice_of>::run, where, fn.out.list(list), 0, scalar_bytes(fn.type_of(array)));
  retain_part(fn, n);
}

void lower_update(function_lowering& fn, node_id n) {
  value_id const array = fn.f.operand(n, 0), result = fn.f.result(n);
  std::uint32_t const indices = ir::index_count(fn.f, n);
  value_id const x = fn.f.operand(n, indices + 1);
  reuse_array(fn, n);
  with_type(fn.type_of(array).element, [&]<class T>(T) {
    if (indices == 1 && fn.type_of(array).rank == 1) {
      fn.out.emit(&update_element<T>::run, 0, fn.at(result), fn.at(fn.f.operand(n, 1)), fn.at(x));
      return;
    }
    auto list = indexed(fn, n, indices);
    list[0] = fn.at(result);
    list.push_back(fn.at(x));
    fn.out.emit(&doing<update_deep<T>>::run, 0, fn.out.list(list));
  });
}

void lower_add_to(function_lowering& fn, node_id n) {
  value_id const array = fn.f.operand(n, 0);
  std::uint32_t const indices = ir::index_count(fn.f, n);
  value_id const x = fn.f.operand(n, indices + 1);
  with_type(fn.type_of(array).element, [&]<class T>(T) {
    if constexpr (!std::is_same_v<T, bool>) {
      if (indices == 1 && fn.type_of(array).rank == 1) {
        fn.out.emit(&add_to_element<T>::run, 0, fn.at(array), fn.at(fn.f.operand(n, 1)), fn.at(x));
        return;
      }
      auto list = indexed(fn, n, indices);
      list.push_back(fn.at(x));
      fn.out.emit(&doing<add_to_deep<T>>::run, 0, fn.out.list(list));
    }
  });
}

} // namespace overdub::execute
