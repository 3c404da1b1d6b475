// The rewrite rules of `simplify` that are functions: of conversions, arrays and control flow. Each replaces an operation,
// or returns false. rules.hpp lists them.
#pragma once

#include <overdub/core/floating_point.hpp>
#include <overdub/implementation/ir/maker.hpp>
#include <overdub/ir/bounds.hpp>
#include <overdub/ir/regions.hpp>
#include <overdub/pass/ir_names.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <vector>

namespace overdub::pass::structural {

using values = std::vector<value_id>;

inline bool replace(cursor& c, node_id n, value_id v) {
  c.replace(n, cursor::values(&v, 1));
  return true;
}
inline bool replace(cursor& c, node_id n, values const& results) {
  c.replace(n, results);
  return true;
}
// Inserts an operation in place of another with one result.
inline bool replace(cursor& c, node_id n, op code, cursor::values operands) {
  type const t = c->type_of(c->result(n));
  c.to_before(n);
  return replace(c, n, c->result(c.insert(code, operands, cursor::types(&t, 1))));
}

// ---- numbers

// Both round the same quotient if the reciprocal is exact.
template <class T, class Bits>
bool multiply(cursor& c, node_id n) {
  T const divisor = std::bit_cast<T>(static_cast<Bits>(c->bits_of(c->operand(n, 1))));
  int exponent = 0;
  T const reciprocal = T{1} / divisor;
  if (!overdub::is_finite(divisor) || std::abs(std::frexp(divisor, &exponent)) != T{0.5} ||
      !overdub::is_finite(reciprocal) || T{1} / reciprocal != divisor)
    return false;
  value_id const operands[] = {c->operand(n, 0), c.literal(reciprocal)};
  return replace(c, n, op::mul, operands);
}
inline bool divide_by_power(cursor& c, node_id n) {
  if (!c->is_literal(c->operand(n, 1))) return false;
  type const t = c->type_of(c->result(n));
  if (t == ir::f64) return multiply<double, std::uint64_t>(c, n);
  if (t == ir::f32) return multiply<float, std::uint32_t>(c, n);
  return false;
}

// Sorts two literals by their bits, the greater one last.
inline bool literal_last(cursor& c, node_id n) {
  value_id const x = c->operand(n, 0);
  value_id const y = c->operand(n, 1);
  if (!c->is_literal(x) || (c->is_literal(y) && c->bits_of(x) <= c->bits_of(y))) return false;
  c.set_operand(n, 0, y);
  c.set_operand(n, 1, x);
  return true;
}

inline bool convert(cursor& c, node_id n) {
  value_id const x = c->operand(n, 0);
  type const to = c->type_of(c->result(n));
  if (c->type_of(x) == to) return replace(c, n, x);
  node_id const inner = maker_of(*c, x, op::convert);
  if (inner == nothing) return false;
  value_id const y = c->operand(inner, 0);
  type const from = c->type_of(y), between = c->type_of(x);
  bool const is_lossless = from == ir::boolean || (from == ir::f32 && between == ir::f64);
  return is_lossless && from == to && replace(c, n, y);
}

inline bool round(cursor& c, node_id n) {
  value_id const x = c->operand(n, 0);
  return c->is_result(x) && ir::row_of((*c)[c->node_of(x)].code).has(ir::op_traits::rounds) &&
         replace(c, n, x);
}

// ---- arrays

inline bool length(cursor& c, node_id n) {
  function const& f = *c;
  // All have one known length, or are versions of the same array.
  value_id known = nothing;
  value_id const first = before_updates(f, f.operand(n, 0));
  bool same = true;
  for (std::uint32_t i = 0; i < f[n].operand_count; ++i) {
    value_id const array = f.operand(n, i), base = before_updates(f, array);
    value_id size = length_of(f, array);
    if (node_id const made = maker_of(f, base, op::array); made != nothing)
      size = c.literal(std::int64_t{f[made].operand_count});
    if (i == 0 || size != known) known = i == 0 ? size : value_id(nothing);
    same = same && base == first;
  }
  if (known != nothing) return replace(c, n, known);
  if (!same || (f[n].operand_count == 1 && first == f.operand(n, 0))) return false;
  return replace(c, n, op::length, cursor::values(&first, 1));
}

inline bool at(cursor& c, node_id n) {
  function const& f = *c;
  value_id const array = f.operand(n, 0);
  if (!f.is_result(array)) return false;
  node_id const made = f.node_of(array);
  bool const one = f[n].operand_count == 2;
  value_id const i = f.operand(n, 1);
  values operands;
  auto with = [&](value_id a) {
    operands.push_back(a);
    for (std::uint32_t k = 1; k < f[n].operand_count; ++k) operands.push_back(f.operand(n, k));
    return replace(c, n, op::at, operands);
  };
  switch (f[made].code) {
  case op::array:
    if (!one || !f.is_literal(i) || f.bits_of(i) >= f[made].operand_count) return false;
    return replace(c, n, f.operand(made, static_cast<std::uint32_t>(f.bits_of(i))));
  case op::fill:
    return one && is_in_range(f, array, i) && replace(c, n, f.operand(made, 1));
  case op::iota:
    return is_in_range(f, array, i) && replace(c, n, i);
  case op::copy:
    return with(f.operand(made, 0));
  case op::update: {
    if (f[made].operand_count != f[n].operand_count + 1) return false;
    bool same = true, apart = false;
    for (std::uint32_t k = 1; k < f[n].operand_count; ++k) {
      value_id const a = f.operand(made, k), b = f.operand(n, k);
      same = same && a == b;
      apart = apart || (f.is_literal(a) && f.is_literal(b) && a != b);
    }
    if (same) return replace(c, n, f.operand(made, f[made].operand_count - 1));
    return apart && with(f.operand(made, 0));
  }
  default:
    return false;
  }
}

inline bool slice(cursor& c, node_id n) {
  function const& f = *c;
  value_id const array = f.operand(n, 0), first = f.operand(n, 1), count = f.operand(n, 2);
  if (!f.is_literal(first) || f.bits_of(first) != 0) return false;
  return is_length_of(f, count, array) && replace(c, n, array);
}

// An array of rows has the length of its rows even if it has none, and is left.
inline bool concat(cursor& c, node_id n) {
  function const& f = *c;
  if (f.type_of(f.result(n)).rank != 1) return false;
  auto const is_empty = [&](value_id v) {
    node_id const made = maker_of(f, v, op::slice);
    if (made == nothing) return false;
    value_id const count = f.operand(made, 2);
    return f.is_literal(count) && f.bits_of(count) == 0;
  };
  values kept;
  for (value_id const v : f.operands_of(n))
    if (!is_empty(v)) kept.push_back(v);
  if (kept.size() == f[n].operand_count || kept.empty()) return false;
  return kept.size() == 1 ? replace(c, n, kept[0]) : replace(c, n, op::concat, kept);
}

inline bool update(cursor& c, node_id n) {
  function const& f = *c;
  std::uint32_t const last = f[n].operand_count - 1;
  node_id const read = maker_of(f, f.operand(n, last), op::at);
  if (read == nothing || f[read].operand_count != last) return false;
  for (std::uint32_t i = 0; i < last; ++i)
    if (f.operand(read, i) != f.operand(n, i)) return false;
  return replace(c, n, f.operand(n, 0));
}

inline bool reduce(cursor& c, node_id n) {
  function const& f = *c;
  if (f[n].attributes.is_started()) return false;
  values elements;
  for (value_id const array : f.operands_of(n)) {
    node_id const made = maker_of(f, array, op::array);
    if (made == nothing || f[made].operand_count != 1) return false;
    elements.push_back(f.operand(made, 0));
  }
  return replace(c, n, elements);
}

// ---- control

inline value_id yielded(function const& f, node_id n, std::uint32_t region, std::uint32_t i) {
  return f.operand(f.yield_of(f.region_at(n, region)), i);
}
inline bool computes_nothing(function const& f, region_id r) { return f[r].first == f[r].last; }

inline bool same_in_branches(cursor& c, node_id n) {
  bool changed = false;
  for (std::uint32_t i = 0; i < (*c)[n].result_count; ++i) {
    value_id const v = yielded(*c, n, 0, i);
    if (v != yielded(*c, n, 1, i) || !c->is_used(c->result(n, i))) continue;
    c.substitute(c->result(n, i), v);
    changed = true;
  }
  return changed;
}
inline bool branch(cursor& c, node_id n) {
  function const& f = *c;
  if (f[n].result_count > 1 || !computes_nothing(f, f.region_at(n, 0)) ||
      !computes_nothing(f, f.region_at(n, 1)))
    return false;
  if (f[n].result_count == 0) return replace(c, n, values{});
  value_id const operands[] = {f.operand(n, 0), yielded(f, n, 0, 0), yielded(f, n, 1, 0)};
  return replace(c, n, op::select, operands);
}

inline bool unchanged(cursor& c, node_id n) {
  function const& f = *c;
  ir::region_flow const flow(f, n);
  bool changed = false;
  auto const replace = [&](value_id v, value_id initial) {
    changed = changed || f.is_used(v);
    c.substitute(v, initial);
  };
  for (std::uint32_t i = 0; i < flow.carried(); ++i) {
    value_id const initial = flow.initial(i);
    if (flow.next(i) != flow.argument(i) && flow.next(i) != initial) continue;
    for (region_id const r : f.regions_of(n)) replace(f.argument(r, flow.leading_arguments() + i), initial);
    replace(flow.final(i), initial);
  }
  return changed;
}

// Results from the `first`-th on become arrays of one element.
inline bool replace_once(cursor& c, node_id n, values results, std::uint32_t first) {
  c.to_before(n);
  for (std::uint32_t i = first; i < results.size(); ++i) {
    type const t = c->type_of(c->result(n, i));
    results[i] = c->result(c.insert(op::array, cursor::values(&results[i], 1), cursor::types(&t, 1)));
  }
  return replace(c, n, results);
}
inline bool is_one(function const& f, value_id v) { return f.is_literal(v) && f.bits_of(v) == 1; }

inline bool one_iteration(cursor& c, node_id n) {
  if (!is_one(*c, c->operand(n, 0))) return false;
  values arguments{c.literal(std::int64_t{0})};
  for (std::uint32_t i = 1; i < (*c)[n].operand_count; ++i) arguments.push_back(c->operand(n, i));
  std::uint32_t const carried = ir::region_flow(*c, n).carried();
  c.to_before(n);
  return replace_once(c, n, c.splice(c->region_at(n, 0), arguments), carried);
}

inline bool accumulate(cursor& c, node_id n) {
  region_id const r = c->region_at(n, 0);
  for (value_id const v : c->arguments_of(r))
    if (c->is_used(v)) return false;
  values results;
  for (value_id const v : c->operands_of(n)) results.push_back(v);
  c.to_before(n);
  for (value_id const v : c.splice(r, {})) results.push_back(v);
  return replace(c, n, results);
}

inline bool protect(cursor& c, node_id n) {
  region_id const r = c->region_at(n, 0);
  if (!computes_nothing(*c, r)) return false;
  values results;
  for (value_id const v : c->operands_of(c->yield_of(r))) results.push_back(v);
  return replace(c, n, results);
}

inline bool apply(cursor& c, node_id n) {
  function const& f = *c;
  node_id const made = maker_of(f, f.operand(n, 0), op::closure);
  if (made == nothing) return false;
  values operands;
  std::vector<type> results;
  for (value_id const v : f.operands_of(made)) operands.push_back(v);
  for (std::uint32_t i = 1; i < f[n].operand_count; ++i) operands.push_back(f.operand(n, i));
  for (value_id const v : f.results_of(n)) results.push_back(f.type_of(v));
  c.to_before(n);
  node_id const call = c.insert(op::call, operands, results, attributes::of(f[made].attributes.callee()));
  operands.clear();
  for (value_id const v : f.results_of(call)) operands.push_back(v);
  return replace(c, n, operands);
}

} // namespace overdub::pass::structural
