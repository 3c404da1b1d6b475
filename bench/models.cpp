// Models: recording a trace, against a plain run; a sweep of MCMC kernels; and effective draws a second of NUTS, against the same
// algorithm with a hand-written gradient.
#include "../tests/reference_data.hpp"
#include "ratio.hpp"

#include <overdub/distributions.hpp>
#include <overdub/inference.hpp>
#include <overdub/jit/executor.hpp>
#include <overdub/models/mcmc.hpp>
#include <overdub/models/posterior.hpp>
#include <overdub/overdub.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

namespace {

namespace od = overdub;
namespace ds = overdub::distributions;
namespace md = overdub::models;
namespace inference = overdub::inference;
using od::i64;
using numbers = od::array<double>;

// ---- recording

constexpr auto plates = od::fn<"plates">([](od::scope auto& cx, auto const& n) {
  auto const mean = cx(od::sample<"mean">, ds::normal(0.0, 5.0));
  auto const sd = cx(od::sample<"sd">, ds::half_normal(2.0));
  auto const point = [&](auto const&) {
    auto const theta = cx(od::sample<"theta">, ds::normal(mean, sd));
    return cx(od::sample<"y">, ds::normal(theta, 1.0));
  };
  return od::sum(cx(od::map, point, od::iota(n)));
});
constexpr auto chain = od::fn<"chain">([](od::scope auto& cx, auto const& n) {
  auto const step = [&](auto const& x, auto const&) {
    auto const next = cx(od::sample<"x">, ds::normal(0.9 * x, 0.5));
    return std::tuple(next, cx(od::sample<"y">, ds::normal(next, 0.7)));
  };
  auto const [last, all] = od::scan(step, cx.lift(0.0), od::iota(n));
  return last;
});

template <class F>
void bench_recording(od::compile_options const& o, F const& f, char const* question) {
  constexpr i64 iterations = 10'000;
  auto const m = md::model(o, f, iterations);
  md::choice_schema plain = m.core()->all_in(md::role::drawn), values = plain;
  plain.score = values.score = md::choice_schema::scores::none;
  plain.results = values.results = values.values = true;
  plain.values = false;
  i64 run = 0;
  auto const with = [&](md::choice_schema const& s) {
    return m.core()->run(s, m.arguments(), {}, od::random_key(1).at(run++));
  };
  bench::compare(
      question, bench::way{"plainly", 0, [&] { return with(plain).results.size(); }},
      bench::way{"with all choices kept", 1.3, [&] { return with(values).results.size(); }},
      bench::way{
          "as a trace, with its score", 0, [&] { return m.simulate(od::random_key(1).at(run++)).score(); }});
}

// ---- a sweep of kernels

constexpr auto mixture = od::fn<"mixture">([](od::scope auto& cx, auto const& n, auto const& weights) {
  auto const mean = [&](auto const&) { return cx(od::sample<"mean">, ds::normal(0.0, 10.0)); };
  auto const means = cx(od::map, mean, od::iota(od::size(weights)));
  auto const point = [&](auto const&) {
    auto const z = cx(od::sample<"z">, ds::categorical(weights));
    return cx(od::sample<"x">, ds::normal(means[z], 1.0));
  };
  return cx(od::map, point, od::iota(n));
});

void bench_sweeps(od::compile_options const& o) {
  constexpr i64 points = 10'000;
  auto const m = md::model(o, mixture, points, numbers{0.25, 0.25, 0.25, 0.25});
  auto const start = m.generate({{"mean", numbers{-3, -1, 1, 3}}}, od::random_key(1)).of;
  auto const began = std::chrono::steady_clock::now();
  md::followed_trace t(start);
  md::gibbs z("z");
  md::random_walk means("mean", 0.05);
  md::move_record made;
  z(t, od::random_key(2), made);
  std::printf(
      "\nfrom a trace of 10,000 points to the end of the first sweep: %.0f ms\n",
      1e3 * std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
  for (bool const of_points : {true, false}) {
    auto best = 1e9;
    for (std::uint64_t k = 0; k < 20; ++k) {
      auto const from = std::chrono::steady_clock::now();
      if (of_points)
        z(t, od::random_key(3).transition(k), made);
      else
        means(t, od::random_key(4).transition(k), made);
      best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - from).count());
    }
    std::printf(
        "%-60s %8.3f us each\n", of_points ? "gibbs of an assignment among 4" : "random_walk of a mean of 4",
        1e6 * best / (of_points ? double{points} : 4));
  }
  std::printf(
      "slices %zu, made %zu; programs of the model %zu\n", t.core().update_programs()->count(),
      t.core().update_programs()->made(), t.core().programs());
}

