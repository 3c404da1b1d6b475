// Posteriors against published ones: means, deviations and quantiles of runs of Stan, within the Monte Carlo errors of both, and
// probabilities of a hidden Markov model that were summed up. Sources:
//   [S] stan-dev/stat_comp_benchmarks, benchmarks/*.params: a million draws each;
//   [P] stan-dev/posteriordb, reference_posteriors/summary_statistics/mean: ten thousand nearly independent draws each, with the error;
//   [R] stan-dev/posterior, README, "Summarizing draws": 400 draws, with effective sample sizes;
//   [W] Wikipedia, "Forward-backward algorithm", Example: the umbrellas of Russell and Norvig, "Artificial Intelligence: A Modern
//       Approach", chapter 15, over five days.
#include "catch.hpp"
#include "models/model_posteriors.hpp"
#include "reference_data.hpp"

#include <overdub/inference/chains.hpp>
#include <overdub/models/enumeration.hpp>
#include <overdub/models/hamiltonian_move.hpp>
#include <overdub/models/mcmc.hpp>
#include <overdub/models/posterior.hpp>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace model_posteriors;
using reference_data::column;

od::random_key const key(1);

// Published: a mean and its error, and the standard deviation, if any.
struct published {
  double mean, error, sd = 0;
};
// A mean and a standard deviation of a million draws, printed with five digits. Draws of NUTS have about the effective sample size of
// independent ones.
published of_a_million(double mean, double sd) { return {mean, sd / 1000 + 5e-5 * std::abs(mean), sd}; }

void check(inf::chain_values const& x, published const& p) {
  INFO("mean " << inf::diagnosing::mean(x.values) << " +- " << inf::mcse_mean(x) << ", published " << p.mean);
  CHECK(
      std::abs(inf::diagnosing::mean(x.values) - p.mean) <= errors * std::hypot(inf::mcse_mean(x), p.error));
  CHECK(inf::rhat(x) < 1.02);
  if (p.sd > 0) {
    double sum = 0, mean = inf::diagnosing::mean(x.values);
    for (double const v : x.values) sum += (v - mean) * (v - mean);
    double const sd = std::sqrt(sum / static_cast<double>(x.values.size() - 1));
    INFO("sd " << sd << " +- " << inf::mcse_sd(x) << ", published " << p.sd);
    CHECK(std::abs(sd - p.sd) <= errors * std::hypot(inf::mcse_sd(x), p.sd / 500));
  }
}
// A row of a published table of draws: mean, standard deviation and quantiles of 5 and 95 %, with the bulk and tail effective sample sizes.
struct published_row {
  double mean, sd, low, high, bulk, tail;
};
void check_row(inf::chain_values const& x, published_row const& p) {
  check(x, published{p.mean, p.sd / std::sqrt(p.bulk)});
  // An error of a probability is one of a quantile by the quantiles at which the probability may be.
  auto const check_quantile = [&](double probability, double theirs) {
    double const off = std::sqrt(probability * (1 - probability) / p.tail);
    auto const at = [&](double q) { return inf::diagnosing::quantile(x.values, q); };
    double const error = (at(probability + off) - at(probability - off)) / 2;
    INFO(
        "quantile of " << probability << ": " << at(probability) << " +- "
                       << inf::mcse_quantile(x, probability) << ", published " << theirs << " +- " << error);
    CHECK(
        std::abs(at(probability) - theirs) <= errors * std::hypot(inf::mcse_quantile(x, probability), error));
  };
  check_quantile(0.05, p.low);
  check_quantile(0.95, p.high);
}
inf::draws by_nuts(auto const& m, ms::choice_map const& observed, double acceptance = 0.8) {
  return inf::sample(
      ms::posterior(m, observed), {.chains = 4,
                                   .warmup = 700,
                                   .draws = 2000,
                                   .threads = 1,
                                   .adaptation = {.target_acceptance = acceptance}});
}

// ---- the regressions of kidiq

// The reference has flat priors of coefficients; priors of this width shift the means by less than a thousandth of their errors.
constexpr double wide = 1000;

