#include <overdub/implementation/reverse/data_adjoints.hpp>

#include <array>
#include <cstdint>
#include <iterator>

namespace overdub::adjoint {

void data_adjoints::elementwise(node_id n, value_id cotangent) {
  std::array<term, 3> in{0.0, 0.0, 0.0};
  std::array<linear, 3> along;
  for (std::uint32_t i = 0; i < f()[n].operand_count; ++i) {
    value_id const x = f().operand(n, i);
    in[i] = term(at_, x);
    if (activity_.varies(x)) along[i] = linear::of_tangent(static_cast<std::uint8_t>(i));
  }
  term const as_term(at_, cotangent);
  formula::tangent_of(f()[n].code, term(at_, f().result(n)), in, along)
      .transpose(as_term, [&](std::uint8_t i, term const& part) {
        sums_.add(f().operand(n, i), part.as(at_, as_term.type()));
      });
}

// The indices of an `at`.
data_adjoints::values data_adjoints::indices_of(node_id n) const {
  auto const all = f().operands_of(n);
  return {std::next(all.begin()), all.end()};
}

// An `at` that returns a row or more: contributions to the row's elements are added to the array itself.
void data_adjoints::row(node_id n) {
  at_.set_place(f()[n].place);
  if (activity_.varies(f().result(n))) sums_.move_to_array(f().result(n), f().operand(n, 0), indices_of(n));
}

// Writes the adjoint of an operation on arrays; false if it is another operation.
bool data_adjoints::data(node_id n, value_id cotangent) {
  value_id const first = f()[n].operand_count > 0 ? f().operand(n, 0) : value_id(ir::nothing);
  switch (f()[n].code) {
  case op::convert:
    if (activity_.varies(first)) sums_.add(first, at_.convert(cotangent, type_of(first)));
    return true;
  case op::copy:
    sums_.add(first, cotangent);
    return true;
  case op::length:
  case op::iota:
    return true;
  case op::at:
    sums_.add_at(first, indices_of(n), cotangent);
    return true;
  case op::array:
    array(n, cotangent);
    return true;
  case op::slice:
    slice(n, cotangent);
    return true;
  case op::gather:
    gather(n, cotangent);
    return true;
  case op::concat:
    concat(n, cotangent);
    return true;
  case op::update:
    update(n, cotangent);
    return true;
  case op::fill:
    fill(n, cotangent);
    return true;
  default:
    return false;
  }
}

void data_adjoints::array(node_id n, value_id cotangent) {
  for (std::uint32_t i = 0; i < f()[n].operand_count; ++i)
    if (value_id const element = f().operand(n, i); activity_.varies(element))
      sums_.add(element, at_.add(op::at, cotangent, index(i)));
}

void data_adjoints::slice(node_id n, value_id cotangent) {
  value_id const array = f().operand(n, 0), start = f().operand(n, 1), count = f().operand(n, 2);
  sums_.scatter(array, [&] {
    build().loop(count, {}, [&](value_id i, values const&) {
      value_id const at[] = {at_.add(op::add, start, i)};
      sums_.add_at(array, at, at_.add(op::at, cotangent, i));
    });
  });
}

void data_adjoints::gather(node_id n, value_id cotangent) {
  value_id const array = f().operand(n, 0), indices = f().operand(n, 1);
  sums_.scatter(array, [&] {
    build().loop(at_.add(op::length, indices, cotangent), {}, [&](value_id i, values const&) {
      value_id const at[] = {at_.add(op::at, indices, i)};
      sums_.add_at(array, at, at_.add(op::at, cotangent, i));
    });
  });
}

void data_adjoints::concat(node_id n, value_id cotangent) {
  value_id start = index(0);
  for (std::uint32_t i = 0; i < f()[n].operand_count; ++i) {
    value_id const part = f().operand(n, i);
    value_id const size = at_.add(op::length, part);
    if (activity_.varies(part)) sums_.add(part, at_.add(op::slice, cotangent, start, size));
    start = at_.add(op::add, start, size);
  }
}

void data_adjoints::update(node_id n, value_id cotangent) {
  std::uint32_t const last = f()[n].operand_count - 1;
  value_id const array = f().operand(n, 0), part = f().operand(n, last);
  values at{cotangent};
  for (std::uint32_t i = 1; i < last; ++i) at.push_back(f().operand(n, i));
  if (activity_.varies(part)) sums_.add(part, insert(op::at, at, type_of(part)));
  if (!activity_.varies(array)) return;
  at.push_back(sums_.zeros_like(part));
  sums_.add(array, insert(op::update, at, type_of(array)));
}

void data_adjoints::fill(node_id n, value_id cotangent) {
  value_id const element = f().operand(n, 1);
  if (!activity_.varies(element)) return;
  if (type_of(element).rank == 0) return sums_.add(element, sums_.sum_of(cotangent));
  // The sum of no rows is zero.
  value_id const is_empty = at_.add(op::eq, f().operand(n, 0), index(0));
  value_id const sum = build().if_(
      is_empty, [&] { return sums_.zeros_like(element); }, [&] { return sums_.sum_of(cotangent); });
  sums_.add(element, sum);
}

// The array that is not selected gets zeros.
void data_adjoints::select_arrays(node_id n, value_id cotangent) {
  value_id const condition = f().operand(n, 0);
  for (std::uint32_t i = 1; i < 3; ++i) {
    value_id const array = f().operand(n, i);
    if (!activity_.varies(array)) continue;
    auto const part = [&](bool is_selected) {
      return [&, is_selected] { return is_selected ? cotangent : sums_.zeros_like(array); };
    };
    sums_.add(array, build().if_(condition, part(i == 1), part(i == 2)));
  }
}

} // namespace overdub::adjoint
