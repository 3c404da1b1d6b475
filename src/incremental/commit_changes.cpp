#include <overdub/implementation/incremental/commit_changes.hpp>
#include <overdub/implementation/incremental/store_writer.hpp>

#include <cstdint>

namespace overdub::increments {

void commit_changes(incremental_state& s) {
  bound_update& b = *s.updates.proposal;
  saved_versions& versions = s.saved.versions;
  if (&b == s.updates.full.get() || &b == s.updates.without_hooks.get()) [[unlikely]]
    s.saved.sums.were_recomputed();
  bool const was_ready = b.ready_state == versions.state();
  std::uint64_t const old_shape_version = versions.arrays + versions.lengths;
  // If memory runs out below, the next update recomputes everything, and so does this update if it is committed again.
  s.is_commit_incomplete = true;
  s.changes.set_proposed(false);
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
  if (was_ready && versions.arrays + versions.lengths == old_shape_version &&
      !s.saved.sums.must_recompute_all())
    b.ready_state = versions.state();
  s.changes.clear();
  s.updates.proposal = nullptr;
  if (s.saved.sums.count_commit()) [[unlikely]]
    s.saved.recompute_all_next();
}

} // namespace overdub::increments
