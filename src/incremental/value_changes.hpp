// Old and new values of a function's values in the update program.
#pragma once

#include <overdub/implementation/incremental/update_code.hpp>
#include <overdub/implementation/ir/captures.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace overdub::increments {

/// What is known of the function's values where code is emitted: how they changed, and their values before and after the update.
class value_changes {
public:
  explicit value_changes(update_code& code)
      : code_(code), changes_(code_.original().value_count(), 0),
        old_(code_.original().value_count(), ir::nothing), new_(code_.original().value_count(), ir::nothing),
        captured_(code_.original().node_count()) {}

  // ---- changes, which `restore` undoes at the end of an iteration
  change const* change_of(value_id v) const {
    std::uint32_t const number = changes_[index_of(v)];
    return number == 0 ? nullptr : &pool_[number - 1];
  }
  change* change_of(value_id v) {
    std::uint32_t const number = changes_[index_of(v)];
    return number == 0 ? nullptr : &pool_[number - 1];
  }
  change& set_change(value_id v);
  void set_whole(value_id v, value_id now);
  /// A change of elements of an element.
  change& add_nested() { return pool_.emplace_back(); }
  std::size_t checkpoint() const { return undo_.size(); }
  void restore(std::size_t checkpoint);

  // ---- old and new values
  value_id old_value(value_id v);
  /// Sets the old value, until `restore`.
  void set_old(value_id v, value_id now) {
    note_for_undo(v);
    old_[index_of(v)] = now;
  }
  value_id new_value(value_id v);
  value_id whole(value_id array, change const& c);
  value_id old_element(value_id v, value_id index);
  value_id differences(value_id v, delta const& p, value_id count);
  std::vector<value_id> const& captured(node_id n) const;

private:
  struct undo {
    value_id value;
    std::uint32_t change;
    value_id old_value, new_value;
  };
  void note_for_undo(value_id v) {
    std::uint32_t const i = index_of(v);
    undo_.push_back({v, changes_[i], old_[i], new_[i]});
  }
  void erase_hooks(node_id made);
  node_id repeating_operation(value_id v) const;
  value_id replaced(value_id array, delta const& p);
  bool is_rematerialised(node_id n) const;

  update_code& code_;
  std::vector<std::uint32_t> changes_; // by value: its number in the pool, from 1; 0: unchanged
  std::deque<change> pool_;
  std::vector<value_id> old_, new_; // by value: the value of the update program, once it was emitted
  std::vector<undo> undo_;
  mutable std::vector<std::optional<std::vector<value_id>>> captured_; // by operation, once it was asked for
};

/// The new array where some elements changed, as a copy: O(length).
inline value_id value_changes::whole(value_id array, change const& c) {
  for (delta const& p : c.deltas) array = replaced(array, p);
  return array;
}

} // namespace overdub::increments
