// Speculation: an update program assumes that a changed element is not the one that is read, that an affected iteration exists, that a
// number is unchanged. A guard checks each assumption. If it fails, the program returns which one did, and the caller runs another
// program, without that guard (deoptimisation).
#pragma once

#include <overdub/implementation/incremental/changed_lists.hpp>
#include <overdub/implementation/incremental/value_changes.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace overdub::increments {

/// Emits guards.
class speculation {
public:
  // A guard, and its condition. The code after it is nested in `branch`; guards without one are hoisted and share the entry guard.
  struct emitted_guard {
    guard what;
    value_id condition;
    node_id branch = ir::nothing;
  };

  speculation(update_code& code, value_changes& known) : code_(code), known_(known) {}

  void begin(disabled_guards const& d);
  void end(std::vector<value_id> const& results);
  bool may_speculate_on(guard const& a) const;
  bool speculate_on(guard const& a, value_id holds);
  bool may_speculate_apart(node_id n, change const& c) const;
  bool speculates_apart(node_id n, change const& c, std::uint32_t end);
  bool set_or_guard_unchanged(node_id n, value_id v, value_id now);

  std::vector<emitted_guard> const& all() const { return guards_; }
  /// The branch that encloses all code that relies on hoisted guards.
  node_id entry() const { return entry_guard_; }
  /// Where code goes that is not in an iteration or a branch.
  region_id outermost_region() const { return outermost_region_; }

private:
  static constexpr std::size_t maximum_guards = 62;  // each has a bit
  static constexpr std::size_t maximum_hoisted = 16; // operations of a condition

  struct overlap {
    bool is_certain = false;
    value_id condition = ir::nothing; // if it is not certain: the condition, or nothing if it is impossible
  };
  bool is_outermost() const;
  bool is_apart(node_id n, change const& c) const;
  value_id hoisted_condition(value_id v);
  bool can_be_hoisted(value_id v, std::vector<node_id>& moved) const;
  overlap overlap_of(node_id n, std::uint32_t axis, std::uint32_t end, change const& c, value_id where);
  bool may_be_unchanged(node_id n) const;
  bool has_costly_uses(value_id v);

  update_code& code_;
  value_changes& known_;
  disabled_guards disabled_guards_;
  std::vector<emitted_guard> guards_;
  value_map hoisted_;                // values of hoisted conditions
  std::vector<std::uint8_t> costly_; // by value: whether maps, loops or arrays depend on it
  node_id entry_guard_ = ir::nothing;
  region_id outermost_region_ = function::body;
};

/// Whether a guard may be emitted: it is not disabled, and there are not too many.
inline bool speculation::may_speculate_on(guard const& a) const {
  return entry_guard_ != ir::nothing && guards_.size() < maximum_guards && !disabled_guards_.all &&
         std::find(disabled_guards_.of.begin(), disabled_guards_.of.end(), a) == disabled_guards_.of.end();
}

/// Whether code is emitted outside of iterations and branches.
inline bool speculation::is_outermost() const {
  return code_.iterations.empty() && code_.cursor.region() == outermost_region_;
}

/// Whether speculates_apart may return true: emits nothing.
inline bool speculation::may_speculate_apart(node_id n, change const& c) const {
  return is_apart(n, c) || (!has_unsearchable_list(c) && may_speculate_on({code_.original().result(n)}));
}

} // namespace overdub::increments
