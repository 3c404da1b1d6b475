#include <overdub/implementation/ir/names_of_values.hpp>
#include <overdub/implementation/ir/operands.hpp>
#include <overdub/implementation/ir/shapes.hpp>
#include <overdub/ir/enclosing.hpp>
#include <overdub/ir/regions.hpp>
#include <overdub/ir/walk.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

namespace overdub::ir {

namespace {

constexpr int inspected_extents = 1000; // for one question

// The operands of an operation whose result is an i64 that they determine.
bool is_function_of_numbers(function const& f, node_id n) {
  return is_elementwise(f[n].code) && f.type_of(f.result(n)) == i64;
}

// Whether a region that is being generated has its yield.
bool is_complete(function const& f, region_id r) {
  node_id const last = f[r].last;
  return last != nothing && f[last].code == op::yield;
}
bool has_complete_regions(function const& f, node_id n) {
  return std::ranges::all_of(f.regions_of(n), [&](region_id r) { return is_complete(f, r); });
}

} // namespace

bool is_outside_loops(function const& f, region_id r) {
  for (auto const around : enclosing_regions(f, r))
    if (!selects_region(f[around.owner].code)) return false;
  return true;
}

// ---- a table of extents

shapes::shapes(function const& f, result_shapes const* callees)
    : f_(f), callees_(callees), empty_rows_differ_(false) {
  visit(function::body, nothing);
}

shapes::shapes(
    function const& f, result_shapes const& callees, region_id r, node_id end,
    std::span<carried const> states)
    : f_(f), callees_(&callees), empty_rows_differ_(true) {
  std::vector<extent> before;
  for (carried const& c : states)
    if (f.is_argument(c.argument))
      for (std::size_t i = of(c.argument).size(); i > 0; --i)
        before.push_back(add(kind::initial, c.argument, {}));
  visit(r, end);
  std::vector<loop_carried> all;
  for (std::size_t next = 0; carried const& c : states)
    if (f.is_argument(c.argument))
      for (std::size_t i = 0; i < of(c.argument).size(); ++i)
        all.push_back({of(c.argument)[i], before[next++], of(c.next)[i]});
  assume_invariants(all);
}

shapes::extent shapes::add(kind is, value_id v, std::span<extent const> uses) {
  table_.push_back(
      {is, v, static_cast<std::uint32_t>(uses_.size()), static_cast<std::uint32_t>(uses.size())});
  uses_.insert(uses_.end(), uses.begin(), uses.end());
  return extent{static_cast<std::uint32_t>(table_.size() - 1)};
}

std::span<shapes::extent const> shapes::uses_of(extent x) const {
  entry const& e = table_[static_cast<std::uint32_t>(x)];
  return {uses_.data() + e.first, e.count};
}

std::span<shapes::extent const> shapes::of(value_id v) {
  auto at = by_value_.find(v);
  if (at == by_value_.end()) {
    std::vector<extent> all;
    kind const is = f_.is_literal(v) ? kind::literal : kind::opaque;
    for (int i = std::max<int>(f_.type_of(v).rank, 1); i > 0; --i) all.push_back(add(is, v, {}));
    set(v, all);
    at = by_value_.find(v);
  }
  return {extents_.data() + at->second.first, at->second.count};
}

void shapes::set(value_id v, std::span<extent const> all) {
  by_value_.insert_or_assign(
      v, range{static_cast<std::uint32_t>(extents_.size()), static_cast<std::uint32_t>(all.size())});
  extents_.insert(extents_.end(), all.begin(), all.end());
}

std::vector<shapes::extent> shapes::copy_of(value_id v) {
  std::span<extent const> const all = of(v);
  return {all.begin(), all.end()};
}

// ---- operations in order

void shapes::visit(region_id r, node_id end) {
  for (node_id n = f_[r].first; n != nothing && n != end; n = f_[n].next) visit(n);
}

void shapes::visit(node_id n) {
  if (f_[n].region_count > 0)
    visit_regions(n);
  else if (f_[n].code == op::call)
    visit_call(n);
  else if (!visit_data(n) && f_[n].result_count == 1 && is_function_of_numbers(f_, n)) {
    std::vector<extent> operands;
    for (value_id const v : f_.operands_of(n)) operands.push_back(number(v));
    set(f_.result(n), std::vector{add(kind::derived, f_.result(n), operands)});
  }
}

bool shapes::visit_data(node_id n) {
  auto const leading = [&](extent first, value_id rest) {
    std::vector<extent> all = copy_of(rest);
    if (f_.type_of(rest).rank == 0) all.clear();
    all.insert(all.begin(), first);
    set(f_.result(n), all);
  };
  auto const rows = [&](extent first, value_id of_array) {
    std::vector<extent> all = copy_of(of_array);
    all[0] = first;
    set(f_.result(n), all);
  };
  auto const combined = [&](kind is, std::size_t axis) {
    std::vector<extent> all;
    for (value_id const v : f_.operands_of(n)) all.push_back(of(v)[axis]);
    return add(is, f_.result(n), all);
  };
  switch (f_[n].code) {
  case op::length:
    set(f_.result(n), std::vector{combined(kind::common, 0)});
    return true;
  case op::update:
  case op::copy:
    set(f_.result(n), copy_of(f_.operand(n, 0)));
    return true;
  case op::at: {
    std::vector<extent> const all = copy_of(f_.operand(n, 0));
    std::uint32_t const indices = index_count(f_, n);
    if (indices < all.size()) set(f_.result(n), std::span(all).subspan(indices));
    return true;
  }
  case op::fill:
    leading(number(f_.operand(n, 0)), f_.operand(n, 1));
    return true;
  case op::iota:
    set(f_.result(n), std::vector{number(f_.operand(n, 0))});
    return true;
  case op::slice:
    rows(number(f_.operand(n, 2)), f_.operand(n, 0));
    return true;
  case op::gather:
    rows(of(f_.operand(n, 1))[0], f_.operand(n, 0));
    return true;
  case op::array:
  case op::concat: {
    if (f_[n].operand_count == 0) return true;
    bool const joins = f_[n].code == op::concat;
    std::vector<extent> all{joins ? combined(kind::derived, 0) : add(kind::derived, f_.result(n), {})};
    for (std::size_t axis = 1; axis < f_.type_of(f_.result(n)).rank; ++axis)
      all.push_back(combined(kind::common, joins ? axis : axis - 1));
    set(f_.result(n), all);
    return true;
  }
  default:
    return false;
  }
}

void shapes::visit_call(node_id n) {
  if (callees_ == nullptr) return;
  for (std::uint32_t i = 0; i < f_[n].result_count; ++i) {
    value_id const v = f_.result(n, i);
    result_shapes::parameters const& from = callees_->of(f_[n].attributes.callee(), i);
    if (f_.type_of(v).rank == 0 || !from) continue;
    std::vector<extent> uses, all;
    for (std::uint32_t const k : *from) {
      std::vector<extent> const of_argument = copy_of(f_.operand(n, k));
      uses.insert(uses.end(), of_argument.begin(), of_argument.end());
    }
    for (int axis = 0; axis < f_.type_of(v).rank; ++axis) all.push_back(add(kind::derived, v, uses));
    set(v, all);
  }
}

void shapes::visit_regions(node_id n) {
  if (!has_complete_regions(f_, n)) return;
  region_flow const flow(f_, n);
  auto const give = [&](region_id r, std::uint32_t argument, value_id v) {
    set(f_.argument(r, argument), copy_of(v));
  };
  for (region_id const r : f_.regions_of(n)) {
    if (has_accumulators(f_[n].code))
      for (std::uint32_t i = 0; i < flow.first_yielded(); ++i) give(r, i, f_.operand(n, i));
    if (r != flow.body()) // the condition of a loop
      for (std::uint32_t i = 0; i < flow.carried(); ++i)
        give(r, flow.leading_arguments() + i, flow.argument(i));
    visit(r, nothing);
  }

  std::vector<loop_carried> states;
  for (std::uint32_t i = 0; i < flow.carried(); ++i) {
    std::vector<extent> const argument = copy_of(flow.argument(i)), initial = copy_of(flow.initial(i)),
                              next = copy_of(flow.next(i));
    for (std::size_t axis = 0; axis < argument.size(); ++axis)
      states.push_back({argument[axis], initial[axis], next[axis]});
  }
  assume_invariants(states);

  for (std::uint32_t i = 0; i < f_[n].result_count; ++i) {
    value_id const v = f_.result(n, i);
    if (i < flow.carried()) {
      if (keeps_shape(flow.argument(i))) set(v, copy_of(flow.initial(i)));
    } else if (i < flow.first_yielded()) {
      set(v, copy_of(f_.operand(n, i)));
    } else if (flow.is_stacked(i)) {
      set_stacked(n, i);
    } else if (!row_of(f_[n].code).has(region_traits::combines)) {
      set_selected(n, i);
    }
  }
}

// The result of a loop that is an array with one element for each iteration.
void shapes::set_stacked(node_id n, std::uint32_t result) {
  value_id const v = f_.result(n, result);
  region_flow const flow(f_, n);
  std::vector<extent> all{is_counted(f_[n].code) ? number(flow.trip_count()) : add(kind::opaque, v, {})};
  value_id const row = flow.yielded(result);
  if (f_.type_of(row).rank > 0)
    for (extent const x : copy_of(row))
      all.push_back(is_outside(n, x) ? add(kind::row, v, {&x, 1}) : add(kind::opaque, v, {}));
  set(v, all);
}

// The result of an operation whose regions run at most once.
void shapes::set_selected(node_id n, std::uint32_t result) {
  value_id const v = f_.result(n, result);
  region_flow const flow(f_, n);
  std::uint32_t const yielded = result - flow.first_yielded();
  std::vector<extent> all;
  for (region_id const r : f_.regions_of(n)) {
    if (!flow.yields_results(r)) continue;
    std::vector<extent> const of_region = copy_of(f_.operand(f_.yield_of(r), yielded));
    if (all.empty()) all = of_region;
    for (std::size_t axis = 0; axis < all.size(); ++axis)
      if (int steps = inspected_extents; all[axis] != unknown)
        all[axis] = joined(n, all[axis], of_region[axis], steps);
  }
  for (extent& x : all)
    if (x == unknown) x = add(kind::opaque, v, {});
  set(v, all);
}

// The extent that two regions of an operation yield, if it is the same. That several lengths are equal is known in the region that compared
// them: one of them that the other region yields, too, is taken.
shapes::extent shapes::joined(node_id n, extent a, extent b, int& steps) const {
  a = resolve(a), b = resolve(b);
  if (--steps < 0) return unknown;
  if (a == b || equals_of(a).empty()) return are_equal(a, b, steps) && is_outside(n, a) ? a : unknown;
  for (extent const each : equals_of(a))
    if (extent const same = joined(n, each, b, steps); same != unknown) return same;
  return unknown;
}

std::span<shapes::extent const> shapes::equals_of(extent x) const {
  kind const is = table_[static_cast<std::uint32_t>(x)].is;
  bool const has_equals = is == kind::common || (is == kind::row && !empty_rows_differ_);
  return has_equals ? uses_of(x) : std::span<extent const>();
}

// ---- loop-carried values

// A fixed point iteration: assumes that the extents of all loop-carried values are loop-invariant, and drops each assumption that the
// values of the next iteration contradict.
void shapes::assume_invariants(std::span<loop_carried const> states) {
  constexpr int rounds = 16; // then all assumptions are dropped
  auto const same_as = [&](loop_carried const& s) -> extent& {
    return table_[static_cast<std::uint32_t>(s.argument)].same_as;
  };
  for (loop_carried const& s : states) same_as(s) = s.initial;
  for (int round = 0;; ++round) {
    std::vector<loop_carried const*> wrong;
    for (loop_carried const& s : states)
      if (int steps = inspected_extents;
          same_as(s) != unknown && (round == rounds || !are_equal(s.next, s.initial, steps)))
        wrong.push_back(&s);
    if (wrong.empty()) return;
    for (loop_carried const* const s : wrong) same_as(*s) = unknown;
  }
}

shapes::extent shapes::resolve(extent x) const {
  while (table_[static_cast<std::uint32_t>(x)].same_as != unknown)
    x = table_[static_cast<std::uint32_t>(x)].same_as;
  return x;
}

bool shapes::are_equal(extent a, extent b, int& steps) const {
  a = resolve(a), b = resolve(b);
  if (a == b) return true;
  if (--steps < 0) return false;
  entry const& of_a = table_[static_cast<std::uint32_t>(a)];
  entry const& of_b = table_[static_cast<std::uint32_t>(b)];
  if (of_a.is == kind::literal && of_b.is == kind::literal)
    return f_.bits_of(of_a.value) == f_.bits_of(of_b.value);
  if (equals_of(a).empty()) std::swap(a, b);
  return std::ranges::any_of(equals_of(a), [&](extent x) { return are_equal(x, b, steps); });
}

// Whether an extent depends on a value for which `is_inside` holds, or that is not known.
template <class Inside>
bool shapes::depends(extent x, Inside const& is_inside, int& steps) const {
  x = resolve(x);
  if (--steps < 0) return true;
  entry const& e = table_[static_cast<std::uint32_t>(x)];
  auto const inner = [&](extent use) { return depends(use, is_inside, steps); };
  switch (e.is) {
  case kind::opaque:
    return is_inside(e.value);
  case kind::common:
    return std::ranges::all_of(uses_of(x), inner);
  case kind::derived:
  case kind::row:
    return std::ranges::any_of(uses_of(x), inner);
  default:
    return false;
  }
}

bool shapes::is_outside(node_id n, extent x) const {
  int steps = inspected_extents;
  return !depends(
      x,
      [&](value_id v) {
        return std::ranges::any_of(f_.regions_of(n), [&](region_id r) { return is_defined_in(f_, v, r); });
      },
      steps);
}

// ---- questions

template <class Inside>
bool shapes::depends(value_id v, Inside const& is_inside) const {
  auto const at = by_value_.find(v);
  if (at == by_value_.end()) return !f_.is_literal(v) && is_inside(v);
  int steps = inspected_extents;
  return std::any_of(
      extents_.data() + at->second.first, extents_.data() + at->second.first + at->second.count,
      [&](extent x) { return depends(x, is_inside, steps); });
}

bool shapes::is_invariant(value_id v, region_id r) const {
  return f_.type_of(v).rank == 0 || !depends(v, [&](value_id x) { return is_defined_in(f_, x, r); });
}

bool shapes::is_invariant(value_id v) const { return f_.type_of(v).rank == 0 || is_outside_of_all_loops(v); }

bool shapes::has_invariant_trip_count(node_id n) const {
  return is_outside_of_all_loops(region_flow(f_, n).trip_count());
}

bool shapes::is_outside_of_all_loops(value_id v) const {
  return !depends(v, [&](value_id x) { return !is_outside_loops(f_, f_.region_of(x)); });
}

bool shapes::keeps_shape(value_id argument) const {
  auto const at = by_value_.find(argument);
  return at != by_value_.end() &&
         std::all_of(
             extents_.data() + at->second.first, extents_.data() + at->second.first + at->second.count,
             [&](extent x) { return table_[static_cast<std::uint32_t>(x)].same_as != unknown; });
}

result_shapes::parameters shapes::parameters_of(value_id v) const {
  std::vector<std::uint32_t> found;
  bool const has_others = depends(v, [&](value_id x) {
    if (f_.region_of(x) != function::body || !f_.is_argument(x)) return true;
    if (std::ranges::find(found, f_[x].index) == found.end()) found.push_back(f_[x].index);
    return false;
  });
  return has_others ? result_shapes::parameters() : std::move(found);
}

// ---- functions of a program

result_shapes::parameters const& result_shapes::of(function_id f, std::uint32_t result) const {
  static parameters const nothing_known;
  if (index_of(f) >= known_.size()) known_.resize(p_->functions.size());
  if (!known_[index_of(f)]) {
    function const& of = (*p_)[f];
    if (!is_complete(of, function::body)) return nothing_known; // it is being generated
    known_[index_of(f)].emplace(of.results.size());             // what a recursive call finds
    auto all = find(f);
    known_[index_of(f)] = std::move(all);
  }
  return (*known_[index_of(f)])[result];
}

std::vector<result_shapes::parameters> result_shapes::find(function_id f) const {
  function const& of = (*p_)[f];
  shapes const known(of, this);
  std::vector<parameters> all;
  for (value_id const v : of.operands_of(of.yield_of(function::body)))
    all.push_back(of.type_of(v).rank > 0 ? known.parameters_of(v) : std::vector<std::uint32_t>());
  return all;
}

std::string text_of(shapes const& known, program const& p, function const& f) {
  names_of_values const names(p, f);
  std::string text;
  walk(f, function::body, [&](node_id n) {
    if (!is_counted(f[n].code)) return;
    std::string invariant;
    auto const add = [&](std::string_view what) {
      if (!invariant.empty()) invariant += ", ";
      invariant += what;
    };
    if (known.has_invariant_trip_count(n)) add("trip count");
    for (value_id const v : f.arguments_of(region_flow(f, n).body()))
      if (f.type_of(v).rank > 0 && known.keeps_shape(v)) add("loop-carried " + names[v]);
    for (value_id const v : f.results_of(n))
      if (f.type_of(v).rank > 0 && known.is_invariant(v)) add("result " + names[v]);
    text.append(names[f.result(n)]).append(" = ").append(name_of(f[n].code)).append(": ");
    text += invariant.empty() ? "nothing" : invariant;
    text += '\n';
  });
  return text;
}

} // namespace overdub::ir
