// The transfer functions of array operations and of operations on scalars: they compute the abstract results, and report findings.

#include <overdub/implementation/check/analysis.hpp>
#include <overdub/implementation/ir/operands.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace overdub::checking {

namespace detail {
// Two constants are the same by their values alone: both have the empty relation.
inline bool are_same(integers const& x, integers const& y) {
  if (x.low == x.high || y.low == y.high) return x.low == x.high && y.is_only(x.low);
  return is_one(x) && x.from == y.from && x.to == y.to && is_one(y);
}
inline bool are_different(integers const& x, integers const& y) { return is_less(x, y) || is_less(y, x); }
} // namespace detail

void analysis::report_hazards(
    state& s, node_id n, std::span<abstract const* const> operands, effect_of_op const& e) {
  hazards const& h = e.may_be_wrong;
  if (!reporting_ || (!h.nan && !h.pole)) return;
  bool nan_before = false;
  std::string which = operands.size() == 1 ? "its operand is " : "its operands are ";
  for (std::size_t i = 0; i < operands.size(); ++i) {
    nan_before = nan_before || operands[i]->element.real.nan;
    which += (i == 0 ? "" : i + 1 == operands.size() ? " and " : ", ") + text_of(*operands[i]);
  }
  std::string const name(name_of(s.f[n].code));
  if (h.nan) {
    bool const always = !e.result.real.has_numbers() && !nan_before;
    report(
        s, n, finding_kind::not_a_number, always,
        name + (always ? " gives NaN: " : " may give NaN: ") + which);
  }
  if (h.pole) {
    bool const always = h.always && !nan_before;
    report(
        s, n, finding_kind::infinite, always,
        name + (always ? " gives an infinite number: " : " may give an infinite number: ") + which);
  }
}

bool analysis::elementwise(state& s, node_id n) {
  std::array<abstract const*, 3> operands{};
  std::size_t count = 0;
  for (value_id const v : s.f.operands_of(n)) operands[count++] = &s[v];
  auto const all = std::span<abstract const* const>(operands.data(), count);
  effect_of_op const e = compute(s.f[n].code, all);
  report_hazards(s, n, all, e);
  if (e.may_divide_by_zero) {
    value_id const divisor = s.f.operand(n, 1);
    bool const always = s[divisor].element.whole.is_only(0);
    if (!fail(
            s, n, finding_kind::division_by_zero, always,
            std::string(name_of(s.f[n].code)) +
                (always ? " divides by 0" : " may divide by 0: its divisor is ") +
                (always ? "" : text_of(s[divisor]))))
      return false;
    if (!s.narrow(divisor, without_zero(s[divisor].element.whole))) return false;
  }
  if (e.result.is_empty()) return false; // the operation never runs
  s.set(s.f.result(n), scalar_of(s.f.type_of(s.f.result(n)), e.result));
  return true;
}

bool analysis::select(state& s, node_id n) {
  bools const t = s[s.f.operand(n, 0)].element.boolean;
  abstract const &x = s[s.f.operand(n, 1)], &y = s[s.f.operand(n, 2)];
  give(s, n, {t.is_certainly(true) ? x : t.is_certainly(false) ? y : join(x, y)});
  return true;
}

bool analysis::check_index(state& s, node_id n, value_id array, std::size_t axis, value_id index) {
  integers const length = s[array].lengths[axis], i = s[index].element.whole;
  if (i.low < 0 || !is_less(i, length)) {
    bool const always = i.high < 0 || length.is_empty() || is_at_most(length, i);
    if (!fail(
            s, n, finding_kind::index, always,
            std::string(name_of(s.f[n].code)) + (always ? " is out of range: " : " may be out of range: ") +
                "the index is " + text_of(i) + ", and the length " + detail::length_text(length)))
      return false;
  }
  if (!s.narrow(index, index_below(length))) return false;
  if (s[array].type.is_accumulator) return true; // the set of its elements must include all additions
  integers const longer{std::max<int64_t>(i.low, 0) + 1, integers::maximum, detail::moved(i.from, 1), {}};
  return s.narrow_length(array, axis, longer);
}

