// particle_filter of a sequence of models: each has the choices of the one before it, and more.
#pragma once

#include <overdub/contexts/inference/particles.hpp>
#include <overdub/contexts/models/changing_trace.hpp>
#include <overdub/contexts/models/model.hpp>
#include <overdub/contexts/models/moves.hpp>

#include <concepts>
#include <cstddef>
#include <optional>
#include <tuple>
#include <utility>

namespace overdub::models {
inline namespace OVERDUB_EXECUTE_ABI {

/// A particle: the trace so far.
class particle {
public:
  trace const& operator*() const { return *trace_; }
  trace const* operator->() const { return &*trace_; }

  /// Of a first model, or of the next one; the logarithm of the weight.
  template <class M>
  double extend(M const& m, choice_map const& observed, random_key const& key) {
    for (auto const& [at, x] : observed) observed_.set(at, x);
    if (!trace_) {
      auto made = m.generate(observed, key);
      trace_ = std::move(made.of);
      return made.weight;
    }
    auto made = m.update(*trace_, observed, key);
    trace_ = std::move(made.of);
    return made.weight;
  }
  /// Moves of its choices, which follow changes.
  template <class... Moves>
  void move(random_key const& key, Moves... moves) {
    followed_trace t(*trace_, observed_);
    move_record record;
    i64 number = 0;
    (moves(t, key.at(number++), record), ...);
    trace_ = t.as_trace();
  }

private:
  std::optional<trace> trace_;
  choice_map observed_;
};

/// Particles of a sequence of models (Del Moral, Doucet and Jasra, Sequential Monte Carlo samplers, 2006): `model_at(t)` is that of step t,
/// a model of one function with other arguments, and `observed_at(t)` what is observed in it besides what was before. New choices are
/// drawn from their distributions. After resampling, particles are moved by `moves`, if there are any: by updates, not by runs. Results
/// are the same on any number of threads. A step takes a run of the model of each particle.
template <class At, class Observed, class... Moves>
inference::filtered<particle> particle_filter(
    At const& model_at, Observed const& observed_at, std::size_t steps,
    inference::filter_settings const& settings, random_key const& key, Moves const&... moves) {
  auto const start = [](random_key const&) { return particle(); };
  auto const extend = [&](particle& p, std::size_t t, random_key const& own) {
    return p.extend(model_at(t), observed_at(t), own);
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
