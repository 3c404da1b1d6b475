// The plan of a vectorised body, of a map or of a loop without loop-carried values: which values vary between iterations (uniformity
// analysis), which operations run in lanes, when additions to shared accumulators are performed, and whether the body can be vectorised.
// Data alone: the lowering reads it.
#pragma once

#include <overdub/ir/program.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace overdub::execute {

/// The plan of one body. A block is some consecutive iterations, one in each lane. A value varies if it may differ between iterations;
/// otherwise it is uniform, and computed once for a block.
class lane_plan {
public:
  using value_id = ir::value_id;
  using node_id = ir::node_id;
  using region_id = ir::region_id;

  /// O(operations × depth of loops). The function must outlive the plan, and stay unchanged.
  lane_plan(ir::function const& f, region_id body);

  /// Whether the body can be vectorised.
  bool fits() const { return misfit_ == ir::nothing; }
  /// The first operation that cannot; nothing, if the body fits.
  node_id misfit() const { return misfit_; }
  region_id body() const { return body_; }
  /// The index of the element.
  value_id index() const { return f_->argument(body_, 0); }
  bool varies(value_id v) const { return varies_[index_of(v)]; }
  /// Whether an operation is lowered for all lanes: an operand or a result varies, an operation nested in it is in lanes, or it adds to an
  /// accumulator outside of the body. Others are lowered once for a block.
  bool is_in_lanes(node_id n) const { return in_lanes_[index_of(n)]; }
  /// Whether a value is a literal, or is defined outside of the body. Such a value is live during all blocks.
  bool is_outside(value_id v) const;
  /// Whether a value is strided, first + lane * step with a uniform first and step: the index, and its sums, differences and products with
  /// uniform values. The two numbers replace a vector of indices.
  bool is_strided(value_id v) const { return strided_[index_of(v)]; }
  /// Whether a strided value is also needed as a vector: it has a use that is no index, and is not strided itself. O(uses).
  bool needs_lanes(value_id v) const;

  /// The reduction by an operation that is computed with the map or loop whose result it reduces, so that the result is not stored;
  /// nothing, if there is none. In blocks, any reduction of f64 or i64; in lanes, a sum of f64.
  node_id reduction_of(value_id result) const;
  /// The product that a map yields last, if its result is only summed: products and sums are one instruction. Nothing, if there is none. In
  /// blocks, both factors vary.
  node_id summed_product(node_id map) const;

  /// When additions to an accumulator outside of the body are performed. at_once: by the operation. by_cell: they are recorded, and summed
  /// for each number of the accumulator at the latest at the end of the block; all lanes add to the same numbers, since all indices are
  /// uniform. by_lane: they are recorded, and performed lane by lane at the end of the block.
  enum class adds : std::uint8_t { at_once, by_cell, by_lane };
  adds adding(value_id accumulator) const;
  /// Whether a region of the body adds to accumulators. O(operations).
  bool adds_in(region_id r) const;
  /// Whether it does, and the additions are deferred. O(operations).
  bool defers_in(region_id r) const;

private:
  class analysis;
  struct shared_accumulator {
    value_id value;
    adds how;
  };

  ir::function const* f_;
  region_id body_;
  std::vector<bool> varies_, strided_;   // for each value
  std::vector<bool> in_lanes_;           // for each operation
  std::vector<shared_accumulator> adds_; // accumulators outside of the body
  node_id misfit_ = ir::nothing;
};

/// A line for the body's operation, which says whether the body fits, and one for each operation and region in it.
std::string text_of(lane_plan const& plan, ir::program const& p, ir::function const& f);

} // namespace overdub::execute
