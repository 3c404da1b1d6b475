// Choices of each family of distributions, and the distribution of their draws.
#include "catch.hpp"
#include "models/example_models.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace {

using namespace example_models;
using Catch::Matchers::WithinAbs;

struct laplace_t : ds::distribution<"laplace", laplace_t> {
  static constexpr std::tuple parameters{
      ds::parameter<ds::reals>{"location"}, ds::parameter<ds::positive_reals>{"scale"}};
  static constexpr ds::reals support(auto const&...) { return {}; }
  static constexpr auto log_density_at(auto const& x, auto const& location, auto const& scale) {
    return -od::abs(x - location) / scale - od::log(2.0 * scale);
  }
  static double draw(auto& g, double location, double scale) {
    return location + scale * (ds::draw_exponential(g) - ds::draw_exponential(g));
  }
};
inline constexpr laplace_t laplace;

// f(address, distribution) for one distribution of each family. They depend on one another, where a family may.
template <class A, class L, class F>
auto each_family(A const& a, L const& l, F const& f) {
  auto const p = f.template operator()<"dirichlet">(ds::dirichlet(a));
  auto const v = f.template operator()<"multivariate_normal">(ds::multivariate_normal(a, l));
  auto const rate = f.template operator()<"gamma">(ds::gamma(2, 1));
  auto const chance = f.template operator()<"beta">(ds::beta(2, 3));
  auto const real = f.template operator()<"normal">(ds::normal(0, rate));
  f.template operator()<"student_t">(ds::student_t(3, real, 1));
  f.template operator()<"cauchy">(ds::cauchy(real, rate));
  f.template operator()<"lognormal">(ds::lognormal(0, rate));
  f.template operator()<"half_normal">(ds::half_normal(rate));
  f.template operator()<"exponential">(ds::exponential(rate));
  f.template operator()<"inverse_gamma">(ds::inverse_gamma(3, rate));
  f.template operator()<"uniform">(ds::uniform(real, real + rate));
  f.template operator()<"laplace">(laplace(real, rate));
  f.template operator()<"mixture">(
      ds::mixture(std::tuple(chance, 1 - chance), ds::normal(0, 1), laplace(real, 2)));
  f.template operator()<"truncated">(ds::truncated(ds::normal(real, 1), -1.0, 3.0));
  f.template operator()<"truncated_above">(ds::truncated_above(ds::normal(real, rate), 3.0));
  f.template operator()<"truncated_below">(ds::truncated_below(ds::exponential(rate), 1.0));
  f.template operator()<"bernoulli">(ds::bernoulli(chance));
  f.template operator()<"bernoulli_logit">(ds::bernoulli_logit(real));
  auto const k = f.template operator()<"poisson">(ds::poisson(rate));
  f.template operator()<"binomial">(ds::binomial(k, chance));
  f.template operator()<"binomial_logit">(ds::binomial_logit(k, real));
  f.template operator()<"negative_binomial">(ds::negative_binomial(rate, 2));
  f.template operator()<"geometric">(ds::geometric(chance));
  f.template operator()<"discrete_uniform">(ds::discrete_uniform(0, k));
  f.template operator()<"categorical">(ds::categorical(p));
  f.template operator()<"categorical_logit">(ds::categorical_logit(v));
  return real;
}

inline constexpr auto families = od::fn<"families">([](od::scope auto& cx, auto const& a, auto const& l) {
  return each_family(a, l, [&]<od::fixed_string Name>(auto const& d) { return cx(od::sample<Name>, d); });
});

vec const mean{1, 2, 3};
od::array<vec> const cholesky{vec{1, 0, 0}, vec{0.5, 1, 0}, vec{0.1, 0.2, 1}};

double density_of_families(ms::trace const& t) {
  double sum = 0;
  each_family(mean, cholesky, [&]<od::fixed_string Name>(auto const& d) {
    od::random_generator unused{od::random_key(0)};
    auto const x = t.get<decltype(draw(d, unused))>(std::string(Name.view()));
    sum += log_density(d, x);
    return x;
  });
  return sum;
}

// The largest distance between the distribution of numbers and one that is given (Kolmogorov and Smirnov), in units of 1 / sqrt(n): above
// 1.95 in one of a thousand samples.
template <class F>
double distance(vec const& xs, F const& cumulative) {
  std::vector<double> sorted(xs.begin(), xs.end());
  std::ranges::sort(sorted);
  auto const n = static_cast<double>(sorted.size());
  double most = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    double const c = cumulative(sorted[i]), before = static_cast<double>(i) / n;
    most = std::max({most, c - before, before + 1 / n - c});
  }
  return most * std::sqrt(n);
}
double normal_cumulative(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

} // namespace

TEST_CASE("all families are choices, whose densities are those of C++") {
  auto const m = ms::model(families, mean, cholesky);
  for (int seed = 1; seed <= 20; ++seed) {
    ms::trace const t = m.simulate(od::random_key(static_cast<std::uint64_t>(seed)));
    INFO("seed " << seed);
    CHECK(t.size() == 27);
    CHECK_THAT(t.score(), WithinAbs(density_of_families(t), 1e-11));
    CHECK(m.assess(t.choices()).score() == t.score());
    CHECK_THAT(ms::project(t, ms::selection::all()), WithinAbs(t.score(), 1e-11));
    CHECK(ms::improper_choice(t) == "");
  }
}

