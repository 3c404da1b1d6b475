// The analysis of operations with regions: branches, loops, maps, reductions, accumulators.

#include <overdub/implementation/check/analysis.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace overdub::checking {

namespace detail {
bool are_within(values const& x, values const& y) {
  for (std::size_t i = 0; i < x.size(); ++i)
    if (!is_within(x[i], y[i])) return false;
  return true;
}
bool is_one(integers const& n) {
  return n.low >= n.high || (n.from.symbol != relative::none && n.from == n.to);
}
// Bounds of a sum of `count` numbers, in any order: the error of each addition is at most half a unit in the last place.
inline reals sum_of(reals const& x, integers const& count, bool is_f32, hazards& h) {
  if (count.high <= 1) return x;
  double const largest =
      is_f32 ? static_cast<double>(std::numeric_limits<float>::max()) : std::numeric_limits<double>::max();
  auto const n = static_cast<double>(count.high);
  double const factor = n <= (is_f32 ? 0x1p12 : 0x1p26)   ? (is_f32 ? 1 + 0x1p-11 : 1 + 0x1p-26)
                        : n <= (is_f32 ? 0x1p24 : 0x1p53) ? 3
                                                          : infinity;
  auto const maximum = [&](double high) {
    if (high <= 0) return count.low >= 1 ? high : 0;
    double const sum = n * high * factor;
    return sum > largest ? infinity : sum;
  };
  reals r = {-maximum(-x.low), maximum(x.high), x.nan, x.whole};
  if (!x.has_numbers()) r = reals{}.with_nan(x.nan);
  h.nan = r.low == -infinity && r.high == infinity;
  return r.with_nan(h.nan);
}
// The set of numbers after any number of additions to them.
inline reals with_added(reals const& x, reals const& added, bool is_f32) {
  if (added.is_empty() || !x.has_numbers()) return x.with_nan(added.nan);
  double const low = added.low >= 0 ? x.low : -infinity, high = added.high <= 0 ? x.high : infinity;
  // No run adds more than 2^63 of them.
  bool const overflows = std::max(magnitude(x).high, magnitude(added).high) > (is_f32 ? 1e18 : 1e288);
  return {low, high, x.nan || added.nan || overflows, x.whole && added.whole};
}
std::string length_text(integers const& n) { return n.is_empty() ? "0" : text_of(n); }
} // namespace detail

// The fixpoint of a loop-carried value: the values at the start of each iteration. Widens until nothing changes, then
// narrows once.
template <class Step>
values analysis::fixed_point(values const& initial, std::uint32_t symbol, Step const& step) {
  with<bool> const silently(reporting_, false);
  auto const iteration = [&](values const& x) {
    possible_values const next = step(x);
    values y = initial;
    for (std::size_t i = 0; next && i < y.size(); ++i) y[i] = join(y[i], before((*next)[i], symbol));
    return y;
  };
  values x = initial;
  for (int k = 0;; ++k) {
    values y = iteration(x);
    if (detail::are_within(y, x)) {
      values z = iteration(y);
      return detail::are_within(z, y) ? z : y;
    }
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = is_exhausted() ? join(anything(x[i].type), y[i])
             : k < 2        ? join(x[i], y[i])
                            : widened(x[i], y[i]);
  }
}

// The arrays of stacked values.
values analysis::stacked(
    state& s, node_id n, std::uint32_t carried, possible_values const& yielded, integers const& times,
    std::uint32_t symbol) {
  values all;
  integers const length = times.low >= 0 ? times : maximum(times, integers::only(0));
  for (std::uint32_t i = carried; i < s.f[n].result_count; ++i) {
    abstract x{s.f.type_of(s.f.result(n, i)), {}, {integers::only(0)}, nullptr};
    if (yielded && length.high > 0) {
      abstract const row = before((*yielded)[i], symbol);
      x.element = row.element;
      x.lengths = row.lengths;
      x.lengths.insert(x.lengths.begin(), meet(length, integers::sizes()));
      for (integers const& extent : row.lengths)
        if (length.high > 1 && !detail::is_one(extent)) {
          report(
              s, n, finding_kind::wrong_size, false,
              std::string(name_of(s.f[n].code)) + " may get rows of different lengths, " + text_of(extent));
          break;
        }
    } else
      x.lengths.resize(x.type.rank);
    all.push_back(std::move(x));
  }
  return all;
}

bool analysis::branch(state& s, node_id n) {
  value_id const condition = s.f.operand(n, 0);
  bools const t = s[condition].element.boolean;
  possible_values all;
  with<bool> const certain(must_, must_ && (t.is_certainly(true) || t.is_certainly(false)));
  for (std::uint32_t i = 0; i < 2; ++i) {
    auto const mark = s.mark();
    if (s.assume(condition, i == 0)) {
      possible_values yielded = region(s, s.f.region_at(n, i), {});
      if (!all)
        all = std::move(yielded);
      else if (yielded)
        for (std::size_t k = 0; k < all->size(); ++k) (*all)[k] = join((*all)[k], (*yielded)[k]);
    }
    s.back_to(mark);
  }
  if (!all) return false;
  give(s, n, std::move(*all));
  return true;
}

