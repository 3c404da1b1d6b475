// Commits: what they write, in an order in which running out of memory leaves no wrong value.

#include <overdub/implementation/incremental/commit_changes.hpp>
#include <overdub/implementation/incremental/store_writer.hpp>
#include <overdub/incremental/incremental_program.hpp>

#include <cstdint>

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

void commit_changes(incremental_state& s) {
  bound_update& b = *s.updates.proposal;
  saved_versions& versions = s.saved.versions;
  if (&b == s.updates.full.get() || &b == s.updates.without_hooks.get()) [[unlikely]]
    s.saved.sums.were_recomputed();
  bool const was_ready = b.ready_state == versions.state();
  std::uint64_t const stood = versions.arrays + versions.lengths;
  s.is_commit_incomplete = true; // if memory runs out below, the next update recomputes everything,
  s.changes.set_proposed(false); // and so does this one, if it is committed again
  ++versions.numbers;
  if (!b.stores.direct.write_words()) [[unlikely]]
    s.saved.recompute_all_next();
  store_writer writer(s.saved);
  writer.write(b);
  if (&b == s.updates.plain.get()) s.saved.recompute_all_next(); // other saved values are out of date
  if (b.changes.signature.empty())
    for (std::uint32_t const i : s.changes.changed()) writer.write(i, s.changes[i]); // cannot fail
  else
    for (std::uint32_t const i : b.stores.other.inputs) writer.write(i, s.changes[i]);
  b.stores.direct.write_final();
  b.arguments.versions.numbers = versions.numbers;
  s.is_commit_incomplete = false;
  if (was_ready && versions.arrays + versions.lengths == stood && !s.saved.sums.must_recompute_all())
    b.ready_state = versions.state();
  s.changes.clear();
  s.updates.proposal = nullptr;
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