TEST_CASE("all families of real numbers have gradients") {
  auto const m = ms::model(families, mean, cholesky);
  ms::trace const t = m.simulate(od::random_key(5));
  ms::selection continuous;
  for (ms::site const& s : m.sites())
    if (!s.is_discrete()) continuous.add(s.address);
  ms::choice_map const gradients = ms::choice_gradients(t, continuous);
  CHECK(gradients.size() == 17);
  for (auto const& [at, derivative] : gradients) {
    if (derivative.type().rank > 0) continue; // a simplex has no free coordinates
    double const x = t.get<double>(at), h = 1e-6 * std::max(1e-2, std::abs(x));
    double const difference =
        (m.update(t, {{at, x + h}}).of.score() - m.update(t, {{at, x - h}}).of.score()) / (2 * h);
    INFO(at);
    CHECK_THAT(derivative.as<double>(), WithinAbs(difference, 1e-5 * std::max(1.0, std::abs(difference))));
  }
}

TEST_CASE("draws of a plate have the distribution that they are drawn from") {
  i64 const n = 4000;
  auto const plate = [&](auto const& f) {
    return ms::model(f, n).simulate(od::random_key(3)).template get<vec>("x");
  };
  CHECK(
      distance(
          plate([](od::scope auto& cx, auto m) {
            return cx(od::tabulate, m, [&](auto) { return cx(od::sample<"x">, ds::normal(1, 2)); });
          }),
          [](double x) { return normal_cumulative((x - 1) / 2); }) < 1.95);
  CHECK(
      distance(
          plate([](od::scope auto& cx, auto m) {
            return cx(od::tabulate, m, [&](auto) { return cx(od::sample<"x">, ds::exponential(3)); });
          }),
          [](double x) { return 1 - std::exp(-3 * x); }) < 1.95);
  // A hierarchy of two normal distributions: the marginal is normal.
  CHECK(
      distance(
          plate([](od::scope auto& cx, auto m) {
            return cx(od::tabulate, m, [&](auto) {
              auto const mu = cx(od::sample<"mu">, ds::normal(0, 3));
              return cx(od::sample<"x">, ds::normal(mu, 4));
            });
          }),
          [](double x) { return normal_cumulative(x / 5); }) < 1.95);
}

TEST_CASE("choices of different keys, addresses and indices are independent") {
  i64 const n = 4000;
  auto const m = ms::model(groups, n, i64{1});
  ms::trace const one = m.simulate(od::random_key(1)), two = m.simulate(od::random_key(2));
  auto const standard = [&](ms::trace const& t, i64 i) {
    return t.get<double>({"theta", {i}}) - t.get<double>("mu");
  };
  double across = 0, along = 0, between = 0;
  for (i64 i = 0; i < n; ++i) {
    across += standard(one, i) * standard(two, i);
    along += standard(one, i) * standard(one, (i + 1) % n);
    double const e = one.get<double>({"y", {i, 0}}) - one.get<double>({"theta", {i}});
    between += standard(one, i) * std::clamp(e, -1.0, 1.0);
  }
  double const bound = 3.3 * std::sqrt(static_cast<double>(n));
  CHECK(std::abs(across) < bound);
  CHECK(std::abs(along) < bound);
  CHECK(std::abs(between) < bound);
}

TEST_CASE("the mean importance weight is the marginal density") {
  // mu of normal(0, 3), x of normal(mu, 4): x of normal(0, 5).
  auto const m = ms::model(
      [](od::scope auto& cx, auto sd) {
        auto const mu = cx(od::sample<"mu">, ds::normal(0, sd));
        return cx(od::sample<"x">, ds::normal(mu, 4));
      },
      3.0);
  int const n = 4000;
  double sum = 0, squares = 0;
  for (int i = 0; i < n; ++i) {
    double const w = std::exp(m.generate({{"x", 2.0}}, od::random_key(8).at(i)).weight);
    sum += w;
    squares += w * w;
  }
  double const average = sum / n, error = std::sqrt((squares / n - average * average) / n);
  CHECK(std::abs(average - std::exp(log_density(ds::normal(0, 5), 2.0))) < 3.3 * error);
}

namespace {

// A distribution that draws by running a model.
inline constexpr auto step = od::fn<"step">(
    [](od::scope auto& cx, auto location) { return cx(od::sample<"x">, ds::normal(location, 1)); });
struct by_model_t : ds::distribution<"by_model", by_model_t> {
  static constexpr std::tuple parameters{ds::parameter<ds::reals>{"location"}};
  static constexpr ds::reals support(auto const&...) { return {}; }
  static constexpr auto log_density_at(auto const& x, auto const& location) {
    return ds::normal.log_density(x, location, 1.0);
  }
  static double draw(auto& g, double location) {
    return ms::model(step, location).simulate(od::random_key(g())).template get<double>("x");
  }
};
inline constexpr by_model_t by_model;

auto const in_static_storage = ms::model(step, 2.0);

} // namespace

TEST_CASE("a draw may run another model, without an effect on the first one") {
  auto const m = ms::model(
      [](od::scope auto& cx, auto x) {
        auto const a = cx(od::sample<"a">, by_model(x));
        auto const b = cx(od::sample<"b">, by_model(a));
        return cx(od::sample<"c">, ds::normal(b, 1));
      },
      1.0);
  od::random_key const key(4);
  ms::trace const t = m.simulate(key);
  CHECK(t.get<double>("a") == draw(by_model(1.0), key.at("a")));
  CHECK(t.get<double>("b") == draw(by_model(t.get<double>("a")), key.at("b")));
  CHECK(t.get<double>("c") == draw(ds::normal(t.get<double>("b"), 1), key.at("c")));
}

TEST_CASE("a model may have static storage duration") {
  CHECK(
      in_static_storage.simulate(od::random_key(1)).get<double>("x") ==
      draw(ds::normal(2, 1), od::random_key(1).at("x")));
}