bool analysis::loop(state& s, node_id n) {
  integers const times = size_of(s, s.f.operand(n, 0));
  std::uint32_t const symbol = next_symbol_, carried = s.f[n].operand_count - 1;
  region_id const r = s.f.region_at(n, 0);
  values initial;
  for (std::uint32_t i = 0; i < carried; ++i) initial.push_back(s[s.f.operand(n, i + 1)]);
  possible_values yielded;
  if (times.high > 0) {
    auto const iteration = [&](values const& x) {
      values arguments{scalar_of(ir::i64, number::of(index_below(times)))};
      arguments.insert(arguments.end(), x.begin(), x.end());
      return region(s, r, std::move(arguments));
    };
    values const x = fixed_point(initial, symbol, iteration);
    with<bool> const certain(must_, must_ && times.low >= 1);
    yielded = iteration(x);
    if (!yielded && times.low >= 1) return false;
  }
  values results = initial;
  for (std::uint32_t i = 0; yielded && i < carried; ++i) {
    abstract last = before((*yielded)[i], symbol);
    results[i] = times.low >= 1 ? std::move(last) : join(results[i], last);
  }
  values rows = stacked(s, n, carried, yielded, times, symbol);
  results.insert(results.end(), rows.begin(), rows.end());
  give(s, n, std::move(results));
  return true;
}

bool analysis::conditional_loop(state& s, node_id n) {
  std::uint32_t const symbol = next_symbol_, carried = s.f[n].operand_count;
  region_id const condition = s.f.region_at(n, 0), iteration = s.f.region_at(n, 1);
  values initial, going_on, ended;
  for (std::uint32_t i = 0; i < carried; ++i) initial.push_back(s[s.f.operand(n, i)]);
  bool goes_on = false, ends = false;
  auto const decide = [&](values const& x) {
    goes_on = ends = false;
    return region(s, condition, x, [&] {
      value_id const decision = s.f.operand(s.f.yield_of(condition), 0);
      for (bool const boolean : {true, false}) {
        auto const mark = s.mark();
        if (s.assume(decision, boolean)) {
          (boolean ? goes_on : ends) = true;
          values& all = boolean ? going_on : ended;
          all.clear();
          for (value_id const v : s.f.arguments_of(condition)) all.push_back(s[v]);
        }
        s.back_to(mark);
      }
    });
  };
  values const x = fixed_point(initial, symbol, [&](values const& now) -> possible_values {
    if (!decide(now) || !goes_on) return {};
    return region(s, iteration, going_on);
  });
  if (!decide(x)) return false;
  values results = ended;
  bool const may_end = ends;
  possible_values yielded;
  if (goes_on) {
    with<bool> const certain(must_, must_ && !may_end);
    yielded = region(s, iteration, going_on);
  }
  if (!may_end) return false;
  for (abstract& each : results) each = before(std::move(each), symbol);
  integers const times = yielded ? integers::sizes() : integers::only(0);
  values rows = stacked(s, n, carried, yielded, times, symbol);
  results.insert(results.end(), rows.begin(), rows.end());
  give(s, n, std::move(results));
  return true;
}

bool analysis::map(state& s, node_id n) {
  value_id const size = s.f.operand(n, 0);
  if (!check_size(s, n, size)) return false;
  integers const times = size_of(s, size);
  std::uint32_t const symbol = next_symbol_;
  possible_values yielded;
  if (times.high > 0) {
    with<bool> const certain(must_, must_ && times.low >= 1);
    yielded = region(s, s.f.region_at(n, 0), {scalar_of(ir::i64, number::of(index_below(times)))});
    if (!yielded && times.low >= 1) return false;
  }
  give(s, n, stacked(s, n, 0, yielded, times, symbol));
  return true;
}

bool analysis::protect(state& s, node_id n) {
  possible_values all = region(s, s.f.region_at(n, 0), {});
  {
    with<bool> const perhaps(must_, false);
    (void)region(s, s.f.region_at(n, 1), {});
  }
  if (!all) return false;
  give(s, n, std::move(*all));
  return true;
}

