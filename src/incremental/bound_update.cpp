#include <overdub/incremental/bound_update.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace overdub::increments {

bound_update::bound_update(std::shared_ptr<runnable_update const> s)
    : update(std::move(s)), call(update->code) {}
bound_update::~bound_update() = default;

bound_updates::bound_updates() = default;
bound_updates::bound_updates(bound_updates const&) {}
bound_updates::bound_updates(bound_updates&& other) noexcept = default;
bound_updates& bound_updates::operator=(bound_updates&& other) noexcept = default;
bound_updates::~bound_updates() = default;

bound_update* bound_updates::find(pending_changes const& changes, disabled_guards const& d) const {
  auto const at = std::ranges::find_if(
      all, [&](auto const& b) { return changes.has(b->changes) && b->update->disabled_guards == d; });
  return at == all.end() ? nullptr : at->get();
}

void bound_updates::clear() {
  all.clear();
  full.reset();
  without_hooks.reset();
  plain.reset();
  last = direct = proposal = nullptr;
}

} // namespace overdub::increments
