// Importance sampling, particle filters (sequential Monte Carlo), and resampling. It needs the headers of random.hpp.
#pragma once

#include <overdub/core/floating_point.hpp>
#include <overdub/core/library.hpp>
#include <overdub/inference/on_threads.hpp>
#include <overdub/inference/streams.hpp>
#include <overdub/inference/target.hpp>
#include <overdub/random.hpp>

#include <boost/random/exponential_distribution.hpp>

#include <cmath>
#include <concepts>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub::inference {

/// The logarithm of the sum of exponentials, without overflow; -infinity for an empty span, NaN where an element is. O(n).
double log_sum_exp(std::span<double const> x);

/// Weights that sum to 1, normalised from log weights that are known up to a constant.
struct normalised_weights {
  std::vector<double> values;
  double log_sum = 0;           ///< of the weights before normalisation
  double effective_size = 0;    ///< (Σ w)² / Σ w² (Kong 1992)
  std::size_t not_a_number = 0; ///< the number of log weights that are NaN; they count as -infinity

  /// The logarithm of the mean weight.
  double log_mean() const { return log_sum - std::log(static_cast<double>(values.size())); }
};

/// Normalises log weights. Throws inference_error where no weight is positive, and where one is infinite. O(n).
normalised_weights normalise(std::span<double const> log_weights);

/// The effective sample size of log weights, as `normalise` computes it.
inline double effective_sample_size(std::span<double const> log_weights) {
  return normalise(log_weights).effective_size;
}

/// Resampling schemes (Douc, Cappé and Moulines 2005, "Comparison of resampling schemes for particle filtering"). In all of them the
/// expected number of copies of a particle is its weight times the number of particles.
enum class resampling {
  systematic, ///< one uniform position, the same in each of n strata: the expected number is rounded down or up
  stratified,  ///< an independent uniform position in each of n strata
  multinomial, ///< independent draws
  residual     ///< the expected number rounded down, and independent draws by the remainders
};

namespace resampled {

void check(resampling scheme);
void check(resampling scheme, std::span<double const> weights);
// Selects each index as often as its expected number, rounded down. Returns the remainders, normalised.
std::vector<double>
select_whole_copies(std::span<double const> weights, std::size_t count, std::vector<std::size_t>& out);
void sort(std::vector<std::size_t>& all);

// Inverts the cumulative weights at the positions in [0, 1) that `position(i)` returns in ascending order.
template <class F>
void select_at(
    std::span<double const> weights, std::size_t count, F const& position, std::vector<std::size_t>& out) {
  // Because of rounding, a position may be above the sum of all weights: the last index of a positive weight is selected then.
  std::size_t last = weights.size() - 1;
  while (last > 0 && !(weights[last] > 0)) --last;
  std::size_t k = 0;
  double sum = weights[0];
  for (std::size_t i = 0; i < count; ++i) {
    double const u = position(i);
    while (k < last && !(u < sum)) sum += weights[++k];
    out.push_back(k);
  }
}

// Multinomial selection. Partial sums of exponential variables, divided by the total of one more, are sorted uniform positions.
template <class G>
void select_independently(
    std::span<double const> weights, std::size_t count, G& generator, std::vector<std::size_t>& out) {
  std::vector<double> positions(count);
  double sum = 0;
  boost::random::exponential_distribution<double> exponential;
  for (double& p : positions) p = sum += exponential(generator);
  sum += exponential(generator);
  select_at(
      weights, count, [&](std::size_t i) { return positions[i] / sum; }, out);
}

} // namespace resampled

