// Compares chains of an incremental and of a re-executed trace: they must be equal, draw for draw.
#pragma once

#include "catch.hpp"
#include "models/random_models.hpp"

#include <overdub/models/mcmc.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

namespace incremental_chains {

namespace od = overdub;
namespace ms = overdub::models;
using od::i64;

/// Counts of the compared transitions.
struct compared {
  std::uint64_t transitions = 0, accepted = 0, proposed = 0, ties = 0;
  std::uint64_t changed = 0; // transitions that changed the structure
};

/// The presence of a conditional site's choices, and the values of those that are made.
template <class Trace>
std::pair<od::datum, std::vector<od::datum>> values_of(Trace const& t, std::uint32_t s) {
  od::datum const made = t.presence(s);
  if (!made) return {t.values(s), {}};
  std::vector<od::datum> those;
  std::vector<i64> at;
  for (std::size_t k = 0; k < t.size(s); ++k) {
    t.indices_of(s, k, at);
    if (t.is_made(s, at)) those.push_back(od::datum::of_bits(t.core().sites()[s].type, t.bits(s, at)));
  }
  return {made, those};
}

template <class Trace, class... M>
ms::move_record make_all(Trace& t, std::tuple<M...>& moves, od::random_key const& k) {
  ms::move_record record;
  i64 number = 0;
  std::apply([&](auto&... m) { (m(t, k.at(number++), record), ...); }, moves);
  return record;
}

/// Runs the same moves with the same keys on both traces. After a tie, both chains continue from the incremental one.
template <class Model, class... M>
compared compare(Model const& m, ms::choice_map const& observed, std::uint64_t transitions, M... moves) {
  ms::trace const start = ms::initial_trace(m.core(), m.arguments(), observed, od::random_key(1));
  ms::followed_trace incremental(start);
  auto reexecuted = std::make_unique<ms::reexecuted_trace>(start);
  std::tuple<M...> of_incremental(moves...), of_reexecuted(moves...);
  compared result;
  std::vector<od::datum> presence;
  for (std::uint32_t s = 0; s < m.sites().size(); ++s) presence.push_back(incremental.presence(s));
  for (; result.transitions < transitions; ++result.transitions) {
    od::random_key const k = od::random_key(1).transition(result.transitions + 1);
    ms::move_record const a = make_all(incremental, of_incremental, k),
                          b = make_all(*reexecuted, of_reexecuted, k);
    result.proposed += a.proposed;
    result.accepted += a.accepted;
    bool same = true, changed = false;
    for (std::uint32_t s = 0; s < m.sites().size(); ++s) {
      od::datum made = incremental.presence(s);
      changed = changed || made != presence[s];
      presence[s] = std::move(made);
    }
    result.changed += changed;
    for (std::uint32_t s = 0; s < m.sites().size(); ++s)
      same = same && values_of(incremental, s) == values_of(*reexecuted, s);
    if (a.ties + b.ties > 0) {
      ++result.ties;
      if (!same) reexecuted = std::make_unique<ms::reexecuted_trace>(incremental.as_trace());
      continue;
    }
    double const score = reexecuted->score(), error = std::abs(incremental.score() - score);
    if (same && a.accepted == b.accepted && a.undefined == b.undefined &&
        error <= 1e-9 * std::max(1.0, std::abs(score)))
      continue;
    FAIL_CHECK(
        "@" << m.core()->name() << ", transition " << result.transitions << ": scores " << incremental.score()
            << " and " << score << (same ? "" : ", other choices"));
    break;
  }
  return result;
}

/// Applies to each site the moves that support its type.
struct any_move {
  template <class Trace>
  void operator()(Trace& t, od::random_key const& k, ms::move_record& record) {
    for (ms::site const& s : t.core().sites()) {
      if (s.index_count > 3 || s.nodes.size() > 1 || t.is_observed(t.core().site_at(s.address))) continue;
      if (s.type == od::ir::boolean && !t.core().has_conditional_sites())
        ms::gibbs(s.address)(t, k.at(0), record);
      if (s.type == od::ir::f64) ms::random_walk(s.address, 0.5)(t, k.at(1), record);
      ms::from_prior(s.address)(t, k.at(2), record);
    }
  }
};
/// A random model with the members that `compare` uses.
class model_of_seed {
public:
  explicit model_of_seed(std::uint64_t seed, bool has_branches = false)
      : core_(std::make_shared<ms::model_core const>(
            random_models::random_model(seed, has_branches).make(), od::compile_options())) {
    random_program::random_numbers random(~seed);
    arguments_ = random_models::arguments(random);
  }
  ms::shared_core const& core() const { return core_; }
  std::vector<od::datum> const& arguments() const { return arguments_; }
  std::vector<ms::site> const& sites() const { return core_->sites(); }

private:
  ms::shared_core core_;
  std::vector<od::datum> arguments_;
};

} // namespace incremental_chains
