// interchange: loop interchange of a map with the loops in its body, in blocks of 64 elements. Each iteration of a loop
// processes all elements of a block, so that long dependence chains of single elements become vector operations. Splits
// maps of pure operations, and of operations that may fail; which of several errors is thrown is unspecified. Requires a
// valid program.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/ir/builder.hpp>
#include <overdub/ir/effects.hpp>
#include <overdub/ir/walk.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <vector>

namespace overdub::batching {

// The number of elements of a block, whose loop-carried values fit into the L1 cache.
inline constexpr std::int64_t block = 64;
inline constexpr std::int64_t block_bits = 6;

/// The analysis of one map: how its body is split at its loops (loop fission).
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
  /// Whether a value is defined in the body, or in a nested region.
  bool is_inside(value_id v) const { return ir::is_defined_in(f_, v, body_); }
  /// Whether it is uniform over the elements: a number, or a row's length.
  bool is_uniform(value_id v) const {
    return !is_inside(v) || (shared_values_.contains(v) && !rows_.contains(v));
  }
  bool is_row(value_id v) const { return rows_.contains(v); }

  std::vector<node_id> rematerialised; // rematerialised wherever they are needed: rows, and uniform values
  std::vector<std::vector<node_id>> parts; // the operations between loops, for each element
  std::vector<node_id> loops;

private:
  bool is_shared(node_id n) const;
  bool is_split(node_id n) const;
  // Values that cross from one part or loop to another must be scalars: rows might differ in length.
  bool crossings_fit() const;

public:
  /// The ancestor of an operation, or itself, in the body.
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
  using copy_map = std::map<value_id, value_id>;

  value_id literal(std::int64_t x) { return c_.literal(x); }
  ir::builder build() { return ir::builder(c_); }
  ir::region_flow flow(node_id n) const { return {*c_, n}; }

  // Splits into blocks, the last of which repeats the last element; joins the blocks again.
  values in_blocks(value_id count);

  // Arrays of the values that the elements of one block yield.
  values elements();
  // Computes one part; values that others need become arrays.
  void part(std::vector<node_id> const& nodes);
  void loop(node_id n);
  value_id same_for_all(value_id v) const;

  // A map over a block that runs operations, and returns the wanted values of them and of earlier parts.
  values map_of(std::vector<node_id> const& nodes, values const& wanted, copy_map const& known);

  ir::function_id id_;
  node_id map_;
  split_plan const& plan_;
  ir::cursor c_;
  value_id size_ = ir::nothing;  // the number of elements of a block
  value_id first_ = ir::nothing; // the index of its first element
  value_id last_ = ir::nothing;  // the index of the last element of all
  copy_map uniform_;             // uniform values, before the maps
  copy_map arrays_;              // arrays of varying numbers, in blocks
};

/// Splits maps at loops with a uniform trip count. Returns the number of split maps. O(operations × depth), for each.
std::size_t interchange(ir::program& p);

} // namespace overdub::batching
