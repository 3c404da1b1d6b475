// particle_filter of a sequence of models: each has the choices of the one before it, and more.
#pragma once

#include <overdub/contexts/inference/particles.hpp>
#include <overdub/contexts/models/model.hpp>
#include <overdub/contexts/models/moves.hpp>
#include <overdub/contexts/models/mutable_trace.hpp>
#include <overdub/core/floating_point.hpp>

#include <cmath>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub::models {
inline namespace OVERDUB_EXECUTE_ABI {

/// A particle: the trace so far. It is an incremental trace, where the model has these. A plain value.
class particle {
public:
  /// A choice, or all of a site, by address, as `trace` has it.
  template <class T>
  T get(address const& at) const {
    return followed_ ? followed_->get<T>(at) : trace_->get<T>(at);
  }
  /// The logarithm of the density of all choices.
  double score() const { return followed_ ? followed_->score() : trace_->score(); }
  /// The trace; it runs the model, where the particle is incremental.
  trace as_trace() const { return followed_ ? followed_->as_trace() : *trace_; }
  /// Whether a step computes the appended iterations alone, and does not run the model.
  bool is_incremental() const { return followed_.has_value(); }

  /// Of a first model, or of the next one; the logarithm of the weight. Where it is NaN, the particle stays what it was. `by` are the model
  /// and what is observed, made ready for all particles; where it is nothing, the model is run.
  template <class M>
  double extend(M const& m, choice_map const& observed, trace_extension const* by, random_key const& key) {
    if (followed_)
      if (auto const weight = follow(by, key)) return *weight;
    for (auto const& [at, x] : observed) observed_.set(at, x);
    if (trace_) {
      auto made = m.update(*trace_, observed, key);
      trace_ = std::move(made.of);
      return made.weight;
    }
    auto made = m.generate(observed, key);
    try {
      followed_.emplace(made.of, observed);
      observed_ = {};
    } catch (model_error const&) { // it is run again in each step
      trace_ = std::move(made.of);
    }
    return made.weight;
  }
  /// Moves of its choices, which follow changes.
  template <class... Moves>
  void move(random_key const& key, Moves... moves) {
    if (followed_) return move(*followed_, key, moves...);
    followed_trace t(*trace_, observed_);
    move(t, key, moves...);
    trace_ = t.as_trace();
  }

private:
  // The weight of what came; nothing, where the trace does not grow so.
  std::optional<double> follow(trace_extension const* by, random_key const& key) {
    try {
      if (by != nullptr) {
        followed_->extend(*by);
        double const weight = followed_->propose(key);
        if (overdub::is_nan(weight))
          followed_->rollback();
        else
          followed_->commit();
        return weight;
      }
    } catch (error const&) { // what is wrong, and not only not followed, an update says, too
    }
    trace_ = followed_->as_trace();
    observed_ = followed_->observed();
    followed_.reset();
    return {};
  }
  template <class... Moves>
  static void move(followed_trace& t, random_key const& key, Moves&... moves) {
    move_record record;
    i64 number = 0;
    (moves(t, key.at(number++), record), ...);
  }

  std::optional<followed_trace> followed_;
  std::optional<trace> trace_; // where it is not followed
  choice_map observed_;        // in it
};

/// The model of a step and what is observed in it, ready for all particles.
template <class M>
struct filter_step {
  M of;
  choice_map observed;
  std::optional<trace_extension> by; // where traces grow by it

  filter_step(M const& m, choice_map seen) : of(m), observed(std::move(seen)) {
    try {
      by.emplace(of, observed);
    } catch (error const&) { // which is said where the model is run
    }
  }
};

/// Particles of a sequence of models (Del Moral, Doucet and Jasra, Sequential Monte Carlo samplers, 2006): `model_at(t)` is that of step t,
/// a model of one function with other arguments, and `observed_at(t)` what is observed in it besides what was before; both are called once
/// a step. New choices are drawn from their distributions. After resampling, particles are moved by `moves`, if there are any: by updates,
/// not by runs. Results are the same on any number of threads. A step computes the appended iterations of each particle,
/// where outermost maps and loops get larger trip counts (`mutable_trace::extend`); of other models, and in the first step, it runs the model. A
/// particle that is drawn more than once is copied: O(its choices).
template <class At, class Observed, class... Moves>
inference::filtered<particle> particle_filter(
    At const& model_at, Observed const& observed_at, std::size_t steps,
    inference::filter_settings const& settings, random_key const& key, Moves const&... moves) {
  using step = filter_step<std::remove_cvref_t<decltype(model_at(std::size_t{0}))>>;
  std::unique_ptr<std::once_flag[]> const begun(new std::once_flag[steps]);
  std::vector<std::optional<step>> all(steps);
  auto const start = [](random_key const&) { return particle(); };
  auto const extend = [&](particle& p, std::size_t t, random_key const& own) {
    std::call_once(begun[t], [&] {
      if (t > 0) all[t - 1].reset();
      all[t].emplace(model_at(t), observed_at(t));
    });
    step const& now = *all[t];
    return p.extend(now.of, now.observed, now.by ? &*now.by : nullptr, own);
  };
  if constexpr (sizeof...(Moves) == 0)
    return inference::particle_filter(start, extend, steps, settings, key);
  else
    return inference::particle_filter(
        start, extend, steps, settings, key,
        [&](particle& p, std::size_t, random_key const& own) { p.move(own, moves...); });
}

} // namespace OVERDUB_EXECUTE_ABI
} // namespace overdub::models