bool analysis::check_size(state& s, node_id n, value_id size) {
  integers const c = s[size].element.whole;
  if (c.low < 0 &&
      !fail(
          s, n, finding_kind::wrong_size, c.high < 0,
          std::string(name_of(s.f[n].code)) +
              (c.high < 0 ? " has a negative size: " : " may have a negative size: ") + text_of(c)))
    return false;
  return s.narrow(size, integers::of(0, integers::maximum));
}

bool analysis::check_lengths(state& s, node_id n, std::span<value_id const> arrays) {
  for (std::size_t i = 1; i < arrays.size(); ++i) {
    integers const x = s[arrays[0]].lengths[0], y = s[arrays[i]].lengths[0];
    if (arrays[i] == arrays[0] || detail::are_same(x, y)) continue;
    bool const always = detail::are_different(x, y);
    if (!fail(
            s, n, finding_kind::wrong_size, always,
            std::string(name_of(s.f[n].code)) +
                (always ? " has arrays of different lengths, " : " may have arrays of different lengths, ") +
                text_of(x) + " and " + text_of(y)))
      return false;
    if (!s.narrow_length(arrays[0], 0, integers::of(y.low, y.high))) return false;
    s.set_length(arrays[i], 0, s[arrays[0]].lengths[0]);
  }
  return true;
}

// Reports rows whose shapes may differ.
bool analysis::check_rows(state& s, node_id n, abstract const& x, abstract const& y) {
  std::size_t const axes = std::min(x.lengths.size(), y.lengths.size());
  for (std::size_t i = 1; i <= axes; ++i) {
    integers const &a = x.lengths[x.lengths.size() - i], &b = y.lengths[y.lengths.size() - i];
    if (detail::are_same(a, b) || a.is_empty() || b.is_empty()) continue;
    report(
        s, n, finding_kind::wrong_size, false,
        std::string(name_of(s.f[n].code)) + " may have rows of different lengths, " + text_of(a) + " and " +
            text_of(b));
    return true;
  }
  return true;
}

bool analysis::part(state& s, node_id n) {
  value_id const array = s.f.operand(n, 0);
  std::uint32_t const indices = ir::index_count(s.f, n);
  for (std::uint32_t i = 0; i < indices; ++i)
    if (!check_index(s, n, array, i, s.f.operand(n, i + 1))) return false;
  abstract const& a = s[array];
  abstract x{s.f.type_of(s.f.result(n)), a.element, {a.lengths.begin() + indices, a.lengths.end()}, nullptr};
  if (x.type.rank == 0 && x.element.is_empty()) return false; // the array has no elements
  give(s, n, {std::move(x)});
  return true;
}

bool analysis::update(state& s, node_id n) {
  value_id const array = s.f.operand(n, 0);
  std::uint32_t const indices = ir::index_count(s.f, n);
  for (std::uint32_t i = 0; i < indices; ++i)
    if (!check_index(s, n, array, i, s.f.operand(n, i + 1))) return false;
  abstract const& x = s[s.f.operand(n, indices + 1)];
  abstract a = s[array];
  if (x.type.rank > 0 && !check_rows(s, n, a, x)) return false;
  bool const is_all =
      s.f[n].code == op::update && x.type.rank == 0 && a.type.rank == 1 && a.lengths[0].is_only(1);
  a.element = is_all ? x.element : join(a.element, x.element);
  if (s.f[n].code == op::add_to)
    s.set(array, std::move(a));
  else
    give(s, n, {std::move(a)});
  return true;
}

