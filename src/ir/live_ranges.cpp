#include <overdub/implementation/ir/live_ranges.hpp>
#include <overdub/ir/enclosing.hpp>

#include <algorithm>
#include <utility>

namespace overdub::ir {
namespace {

// Whether an operation is in a region of another one.
bool contains(function const& f, node_id outer, node_id inner) {
  return std::ranges::any_of(
      enclosing_regions(f, inner), [&](auto const& each) { return each.owner == outer; });
}

} // namespace

live_ranges::live_ranges(function const& f, use_order const& order)
    : f_(f), order_(order), borrowed_from_(f.value_count(), nothing), last_use_of_(f.value_count(), nothing),
      last_uses_(f.node_count()) {}

node_id live_ranges::begin(value_id v, region_id r) {
  node_id const last = order_.last_use_in(v, r);
  last_use_of_[index_of(v)] = last;
  if (last != nothing) last_uses_[index_of(last)].push_back({v, true});
  return last;
}

std::vector<value_id> live_ranges::end(node_id n) {
  std::vector<value_id> released;
  for (last_use const& d : std::exchange(last_uses_[index_of(n)], {}))
    if (d.releases) released.push_back(d.value);
  return released;
}

bool live_ranges::transfer(value_id v, node_id n) {
  for (last_use& d : last_uses_[index_of(n)])
    if (d.value == v && d.releases) {
      d.releases = false;
      return true;
    }
  return false;
}

std::vector<value_id> live_ranges::pass_into_regions(node_id n) {
  std::vector<value_id> given;
  for (last_use& d : last_uses_[index_of(n)])
    if (d.releases && order_.is_used_inside(d.value, n)) {
      d.releases = false;
      given.push_back(d.value);
    }
  return given;
}

void live_ranges::leave_regions(std::vector<value_id> const& given) {
  for (value_id const v : given) last_use_of_[index_of(v)] = nothing;
}

bool live_ranges::can_borrow(value_id owner, value_id part, node_id n) const {
  if (owner == nothing) return true;
  node_id const released_at = last_use_of_[index_of(owner)];
  if (released_at == nothing) return true;
  node_id last = order_.last_use_in(part, f_[n].parent);
  if (last == nothing) return false;
  region_id const r = f_[released_at].parent;
  while (f_[last].parent != r) {
    last = f_[f_[last].parent].parent;
    if (last == nothing) return false;
  }
  if (last == released_at) return contains(f_, released_at, n);
  return order_.is_before(last, released_at);
}

} // namespace overdub::ir
