// Loop-carried arrays that are updated in place: each iteration's value is the previous one with some elements replaced.
// The values are versions of one array. The adjoint restores a version from the next one and the overwritten elements, and
// needs no copy of the whole array.
#pragma once

#include <overdub/implementation/ir/update_chain.hpp>
#include <overdub/ir/regions.hpp>
#include <overdub/ir/walk.hpp>

#include <cstdint>
#include <vector>

namespace overdub::adjoint {

using ir::function;
using ir::node_id;
using ir::op;
using ir::region_id;
using ir::value_id;

class update_chains {
public:
  explicit update_chains(function const& f) : f_(f) {}

  /// The previous version: the array that an operation updates to produce `v`; nothing, if there is none. Such operations
  /// are updates and copies, branches that return versions of one array, and loops that carry one. O(operations that
  /// produce the version, at each level of nesting).
  value_id previous(value_id v) const {
    if (!f_.is_result(v) || !is_restorable(f_.type_of(v))) return ir::nothing;
    node_id const n = f_.node_of(v);
    std::uint32_t const i = f_[v].index;
    op const code = f_[n].code;
    if (value_id const before = ir::previous_version(f_, v); before != ir::nothing) return before;
    if (carries(n, i)) return ir::region_flow(f_, n).initial(i);
    if (!ir::selects_region(code)) return ir::nothing;
    value_id const first = origin(n, 0, i), second = origin(n, 1, i);
    return first == second && !f_.is_literal(first) ? first : value_id(ir::nothing);
  }
  /// Whether a loop-carried value is such an array.
  bool carries(node_id n, std::uint32_t carried) const {
    ir::region_flow const flow(f_, n);
    return carried < flow.carried() && is_restorable(f_.type_of(flow.argument(carried))) &&
           oldest(flow.next(carried), flow.body()) == flow.argument(carried);
  }
  /// The versions that lead to `last` in a region, newest first. The last one is an argument of the region, or defined
  /// outside of it, or has no previous version.
  std::vector<value_id> versions(value_id last, region_id r) const {
    std::vector<value_id> all{last};
    while (f_.is_result(all.back()) && f_.region_of(all.back()) == r) {
      value_id const before = previous(all.back());
      if (before == ir::nothing) break;
      all.push_back(before);
    }
    return all;
  }

  /// Whether the updates that produce a version replace single numbers, wherever a loop performs them. O(operations
  /// inside).
  bool replaces_numbers(value_id version, bool is_in_loop = false) const {
    node_id const n = f_.node_of(version);
    if (f_[n].code == op::update)
      return !is_in_loop || f_.type_of(f_.operand(n, f_[n].operand_count - 1)).rank == 0;
    is_in_loop = is_in_loop || ir::repeats_regions(f_[n].code);
    for (region_id const r : f_.regions_of(n))
      if (ir::region_flow(f_, n).yields_results(r) && !replaces_numbers(r, f_[version].index, is_in_loop))
        return false;
    return true;
  }

private:
  bool replaces_numbers(region_id r, std::uint32_t yielded, bool is_in_loop) const {
    std::vector<value_id> const all = versions(f_.operand(f_.yield_of(r), yielded), r);
    for (std::size_t i = 0; i + 1 < all.size(); ++i)
      if (!replaces_numbers(all[i], is_in_loop)) return false;
    return true;
  }
  static bool is_restorable(ir::type t) {
    return t.rank > 0 && !t.is_accumulator && ir::type{t.element}.is_literal();
  }
  value_id oldest(value_id last, region_id r) const { return versions(last, r).back(); }
  value_id origin(node_id n, std::uint32_t branch, std::uint32_t result) const {
    region_id const r = f_.region_at(n, branch);
    return oldest(f_.operand(f_.yield_of(r), result), r);
  }

  function const& f_;
};

} // namespace overdub::adjoint