bool analysis::array_operation(state& s, node_id n) {
  auto const operand = [&](std::uint32_t i) { return s.f.operand(n, i); };
  ir::type const t = s.f[n].result_count > 0 ? s.f.type_of(s.f.result(n)) : ir::type{};
  switch (s.f[n].code) {
  case op::at:
    return part(s, n);
  case op::update:
  case op::add_to:
    return update(s, n);
  case op::copy:
    give(s, n, {s[operand(0)]});
    return true;
  case op::convert: {
    number const x = checking::convert(s[operand(0)], t);
    if (x.is_empty()) return false;
    give(s, n, {scalar_of(t, x)});
    return true;
  }
  case op::length: {
    std::vector<value_id> arrays;
    for (value_id const v : s.f.operands_of(n)) arrays.push_back(v);
    if (!check_lengths(s, n, arrays)) return false;
    give(s, n, {scalar_of(t, number::of(s[arrays[0]].lengths[0]))});
    return true;
  }
  case op::array: {
    abstract a{t, {}, std::vector<integers>(t.rank), nullptr};
    std::uint32_t const count = s.f[n].operand_count;
    for (std::uint32_t i = 0; i < count; ++i) {
      abstract const& x = s[operand(i)];
      if (i > 0 && x.type.rank > 0 && !check_rows(s, n, s[operand(0)], x)) return false;
      a.element = join(a.element, x.element);
      for (std::size_t k = 0; k < x.lengths.size(); ++k)
        a.lengths[k + 1] = i == 0 ? x.lengths[k] : join(a.lengths[k + 1], x.lengths[k]);
    }
    a.lengths[0] = integers::only(count);
    give(s, n, {std::move(a)});
    return true;
  }
  case op::slice: {
    if (!check_size(s, n, operand(2))) return false;
    integers const length = s[operand(0)].lengths[0], first = s[operand(1)].element.whole;
    integers const count = s[operand(2)].element.whole;
    integers const rest = sub(length, first);
    bool const fits = first.low >= 0 && (is_at_most(add(first, count), length) || is_at_most(count, rest));
    if (!fits) {
      bool const always =
          first.high < 0 || is_less(length, first) || (first.low >= 0 && is_less(rest, count));
      if (!fail(
              s, n, finding_kind::index, always,
              std::string("slice ") + (always ? "is" : "may be") + " out of range: the first index is " +
                  text_of(first) + ", the count " + text_of(count) + ", and the length " + text_of(length)))
        return false;
    }
    abstract a = s[operand(0)];
    a.lengths[0] = meet(count, integers::of(0, length.high));
    if (a.lengths[0].is_empty()) return false;
    give(s, n, {std::move(a)});
    return true;
  }
  case op::fill: {
    if (!check_size(s, n, operand(0))) return false;
    integers const size = size_of(s, operand(0));
    abstract const& x = s[operand(1)];
    abstract a{t, x.element, {meet(size, integers::sizes())}, nullptr};
    a.lengths.insert(a.lengths.end(), x.lengths.begin(), x.lengths.end());
    if (a.lengths[0].is_empty()) return false;
    give(s, n, {std::move(a)});
    return true;
  }
  case op::iota: {
    if (!check_size(s, n, operand(0))) return false;
    integers const size = size_of(s, operand(0));
    abstract a{t, number::of(index_below(size)), {meet(size, integers::sizes())}, nullptr};
    if (size.high <= 0) a.element = {};
    if (a.lengths[0].is_empty()) return false;
    give(s, n, {std::move(a)});
    return true;
  }
  case op::concat: {
    abstract a = s[operand(0)];
    for (std::uint32_t i = 1; i < s.f[n].operand_count; ++i) {
      abstract b = s[operand(i)];
      integers const length = meet(add(a.lengths[0], b.lengths[0]), integers::sizes());
      a.lengths[0] = b.lengths[0] = integers{}; // lengths need not be equal, rows must
      if (a.type.rank > 1 && !check_rows(s, n, a, b)) return false;
      a = join(a, b);
      a.lengths[0] = length;
    }
    give(s, n, {std::move(a)});
    return true;
  }
  case op::gather: {
    abstract a = s[operand(0)];
    abstract const& indices = s[operand(1)];
    integers const i = indices.element.whole, length = a.lengths[0];
    bool const some = indices.lengths[0].low >= 1;
    if (!i.is_empty() && (i.low < 0 || !is_less(i, length))) {
      bool const always = some && (i.high < 0 || is_at_most(length, i));
      if (!fail(
              s, n, finding_kind::index, always,
              std::string("gather ") + (always ? "is" : "may be") + " out of range: the indices are " +
                  text_of(i) + ", and the length " + text_of(length)))
        return false;
    }
    a.lengths[0] = indices.lengths[0];
    give(s, n, {std::move(a)});
    return true;
  }
  default:
    give_anything(s, n);
    return true;
  }
}

} // namespace overdub::checking
