// particle_filter: sequential Monte Carlo for a sequence of models, of which each extends the one before by further choices.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/core/mutex.hpp>
#include <overdub/inference/particles.hpp>
#include <overdub/models/model.hpp>
#include <overdub/models/moves.hpp>
#include <overdub/models/mutable_trace.hpp>

#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub::models {

/// A particle: the trace so far. It is an incremental trace where the model supports that. A plain value.
class particle {
public:
  // ---- the choices, as of a `trace`
  double score() const;
  template <class T>
  T get(address const& at) const {
    return detail::choice_as<T>(at, existing(at));
  }
  datum find(address const& at) const;
  datum existing(address const& at) const;
  datum find_one(address const& at) const;
  bool contains(address const& at) const { return static_cast<bool>(find(at)); }
  choice_map choices(selection const& of = selection::all()) const;
  void for_each_choice(overdub::detail::function_view<void(address const&, datum const&)> const& f) const;
  std::size_t size() const;
  double project(selection const& of) const;

  /// The trace. Of an incremental particle it runs the model.
  trace as_trace() const { return incremental_ ? incremental_->as_trace() : trace_; }
  /// Whether a step computes the appended iterations alone, instead of the whole model.
  bool is_incremental() const { return incremental_.has_value(); }

  /// Extends the particle to the first model, or to the next one, and returns the logarithm of its weight. If that is NaN, the particle is
  /// unchanged. `by` is the extension that all particles share; where it is nullptr, the model is run.
  template <class M>
  double extend(M const& m, choice_map const& observed, trace_extension const* by, random_key const& key) {
    if (incremental_)
      if (auto const weight = extend_incrementally(by, key)) return *weight;
    for (auto const& [at, x] : observed) observed_.set(at, x);
    if (trace_.shared_core() != nullptr) {
      auto made = m.update(trace_, observed, key);
      trace_ = std::move(made.of);
      return made.weight;
    }
    auto made = m.generate(observed, key);
    try {
      incremental_.emplace(made.of, observed);
      observed_ = {};
    } catch (model_error const&) { // the model has no incremental traces: run it in each step
      trace_ = std::move(made.of);
    }
    return made.weight;
  }
  /// Applies transition kernels to the choices.
  template <class... Moves>
  void move(random_key const& key, Moves... moves) {
    if (incremental_) return move(*incremental_, key, moves...);
    followed_trace t(trace_, observed_);
    move(t, key, moves...);
    trace_ = t.as_trace();
  }

private:
  // The weight of the appended choices; nothing, where the incremental trace cannot be extended so.
  std::optional<double> extend_incrementally(trace_extension const* by, random_key const& key);
  template <class... Moves>
  static void move(followed_trace& t, random_key const& key, Moves&... moves) {
    move_record record;
    i64 number = 0;
    (moves(t, key.at(number++), record), ...);
  }

  std::optional<followed_trace> incremental_;
  trace trace_;         // of a particle that is not incremental; of no run before the first step
  choice_map observed_; // of trace_
};

/// The model of a step and its observations, shared by all particles.
template <class M>
struct filter_step {
  M of;
  choice_map observed;
  std::optional<trace_extension> by; // where traces can be extended by it

  filter_step(M const& m, choice_map observations) : of(m), observed(std::move(observations)) {
    try {
      by.emplace(of, observed);
    } catch (error const&) { // running the model throws it again
    }
  }
};

/// Particles of a sequence of models (Del Moral, Doucet and Jasra, Sequential Monte Carlo samplers, 2006): `model_at(t)` is that of step t,
/// a model of one function with other arguments, and `observed_at(t)` are the observations that step t adds; both are called once per step.
/// New choices are drawn from their distributions. After resampling, the kernels `moves` rejuvenate the particles. Results are the same on
/// any number of threads. Where outermost maps and loops get larger trip counts, a step computes the appended iterations of each particle
/// (`mutable_trace::extend`); of other models, and in the first step, it runs the model. A particle that is drawn more than once is copied:
/// O(its choices).
template <class At, class Observed, class... Moves>
inference::filtered<particle> particle_filter(
    At const& model_at, Observed const& observed_at, std::size_t steps,
    inference::filter_settings const& settings, random_key const& key, Moves const&... moves) {
  using step = filter_step<std::remove_cvref_t<decltype(model_at(std::size_t{0}))>>;
  overdub::detail::mutex beginning;
  std::vector<std::optional<step>> all(steps);
  auto const start = [](random_key const&) { return particle(); };
  auto const extend = [&](particle& p, std::size_t t, random_key const& own) {
    {
      overdub::detail::mutex_lock const lock(beginning);
      if (!all[t]) {
        if (t > 0) all[t - 1].reset();
        all[t].emplace(model_at(t), observed_at(t));
      }
    }
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

} // namespace overdub::models
