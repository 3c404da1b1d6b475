// A copy of primal code in the backward pass (rematerialised code). When the adjoint is complete, some of its values become residuals of
// the original (residuals.hpp).
#pragma once

#include <overdub/implementation/reverse/activity.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace overdub::adjoint {

/// The map of cursor::clone, which also copies activity.
class clone_map {
public:
  explicit clone_map(activity& known) : activity_(known) {}

  auto find(value_id v) const { return map_.find(v); }
  auto end() const { return map_.end(); }
  void insert_or_assign(value_id v, value_id copy) {
    map_.insert_or_assign(v, copy);
    activity_.set(copy, activity_.of(v));
  }
  /// Maps a value to another one whose activity is already known.
  void stand_in(value_id v, value_id known) { map_.insert_or_assign(v, known); }
  value_id of(value_id v) const {
    auto const at = map_.find(v);
    return at == map_.end() ? v : at->second;
  }

private:
  activity& activity_;
  value_map<value_id> map_;
};

/// A loop-carried array that the adjoint loop carries backwards.
struct restored_array {
  std::uint32_t carried;
  value_id newest;      // in the adjoint: the array at the end of the iteration
  bool is_read = false; // whether the adjoint reads it
  bool is_restored = false, is_refused = false;
};

/// The copy of a region in a region of the adjoint, between the operations `before` and `end`. `end` is the copy of the region's
/// yield, and is erased when the adjoint is complete.
class primal_copy {
public:
  primal_copy(region_id of, region_id in, node_id before, node_id end)
      : of_(of), in_(in), before_(before), end_(end) {}

  region_id of() const { return of_; }
  region_id in() const { return in_; }
  node_id end() const { return end_; }
  /// The value that replaces the region's index argument, if it has one.
  value_id index = ir::nothing;
  /// The values that replace the loop-carried values of the region. They can be saved, but not recomputed.
  std::vector<value_id> arguments;
  /// The first of the trailing operations that only the adjoint needs, computed from values of the copy alone: the forward
  /// pass may compute them, too.
  node_id factors = ir::nothing;
  /// Residuals whose length may differ between iterations.
  std::vector<value_id> ragged;
  /// The loop-carried arrays that the adjoint may restore.
  std::vector<restored_array> restored;
  /// Versions of arrays that the adjoint restores by undoing updates: they are neither saved nor used to recompute others.
  /// Some may be defined outside of the copy.
  std::vector<value_id> versions;
  /// Those versions that are restored after the adjoint, outside of it.
  std::vector<value_id> older;
  /// The restored value of each version.
  std::vector<std::pair<value_id, value_id>> restored_by;

  std::vector<node_id> nodes(function const& f) const {
    std::vector<node_id> all;
    for (node_id n = first(f); n != end_; n = f[n].next) all.push_back(n);
    return all;
  }
  node_id first(function const& f) const { return before_ == ir::nothing ? f[in_].first : f[before_].next; }

private:
  region_id of_, in_;
  node_id before_, end_;
};

} // namespace overdub::adjoint
