#include <overdub/core/floating_point.hpp>
#include <overdub/models/mcmc.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace overdub::models {

std::optional<address> unmade_choice(trace const& t, choice_map const& observed) {
  std::vector<i64> at;
  for (auto const& [where, x] : observed) {
    std::uint32_t const s = t.core().site_at(where.site);
    if (!t.core().sites()[s].is_conditional) continue;
    datum::extents const& all = t.values(s).shape();
    std::vector<i64> const shape(
        all.begin(), all.begin() + static_cast<std::ptrdiff_t>(t.core().sites()[s].index_count));
    std::size_t count = 1;
    for (i64 const n : shape) count *= static_cast<std::size_t>(n);
    for (std::size_t k = 0; k < count; ++k) {
      indices_of(shape, k, at);
      bool const is_below = std::equal(where.indices.begin(), where.indices.end(), at.begin());
      if (is_below && !t.is_made(s, at)) return address(where.site, at);
    }
  }
  return {};
}

trace initial_trace(
    shared_core const& m, std::vector<datum> const& arguments, choice_map const& observed,
    random_key const& key) {
  std::string why;
  for (i64 attempt = 0; attempt < 100; ++attempt) {
    try {
      trace t = generate(m, arguments, observed, key.at(attempt)).of;
      auto const unmade = unmade_choice(t, observed);
      if (!unmade && overdub::is_finite(t.score())) return t;
      why = unmade ? text_of(*unmade) + " is observed, and is not made" : improper_choice(t);
    } catch (unmade_error const& e) { // a drawn choice takes a branch without the observation
      why = std::string_view(e.what()).substr(9);
    }
  }
  throw model_error(message(
      "overdub: of 100 traces of @%s with these observations none has a finite density; in the last, %.150s",
      m->name().c_str(), why.c_str()));
}

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
        "would stay what they were drawn as; move them, or observe them",
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
