#include <overdub/implementation/incremental/commit_changes.hpp>
#include <overdub/incremental/incremental_program.hpp>

namespace overdub {
namespace increments {

// A commit that writes words, and ranges and lists of words, and cannot fail.
[[gnu::always_inline]] inline void commit_directly(incremental_state& s, bound_update& b) {
  bool const is_sound = b.stores.write_direct();
  b.arguments.versions.numbers = ++s.saved.versions.numbers;
  if (b.ready_state != 0) ++b.ready_state; // no array moved
  s.changes.clear_words();
  s.updates.proposal = nullptr;
  if (!is_sound) [[unlikely]]
    s.saved.recompute_all_next();
  if (s.saved.sums.count_commit()) [[unlikely]]
    s.saved.recompute_all_next();
}

} // namespace increments

void incremental_program::commit() {
  if (!is_proposed()) propose();
  increments::bound_update* const b = state_.updates.proposal;
  if (b != nullptr && b->stores.writes_only_direct()) [[likely]]
    return increments::commit_directly(state_, *b);
  if (b != nullptr) return increments::commit_changes(state_);
  state_.check_not_moved();
  rollback();
}

} // namespace overdub
