// Distributions of bools and integers: bernoulli, bernoulli_logit, binomial, poisson, negative_binomial, geometric, discrete_uniform,
// categorical, categorical_logit.
#pragma once

#include <overdub/distributions/distribution.hpp>
#include <overdub/distributions/gamma_terms.hpp>
#include <overdub/distributions/standard_draws.hpp>
#include <overdub/random.hpp>

#include <boost/random/binomial_distribution.hpp>
#include <boost/random/poisson_distribution.hpp>
#include <boost/random/uniform_int_distribution.hpp>

#include <cmath>
#include <concepts>
#include <limits>
#include <string_view>
#include <tuple>

namespace overdub::distributions {
namespace detail {

// Whether a variable, a bool or an integer, is 1.
template <class X>
constexpr auto is_success(X const& x) {
  if constexpr (std::same_as<plain_t<X>, bool>)
    return x;
  else
    return x != i64{0};
}

// 2^63: the smallest double above the range of i64.
inline constexpr double i64_end = 0x1p63;
inline i64 clamped_to_i64(double x) {
  return x < i64_end ? static_cast<i64>(x) : std::numeric_limits<i64>::max();
}

// An element, or 0 for an empty array.
template <class A, class K>
constexpr auto at_or_0(A const& xs, K const& k) {
  return if_(
      size(xs) > i64{0}, [&] { return at(xs, k); }, [] { return 0.0; });
}

// A binomial draw, exact for any number of trials. For a small mean by inversion, with the first probability computed by log1p, without
// cancellation for a small p; else by Hormann's algorithm (Boost), which computes in doubles, and is split into at most 2^52 trials.
i64 draw_binomial(bit_generator auto& g, i64 trials, double p) {
  if (p > 0.5) return trials - draw_binomial(g, trials, 1 - p);
  auto const n = static_cast<double>(trials);
  if (n * p < 12) {
    double const ratio = p / (1 - p), none = std::exp(n * std::log1p(-p));
    for (;;) {
      double u = draw_uniform(g), each = none;
      for (i64 k = 0; k <= trials && k < 150; ++k) { // the rest of u is a rounding error: draw again
        if (u < each) return k;
        u -= each;
        each *= ratio * ((n - static_cast<double>(k)) / static_cast<double>(k + 1));
      }
    }
  }
  constexpr i64 maximum_trials = i64{1} << 52;
  if (trials <= maximum_trials) return boost::random::binomial_distribution<i64, double>(trials, p)(g);
  i64 total = 0;
  for (; trials > maximum_trials; trials -= maximum_trials) total += draw_binomial(g, maximum_trials, p);
  return total + draw_binomial(g, trials, p);
}

// log-sum-exp of an array; -infinity for an empty one.
template <class A>
constexpr auto log_sum_exp(A const& xs) {
  auto const largest = reduce(max, -infinity, xs);
  return largest + log(sum(map([&](auto const& x) { return exp(x - largest); }, xs)));
}

} // namespace detail

/// bernoulli(probability): true with this probability. Variables are bool, or the i64 0 and 1; draws are bool.
struct bernoulli_t : distribution<"bernoulli", bernoulli_t> {
  static constexpr std::tuple parameters{parameter<unit_interval>{"probability"}};
  static constexpr booleans support(auto const&...) { return {}; }
  static constexpr auto log_density_at(auto const& x, auto const& probability) {
    auto const hit = detail::is_success(x);
    return log(select(hit, probability, 1.0)) + log1p(-select(hit, 0.0, probability));
  }
  static bool draw(bit_generator auto& g, double probability) { return draw_uniform(g) < probability; }
};
inline constexpr bernoulli_t bernoulli{};

/// bernoulli_logit(logit): true with the probability 1 / (1 + exp(-logit)).
struct bernoulli_logit_t : distribution<"bernoulli_logit", bernoulli_logit_t> {
  static constexpr std::tuple parameters{parameter<reals>{"logit"}};
  static constexpr booleans support(auto const&...) { return {}; }
  static constexpr auto log_density_at(auto const& x, auto const& logit) {
    return -log1p_exp(select(detail::is_success(x), -logit, logit));
  }
  static bool draw(bit_generator auto& g, double logit) { return draw_uniform(g) < logistic(logit); }
};
inline constexpr bernoulli_logit_t bernoulli_logit{};

/// binomial(trials, probability): the number of successes. C(n, k) p^k (1 - p)^(n - k). Beyond 2^53 the density is that of trials and k
/// rounded to doubles. Draws are exact for any number of trials, in O(1 + trials / 2^52).
struct binomial_t : distribution<"binomial", binomial_t> {
  static constexpr std::tuple parameters{
      parameter<natural_numbers>{"trials"}, parameter<unit_interval>{"probability"}};
  static constexpr auto support(auto const& trials, auto const&) { return integer_interval(i64{0}, trials); }
  static constexpr auto log_density_at(auto const& k, auto const& trials, auto const& probability) {
    auto const n = convert<double>(trials);
    return log_poisson_term(convert<double>(k), n * probability) +
           log_poisson_term(convert<double>(trials - k), n * (1.0 - probability)) - log_poisson_term(n, n);
  }
  static i64 draw(bit_generator auto& g, i64 trials, double probability) {
    return detail::draw_binomial(g, trials, probability);
  }
};
inline constexpr binomial_t binomial{};

/// binomial_logit(trials, logit): the number of successes, each with the probability 1 / (1 + exp(-logit)).
struct binomial_logit_t : distribution<"binomial_logit", binomial_logit_t> {
  static constexpr std::tuple parameters{parameter<natural_numbers>{"trials"}, parameter<reals>{"logit"}};
  static constexpr auto support(auto const& trials, auto const&) { return integer_interval(i64{0}, trials); }
  static constexpr auto log_density_at(auto const& k, auto const& trials, auto const& logit) {
    auto const n = convert<double>(trials), hits = convert<double>(k), misses = convert<double>(trials - k);
    return if_(
        abs(logit) < 700.0,
        [&] {
          return log_poisson_term(hits, n * logistic(logit)) +
                 log_poisson_term(misses, n * logistic(-logit)) - log_poisson_term(n, n);
        },
        [&] { // one of the probabilities may underflow
          return log_poisson_term(hits, hits) + log_poisson_term(misses, misses) - log_poisson_term(n, n) -
                 hits * (log_fraction(hits, misses) + log1p_exp(-logit)) -
                 misses * (log_fraction(misses, hits) + log1p_exp(logit));
        });
  }
  static i64 draw(bit_generator auto& g, i64 trials, double logit) {
    if (logit > 0) return trials - detail::draw_binomial(g, trials, logistic(-logit));
    return detail::draw_binomial(g, trials, logistic(logit));
  }

private:
  // log(k / (k + rest)), or 0 where k is 0.
  static constexpr auto log_fraction(auto const& k, auto const& rest) {
    auto const n = max(k + rest, 1.0);
    auto const is_small = k > 0.0 && k < rest;
    return select(
        is_small, log(select(is_small, k, 1.0) / n),
        select(k > 0.0, log1p(-select(is_small, 0.0, rest / n)), 0.0));
  }
};
inline constexpr binomial_logit_t binomial_logit{};

/// poisson(rate): rate^k exp(-rate) / k!.
struct poisson_t : distribution<"poisson", poisson_t> {
  static constexpr std::tuple parameters{parameter<nonnegative_reals>{"rate"}};
  static constexpr natural_numbers support(auto const&...) { return {}; }
  static constexpr auto log_density_at(auto const& k, auto const& rate) {
    return log_poisson_term(convert<double>(k), rate);
  }
  static i64 draw(bit_generator auto& g, double rate) {
    if (rate <= 0) return 0;
    if (rate < 1e9) return boost::random::poisson_distribution<i64, double>(rate)(g);
    // The time of the first n arrivals has a gamma distribution, which reduces the draw to a smaller Poisson or binomial one (Ahrens and
    // Dieter, 1974).
    double const n = std::floor(rate - 6 * std::sqrt(rate));
    if (n >= detail::i64_end) return std::numeric_limits<i64>::max();
    double const time = draw_large_gamma(g, n);
    if (time < rate) return static_cast<i64>(n) + draw(g, rate - time);
    return detail::draw_binomial(g, static_cast<i64>(n) - 1, rate / time);
  }
};
inline constexpr poisson_t poisson{};

/// negative_binomial(mean, concentration): a Poisson variable whose rate has a gamma distribution of this mean, and of the shape
/// `concentration`; the variance is mean + mean^2 / concentration (Stan's neg_binomial_2). With c the concentration,
/// Gamma(k + c) / (k! Gamma(c)) (mean / (mean + c))^k (c / (mean + c))^c.
struct negative_binomial_t : distribution<"negative_binomial", negative_binomial_t> {
  static constexpr std::tuple parameters{
      parameter<positive_reals>{"mean"}, parameter<positive_reals>{"concentration"}};
  static constexpr natural_numbers support(auto const&...) { return {}; }
  static constexpr auto log_density_at(auto const& k, auto const& mean, auto const& concentration) {
    auto const count = convert<double>(k), n = count + concentration, total = mean + concentration;
    return log_poisson_term(count, n * (mean / total)) +
           log_poisson_term(concentration, n * (concentration / total)) - log_poisson_term(n, n) -
           log1p(count / concentration);
  }
  static i64 draw(bit_generator auto& g, double mean, double concentration) {
    double const log_rate = draw_log_gamma(g, concentration) + std::log(mean) - std::log(concentration);
    return poisson_t::draw(g, kept_finite(std::exp(log_rate)));
  }
};
inline constexpr negative_binomial_t negative_binomial{};

/// geometric(probability): the number of failures before the first success. p (1 - p)^k.
struct geometric_t : distribution<"geometric", geometric_t> {
  static constexpr std::tuple parameters{parameter<positive_probability>{"probability"}};
  static constexpr natural_numbers support(auto const&...) { return {}; }
  static constexpr auto log_density_at(auto const& k, auto const& probability) {
    auto const fails = k > i64{0};
    return log(probability) + convert<double>(k) * log1p(-select(fails, probability, 0.0));
  }
  static i64 draw(bit_generator auto& g, double probability) {
    return detail::clamped_to_i64(std::floor(std::log(draw_uniform(g)) / std::log1p(-probability)));
  }
};
inline constexpr geometric_t geometric{};

/// discrete_uniform(low, high): each integer from low to high with the same probability.
struct discrete_uniform_t : distribution<"discrete_uniform", discrete_uniform_t> {
  static constexpr std::tuple parameters{parameter<integers>{"low"}, parameter<integers>{"high"}};
  static constexpr auto consistent(auto const& low, auto const& high) { return low <= high; }
  static constexpr std::string_view relation = "low must not be greater than high";
  static constexpr auto support(auto const& low, auto const& high) { return integer_interval(low, high); }
  static constexpr auto log_density_at(auto const&, auto const& low, auto const& high) {
    return -log(convert<double>(high) - convert<double>(low) + 1.0);
  }
  static i64 draw(bit_generator auto& g, i64 low, i64 high) {
    return boost::random::uniform_int_distribution<i64>(low, high)(g);
  }
};
inline constexpr discrete_uniform_t discrete_uniform{};

/// categorical(probabilities): the index i with a probability proportional to probabilities[i], which need not sum to 1. O(n).
struct categorical_t : distribution<"categorical", categorical_t> {
  static constexpr std::tuple parameters{parameter<weights>{"probabilities"}};
  static constexpr auto support(auto const& probabilities) {
    return integer_interval(i64{0}, size(probabilities) - i64{1});
  }
  static constexpr auto log_density_at(auto const& k, auto const& probabilities) {
    return log(detail::at_or_0(probabilities, k)) - log(sum(probabilities));
  }
  static i64 draw(bit_generator auto& g, array<double> const& probabilities) {
    return draw_index(g, probabilities.size(), sum(probabilities), [&](i64 i) { return probabilities[i]; });
  }
};
inline constexpr categorical_t categorical{};

/// categorical_logit(logits): the index i with a probability proportional to exp(logits[i]). O(n).
struct categorical_logit_t : distribution<"categorical_logit", categorical_logit_t> {
  static constexpr std::tuple parameters{parameter<nonempty_real_vectors>{"logits"}};
  static constexpr auto support(auto const& logits) {
    return integer_interval(i64{0}, size(logits) - i64{1});
  }
  static constexpr auto log_density_at(auto const& k, auto const& logits) {
    return detail::at_or_0(logits, k) - detail::log_sum_exp(logits);
  }
  static i64 draw(bit_generator auto& g, array<double> const& logits) {
    double const total = detail::log_sum_exp(logits);
    return draw_index(g, logits.size(), 1.0, [&](i64 i) { return std::exp(logits[i] - total); });
  }
};
inline constexpr categorical_logit_t categorical_logit{};

} // namespace overdub::distributions
