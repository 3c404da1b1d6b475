// Lowering: operations on scalars and arrays.
#pragma once

#include <overdub/implementation/execute/array_handlers.hpp>
#include <overdub/implementation/execute/lowering.hpp>
#include <overdub/implementation/ir/operands.hpp>
#include <overdub/implementation/ir/sine_and_cosine.hpp>

#include <string>
#include <vector>

namespace overdub::execute {

inline void lowering::lower_elementwise(node_id n) {
  value_id const result = f_.result(n);
  if (f_[n].code == ir::op::select && type_of(result).rank + type_of(result).is_function() > 0)
    return lower_select(n);
  if (f_[n].code == ir::op::digamma || f_[n].code == ir::op::polygamma)
    if (detail::special.digamma_f64 == nullptr)
      refuse("digamma and polygamma are computed with Boost.Math; #include <overdub/special.hpp> in a source "
             "of the program");
  if (p_.math == ir::math_mode::exact && lanes_ == nullptr)
    if (node_id const other = ir::other_of_sine_and_cosine(f_, n); other != ir::nothing)
      return lower_sine_and_cosine(n, other);
  emitter::operand x[3]{};
  std::size_t count = 0;
  for (value_id const v : f_.operands_of(n)) x[count++] = {v, at(v), is_only_use(v, n)};
  ir::scalar const type = type_of(x[ir::main_operand(f_[n].code)].value).element;
  free_scalars(n);
  offset const where = new_slot(result);
  out_.elementwise(f_[n].code, type, {x, count}, result, where);
}

// The first of the two computes both results.
inline void lowering::lower_sine_and_cosine(node_id n, node_id other) {
  if (!order_.is_before(n, other)) return;
  offset const from = at(f_.operand(n, 0)), own = new_slot(f_.result(n)), later = words_.allocate(1);
  assign_slot(f_.result(other), later, true);
  bool const is_sine = f_[n].code == ir::op::sin;
  bool const is_f32 = type_of(f_.result(n)).element == ir::scalar::f32;
  out_.emit(
      is_f32 ? &call_sine_and_cosine<float>::run : &call_sine_and_cosine<double>::run, is_sine ? own : later,
      from, is_sine ? later : own);
}

inline void lowering::lower_select(node_id n) {
  value_id const result = f_.result(n);
  offset const where = new_slot(result);
  offset const list[] = {at(f_.operand(n, 0)), words(result)};
  out_.emit(&doing<select_words>::run, where, out_.list(list), at(f_.operand(n, 1)), at(f_.operand(n, 2)));
  out_.emit(&retain_owner::run, 0, owner_word(result));
}

inline void lowering::lower_convert(node_id n) {
  value_id const from = f_.operand(n, 0), result = f_.result(n);
  offset const source = at(from);
  free_scalars(n);
  offset const where = new_slot(result);
  out_.emit(
      convert_handlers[type_index(type_of(from).element)][type_index(type_of(result).element)], where,
      source);
}

// An instruction that creates the result, an array.
inline void lowering::lower_new_array(node_id n, handler run, offset a, offset b) {
  value_id const result = f_.result(n);
  offset const where = new_slot(result);
  out_.emit(run, where, a, b, shape_code(type_of(result)));
}

inline void lowering::lower_array(node_id n) {
  std::vector<offset> list;
  for (value_id const v : f_.operands_of(n)) list.push_back(at(v));
  lower_new_array(n, &doing<make_of_values>::run, out_.list(list), f_[n].operand_count);
}

inline void lowering::lower_length(node_id n) {
  values arrays;
  for (value_id const v : f_.operands_of(n)) arrays.push_back(v);
  offset const length = common_length_of(arrays, "length");
  if (arrays.size() > 1 && hints_[index_of(f_.result(n))] == no_word)
    return assign_slot(f_.result(n), length, true);
  emit_move({length, new_slot(f_.result(n)), 1});
  if (arrays.size() > 1) words_.free(length, 1);
}

inline void lowering::lower_at(node_id n) {
  value_id const array = f_.operand(n, 0), result = f_.result(n);
  std::uint32_t const indices = ir::index_count(f_, n);
  ir::type const t = type_of(array);
  if (type_of(result).rank > 0 || t.element == ir::scalar::function) {
    auto const list = indexed(n, indices);
    offset const where = new_slot(result);
    out_.emit(&doing<part_of>::run, where, out_.list(list), 0, scalar_bytes(t));
    retain_part(n);
    return;
  }
  value_id const first = f_.operand(n, 1);
  if (indices == 1) {
    offset const where_index = at(first), where_array = at(array);
    bool const only_use = is_only_use(first, n);
    free_scalars(n);
    offset const where = new_slot(result);
    return out_.load(t.element, where_array, {first, where_index, only_use}, result, where);
  }
  if (indices == 2) {
    offset const where = new_slot(result);
    out_.emit(load2_handlers[type_index(t.element)], where, at(array), at(first), at(f_.operand(n, 2)));
    return;
  }
  auto const list = indexed(n, indices);
  offset const where = new_slot(result);
  with_type(t.element, [&]<class T>(T) { out_.emit(&doing<load_deep<T>>::run, where, out_.list(list)); });
}

inline void lowering::lower_slice(node_id n) {
  value_id const array = f_.operand(n, 0), result = f_.result(n);
  offset const list[] = {at(array), at(f_.operand(n, 1)), at(f_.operand(n, 2)), offset{type_of(array).rank}};
  offset const where = new_slot(result);
  out_.emit(&doing<slice_of>::run, where, out_.list(list), 0, scalar_bytes(type_of(array)));
  retain_part(n);
}

inline void lowering::lower_update(node_id n) {
  value_id const array = f_.operand(n, 0), result = f_.result(n);
  std::uint32_t const indices = ir::index_count(f_, n);
  value_id const x = f_.operand(n, indices + 1);
  reuse_array(n);
  with_type(type_of(array).element, [&]<class T>(T) {
    if (indices == 1 && type_of(array).rank == 1) {
      out_.emit(&update_element<T>::run, 0, at(result), at(f_.operand(n, 1)), at(x));
      return;
    }
    auto list = indexed(n, indices);
    list[0] = at(result);
    list.push_back(at(x));
    out_.emit(&doing<update_deep<T>>::run, 0, out_.list(list));
  });
}

inline void lowering::lower_add_to(node_id n) {
  value_id const array = f_.operand(n, 0);
  std::uint32_t const indices = ir::index_count(f_, n);
  value_id const x = f_.operand(n, indices + 1);
  with_type(type_of(array).element, [&]<class T>(T) {
    if constexpr (!std::is_same_v<T, bool>) {
      if (indices == 1 && type_of(array).rank == 1) {
        out_.emit(&add_to_element<T>::run, 0, at(array), at(f_.operand(n, 1)), at(x));
        return;
      }
      auto list = indexed(n, indices);
      list.push_back(at(x));
      out_.emit(&doing<add_to_deep<T>>::run, 0, out_.list(list));
    }
  });
}

inline void lowering::lower_copy(node_id n) { reuse_array(n); }

} // namespace overdub::execute
