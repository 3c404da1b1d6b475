#include <overdub/models/mcmc.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace overdub::models {

namespace detail {

void check_moved(
    model_core const& m, std::function<bool(std::uint32_t)> const& is_observed, moved_choices const& moved) {
  for (selection const& each : moved.each) m.check(each);
  if (!moved.are_all) return;
  for (std::uint32_t s = 0; s < m.sites().size(); ++s) {
    site const& each = m.sites()[s];
    if (each.is_conditional || is_observed(s) ||
        std::ranges::any_of(moved.each, [&](selection const& of) { return of.extent(each.address) >= 0; }))
      continue;
    throw model_error(message(
        "overdub: the choices \"%.80s\" of the model @%s are neither observed nor moved by a move: they "
        "would keep their first values; move them, or observe them",
        each.address.c_str(), m.name().c_str()));
  }
}

std::shared_ptr<chain_start const>
chain_start_of(shared_core const& m, std::vector<datum> arguments, choice_map const& observed) {
  selection given;
  for (auto const& [at, x] : observed)
    if (at.indices.empty()) given.add(at);
  return std::make_shared<chain_start const>(chain_start{m, std::move(arguments), observed, !given});
}

std::shared_ptr<chain_start const> with_reported(chain_start const& of, selection reported) {
  return std::make_shared<chain_start const>(
      chain_start{of.core, of.arguments, of.observed, std::move(reported)});
}

void check_moved(chain_start const& by, moved_choices const& moved) {
  check_moved(
      *by.core,
      [&](std::uint32_t s) {
        return std::any_of(by.observed.begin(), by.observed.end(), [&](auto const& each) {
          return each.first.site == by.core->sites()[s].address; // of some of its choices at least
        });
      },
      moved);
}

} // namespace detail
} // namespace overdub::models