/// Draws `count` indices by weights that sum to 1, in ascending order. No index has weight 0. Throws inference_error for an invalid scheme, and if there
/// are no weights.
/// O(count + number of weights).
template <bit_generator G>
std::vector<std::size_t>
ancestors(resampling scheme, std::span<double const> weights, std::size_t count, G& generator) {
  check_count("count", count);
  resampled::check(scheme, weights);
  std::vector<std::size_t> out;
  out.reserve(count);
  auto const n = static_cast<double>(count);
  auto const in_part = [&](std::size_t i, double u) { return (static_cast<double>(i) + u) / n; };
  switch (scheme) {
  case resampling::systematic: {
    double const u = drawing::uniform(generator);
    resampled::select_at(
        weights, count, [&](std::size_t i) { return in_part(i, u); }, out);
    break;
  }
  case resampling::stratified:
    resampled::select_at(
        weights, count, [&](std::size_t i) { return in_part(i, drawing::uniform(generator)); }, out);
    break;
  case resampling::multinomial:
    resampled::select_independently(weights, count, generator, out);
    break;
  case resampling::residual: {
    std::vector<double> const rest = resampled::select_whole_copies(weights, count, out);
    if (out.size() < count) resampled::select_independently(rest, count - out.size(), generator, out);
    resampled::sort(out);
    break;
  }
  }
  return out;
}

/// Draws with log weights, which are known up to a constant.
template <std::copyable V>
struct weighted_draws {
  std::vector<V> values;
  std::vector<double> log_weights;
  double log_evidence = 0;      ///< the logarithm of an unbiased estimate of the normalising constant
  std::size_t not_a_number = 0; ///< the number of log weights that are NaN; these weights count as 0

  /// The normalised weights.
  std::vector<double> weights() const { return normalise(log_weights).values; }
  double effective_size() const { return effective_sample_size(log_weights); }
  /// The weighted mean of f over the draws of a positive weight.
  template <std::invocable<V const&> F>
  double mean(F const& f) const {
    std::vector<double> const w = weights();
    double sum = 0;
    for (std::size_t i = 0; i < values.size(); ++i)
      if (w[i] > 0) sum += w[i] * static_cast<double>(f(values[i]));
    return sum;
  }
  /// Resamples `count` draws of equal weights.
  std::vector<V>
  resample(std::size_t count, random_key const& key, resampling scheme = resampling::systematic) const {
    random_generator generator(key);
    std::vector<V> drawn;
    for (std::size_t const a : ancestors(scheme, weights(), count, generator)) drawn.push_back(values[a]);
    return drawn;
  }
};

/// Importance sampling: `draw(key)` returns a pair of a value and its log weight, the log density of the target minus that of the proposal.
/// The i-th draw has the key key.at(i), on any number of threads, which call `draw` concurrently; 0: as many as there are processors.
/// Throws inference_error as `normalise` does.
template <std::invocable<random_key const&> F>
auto importance_sample(F const& draw, std::size_t count, random_key const& key, unsigned threads = 1) {
  using pair = std::invoke_result_t<F const&, random_key const&>;
  using value = std::remove_cvref_t<typename pair::first_type>;
  check_count("count", count);
  check_threads(threads);
  std::vector<std::optional<value>> drawn(count);
  weighted_draws<value> result;
  result.log_weights.resize(count);
  on_threads(threads, count, [&](std::size_t i) {
    auto made = draw(key.at(i));
    drawn[i].emplace(std::move(made.first));
    result.log_weights[i] = made.second;
  });
  for (std::optional<value>& v : drawn) result.values.push_back(std::move(*v));
  normalised_weights const w = normalise(result.log_weights);
  result.log_evidence = w.log_mean();
  result.not_a_number = w.not_a_number;
  return result;
}

/// Settings of `particle_filter`.
struct filter_settings {
  std::size_t particles = 1000;
  double resample_below =
      0.5; ///< the threshold of the effective sample size, relative to the particles: 0 never resamples, 1 always
  resampling scheme = resampling::systematic;
  unsigned threads = 1; ///< that extend particles concurrently; 0: as many as there are processors
};

/// The result of a particle filter: the final particles, and statistics of its steps.
template <std::copyable P>
struct filtered : weighted_draws<P> {
  std::vector<double> log_evidences;   ///< of each step given those before it; their sum is log_evidence
  std::vector<double> effective_sizes; ///< after each step, before resampling
  std::size_t resamplings = 0;
};

/// A rejuvenation kernel: updates a particle after step t, and leaves the distribution of particles after that step invariant.
template <class F, class P>
concept rejuvenation = std::invocable<F const&, P&, std::size_t, random_key const&>;

/// No rejuvenation.
struct no_rejuvenation {
  void operator()(auto&, std::size_t, random_key const&) const {}
};