inline constexpr auto by_iq = od::fn<"by_iq">([](od::scope auto& cx, auto const& iqs) {
  auto const a = cx(od::sample<"a">, ds::normal(0, wide)), iq = cx(od::sample<"iq">, ds::normal(0, wide));
  auto const sigma = cx(od::sample<"sigma">, ds::truncated_below(ds::cauchy(0, 2.5), 0));
  return od::sum(od::map([&](auto x) { return cx(od::sample<"y">, ds::normal(a + iq * x, sigma)); }, iqs));
});
inline constexpr auto by_school_and_iq =
    od::fn<"by_school_and_iq">([](od::scope auto& cx, auto const& schools, auto const& iqs) {
      auto const a = cx(od::sample<"a">, ds::normal(0, wide)), hs = cx(od::sample<"hs">, ds::normal(0, wide)),
                 iq = cx(od::sample<"iq">, ds::normal(0, wide));
      auto const sigma = cx(od::sample<"sigma">, ds::truncated_below(ds::cauchy(0, 2.5), 0));
      return od::sum(od::map(
          [&](auto h, auto x) { return cx(od::sample<"y">, ds::normal(a + hs * h + iq * x, sigma)); },
          schools, iqs));
    });
inline constexpr auto with_interaction =
    od::fn<"with_interaction">([](od::scope auto& cx, auto const& schools, auto const& iqs) {
      auto const a = cx(od::sample<"a">, ds::normal(0, wide)), hs = cx(od::sample<"hs">, ds::normal(0, wide)),
                 iq = cx(od::sample<"iq">, ds::normal(0, wide)),
                 both = cx(od::sample<"both">, ds::normal(0, wide));
      auto const sigma = cx(od::sample<"sigma">, ds::truncated_below(ds::cauchy(0, 2.5), 0));
      return od::sum(od::map(
          [&](auto h, auto x) {
            return cx(od::sample<"y">, ds::normal(a + hs * h + iq * x + both * h * x, sigma));
          },
          schools, iqs));
    });

} // namespace

TEST_CASE("kidiq: a score by the mother's IQ has the reference posterior") {
  inf::draws const d =
      by_nuts(ms::model(fast(), by_iq, column("kidiq", "mom_iq")), {{"y", column("kidiq", "kid_score")}});
  // [P] kidiq-kidscore_momiq
  check(d.column("a"), {25.9165, 0.0608});
  check(d.column("iq"), {0.608628, 0.000599});
  check(d.column("sigma"), {18.2758, 0.00632});
}

TEST_CASE(
    "kidiq: a score by school and IQ, and by their interaction, has the reference posterior",
    "[statistics]") {
  auto const schools = column("kidiq", "mom_hs"), iqs = column("kidiq", "mom_iq");
  ms::choice_map const observed{{"y", column("kidiq", "kid_score")}};
  // [P] kidiq-kidscore_momhsiq
  inf::draws const d = by_nuts(ms::model(fast(), by_school_and_iq, schools, iqs), observed);
  check(d.column("a"), {25.7941, 0.0578});
  check(d.column("hs"), {5.98743, 0.0219});
  check(d.column("iq"), {0.562994, 0.000597});
  check(d.column("sigma"), {18.1392, 0.00616});
  // [P] kidiq-kidscore_interaction
  inf::draws const e = by_nuts(ms::model(fast(), with_interaction, schools, iqs), observed);
  check(e.column("a"), {-11.3586, 0.140});
  check(e.column("hs"), {51.0328, 0.160});
  check(e.column("iq"), {0.967413, 0.00152});
  check(e.column("both"), {-0.481586, 0.00170});
  check(e.column("sigma"), {17.9811, 0.00619});
}

