// mcmc: Markov chains of transition kernels ("moves") for a model's choices, for run_chains.
#pragma once

#include <overdub/inference/run_chains.hpp>
#include <overdub/models/initial_trace.hpp>
#include <overdub/models/model.hpp>
#include <overdub/models/moves.hpp>
#include <overdub/models/numbers.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace overdub::models {

namespace detail {
// The choices that kernels update.
struct moved_choices {
  std::vector<selection> each = {}; // of the kernels that have `moved()`
  bool are_all = true;              // every kernel has it

  template <class Move>
  void add(Move const& move) {
    if constexpr (requires { move.moved(); })
      each.push_back(move.moved());
    else
      are_all = false;
  }
};
void check_moved(
    model_core const& m, std::function<bool(std::uint32_t)> const& is_observed, moved_choices const& moved);
} // namespace detail

/// Throws model_error for kernels of choices that the model does not make, and for choices that are neither observed nor updated by a
/// kernel: they would keep the values that were drawn first. Conditional choices need no kernel, since they are drawn where they appear. A
/// kernel without `moved()` may update any choice.
template <class IsObserved, class... Moves>
void check_moves(model_core const& m, IsObserved const& is_observed, Moves const&... moves) {
  detail::moved_choices moved;
  (moved.add(moves), ...);
  detail::check_moved(
      m, [&](std::uint32_t s) { return is_observed(s); }, moved);
}

namespace detail {
// What the chains of `mcmc` begin with.
struct chain_start {
  shared_core core;
  std::vector<datum> arguments;
  choice_map observed;
  selection reported;
};
std::shared_ptr<chain_start const>
chain_start_of(shared_core const& m, std::vector<datum> arguments, choice_map const& observed);
std::shared_ptr<chain_start const> with_reported(chain_start const& of, selection reported);
// Checks the kernels of `mcmc`. A choice counts as observed if a part of its site is.
void check_moved(chain_start const& by, moved_choices const& moved);
} // namespace detail

/// One chain of a model: a transition applies all kernels, one after another. It is a transition_kernel.
template <class Trace, class... Moves>
class chain_of_moves {
public:
  chain_of_moves(trace const& start, choice_map const& observed, selection const& reported, Moves... moves)
      : trace_(start, observed), row_(start, reported), moves_(std::move(moves)...) {
    auto const is_observed = [&](std::uint32_t s) { return trace_.size(s) == 0 || trace_.is_observed(s); };
    overdub::detail::apply_to(
        [&](auto const&... each) { check_moves(trace_.core(), is_observed, each...); }, moves_);
  }

  inference::kernel_statistics transition(random_key const& key) {
    move_record made;
    i64 number = 0;
    overdub::detail::apply_to([&](auto&... move) { (move(trace_, key.at(number++), made), ...); }, moves_);
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
    overdub::detail::apply_to([&](auto&... move) { (one(move), ...); }, moves_);
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
  chain_maker(std::shared_ptr<detail::chain_start const> start, std::tuple<Moves...> moves)
      : start_(std::move(start)), moves_(std::move(moves)) {}

  chain_of_moves<Trace, Moves...> operator()(std::size_t, random_key const& key) const {
    trace const start = initial_trace(start_->core, start_->arguments, start_->observed, key);
    return overdub::detail::apply_to(
        [&](Moves const&... m) {
          return chain_of_moves<Trace, Moves...>(start, start_->observed, start_->reported, m...);
        },
        moves_);
  }
  /// The same chains, with draws of other choices.
  chain_maker keeping(selection reported) const {
    return chain_maker(detail::with_reported(*start_, std::move(reported)), moves_);
  }
  /// The same chains, where each proposal runs the model in full: for comparison.
  chain_maker<reexecuted_trace, Moves...> reexecuted() const { return {start_, moves_}; }

private:
  std::shared_ptr<detail::chain_start const> start_;
  std::tuple<Moves...> moves_;
};

/// run_chains(mcmc(m, observed, gibbs("z"), random_walk("mu")), settings, key): each chain begins at a trace of the observations. A draw
/// has the choices of all sites that are not observed as a whole, or those of `keeping`. Throws model_error for kernels of choices that the
/// model never samples, and for choices that are neither observed nor updated by a kernel.
template <class Result, class... A, class... Moves>
chain_maker<followed_trace, Moves...>
mcmc(staged_function<Result, A...> const& m, choice_map const& observed, Moves... moves) {
  auto start = detail::chain_start_of(m.core(), m.inputs(), observed);
  detail::moved_choices moved;
  (moved.add(moves), ...);
  detail::check_moved(*start, moved);
  return {std::move(start), std::tuple(std::move(moves)...)};
}

} // namespace overdub::models