bool analysis::accumulate(state& s, node_id n) {
  region_id const r = s.f.region_at(n, 0);
  values sums, accumulators;
  for (value_id const v : s.f.operands_of(n)) {
    sums.push_back(s[v]);
    abstract acc{s.f.type_of(v).accumulator(), {}, s[v].lengths, nullptr}; // its elements: the contributions
    accumulators.push_back(std::move(acc));
  }
  possible_values const yielded = region(s, r, std::move(accumulators));
  if (!yielded) return false;
  for (std::uint32_t i = 0; i < sums.size(); ++i) {
    number const& added = s[s.f.argument(r, i)].element;
    number& sum = sums[i].element;
    if (sums[i].is_floating()) {
      bool const was_nan = sum.real.nan || added.real.nan;
      sum.real = detail::with_added(sum.real, added.real, sums[i].type.element == ir::scalar::f32);
      if (sum.real.nan && !was_nan)
        report(s, n, finding_kind::not_a_number, false, "accumulate may add up infinities of both signs");
    } else if (!added.whole.is_empty() && !added.whole.is_only(0))
      sum.whole = integers::any();
  }
  sums.insert(sums.end(), yielded->begin(), yielded->end());
  give(s, n, std::move(sums));
  return true;
}

bool analysis::reduce(state& s, node_id n) {
  ir::attributes const& says = s.f[n].attributes;
  std::uint32_t const count = says.is_started() ? s.f[n].operand_count / 2 : s.f[n].operand_count;
  std::vector<value_id> arrays;
  for (std::uint32_t i = 0; i < count; ++i) arrays.push_back(s.f.operand(n, i));
  if (!check_lengths(s, n, arrays)) return false;
  integers const length = s[arrays[0]].lengths[0];
  if (!says.is_started()) {
    if (length.low < 1 &&
        !fail(
            s, n, finding_kind::wrong_size, length.high < 1,
            "reduce has nothing to start from, of an array whose length is " + detail::length_text(length)))
      return false;
  }
  values elements, initial, results;
  for (std::uint32_t i = 0; i < count; ++i) {
    abstract const& a = s[arrays[i]];
    elements.push_back({a.type.element_type(), a.element, {a.lengths.begin() + 1, a.lengths.end()}, nullptr});
    if (says.is_started()) initial.push_back(s[s.f.operand(n, count + i)]);
  }
  std::uint32_t const symbol = next_symbol_;
  if (says.operation != op::none) {
    ir::type const t = elements[0].type;
    abstract all = elements[0];
    effect_of_op last;
    auto const combine = [&](abstract const& x, abstract const& y) {
      abstract const* const pair[] = {&x, &y};
      last = compute(says.operation, pair);
      return scalar_of(t, last.result);
    };
    hazards of_sum;
    if (says.is_in_order()) {
      all = initial[0];
      if (length.high > 0) {
        auto const of_next = [&](values const& x) { return possible_values({combine(x[0], elements[0])}); };
        all = fixed_point(initial, symbol, of_next)[0];
        (void)of_next({all});
        of_sum = last.may_be_wrong;
        if (last.may_divide_by_zero)
          report(s, n, finding_kind::division_by_zero, false, "reduce may divide by zero");
      }
    } else if (says.operation == op::add && t.is_floating())
      all.element.real = detail::sum_of(all.element.real, length, t == ir::f32, of_sum);
    else if (length.high > 1) {
      auto const of_two = [&](values const& x) {
        abstract const other = x[0]; // another number of the same set
        return possible_values({combine(x[0], other)});
      };
      all = fixed_point({all}, symbol, of_two)[0];
      (void)of_two({all});
      of_sum = last.may_be_wrong;
      if (last.may_divide_by_zero)
        report(s, n, finding_kind::division_by_zero, false, "reduce may divide by zero");
    }
    if (says.is_started() && !says.is_in_order()) {
      abstract const whole = all;
      all = initial[0];
      if (length.high > 0) {
        abstract const both = combine(initial[0], whole);
        all = length.low >= 1 ? both : join(all, both);
        of_sum.nan = of_sum.nan || last.may_be_wrong.nan;
        if (last.may_divide_by_zero)
          report(s, n, finding_kind::division_by_zero, false, "reduce may divide by zero");
      }
    }
    if (of_sum.nan)
      report(
          s, n, finding_kind::not_a_number, false,
          "reduce may give NaN of the elements, which are " + text_of(scalar_of(t, elements[0].element)));
    give(s, n, {std::move(all)});
    return true;
  }
  values x = elements;
  if (says.is_started())
    for (std::uint32_t i = 0; i < count; ++i) x[i] = join(x[i], initial[i]);
  if (length.high > (says.is_started() ? 0 : 1)) {
    auto const combine = [&](values const& now) {
      values both = now;
      both.insert(both.end(), now.begin(), now.end());
      return region(s, s.f.region_at(n, 0), std::move(both));
    };
    bool const runs = length.low > (says.is_started() ? 0 : 1);
    x = fixed_point(x, symbol, combine);
    with<bool> const certain(must_, must_ && runs);
    if (!combine(x) && runs) return false;
  } else if (says.is_started())
    x = initial;
  for (abstract& each : x) each = before(std::move(each), symbol);
  give(s, n, std::move(x));
  return true;
}

} // namespace overdub::checking