namespace {

// An element depends on the previous five, which are loop-carried.
inline constexpr auto ar5 = od::fn<"ar5">([](od::scope auto& cx, auto const& first, auto n) {
  auto const alpha = cx(od::sample<"alpha">, ds::normal(0, 10));
  auto const beta =
      cx(od::tabulate, cx.lift(i64{5}), [&](auto) { return cx(od::sample<"beta">, ds::normal(0, 10)); });
  auto const sigma = cx(od::sample<"sigma">, ds::truncated_below(ds::cauchy(0, 2.5), 0));
  auto const start = std::tuple(
      cx.lift(first[4]), cx.lift(first[3]), cx.lift(first[2]), cx.lift(first[1]), cx.lift(first[0]));
  return std::get<0>(cx(od::loop, n, start, [&](auto, auto const& before) {
    auto const& [a, b, c, d, e] = before;
    auto const mean = alpha + beta[0] * a + beta[1] * b + beta[2] * c + beta[3] * d + beta[4] * e;
    auto const y = cx(od::sample<"y">, ds::normal(mean, sigma));
    return std::tuple(y, a, b, c, d);
  }));
});

inline constexpr auto two_components = od::fn<"two_components">([](od::scope auto& cx, auto n) {
  auto const share = cx(od::sample<"share">, ds::beta(5, 5));
  auto const two = cx.lift(i64{2});
  auto const mu = cx(od::tabulate, two, [&](auto) { return cx(od::sample<"mu">, ds::normal(0, 2)); });
  auto const sigma = cx(od::tabulate, two, [&](auto) { return cx(od::sample<"sigma">, ds::half_normal(2)); });
  return od::sum(cx(od::tabulate, n, [&](auto) {
    auto const z = cx(od::sample<"z">, ds::bernoulli(share));
    auto const k = od::if_(
        z, [&] { return cx.lift(i64{0}); }, [&] { return cx.lift(i64{1}); });
    return cx(od::sample<"y">, ds::normal(mu[k], sigma[k]));
  }));
});

} // namespace

TEST_CASE("eight schools, not centred, have the reference posterior", "[statistics]") {
  inf::draws const d = by_nuts(
      ms::model(fast(), eight_schools_noncentred, vec{15, 10, 16, 11, 9, 11, 10, 18}),
      {{"y", vec{28, 8, -3, 7, -1, 1, 18, 12}}}, 0.9);
  // [S] eight_schools
  check(d.column("mu"), of_a_million(4.3953, 3.3150));
  check(d.column("tau"), of_a_million(3.5979, 3.2256));
  check(d.column("z.1"), of_a_million(0.31685, 0.98967));
  check(d.column("z.7"), of_a_million(0.35582, 0.95900));
  // [R] eight_schools
  inf::chain_values const mu = d.column("mu"), tau = d.column("tau");
  check_row(mu, {4.18, 3.40, -0.854, 9.39, 558, 322});
  check_row(tau, {4.16, 3.58, 0.309, 11.0, 246, 202});
  published_row const effects[] = {{6.75, 6.30, -1.23, 18.9, 400, 254}, {5.25, 4.63, -1.97, 12.5, 564, 372},
                                   {3.04, 6.80, -10.3, 11.9, 312, 205}, {4.86, 4.92, -3.57, 12.2, 695, 252},
                                   {3.22, 5.08, -5.93, 10.8, 523, 306}, {3.99, 5.16, -4.32, 11.5, 548, 205},
                                   {6.50, 5.26, -1.19, 15.4, 434, 308}, {4.57, 5.25, -3.79, 12.2, 355, 146}};
  for (std::size_t school = 0; school < 8; ++school) {
    inf::chain_values effect = d.column("z." + std::to_string(school + 1));
    for (std::size_t i = 0; i < effect.values.size(); ++i)
      effect.values[i] = mu.values[i] + tau.values[i] * effect.values[i];
    check_row(effect, effects[school]);
  }
}

namespace {

// The umbrella world: an umbrella is the observation of rain.
inline constexpr auto weather = od::fn<"weather">([](od::scope auto& cx, auto days) {
  auto const before = cx(od::sample<"before">, ds::bernoulli(0.5));
  return cx(od::loop, days, before, [&](auto, auto rained) {
    auto const rain = cx(od::sample<"rain">, ds::bernoulli(od::select(rained, 0.7, 0.3)));
    (void)cx(od::sample<"umbrella">, ds::bernoulli(od::select(rain, 0.9, 0.2)));
    return rain;
  });
});

} // namespace

