// Samplers of models are calibrated, and moves leave the joint distribution invariant; and the tests find each planted mistake. A test of a
// correct sampler fails with a probability of 0.001 for a random key; keys here are fixed.
#include "catch.hpp"
#include "models/model_posteriors.hpp"

#include <overdub/inference/chains.hpp>
#include <overdub/models/calibration.hpp>
#include <overdub/models/define_moves.hpp>
#include <overdub/models/posterior.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace model_posteriors;

od::random_key const key(1);

inline constexpr auto noise = od::fn<"noise">([](od::scope auto& cx, auto n) {
  auto const sd = cx(od::sample<"sd">, ds::gamma(2, 2));
  auto const mu = cx(od::sample<"mu">, ds::normal(0, 1));
  return od::sum(cx(od::tabulate, n, [&](auto) { return cx(od::sample<"y">, ds::normal(mu, sd)); }));
});
inline constexpr auto counted = od::fn<"counted">([](od::scope auto& cx) {
  auto const rate = cx(od::sample<"rate">, ds::gamma(3, 1));
  return cx(od::sample<"count">, ds::poisson(rate));
});
inline constexpr auto groups = od::fn<"groups">([](od::scope auto& cx, auto n) {
  auto const mu = cx(od::sample<"mu">, ds::uniform(-2, 2));
  return od::sum(cx(od::tabulate, n, [&](auto) {
    auto const theta = cx(od::sample<"theta">, ds::normal(mu, 1));
    return cx(od::sample<"y">, ds::normal(theta, 1));
  }));
});

inline constexpr auto branching = od::fn<"branching">([](od::scope auto& cx, auto p) {
  auto const z = cx(od::sample<"z">, ds::bernoulli(p));
  return od::if_(
      z, [&] { return cx(od::sample<"x">, ds::normal(0, 1)); }, [&] { return 0.0 * p; });
});

// ---- mistakes

// A posterior without the Jacobian of sd, which is exp of the unconstrained coordinate.
class without_jacobian {
public:
  explicit without_jacobian(ms::posterior of) : of_(std::move(of)) {
    auto const names = of_.names();
    at_ = static_cast<std::size_t>(std::ranges::find(names, "sd") - names.begin());
  }
  std::size_t dimension() const { return of_.dimension(); }
  double operator()(std::span<double const> q, std::span<double> gradient) {
    double const log_density = of_(q, gradient);
    gradient[at_] -= 1;
    return log_density - q[at_];
  }
  std::vector<std::string> names() const { return of_.names(); }
  void report(std::span<double const> q, std::span<double> out) { of_.report(q, out); }

private:
  ms::posterior of_;
  std::size_t at_;
};

// A multiplicative proposal; the logarithm of the factor is the correction.
auto by_factor(bool is_corrected) {
  return ms::metropolis([=](auto& t, od::random_key const& k) {
    od::random_generator g(k);
    std::uint32_t const s = t.core().site_at("rate");
    double const by = 2 * g.uniform() - 1;
    t.set_bits(s, {}, std::bit_cast<std::uint64_t>(t.number(s, {}) * std::exp(by)));
    return is_corrected ? by : 0.0;
  });
}

// A trace that returns the previous proposal's weight for mu: a stale value.
class stale_trace : public ms::followed_trace {
public:
  using ms::followed_trace::mutable_trace;
  void set_bits(std::uint32_t s, std::span<i64 const> at, std::uint64_t bits) {
    is_stale_ = core().sites()[s].address == "mu";
    ms::followed_trace::set_bits(s, at, bits);
  }
  double propose(od::random_key const& k) {
    double const weight = ms::followed_trace::propose(k);
    return is_stale_ ? last_ : last_ = weight;
  }

private:
  bool is_stale_ = false;
  double last_ = 0;
};

// A trace that omits the first of the terms that depend on mu.
class forgetful_trace : public ms::followed_trace {
public:
  using ms::followed_trace::mutable_trace;
  void set_bits(std::uint32_t s, std::span<i64 const> at, std::uint64_t bits) {
    forgotten_ = 0;
    if (core().sites()[s].address == "mu") {
      double const theta = number(core().site_at("theta"), std::vector<i64>{0});
      auto const term = [&](double mu) { return log_density(ds::normal(mu, 1), theta); };
      forgotten_ = term(std::bit_cast<double>(bits)) - term(number(s, at));
    }
    ms::followed_trace::set_bits(s, at, bits);
  }
  double propose(od::random_key const& k) { return ms::followed_trace::propose(k) - forgotten_; }

private:
  double forgotten_ = 0;
};

// ---- samplers

template <class Target>
auto by_nuts(auto const& m) {
  return [&](ms::choice_map const& data, od::random_key const& k, std::size_t draws) {
    return inf::sample(
        Target(ms::posterior(m, data)),
        {.chains = 1, .warmup = 150, .draws = 3 * draws, .thin = 3, .seed = k.words()[1], .threads = 1});
  };
}
auto by_moves(auto const& m, std::size_t thin, auto const&... moves) {
  return [&m, thin, moves...](ms::choice_map const& data, od::random_key const& k, std::size_t draws) {
    return inf::run_chains(
        ms::mcmc(m, data, moves...),
        {.chains = 1, .warmup = 100, .draws = thin * draws, .thin = thin, .threads = 1}, k);
  };
}
inf::calibration_settings const simulations{.simulations = 200, .draws = 15, .bins = 8};

} // namespace

