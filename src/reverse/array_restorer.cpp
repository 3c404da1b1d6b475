#include <overdub/implementation/ir/ancestor.hpp>
#include <overdub/implementation/reverse/array_restorer.hpp>
#include <overdub/implementation/reverse/captures.hpp>
#include <overdub/implementation/reverse/residuals.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace overdub::adjoint {

// The positions of the adjoint's operations, from 1; 0 for other operations.
std::vector<std::uint32_t> array_restorer::positions_in_adjoint(primal_copy const& r) const {
  std::vector<std::uint32_t> positions(f().node_count());
  std::uint32_t next = 0;
  for (node_id n = f()[r.end()].next; n != ir::nothing; n = f()[n].next) positions[index_of(n)] = ++next;
  return positions;
}

// The uses of a value by the adjoint, including nested regions.
std::vector<ir::use_id> array_restorer::uses_in_adjoint(
    primal_copy const& r, value_id v, std::vector<std::uint32_t> const& positions) const {
  std::vector<ir::use_id> found;
  for (ir::use_id const u : f().uses_of(v)) {
    node_id const n = ir::ancestor_in(f(), f()[u].user, r.in());
    if (n != ir::nothing && positions[index_of(n)] != 0) found.push_back(u);
  }
  return found;
}

// The version before this one, as an adjoint in the same region has restored it; nothing, if none has.
value_id array_restorer::restored_before(
    value_id version, primal_copy const& r, std::vector<std::uint32_t> const& positions) const {
  for (restored_version const& known : restored_) {
    if (known.of != version || known.before == ir::nothing || f().region_of(known.before) != r.in()) continue;
    if (positions[index_of(f().node_of(known.before))] != 0) return known.before;
  }
  return ir::nothing;
}

// Where each version but the newest is restored: the adjoint's operation before which it is needed (nothing: at the end),
// or the one that returns it. No value if the adjoint reads a version before it can be restored.
std::optional<std::vector<node_id>>
array_restorer::places_to_restore(primal_copy const& r, values const& versions) const {
  constexpr std::uint32_t never = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> const positions = positions_in_adjoint(r);
  std::vector<std::uint32_t> first_use(versions.size() + 1, never); // of this or an older version
  std::vector<node_id> user(versions.size() + 1, node_id(ir::nothing));
  for (std::size_t i = versions.size(); i-- > 0;) {
    first_use[i] = first_use[i + 1];
    user[i] = user[i + 1];
    for (ir::use_id const u : uses_in_adjoint(r, versions[i], positions)) {
      node_id const n = ir::ancestor_in(f(), f()[u].user, r.in());
      if (positions[index_of(n)] >= first_use[i]) continue;
      first_use[i] = positions[index_of(n)];
      user[i] = n;
    }
  }
  std::vector<node_id> places{node_id(ir::nothing)};
  for (std::size_t i = 1; i < versions.size(); ++i) {
    value_id const given = restored_before(versions[i - 1], r, positions);
    if (given == ir::nothing) {
      // Overwritten rows would be saved as ragged arrays of rows, whose shapes may differ between iterations.
      if (!update_chains(f()).replaces_numbers(versions[i - 1])) return {};
      places.push_back(user[i]);
      continue;
    }
    places.push_back(f().node_of(given));
    if (first_use[i] <= positions[index_of(places.back())]) return {};
  }
  return places;
}

// Restores the versions of an array, given newest first, from the newest one. Returns the oldest.
value_id array_restorer::restore_versions(primal_copy& r, values const& versions, value_id newest) {
  std::optional<std::vector<node_id>> const found = places_to_restore(r, versions);
  if (!found) // another array was restored meanwhile, and reads this one
    refuse(
        f().node_of(versions.front()),
        "an array whose elements it replaces cannot be restored in the backward pass");
  std::vector<node_id> const& places = *found;
  ir::cursor const back = at_;
  for (std::size_t i = 0; i < versions.size(); ++i) {
    if (i > 0) {
      value_id const given = restored_before(versions[i - 1], r, positions_in_adjoint(r));
      if (given != ir::nothing) {
        newest = given;
      } else {
        node_id const last = f()[r.in()].last;
        if (places[i] != ir::nothing)
          at_.to_before(places[i]);
        else if (last != r.end() && f()[last].code == op::yield)
          at_.to_before(last);
        else
          at_.to_end(r.in());
        values older(versions.begin() + static_cast<std::ptrdiff_t>(i), versions.end());
        older.insert(older.end(), r.older.begin(), r.older.end());
        newest = undo(f().node_of(versions[i - 1]), f()[versions[i - 1]].index, newest, older);
      }
    }
    for (ir::use_id const u : uses_in_adjoint(r, versions[i], positions_in_adjoint(r))) {
      node_id const user = f()[u].user;
      at_.set_operand(user, index_of(u) - f()[user].first_operand, newest);
    }
    r.restored_by.emplace_back(versions[i], newest);
  }
  at_ = back;
  return newest;
}