// ---- choices that an update adds or removes

constexpr auto outliers = od::fn<"outliers">([](od::scope auto& cx, auto const& n) {
  auto const mu = cx(od::sample<"mu">, ds::normal(0.0, 1.0));
  auto const point = [&](auto const&) {
    auto const odd = cx(od::sample<"odd">, ds::bernoulli(0.3));
    auto const at = od::if_(
        odd, [&] { return mu + cx(od::sample<"shift">, ds::normal(0.0, 3.0)); }, [&] { return mu + 0.0; });
    return cx(od::sample<"y">, ds::normal(at, 1.0));
  };
  return od::sum(cx(od::map, point, od::iota(n)));
});
// Negates one element of the bools of `odd`, another one in each step.
struct flip {
  std::size_t next = 0;
  std::vector<i64> at{};
  template <class Trace>
  double operator()(Trace& t, od::random_key const&) {
    std::uint32_t const s = t.core().site_at("odd");
    t.indices_of(s, next = (next + 7919) % t.size(s), at);
    t.set_bits(s, at, t.bits(s, at) ^ 1);
    return 0;
  }
};

void bench_structure(od::compile_options const& o, char const* question) {
  constexpr i64 points = 10'000;
  auto const m = md::model(o, outliers, points);
  auto const start = m.simulate(od::random_key(1));
  md::followed_trace followed(start);
  md::reexecuted_trace again(start);
  md::metropolis of_followed{flip()}, of_again{flip()};
  md::move_record made;
  std::uint64_t step = 0;
  auto const before = m.core()->update_programs()->made();
  while (made.proposed < 1'000) of_followed(followed, od::random_key(2).transition(step++), made);
  std::printf(
      "\n%s\n  of 1,000 updates that make a choice appear or vanish, %zu made a slice (goal: 10); %llu "
      "accepted\n",
      question, m.core()->update_programs()->made() - before, static_cast<unsigned long long>(made.accepted));
  bench::compare(
      question,
      bench::way{
          "the whole model", 0,
          [&] {
            of_again(again, od::random_key(2).transition(step++), made);
            return made.accepted;
          }},
      bench::way{"the affected choices", 0, [&] {
                   of_followed(followed, od::random_key(2).transition(step++), made);
                   return made.accepted;
                 }});
}

// ---- effective draws a second

constexpr auto schools = od::fn<"schools">([](od::scope auto& cx, auto const& sd) {
  auto const mu = cx(od::sample<"mu">, ds::normal(0.0, 5.0));
  auto const tau = cx(od::sample<"tau">, ds::half_normal(5.0));
  return od::map(
      [&](auto const& s) {
        auto const eta = cx(od::sample<"eta">, ds::normal(0.0, 1.0));
        return cx(od::sample<"y">, ds::normal(mu + tau * eta, s));
      },
      sd);
});
struct schools_by_hand {
  std::vector<double> y, sd;
  std::size_t dimension() const { return 2 + y.size(); }
  double operator()(std::span<double const> q, std::span<double> g) const {
    double const mu = q[0], tau = std::exp(q[1]);
    double log_density = -0.5 * (mu * mu + tau * tau) / 25 + q[1];
    double d_mu = -mu / 25, d_tau = -tau / 25;
    for (std::size_t i = 0; i < y.size(); ++i) {
      double const eta = q[2 + i], z = (y[i] - mu - tau * eta) / sd[i], slope = z / sd[i];
      log_density -= 0.5 * (z * z + eta * eta);
      d_mu += slope;
      d_tau += slope * eta;
      g[2 + i] = slope * tau - eta;
    }
    g[0] = d_mu;
    g[1] = d_tau * tau + 1;
    return log_density;
  }
};

constexpr auto regression =
    od::fn<"regression">([](od::scope auto& cx, auto const& high_school, auto const& iq) {
      auto const a = cx(od::sample<"a">, ds::normal(0.0, 100.0));
      auto const b = cx(od::sample<"b">, ds::normal(0.0, 100.0));
      auto const c = cx(od::sample<"c">, ds::normal(0.0, 100.0));
      auto const sigma = cx(od::sample<"sigma">, ds::half_normal(50.0));
      return od::map(
          [&](auto const& h, auto const& x) {
            return cx(od::sample<"score">, ds::normal(a + b * h + c * x, sigma));
          },
          high_school, iq);
    });
struct regression_by_hand {
  std::vector<double> high_school, iq, score;
  std::size_t dimension() const { return 4; }
  double operator()(std::span<double const> q, std::span<double> g) const {
    double const a = q[0], b = q[1], c = q[2], sigma = std::exp(q[3]), precision = 1 / (sigma * sigma);
    double squares = 0, d_a = 0, d_b = 0, d_c = 0;
    for (std::size_t i = 0; i < score.size(); ++i) {
      double const r = score[i] - a - b * high_school[i] - c * iq[i];
      squares += r * r;
      d_a += r;
      d_b += r * high_school[i];
      d_c += r * iq[i];
    }
    auto const n = static_cast<double>(score.size());
    g[0] = d_a * precision - a / 1e4;
    g[1] = d_b * precision - b / 1e4;
    g[2] = d_c * precision - c / 1e4;
    g[3] = squares * precision - n - sigma * sigma / 2500 + 1;
    return -0.5 * squares * precision - n * q[3] -
           0.5 * ((a * a + b * b + c * c) / 1e4 + sigma * sigma / 2500) + q[3];
  }
};

// The smallest effective sample size of all variables, divided by the seconds of sampling, on one thread.
template <class T>
double effective_draws(T const& target, std::uint64_t seed) {
  auto const d =
      inference::sample(target, {.chains = 2, .warmup = 1000, .draws = 5000, .seed = seed, .threads = 1});
  double least = 1e300, seconds = 0;
  for (std::string const& name : d.names()) least = std::min(least, inference::ess_bulk(d.column(name)));
  for (std::size_t c = 0; c < d.chains(); ++c) seconds += d.record(c).sampling_seconds;
  return least / seconds;
}
template <class T, class H>
void bench_draws(T const& target, H const& hand, char const* question) {
  std::vector<double> q(target.dimension(), 0.1), g(q.size());
  T mine = target;
  bench::compare<bench::allocating::forbidden>(
      question, bench::way{"gradient by hand", 0, [&] { return hand(q, g); }},
      bench::way{"gradient of the model", 0, [&] { return mine(q, g); }});
  std::vector<double> ratios;
  for (std::uint64_t seed = 1; seed <= 7; ++seed) {
    double const by_hand = effective_draws(hand, seed);
    ratios.push_back(effective_draws(target, seed) / by_hand);
  }
  std::ranges::sort(ratios);
  std::printf(
      "  effective draws a second, of those by hand (goal 0.9): median of 7 %.2f, from %.2f to %.2f\n",
      ratios[3], ratios.front(), ratios.back());
}

} // namespace