TEST_CASE("NUTS of a posterior is calibrated, and fails without the Jacobian", "[statistics]") {
  auto const m = ms::model(noise, i64{3});
  inf::calibration const right = ms::calibrate(m, {"y"}, by_nuts<ms::posterior>(m), simulations, key);
  CHECK(right.passed());
  CHECK(right.names() == std::vector<std::string>{"sd", "mu"});
  CHECK(right.p_value("sd") > 0.01);
  inf::calibration const wrong = ms::calibrate(m, {"y"}, by_nuts<without_jacobian>(m), simulations, key);
  CHECK_FALSE(wrong.passed());
  CHECK(wrong.p_value("sd") < 1e-5);
}

TEST_CASE("moves of discrete and continuous choices are calibrated", "[statistics]") {
  auto const m = ms::model(fast(), mixture, vec{0.6, 0.4}, vec{-1, 1}, i64{4});
  inf::calibration const c = ms::calibrate(
      m, {"y"}, by_moves(m, 10, ms::gibbs("z"), ms::random_walk("mu"), ms::from_prior("z")), simulations,
      key);
  INFO(c);
  CHECK(c.passed());
  CHECK(c.names() == std::vector<std::string>{"mu[1]", "mu[2]", "z[1]", "z[2]", "z[3]", "z[4]"});
}

TEST_CASE("an asymmetric proposal passes with its correction, and fails without it", "[statistics]") {
  auto const m = ms::model(fast(), counted);
  CHECK(ms::test_moves(m, {"count"}, {}, key, by_factor(true)).passed());
  inf::joint_test const wrong = ms::test_moves(m, {"count"}, {}, key, by_factor(false));
  CHECK_FALSE(wrong.passed());
  CHECK(wrong["rate"].z < -10); // small rates are proposed too often
  CHECK(ms::calibrate(m, {"count"}, by_moves(m, 10, by_factor(true)), simulations, key).passed());
  CHECK_FALSE(ms::calibrate(m, {"count"}, by_moves(m, 10, by_factor(false)), simulations, key).passed());
}

TEST_CASE(
    "moves leave the joint distribution invariant, and stale values or missing terms in traces are detected",
    "[statistics]") {
  auto const m = ms::model(fast(), groups, i64{2});
  auto const with = [&]<class Trace>(std::type_identity<Trace>) {
    return ms::test_moves<Trace>(m, {"y"}, {}, key, ms::from_prior("mu"), ms::random_walk("theta", 1.5));
  };
  inf::joint_test const right = with(std::type_identity<ms::followed_trace>{});
  CHECK(right.passed());
  CHECK(right.rows().size() == 7);
  CHECK(right["theta[2]^2"].simulated == Approx(1 + 4.0 / 3).epsilon(0.1));
  CHECK(right.rows().back().name == "lp__");
  inf::joint_test const again = with(std::type_identity<ms::reexecuted_trace>{});
  CHECK(again.passed());
  CHECK(again["lp__"].sampled == Approx(right["lp__"].sampled).epsilon(1e-9)); // draw for draw
  inf::joint_test const stale = with(std::type_identity<stale_trace>{});
  CHECK_FALSE(stale.passed());
  CHECK(stale["lp__"].z < -10); // mu and theta are no longer correlated
  inf::joint_test const forgetful = with(std::type_identity<forgetful_trace>{});
  CHECK_FALSE(forgetful.passed());
  CHECK(forgetful["theta[1]^2"].p_value < 1e-6);
  CHECK(forgetful["theta[2]^2"].p_value > 1e-3); // whose term is not omitted
  CHECK(ms::test_moves(
            m, {"y"}, {}, key, ms::random_walk("mu", 1.5), ms::from_prior("theta"), ms::random_walk("theta"))
            .passed());
}

TEST_CASE("a sampler may return rows of parameters; one that draws from the prior has uniform ranks, too") {
  // Calibration cannot detect it (Talts and others, section 4.2); the joint distribution test can.
  auto const m = ms::model(groups, i64{1});
  auto const prior = [&](ms::choice_map const& data, od::random_key const& k, std::size_t draws) {
    std::vector<std::vector<double>> rows;
    if (data.size() != 1) return rows;
    for (std::size_t i = 0; i < draws; ++i) {
      ms::trace const t = m.simulate(k.at(i));
      rows.push_back({t.get<double>("mu"), t.get<double>("theta[0]")});
    }
    return rows;
  };
  inf::calibration_settings named = simulations;
  named.names = {"a", "b"};
  inf::calibration const c = ms::calibrate(m, {"y"}, prior, named, key);
  CHECK(c.passed());
  CHECK(c.names() == named.names);
  auto const shuffled = [&](auto const& data, auto const& k, std::size_t draws) {
    auto rows = prior(data, k, draws);
    for (auto& row : rows) std::swap(row[0], row[1]);
    return rows;
  };
  CHECK_FALSE(ms::calibrate(m, {"y"}, shuffled, simulations, key).passed());
}

TEST_CASE("checks reject partly observed sites, and parameters in branches") {
  auto const m = ms::model(groups, i64{2});
  char const* const said = "overdub: the choice \"y\" is observed in part: sample what is observed and what "
                           "is not at addresses of "
                           "their own";
  CHECK_THROWS_WITH(
      ms::calibrate(m, {"y[0]"}, by_moves(m, 1, ms::random_walk("mu")), simulations, key), said);
  CHECK_THROWS_WITH(ms::test_moves(m, {"y[0]"}, {}, key, ms::random_walk("mu")), said);
  auto const b = ms::model(branching, 0.5);
  CHECK_THROWS_WITH(
      ms::calibrate(b, {"z"}, by_moves(b, 1, ms::random_walk("x")), simulations, key),
      Catch::Matchers::Contains("\"x\" is nested in a branch"));
}
