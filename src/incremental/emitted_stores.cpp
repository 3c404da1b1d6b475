#include <overdub/implementation/incremental/emitted_stores.hpp>
#include <overdub/implementation/incremental/planned_stores.hpp>
#include <overdub/implementation/incremental/update_code.hpp>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace overdub::increments {

/// Old sums were emitted with their compensations. Where none is saved, the old sum is the saved number alone.
void complete_old_sums(update_code& code, replaced_values& now) {
  for (update_code::old_sum const& s : code.old_sums) {
    if (code.saved.all().compensation_of(s.of) != layout::none) continue;
    node_id const sum = code.written().node_of(s.compensated);
    value_id const read = code.written().operand(sum, 1);
    now.replace(code, s.compensated, s.alone);
    code.cursor.erase(sum);
    if (code.written().is_result(read)) code.cursor.erase(code.written().node_of(read));
  }
  code.arguments.keep_saved(code.saved.all());
}

/// Makes the values of all stores known in the outermost region. O(stores and operations around them).
void carry_out(
    update_code& code, region_id outermost, std::vector<planned_store>& stores, replaced_values& now) {
  function const& f = code.written();
  // The branches of guards count as the outermost region: where a guard fails, nothing is stored.
  std::vector<region_id> outside{function::body};
  for (auto const around : ir::enclosing_regions(f, outermost)) outside.push_back(around.region);
  auto const depth_of = [&](region_id r) {
    std::uint32_t depth = 0;
    for (; std::find(outside.begin(), outside.end(), r) == outside.end(); r = f[f[r].parent].parent) ++depth;
    return depth;
  };
  // By depth and operation: the stores in it. Inner operations come first, since their results may be in outer ones.
  std::map<std::pair<std::uint32_t, std::uint32_t>, stores_inside, std::greater<>> open;
  for (planned_store& s : stores)
    if (std::uint32_t const depth = depth_of(s.region); depth > 0)
      open[{depth, index_of(f[s.region].parent)}].push_back(&s);
  while (!open.empty()) {
    auto const [at, inside] = *open.begin();
    open.erase(open.begin());
    node_id const n{at.second};
    assert(selects_region(f[n].code) || is_counted(f[n].code)); // nothing is saved in others
    if (selects_region(f[n].code))
      carry_out_of_branch(code, n, inside, now);
    else
      carry_out_of_iterations(code, n, inside, now);
    for (planned_store* const s : inside) {
      s->region = f[n].parent;
      if (at.first > 1) open[{at.first - 1, index_of(f[s->region].parent)}].push_back(s);
    }
  }
}

values add_results(update_code& code, node_id n, replaced_values& now) {
  auto const before = code.written().results_of(n);
  values const old(before.begin(), before.end());
  code.cursor.to_after(n);
  values made = code.build().close(n).results;
  for (std::size_t k = 0; k < old.size(); ++k) now.replace(code, old[k], made[k]);
  return {made.begin() + static_cast<std::ptrdiff_t>(old.size()), made.end()};
}

/// A side yields zeros for the values of the other one. They are stored if it is taken.
void carry_out_of_branch(update_code& code, node_id n, stores_inside const& stores, replaced_values& now) {
  function const& f = code.written();
  std::array<carried_values, 2> carried;
  auto const side_of = [&](planned_store const& s) { return s.region == f.region_at(n, 0) ? 0u : 1u; };
  auto const for_each_own = [&](auto const& visit) { // values that are defined in a side
    for (planned_store* const s : stores) {
      auto const visit_own = [&](value_id& v) {
        v = now(v);
        if (v != ir::nothing && ir::is_defined_in(f, v, s->region)) visit(side_of(*s), v);
      };
      for (value_id& v : s->path) visit_own(v);
      visit_own(s->value);
      visit_own(s->valid);
    }
  };
  for_each_own([&](std::uint32_t side, value_id v) { carried[side].add(v); });
  for (std::uint32_t side = 0; side < 2; ++side)
    code.build().in_region(n, side, [&] {
      values yielded;
      for (std::uint32_t i = 0; i < 2; ++i)
        for (value_id const v : carried[i].all)
          yielded.push_back(i == side ? v : ir::zero_value(code.cursor, code.type_of(v)));
      return yielded;
    });
  values const results = add_results(code, n, now);
  value_id taken[2] = {f.operand(n, 0), ir::nothing};
  std::array<value_map, 2> valid; // by the condition of a store: that condition, where the side is taken
  for (planned_store* const s : stores) {
    std::uint32_t const side = side_of(*s);
    // A condition that is defined in the side is false where the side is not taken.
    if (s->valid != ir::nothing && ir::is_defined_in(f, s->valid, s->region)) continue;
    if (taken[side] == ir::nothing) taken[side] = code.add(op::logical_not, taken[0]);
    auto const [known, is_new] = valid[side].insert({s->valid, ir::nothing});
    if (is_new) known.value() = code.both(taken[side], s->valid);
    s->valid = known.value();
  }
  for_each_own([&](std::uint32_t side, value_id& v) {
    v = results[(side == 0 ? 0 : carried[0].all.size()) + carried[side].position.at(v)];
  });
}

/// Values in a map or a loop become arrays, with an element for each iteration.
void carry_out_of_iterations(
    update_code& code, node_id n, stores_inside const& stores, replaced_values& now) {
  function const& f = code.written();
  region_id const inside = f.region_at(n, 0);
  carried_values carried;
  auto const for_each_carried = [&](auto const& visit) {
    for (planned_store* const s : stores) {
      for (value_id& v : s->path) {
        v = now(v);
        if (!ir::is_defined_in(f, v, inside)) continue;
        if (auto const list = code.lists.find(v); list != code.lists.end())
          v = list->second;
        else
          visit(v);
      }
      for (value_id* const v : {&s->value, &s->valid})
        if (*v != ir::nothing) {
          *v = now(*v);
          visit(*v);
        }
    }
  };
  for_each_carried([&](value_id v) { carried.add(v); });
  code.build().in_region(n, 0, [&] { return carried.all; });
  values const results = add_results(code, n, now);
  for_each_carried([&](value_id& v) { v = results[carried.position.at(v)]; });
}

} // namespace overdub::increments