// The array before an operation updated it. `older` are versions that are not restored yet.
value_id array_restorer::undo(node_id n, std::uint32_t result, value_id next, values const& older) {
  op const code = f()[n].code;
  if (ir::carries_values(code)) return undo_loop(n, result, next, older);
  if (ir::selects_region(code)) return undo_branch(n, result, next, older);
  if (code != op::update) return next; // a copy has nothing to undo
  std::uint32_t const last = f()[n].operand_count - 1;
  values read, operands{next};
  for (std::uint32_t i = 0; i < last; ++i) read.push_back(f().operand(n, i));
  operands.insert(operands.end(), read.begin() + 1, read.end());
  ir::cursor const back = at_;
  at_.to_before(n);
  node_id const replaced = at_.insert(op::at, read);
  at_.set_place_of(replaced, f()[n].place);
  at_ = back;
  operands.push_back(f().result(replaced));
  return insert(op::update, operands, type_of(next));
}

// Undoes the updates of a loop, by a loop in the opposite direction.
value_id array_restorer::undo_loop(node_id n, std::uint32_t carried, value_id next, values const& older) {
  value_id const trip_count = ir::is_counted(f()[n].code) ? f().operand(n, 0) : index(0);
  std::vector<ir::type> primal; // of arguments that stand for the primal loop-carried values
  for (std::uint32_t i = 0; i < flow(n).carried(); ++i) primal.push_back(type_of(flow(n).argument(i)));
  std::vector<primal_copy> primal_copies;
  auto const write_body = [&](value_id iteration, values const& arguments) {
    primal_copy& r =
        primal_copies.emplace_back(copy_iteration(n, iteration, {arguments.begin() + 1, arguments.end()}));
    r.older = r.versions = older;
    r.restored = {{.carried = carried, .newest = arguments[0], .is_read = true}};
    return arguments[0];
  };
  auto const made = build().loop(trip_count, {next}, write_body, opposite_of(n), primal);
  return f().result(save_residuals_(n, made.node, primal_copies));
}

// Undoes the updates of a branch, by a branch on the same condition.
value_id array_restorer::undo_branch(node_id n, std::uint32_t result, value_id next, values const& older) {
  std::vector<primal_copy> primal_copies;
  auto const branch = [&](std::uint32_t i) {
    return [&, i] {
      clone_map map(activity_);
      primal_copy& r = primal_copies.emplace_back(copy(f().region_at(n, i), map));
      r.older = older;
      value_id const oldest = restore_versions(r, versions_of(r, result), next);
      r.versions = versions_of(r, result);
      r.versions.insert(r.versions.end(), older.begin(), older.end());
      return oldest;
    };
  };
  auto const made = build().if_(f().operand(n, 0), branch(0), branch(1));
  (void)save_residuals_(n, made.node, primal_copies);
  return made;
}

// The versions of a value that a region yields, newest first.
array_restorer::values array_restorer::versions_of(primal_copy const& r, std::uint32_t yielded) const {
  return update_chains(f()).versions(f().operand(r.end(), yielded), r.in());
}

