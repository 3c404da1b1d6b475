#include <overdub/implementation/ir/affine.hpp>
#include <overdub/implementation/ir/index_ranges.hpp>
#include <overdub/implementation/ir/literal.hpp>
#include <overdub/implementation/ir/names_of_values.hpp>
#include <overdub/implementation/ir/unchecked_access.hpp>
#include <overdub/implementation/ir/value_map.hpp>
#include <overdub/ir/regions.hpp>

#include <algorithm>
#include <utility>

namespace overdub::ir {
namespace {

using region_set = std::vector<region_id>;

bool has_region(region_set const& all, region_id r) {
  return std::find(all.begin(), all.end(), r) != all.end();
}
bool have_common(region_set const& a, region_set const& b) {
  return std::any_of(a.begin(), a.end(), [&](region_id r) { return has_region(b, r); });
}
void add_regions(region_set& all, region_set const& more) { all.insert(all.end(), more.begin(), more.end()); }

class ahead_planner {
public:
  ahead_planner(
      function const& f, in_place_arrays const& in_place, known_in_range const& in_range, region_id body)
      : f_(f), in_place_(in_place), in_range_(in_range), body_(body) {}

  ahead_plan plan() {
    value_id const count = f_.operand(f_[body_].parent, 0);
    made_.loops.push_back({body_, add({.is = index_range::kind::outside, .value = count})});
    enclosing_.push_back({body_, 0, {body_}});
    look_in(body_);
    return std::move(made_);
  }

private:
  struct loop {
    region_id body;
    plan_number number;
    region_set changes_with; // itself, and the loops with whose indices its trip count varies, transitively
  };

  void look_in(region_id r) {
    for (node_id const n : f_.nodes_of(r)) {
      if (auto const access = unchecked_access_of(f_, in_place_, in_range_, body_, n))
        check(*access);
      else if (f_[n].code == op::accumulate)
        look_in(f_.region_at(n, 0));
      else if (is_counted(f_[n].code))
        look_in_loop(n);
    }
  }
  void look_in_loop(node_id n) {
    auto const count = range_of(f_.operand(n, 0));
    if (!count || !are_independent(loops_of(*count))) return;
    region_id const body = f_.region_at(n, 0);
    auto const number = static_cast<plan_number>(made_.loops.size());
    made_.loops.push_back({body, *count});
    enclosing_.push_back({body, number, closure(loops_of(*count))});
    enclosing_.back().changes_with.push_back(body);
    look_in(body);
    enclosing_.pop_back();
  }

  void check(unchecked_access const& a) {
    ahead_check made{a.access, a.array, {}, {}};
    for (std::uint32_t const k : a.axes) {
      value_id const index = f_.operand(a.access, 1 + k);
      auto const range = range_of(index);
      if (!range || !is_reached(loops_of(*range))) return;
      made.indices.push_back({k, *range, shifted_index(index, *range)});
    }
    if (made.indices.empty() || made.array == nothing) return;
    for (std::size_t i = 1; i < enclosing_.size(); ++i) made.inside.push_back(enclosing_[i].number);
    made_.checks.push_back(std::move(made));
  }
  // An index as the sum of the index of the only loop with which its range varies, and an invariant value.
  std::optional<index_check::shifted_index> shifted_index(value_id index, plan_number range) {
    if (loops_of(range).size() != 1) return {};
    loop const& l = loop_of(loops_of(range)[0]);
    if (may_overflow(made_.loops[l.number].trip_count)) return {};
    auto const known = [&](value_id v) -> std::optional<affine> {
      if (v == f_.argument(l.body, 0)) return affine::counter();
      auto const of = range_of(v);
      return of && loops_of(*of).empty() ? std::optional(affine::invariant(v)) : std::nullopt;
    };
    auto const found = affine_of(f_, index, known);
    if (!found || !found->scale.is_literal(1) || !found->offset.is_value()) return {};
    return index_check::shifted_index{l.number, *range_of(found->offset.value)};
  }

  loop const* loop_of_index(value_id v) const {
    for (loop const& l : enclosing_)
      if (v == f_.argument(l.body, 0)) return &l;
    return nullptr;
  }
  loop const& loop_of(region_id body) const {
    return *std::find_if(enclosing_.begin(), enclosing_.end(), [&](loop const& l) { return l.body == body; });
  }
  region_set closure(region_set const& all) const {
    region_set found;
    for (loop const& l : enclosing_)
      if (has_region(all, l.body)) add_regions(found, l.changes_with);
    return found;
  }
  // Whether these loops' indices vary independently, so that some iteration has each combination of their ends.
  bool are_independent(region_set const& all) const {
    region_set found;
    for (loop const& l : enclosing_) {
      if (!has_region(all, l.body)) continue;
      if (have_common(found, l.changes_with)) return false;
      add_regions(found, l.changes_with);
    }
    return true;
  }
  // Whether, in addition, no other enclosing loop has a trip count that varies with these loops, and may be 0 in that
  // iteration.
  bool is_reached(region_set const& all) const {
    if (!are_independent(all)) return false;
    region_set const with = closure(all);
    return std::none_of(enclosing_.begin(), enclosing_.end(), [&](loop const& l) {
      return !has_region(with, l.body) && have_common(with, l.changes_with);
    });
  }

