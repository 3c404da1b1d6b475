// The adjoint of in-place updates. The versions of a loop-carried array (update_chains.hpp) are restored from newest to
// oldest by undoing updates, each just before the adjoint reads an older version. The forward pass saves the overwritten
// elements instead of whole arrays.
#pragma once

#include <overdub/implementation/reverse/emitter.hpp>
#include <overdub/implementation/reverse/update_chains.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace overdub::adjoint {

/// Restores the versions of arrays in adjoints.
class array_restorer : emitter {
public:
  using emitter::values;
  /// Saves the residuals of an operation for its adjoint (residual_saver.hpp): the restoration of a loop or a branch is an
  /// operation with copies of primal code, too.
  using save_residuals = std::function<node_id(node_id first, node_id second, std::vector<primal_copy>&)>;

  array_restorer(adjoint_code& code, save_residuals save) : emitter(code), save_residuals_(std::move(save)) {}

  /// Registers a version of an array, the result of a loop or a branch whose adjoint is being written. Returns its number.
  std::size_t add(value_id version) {
    restored_.push_back({version});
    return restored_.size() - 1;
  }
  /// The version that the loop or the branch started from, which its adjoint has restored.
  void set_before(std::size_t number, value_id before) { restored_[number].before = before; }
  void replace(value_id from, value_id to) {
    for (restored_version& known : restored_)
      if (known.of == from) known.of = to;
  }

  void restore_in_loop(node_id first, primal_copy& r);
  std::vector<std::uint32_t>
  restore_in_branches(node_id n, std::vector<primal_copy>& primal_copies, values (&oldest)[2]);

private:
  struct restored_version {
    value_id of; // a version of an array, a result of a loop or a branch
    value_id before = ir::nothing;
  };
  std::vector<std::uint32_t> positions_in_adjoint(primal_copy const& r) const;
  std::vector<ir::use_id>
  uses_in_adjoint(primal_copy const& r, value_id v, std::vector<std::uint32_t> const& positions) const;
  value_id
  restored_before(value_id version, primal_copy const& r, std::vector<std::uint32_t> const& positions) const;
  std::optional<std::vector<node_id>> places_to_restore(primal_copy const& r, values const& versions) const;
  value_id restore_versions(primal_copy& r, values const& versions, value_id newest);
  value_id undo(node_id n, std::uint32_t result, value_id next, values const& older);
  value_id undo_loop(node_id n, std::uint32_t carried, value_id next, values const& older);
  value_id undo_branch(node_id n, std::uint32_t result, value_id next, values const& older);
  void substitute_restored(primal_copy const& r);
  values versions_of(primal_copy const& r, std::uint32_t yielded) const;
  void find_versions(primal_copy& r);

  save_residuals save_residuals_;
  std::vector<restored_version> restored_;
};

} // namespace overdub::adjoint