int main() {
  od::compile_options const compiled{.executor = od::jit::compiled(), .tiers = od::tiers::compile_now};
  bench_recording({}, plates, "a plate of 10,000, interpreted");
  bench_recording(compiled, plates, "a plate of 10,000, compiled");
  bench_recording(compiled, chain, "a chain of 10,000, compiled");
  bench_sweeps(compiled);
  bench_structure({}, "a branch of one of 10,000 points flips, interpreted");
  bench_structure(compiled, "a branch of one of 10,000 points flips, compiled");
  {
    numbers const y{28, 8, -3, 7, -1, 1, 18, 12}, sd{15, 10, 16, 11, 9, 11, 10, 18};
    bench_draws(
        md::posterior(md::model(compiled, schools, sd), {{"y", y}}),
        schools_by_hand{{y.begin(), y.end()}, {sd.begin(), sd.end()}}, "eight schools");
  }
  // kidiq, with the IQ centred.
  regression_by_hand hand;
  auto const table = [](char const* name) { return reference_data::column("kidiq", name); };
  for (double const x : table("kid_score")) hand.score.push_back(x);
  for (double const x : table("mom_hs")) hand.high_school.push_back(x);
  for (double const x : table("mom_iq")) hand.iq.push_back(x - 100);
  bench_draws(
      md::posterior(
          md::model(compiled, regression, numbers::copy_of(hand.high_school), numbers::copy_of(hand.iq)),
          {{"score", numbers::copy_of(hand.score)}}),
      hand, "kidiq");
}