  // ---- ranges

  plan_number add(index_range r) {
    made_.ranges.push_back(std::move(r));
    return static_cast<plan_number>(made_.ranges.size() - 1);
  }
  region_set const& loops_of(plan_number range) const { return made_.ranges[range].loops; }
  bool may_overflow(plan_number range) const { return made_.ranges[range].may_overflow; }

  std::optional<plan_number> range_of(value_id v, int depth = 0) {
    if (auto const known = known_.find(v); known != known_.end()) return known->second;
    auto const made = new_range(v, depth);
    known_.insert({v, made});
    return made;
  }
  std::optional<plan_number> new_range(value_id v, int depth) {
    if (f_.is_literal(v) || !is_defined_in(f_, v, body_))
      return add({.is = index_range::kind::outside, .value = v});
    if (loop const* const l = loop_of_index(v))
      return add(
          {.is = index_range::kind::index,
           .loop = l->number,
           .loops = {l->body},
           .may_overflow = may_overflow(made_.loops[l->number].trip_count)});
    constexpr int maximum_depth = 16;
    if (!f_.is_result(v) || depth > maximum_depth || f_.type_of(v) != i64) return {};
    node_id const n = f_.node_of(v);
    op const code = f_[n].code;
    if (code != op::add && code != op::sub && code != op::mul && code != op::div) return {};
    auto const x = range_of(f_.operand(n, 0), depth + 1);
    if (!x) return {};
    value_id const by = f_.operand(n, 1);
    if (code == op::div && (!f_.is_literal(by) || static_cast<std::int64_t>(f_.bits_of(by)) <= 0)) return {};
    auto const y = range_of(by, depth + 1);
    if (!y) return {};
    return combined(code, *x, *y);
  }
  std::optional<plan_number> combined(op code, plan_number x, plan_number y) {
    region_set const &of_x = loops_of(x), &of_y = loops_of(y);
    if (of_x.empty() && of_y.empty())
      return add({.is = index_range::kind::invariant, .code = code, .x = x, .y = y});
    if (have_common(of_x, of_y) || (code == op::mul && !of_x.empty() && !of_y.empty())) return {};
    index_range made{.is = index_range::kind::varying, .code = code, .x = x, .y = y, .loops = of_x};
    add_regions(made.loops, of_y);
    // Quotients by positive literals do not overflow.
    made.may_overflow = code != op::div || may_overflow(x);
    return add(std::move(made));
  }

  function const& f_;
  in_place_arrays const& in_place_;
  known_in_range const& in_range_;
  region_id const body_;
  std::vector<loop> enclosing_; // from the outermost
  value_map<std::optional<plan_number>> known_;
  ahead_plan made_;
};

} // namespace

ahead_plan plan_ahead(
    function const& f, in_place_arrays const& in_place, known_in_range const& in_range, region_id body) {
  return ahead_planner(f, in_place, in_range, body).plan();
}

std::string text_of(ahead_plan const& plan, program const& p, function const& f) {
  names_of_values const names(p, f);
  auto const name = [&](value_id v) {
    if (!f.is_literal(v)) return names[v];
    std::string literal;
    append_literal(literal, f.type_of(v), f.bits_of(v));
    return literal;
  };
  auto const index_name = [&](region_id body) { return names[f.argument(body, 0)]; };
  auto const expression = [&](auto const& self, plan_number number) -> std::string {
    index_range const& r = plan.ranges[number];
    if (r.is == index_range::kind::outside) return name(r.value);
    if (r.is == index_range::kind::index) return index_name(plan.loops[r.loop].body);
    return std::string(name_of(r.code)) + "(" + self(self, r.x) + ", " + self(self, r.y) + ")";
  };
  auto const range = [&](plan_number number) {
    index_range const& r = plan.ranges[number];
    std::string text = expression(expression, number);
    for (region_id const body : r.loops)
      text.append(body == r.loops[0] ? " varies with " : " and ").append(index_name(body));
    return text.append(r.may_overflow ? " and may overflow" : "");
  };
  std::string text;
  for (ahead_loop const& l : plan.loops)
    text.append("loop ").append(index_name(l.body)).append(": trip count ").append(range(l.trip_count)) +=
        '\n';
  for (ahead_check const& c : plan.checks) {
    node_id const n = c.access;
    text.append(f[n].result_count > 0 ? names[f.result(n)] + " = " : "").append(name_of(f[n].code));
    text.append(" of ").append(name(c.array));
    for (plan_number const l : c.inside)
      text.append(l == c.inside[0] ? " in loop " : ", ").append(index_name(plan.loops[l].body));
    text += ":\n";
    for (index_check const& i : c.indices) {
      text.append("  axis ").append(std::to_string(i.axis)).append(": ").append(range(i.range));
      if (i.shifted)
        text.append(", is ")
            .append(index_name(plan.loops[i.shifted->loop].body))
            .append(" shifted by ")
            .append(range(i.shifted->shift));
      text += '\n';
    }
  }
  return text;
}

} // namespace overdub::ir