TEST_CASE("the umbrella world, whose states are choices, has the published probabilities") {
  auto const m = ms::model(fast(), weather, i64{5});
  ms::choice_map const seen{{"umbrella", od::array<bool>{true, true, false, true, true}}};
  // [W], smoothed values, with four digits.
  double const before = 0.6469, rain[] = {0.8673, 0.8204, 0.3075, 0.8204, 0.8673};
  auto const exact = ms::enumerate(m, seen);
  CHECK(std::abs(exact.probability("before", 1) - before) < 5.1e-5);
  for (i64 day = 0; day < 5; ++day)
    CHECK(std::abs(exact.probability({"rain", {day}}, 1) - rain[day]) < 5.1e-5);
  inf::draws const d = inf::run_chains(
      ms::mcmc(m, seen, ms::gibbs("before"), ms::gibbs("rain")),
      {.chains = 4, .warmup = 100, .draws = 3000, .threads = 1}, key);
  check_frequency(d, "before", 1, before);
  for (std::size_t day = 0; day < 5; ++day)
    check_frequency(d, "rain." + std::to_string(day + 1), 1, rain[day]);
}

TEST_CASE("an autoregression of order 5 has the reference posterior", "[statistics]") {
  vec const y = column("ar5", "y");
  std::vector<double> const all(y.begin(), y.end());
  inf::draws const d = by_nuts(
      ms::model(fast(), ar5, vec::copy_of(std::vector(all.begin(), all.begin() + 5)), i64{195}),
      {{"y", vec::copy_of(std::vector(all.begin() + 5, all.end()))}});
  // [S] arK
  check(d.column("alpha"), of_a_million(-8.0385e-04, 0.010804));
  check(d.column("beta.1"), of_a_million(0.69162, 0.070665));
  check(d.column("beta.2"), of_a_million(0.44017, 0.086986));
  check(d.column("beta.3"), of_a_million(0.10501, 0.092030));
  check(d.column("beta.4"), of_a_million(-0.035651, 0.086731));
  check(d.column("beta.5"), of_a_million(-0.30124, 0.070036));
  check(d.column("sigma"), of_a_million(0.15046, 0.0078006));
}

TEST_CASE(
    "a mixture of two normal components, whose assignments are choices, has the reference posterior",
    "[statistics]") {
  vec const y = column("two_components", "y");
  inf::draws const d = inf::run_chains(
      ms::mcmc(
          ms::model(fast(), two_components, y.size()), {{"y", y}}, ms::gibbs("z"),
          ms::no_u_turn{"mu", "sigma", "share"})
          .keeping({"mu", "sigma", "share"}),
      {.chains = 4, .warmup = 300, .draws = 1500, .threads = 1}, key);
  // The reference orders the means; here either component may be the lower one in a chain: labels are switched.
  auto const lower = [&](std::string const& name) {
    inf::chain_values one = d.column(name + ".1"), other = d.column(name + ".2");
    inf::chain_values const mu = d.column("mu.1");
    for (std::size_t c = 0; c < mu.chains; ++c)
      if (mu.chain(c).back() > 0)
        for (std::size_t i = c * mu.length(); i < (c + 1) * mu.length(); ++i)
          std::swap(one.values[i], other.values[i]);
    return std::pair(one, other);
  };
  inf::chain_values share = d.column("share"), mu = d.column("mu.1");
  for (std::size_t i = 0; i < share.values.size(); ++i)
    if (mu.values[i] > 0) share.values[i] = 1 - share.values[i];
  // [S] low_dim_gauss_mix
  auto const [low, high] = lower("mu");
  check(low, of_a_million(-2.7331, 0.042029));
  check(high, of_a_million(2.8698, 0.054133));
  auto const [low_sd, high_sd] = lower("sigma");
  check(low_sd, of_a_million(1.0287, 0.031371));
  check(high_sd, of_a_million(1.0234, 0.040492));
  check(share, of_a_million(0.62140, 0.015368));
}