// Restores the loop-carried arrays with versions that the adjoint of a loop would need as a whole in each iteration.
void array_restorer::restore_in_loop(node_id first, primal_copy& r) {
  if (r.restored.empty()) return;
  for (restored_array const& a : r.restored) { // all versions have the same length
    std::vector<std::uint32_t> const positions = positions_in_adjoint(r);
    for (value_id const v : versions_of(r, a.carried))
      for (ir::use_id const u : uses_in_adjoint(r, v, positions))
        if (node_id const user = f()[u].user; f()[user].code == op::length)
          at_.set_operand(user, index_of(u) - f()[user].first_operand, f().result(first, a.carried));
  }
  for (;;) {
    residuals const whole(f(), callees_, r, true, true, r.versions);
    values without = r.versions;
    std::vector<restored_array*> chosen;
    for (restored_array& a : r.restored) {
      if (a.is_restored || a.is_refused) continue;
      values const versions = versions_of(r, a.carried);
      bool const is_needed = std::any_of(versions.begin(), versions.end(), [&](value_id v) {
        return std::find(whole.saved().begin(), whole.saved().end(), v) != whole.saved().end();
      });
      if (!is_needed && !a.is_read) continue;
      a.is_refused = !places_to_restore(r, versions);
      if (a.is_refused) continue;
      without.insert(without.end(), versions.begin(), versions.end());
      chosen.push_back(&a);
    }
    if (chosen.empty()) break;
    residuals const elements(f(), callees_, r, true, true, without);
    if (!elements.is_possible() || (elements.may_throw_size_error() && !whole.may_throw_size_error())) {
      bool is_read = false;
      for (restored_array* const a : chosen) is_read = is_read || a->is_read;
      if (!is_read || !elements.is_possible()) {
        for (restored_array* const a : chosen) a->is_refused = true;
        break;
      }
    }
    for (restored_array* const a : chosen) {
      value_id const oldest = restore_versions(r, versions_of(r, a->carried), a->newest);
      ir::region_flow const of = flow(ir::owner_of(f(), a->newest));
      at_.set_operand(f().yield_of(r.in()), *of.carried_index(a->newest), oldest);
      a->is_restored = true;
    }
    find_versions(r); // loops that were undone have been replaced
  }
  for (restored_array const& a : r.restored)
    if (a.is_read && !a.is_restored)
      refuse(first, "an array whose elements it replaces cannot be restored in the backward pass");
}

// Restored versions are not saved, except those that the adjoint still reads at a point where they are not restored yet.
void array_restorer::find_versions(primal_copy& r) {
  substitute_restored(r);
  std::vector<std::uint32_t> const positions = positions_in_adjoint(r);
  r.versions = r.older;
  for (restored_array const& a : r.restored) {
    if (!a.is_restored) continue;
    for (value_id const v : versions_of(r, a.carried))
      if (uses_in_adjoint(r, v, positions).empty()) r.versions.push_back(v);
  }
}

// Replaces uses of restored versions that appeared while other versions were restored.
void array_restorer::substitute_restored(primal_copy const& r) {
  std::vector<std::uint32_t> const positions = positions_in_adjoint(r);
  for (auto const& [version, by] : r.restored_by)
    for (ir::use_id const u : uses_in_adjoint(r, version, positions)) {
      node_id const user = f()[u].user;
      node_id const top = ir::ancestor_in(f(), user, r.in());
      bool const is_made = f().is_result(by) && f().region_of(by) == r.in();
      if (is_made && positions[index_of(f().node_of(by))] >= positions[index_of(top)]) continue;
      at_.set_operand(user, index_of(u) - f()[user].first_operand, by);
    }
}

// Restores arrays in the adjoint of a branch that is nested in a loop. Where the branch's adjoint uses versions that the branch
// creates, it returns the version before the branch. Returns the indices of such results; `oldest` gets the restored values, for
// each branch.
std::vector<std::uint32_t>
array_restorer::restore_in_branches(node_id n, std::vector<primal_copy>& primal_copies, values (&oldest)[2]) {
  std::vector<std::uint32_t> results;
  if (!is_in_loop(f(), n)) return results;
  for (std::uint32_t i = 0; i < f()[n].result_count; ++i) {
    if (update_chains(f()).previous(f().result(n, i)) == ir::nothing) continue;
    bool is_needed = false, is_possible = true;
    for (std::uint32_t branch = 0; branch < 2; ++branch) {
      primal_copy const& r = primal_copies[branch];
      values const versions = versions_of(r, i);
      values without = r.versions;
      without.insert(without.end(), versions.begin(), versions.end());
      std::vector<std::uint32_t> const positions = positions_in_adjoint(r);
      for (std::size_t k = 0; k + 1 < versions.size(); ++k)
        is_needed = is_needed || !uses_in_adjoint(r, versions[k], positions).empty();
      is_possible = is_possible && places_to_restore(r, versions) &&
                    residuals(f(), callees_, r, false, false, without).is_possible();
    }
    if (!is_needed || !is_possible) continue;
    for (std::uint32_t branch = 0; branch < 2; ++branch) {
      primal_copy& r = primal_copies[branch];
      oldest[branch].push_back(restore_versions(r, versions_of(r, i), f().result(n, i)));
    }
    results.push_back(i);
  }
  for (primal_copy& r : primal_copies) {
    substitute_restored(r);
    std::vector<std::uint32_t> const positions = positions_in_adjoint(r);
    for (std::uint32_t const i : results)
      for (value_id const v : versions_of(r, i))
        if (uses_in_adjoint(r, v, positions).empty()) r.versions.push_back(v);
  }
  return results;
}

} // namespace overdub::adjoint
