// mcmc: Markov chains of transition kernels ("moves") for a model's choices, for run_chains.
#pragma once

#include <overdub/core/floating_point.hpp>
#include <overdub/inference/run_chains.hpp>
#include <overdub/models/model.hpp>
#include <overdub/models/moves.hpp>
#include <overdub/models/numbers.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace overdub::models {

/// An observed choice that the trace does not make; nothing, where it makes all. O(observations of conditional sites).
inline std::optional<address> unmade_choice(trace const& t, choice_map const& observed) {
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

/// Draws up to 100 traces of the observations, and returns the first whose density is finite. Throws model_error where none is, with a
/// choice that makes the density of the last one 0 or NaN.
inline trace initial_trace(
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

/// Throws model_error for kernels of choices that the model does not make, and for choices that are neither observed nor updated by a
/// kernel: they would keep the values that were drawn first. Conditional choices need no kernel, since they are drawn where they appear. A
/// kernel without `moved()` may update any choice.
template <class IsObserved, class... Moves>
void check_moves(model_core const& m, IsObserved const& is_observed, Moves const&... moves) {
  auto const check = [&](auto const& move) {
    if constexpr (requires { move.moved(); }) m.check(move.moved());
  };
  (check(moves), ...);
  if constexpr ((requires { moves.moved(); } && ...))
    for (std::uint32_t s = 0; s < m.sites().size(); ++s) {
      site const& each = m.sites()[s];
      if (each.is_conditional || is_observed(s) || ((moves.moved().extent(each.address) >= 0) || ...))
        continue;
      throw model_error(message(
          "overdub: the choices \"%.80s\" of the model @%s are neither observed nor moved by a move: they "
          "would stay what they were drawn as; move them, or observe them",
          each.address.c_str(), m.name().c_str()));
    }
}

/// One chain of a model: a transition applies all kernels, one after another. It is a transition_kernel.
template <class Trace, class... Moves>
class chain_of_moves {
public:
  chain_of_moves(trace const& start, choice_map const& observed, selection const& reported, Moves... moves)
      : trace_(start, observed), row_(start, reported), moves_(std::move(moves)...) {
    auto const is_observed = [&](std::uint32_t s) { return trace_.size(s) == 0 || trace_.is_observed(s); };
    std::apply([&](auto const&... each) { check_moves(trace_.core(), is_observed, each...); }, moves_);
  }

  inference::kernel_statistics transition(random_key const& key) {
    move_record made;
    i64 number = 0;
    std::apply([&](auto&... move) { (move(trace_, key.at(number++), made), ...); }, moves_);
    record_ += made;
    return {.log_density = trace_.score(), .acceptance = made.acceptance()};
  }
  void adapt(std::size_t iteration, std::size_t warmup) {
    auto const one = [&](auto& move) {
      if constexpr (requires { move.adapt(iteration, warmup); })
        move.adapt(iteration, warmup);
      else if constexpr (requires { move.adapt(iteration); })
        move.adapt(iteration);
    };
    std::apply([&](auto&... move) { (one(move), ...); }, moves_);
  }
  std::vector<std::string> names() const { return row_.names(); }
  void report(std::span<double> out) const { row_.write(trace_, out); }

  Trace const& state() const { return trace_; }
  move_record const& record() const { return record_; }

private:
  Trace trace_;
  number_row row_;
  std::tuple<Moves...> moves_;
  move_record record_;
};

/// Makes the chains of `mcmc`.
template <class Trace, class... Moves>
class chain_maker {
public:
  chain_maker(
      shared_core of, std::vector<datum> arguments, choice_map observed, selection reported,
      std::tuple<Moves...> moves)
      : core_(std::move(of)), arguments_(std::move(arguments)), observed_(std::move(observed)),
        reported_(std::move(reported)), moves_(std::move(moves)) {}

  chain_of_moves<Trace, Moves...> operator()(std::size_t, random_key const& key) const {
    trace const start = initial_trace(core_, arguments_, observed_, key);
    return std::apply(
        [&](Moves const&... m) { return chain_of_moves<Trace, Moves...>(start, observed_, reported_, m...); },
        moves_);
  }
  /// The same chains, with draws of other choices.
  chain_maker keeping(selection reported) const {
    return chain_maker(core_, arguments_, observed_, std::move(reported), moves_);
  }
  /// The same chains, where each proposal runs the model in full: for comparison.
  chain_maker<reexecuted_trace, Moves...> reexecuted() const {
    return {core_, arguments_, observed_, reported_, moves_};
  }

private:
  shared_core core_;
  std::vector<datum> arguments_;
  choice_map observed_;
  selection reported_;
  std::tuple<Moves...> moves_;
};

/// run_chains(mcmc(m, observed, gibbs("z"), random_walk("mu")), settings, key): each chain begins at a trace of the observations. A draw
/// has the choices of all sites that are not observed as a whole, or those of `keeping`. Throws model_error for kernels of choices that the
/// model never samples, and for choices that are neither observed nor updated by a kernel.
template <class Result, class... A, class... Moves>
chain_maker<followed_trace, Moves...>
mcmc(generative_function<Result, A...> const& m, choice_map const& observed, Moves... moves) {
  selection given;
  for (auto const& [at, x] : observed)
    if (at.indices.empty()) given.add(at);
  check_moves(
      *m.core(),
      [&](std::uint32_t s) {
        return std::any_of(observed.begin(), observed.end(), [&](auto const& each) {
          return each.first.site == m.sites()[s].address; // of some of its choices at least
        });
      },
      moves...);
  return {m.core(), m.inputs(), observed, !given, std::tuple(std::move(moves)...)};
}

} // namespace overdub::models
