// interchange: a map whose elements run through the same loop becomes loops over short maps: blocks of 64 elements, that go
// through each turn together. What was one long chain of dependent operations for each element becomes vectors.
// Splits what is pure, and what may fail; which of several errors is thrown is left open. Needs a valid program.
#pragma once

#include <overdub/header_only.hpp>
#include <overdub/ir/cursor.hpp>
#include <overdub/ir/effects.hpp>
#include <overdub/ir/walk.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

namespace overdub::contexts::batching {

inline constexpr std::int64_t block = 64; // elements: what they carry stays in the nearest cache
inline constexpr std::int64_t block_bits = 6;

/// What is known of one map's body, and whether it can be split at its loops.
class split_plan {
public:
  using value_id = ir::value_id;
  using node_id = ir::node_id;
  using region_id = ir::region_id;
  using op = ir::op;

  /// O(operations × depth).
  split_plan(ir::program const& p, ir::effects const& known, ir::function_id id, node_id map);

  bool fits() const { return fits_; }
  region_id body() const { return body_; }
  value_id index() const { return f_.argument(body_, 0); }
  /// Whether a value is made in the body, or in a region inside.
  bool is_inside(value_id v) const;
  /// Whether it is the same for all elements: a number, or a row's length.
  bool is_uniform(value_id v) const {
    return !is_inside(v) || (shared_values_.contains(v) && !rows_.contains(v));
  }
  bool is_row(value_id v) const { return rows_.contains(v); }

  std::vector<node_id> shared;             // computed again wherever it is needed: rows, and what is uniform
  std::vector<std::vector<node_id>> parts; // between the loops, by element
  std::vector<node_id> loops;

private:
  bool is_shared(node_id n) const;
  bool is_split(node_id n) const;
  // What one part or loop makes for another is numbers: arrays of elements might have different lengths.
  bool crossings_fit() const;

public:
  /// The operation of the body that an operation is, or is in.
  node_id in_body(node_id n) const;
  bool is_used_outside(value_id v, std::vector<node_id> const& part) const;

private:
  ir::function const& f_;
  region_id body_;
  std::set<value_id> shared_values_, rows_;
  bool fits_ = false;
};

/// Splits one map by its plan.
class splitting {
public:
  using value_id = ir::value_id;
  using node_id = ir::node_id;
  using region_id = ir::region_id;
  using op = ir::op;

  splitting(ir::program& p, ir::function_id id, node_id map, split_plan const& plan)
      : id_(id), map_(map), plan_(plan), c_(p, id) {}

  void run();

private:
  using values = std::vector<value_id>;
  using copies = std::map<value_id, value_id>;

  value_id literal(std::int64_t x) { return c_.literal(x); }
  std::vector<ir::type> arrays_of(values const& all) const;
  // A map or loop, whose region `fill` fills; it returns what is yielded.
  template <class Fill>
  node_id with_region(
      op code, values const& operands, std::vector<ir::type> const& results,
      std::vector<ir::type> const& arguments, ir::attributes const& says, Fill const& fill) {
    std::vector<ir::type> const regions[] = {arguments};
    node_id const n = c_.insert(code, operands, results, says, regions);
    region_id const outside = c_.region();
    node_id const behind = (*c_)[n].next;
    c_.to_end(c_->region_at(n, 0));
    values const yielded = fill(c_->region_at(n, 0));
    c_.yield(yielded);
    if (behind == ir::nothing)
      c_.to_end(outside);
    else
      c_.to_before(behind);
    return n;
  }
  values results_of(node_id n) const;

  // Blocks of elements, the last of which repeats the last element; and the elements one after the other again.
  values in_blocks(value_id count);

  // The arrays of what the elements of one block yield.
  values elements();
  // Computes one part; what others need of it becomes arrays.
  void part(std::vector<node_id> const& nodes);
  void loop(node_id n);
  value_id same_for_all(value_id v) const;

  // A map over a block that computes operations, and gives what is wanted of them and of what was computed before.
  values map_of(std::vector<node_id> const& nodes, values const& wanted, copies const& known);

  ir::function_id id_;
  node_id map_;
  split_plan const& plan_;
  ir::cursor c_;
  value_id size_ = ir::nothing;  // how many elements a block has
  value_id first_ = ir::nothing; // the index of its first
  value_id last_ = ir::nothing;  // that of the last of all
  copies uniform_;               // what is the same for all elements, in front of the maps
  copies arrays_;                // of numbers that differ, in blocks
};

/// Splits maps at loops whose number of turns is the same for all elements. Returns how many maps were split. O(operations × depth),
/// for each.
OVERDUB_DECL std::size_t interchange(ir::program& p);

} // namespace overdub::contexts::batching

#if OVERDUB_HEADER_ONLY
#include <overdub/contexts/batch/interchange.ipp>
#endif