/// A particle filter (Gordon, Salmond and Smith 1993; Del Moral, Doucet and Jasra 2006, "Sequential Monte Carlo samplers"), which
/// resamples where the effective sample size is low. It calls
///
///   start(key)                      which returns a particle, of any copyable type;
///   extend(particle&, t, key)       which extends it by step t, counted from 0, and returns the incremental log weight;
///   rejuvenate(particle&, t, key)   which updates it after resampling in step t; optional.
///
/// There is no resampling after the last step. Particle i has the keys key.at("start").at(i), key.at(t).at(i) and
/// key.at(t).at("move").at(i): results are the same on any number of threads. Throws inference_error, with the step, where no
/// particle has a positive weight. Time: particles x steps calls, and copies. Memory: twice the particles.
template <std::invocable<random_key const&> S, class E, class R = no_rejuvenation>
requires rejuvenation<R, std::invoke_result_t<S const&, random_key const&>>
    filtered<std::invoke_result_t<S const&, random_key const&>> particle_filter(
        S const& start, E const& extend, std::size_t steps, filter_settings const& settings,
        random_key const& key, R const& rejuvenate = {}) {
  using particle = std::invoke_result_t<S const&, random_key const&>;
  check_count("particles", settings.particles);
  check_threads(settings.threads);
  if (double const part = settings.resample_below; overdub::is_nan(part) || !(part >= 0 && part <= 1))
    throw inference_error(
        message("overdub: resample_below = %g: it is a part of the particles, from 0 to 1", part));
  resampled::check(settings.scheme);
  std::size_t const n = settings.particles;
  if (n == 0) throw inference_error(message("overdub: a filter of no particles: it needs some hundreds"));
  filtered<particle> result;
  std::vector<std::optional<particle>> started(n);
  on_threads(settings.threads, n, [&](std::size_t i) { started[i].emplace(start(key.at("start").at(i))); });
  for (std::optional<particle>& p : started) result.values.push_back(std::move(*p));

  double const equal = -std::log(static_cast<double>(n));
  result.log_weights.assign(n, equal); // they sum to 1 after each step
  for (std::size_t t = 0; t < steps; ++t) {
    random_key const now = key.at(t);
    on_threads(settings.threads, n, [&](std::size_t i) {
      double const weight = extend(result.values[i], t, now.at(i));
      if (result.log_weights[i] > -std::numeric_limits<double>::infinity()) result.log_weights[i] += weight;
    });
    normalised_weights w;
    try {
      w = normalise(result.log_weights);
    } catch (inference_error const& e) {
      throw inference_error(message("overdub: step %zu: %s", t, e.what() + sizeof "overdub:"));
    }
    for (std::size_t i = 0; i < n; ++i) result.log_weights[i] = std::log(w.values[i]);
    result.log_evidence += w.log_sum;
    result.log_evidences.push_back(w.log_sum);
    result.effective_sizes.push_back(w.effective_size);
    result.not_a_number += w.not_a_number;
    if (t + 1 == steps || w.effective_size >= settings.resample_below * static_cast<double>(n)) continue;

    random_generator generator(now.at("resample"));
    std::vector<std::size_t> const from = ancestors(settings.scheme, w.values, n, generator);
    std::vector<bool> is_drawn(n);
    for (std::size_t const a : from) is_drawn[a] = true;
    std::vector<particle> next;
    next.reserve(n);
    std::size_t lost = 0; // a particle that is not drawn: assignment of a copy reuses its memory
    for (std::size_t i = 0; i < n; ++i) {
      std::size_t take = from[i];
      if (i + 1 < n &&
          from[i + 1] == from[i]) { // the indices are ascending: the last copy of a particle is moved instead
        while (is_drawn[lost]) ++lost;
        take = lost++;
        result.values[take] = result.values[from[i]];
      }
      next.push_back(std::move(result.values[take]));
    }
    result.values = std::move(next);
    result.log_weights.assign(n, equal);
    ++result.resamplings;
    if constexpr (!std::same_as<R, no_rejuvenation>)
      on_threads(
          settings.threads, n, [&](std::size_t i) { rejuvenate(result.values[i], t, now.at("move").at(i)); });
  }
  return result;
}

} // namespace overdub::inference
