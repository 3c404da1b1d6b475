#include "live_ranges.hpp"

#include <overdub/ir/enclosing.hpp>

#include <algorithm>
#include <utility>

namespace overdub::jit {
namespace {

// Whether an operation is in a region of another one.
bool contains(ir::function const& f, ir::node_id outer, ir::node_id inner) {
  return std::ranges::any_of(
      ir::enclosing_regions(f, inner), [&](auto const& each) { return each.owner == outer; });
}

} // namespace

live_ranges::live_ranges(ir::function const& f, ir::use_order const& order)
    : f_(f), order_(order), borrowed_from_(f.value_count(), ir::nothing),
      last_use_of_(f.value_count(), ir::nothing), last_uses_(f.node_count()) {}

ir::node_id live_ranges::begin(ir::value_id v, ir::region_id r) {
  ir::node_id const last = order_.last_use_in(v, r);
  last_use_of_[index_of(v)] = last;
  if (last != ir::nothing) last_uses_[index_of(last)].push_back({v, true});
  return last;
}

std::vector<ir::value_id> live_ranges::end(ir::node_id n) {
  std::vector<ir::value_id> released;
  for (last_use const& d : std::exchange(last_uses_[index_of(n)], {}))
    if (d.releases) released.push_back(d.value);
  return released;
}

bool live_ranges::transfer(ir::value_id v, ir::node_id n) {
  for (last_use& d : last_uses_[index_of(n)])
    if (d.value == v && d.releases) {
      d.releases = false;
      return true;
    }
  return false;
}

std::vector<ir::value_id> live_ranges::pass_into_regions(ir::node_id n) {
  std::vector<ir::value_id> given;
  for (last_use& d : last_uses_[index_of(n)])
    if (d.releases && order_.is_used_inside(d.value, n)) {
      d.releases = false;
      given.push_back(d.value);
    }
  return given;
}

void live_ranges::leave_regions(std::vector<ir::value_id> const& given) {
  for (ir::value_id const v : given) last_use_of_[index_of(v)] = ir::nothing;
}

bool live_ranges::can_borrow(ir::value_id owner, ir::value_id part, ir::node_id n) const {
  if (owner == ir::nothing) return true;
  ir::node_id const released_at = last_use_of_[index_of(owner)];
  if (released_at == ir::nothing) return true;
  ir::node_id last = order_.last_use_in(part, f_[n].parent);
  if (last == ir::nothing) return false;
  ir::region_id const r = f_[released_at].parent;
  while (f_[last].parent != r) {
    last = f_[f_[last].parent].parent;
    if (last == ir::nothing) return false;
  }
  if (last == released_at) return contains(f_, released_at, n);
  return order_.is_before(last, released_at);
}

} // namespace overdub::jit
