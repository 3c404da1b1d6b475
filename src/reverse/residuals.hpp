// Which values of a primal copy are residuals: those that are cheaper to save than to recompute.
#pragma once

#include <overdub/implementation/ir/shapes.hpp>
#include <overdub/implementation/reverse/callee_properties.hpp>
#include <overdub/implementation/reverse/primal_copy.hpp>
#include <overdub/implementation/reverse/residual_problem.hpp>

#include <cstdint>
#include <vector>

namespace overdub::adjoint {

/// The values of a primal copy that are cheaper to save than to recompute.
class residuals {
public:
  /// `versions` are values of the copy that cannot be saved, and that the adjoint does not need. O(operations inside, and
  /// the flow between those of the copy itself).
  residuals(
      function const& f, callee_properties const& callees, primal_copy const& r, bool is_stacked,
      bool appends, std::vector<value_id> const& versions);

  bool is_possible() const { return is_possible_; }
  std::vector<value_id> const& saved() const { return saved_; }
  /// Whether a saved loop-carried value may have another shape in the first iteration, while its next states have one
  /// shape.
  bool is_shifted(value_id saved) const;
  /// Whether a saved array of numbers may differ in length between iterations: the elements of all iterations are
  /// concatenated.
  bool is_ragged(value_id saved) const;
  /// Whether a saved array may differ in shape between iterations, so that saving it may throw size_error.
  bool may_throw_size_error() const;

private:
  void add(value_id v, std::uint32_t maker, value_id next = ir::nothing);
  void add(node_id n, bool is_factor);
  void need(node_id n);
  template <class Visit>
  void each_use(node_id n, Visit const& visit) const;
  bool reads_version(node_id n) const;
  bool has_one_shape(value_id v) const { return !is_stacked_ || shapes_.is_invariant(v, region_); }
  bool is_data(value_id v) const;
  double saving_cost(value_id v) const;
  double cost_of(value_id v) const;

  function const& f_;
  callee_properties const& callees_;
  region_id region_;
  ir::shapes shapes_;
  bool is_stacked_;
  bool appends_; // residuals may be ragged
  value_map<bool> versions_;
  double cost_of_one_;
  bool is_possible_ = true;
  residual_problem problem_;
  std::vector<value_id> values_;
  value_map<std::uint32_t> number_;
  std::vector<value_id> saved_, shifted_;
};

} // namespace overdub::adjoint
