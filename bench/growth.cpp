// Model traces that grow: extending a trace by an observation, against an update that runs the model; and a particle filter of a model,
// against a hand-written one whose particles keep their paths, too.
#include "ratio.hpp"

#include <overdub/distributions.hpp>
#include <overdub/jit/executor.hpp>
#include <overdub/models/filter.hpp>
#include <overdub/overdub.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

namespace od = overdub;
namespace ds = overdub::distributions;
namespace md = overdub::models;
namespace inference = overdub::inference;
using od::i64;

constexpr auto walk = od::fn<"walk">([](od::scope auto& cx, auto n) {
  return od::loop(n, cx.lift(0.0), [&](auto, auto before) {
    auto const x = cx(od::sample<"x">, ds::normal(0.9 * before, 0.5));
    (void)cx(od::sample<"y">, ds::normal(x, 0.7));
    return x;
  });
});

double seen(std::size_t t) { return std::sin(0.1 * static_cast<double>(t)); }
md::choice_map seen_at(std::size_t t) { return {{md::address("y", {static_cast<i64>(t)}), seen(t)}}; }

void bench_step(od::compile_options const& o, char const* question) {
  constexpr i64 states = 10'000;
  auto const m = md::model(o, walk, states);
  auto const longer = m.with(states + 1);
  auto const start = m.simulate(od::random_key(1));
  md::choice_map const given = seen_at(states);
  md::followed_trace followed(start);
  std::uint64_t step = 0;
  bench::compare(
      question,
      bench::way{
          "update", 0,
          [&] { return longer.update(start, given, od::random_key(2).transition(step++)).weight; }},
      bench::way{"extend", 0, [&] {
                   followed.extend(longer, given);
                   double const weight = followed.propose(od::random_key(2).transition(step++));
                   followed.rollback();
                   return weight;
                 }});
}

/// The same filter, written by hand: a particle is its path.
double by_hand(std::size_t steps, inference::filter_settings const& settings, od::random_key const& key) {
  return inference::particle_filter(
             [](od::random_key const&) { return std::vector<double>(); },
             [](std::vector<double>& path, std::size_t t, od::random_key const& own) {
               od::random_generator g(own.at("x").at(static_cast<i64>(t)));
               double const before = path.empty() ? 0.0 : path.back();
               path.push_back(0.9 * before + 0.5 * inference::drawing::normal(g));
               double const z = (seen(t) - path.back()) / 0.7;
               return -0.5 * z * z - std::log(0.7) - 0.9189385332046728;
             },
             steps, settings, key)
      .log_evidence;
}

void bench_filter(od::compile_options const& o, std::size_t steps, char const* question) {
  inference::filter_settings const settings{.particles = 1'000};
  auto const m = md::model(o, walk, i64{1});
  auto const at = [&](std::size_t t) { return m.with(static_cast<i64>(t + 1)); };
  std::uint64_t run = 0;
  bench::compare(
      question, bench::way{"by hand", 0, [&] { return by_hand(steps, settings, od::random_key(run++)); }},
      bench::way{
          "particle_filter", 0, [&] {
            return md::particle_filter(at, seen_at, steps, settings, od::random_key(run++)).log_evidence;
          }});
}

} // namespace

int main() {
  od::compile_options const compiled{.executor = od::jit::compiled(), .tiers = od::tiers::compile_now};
  bench_step({}, "one observation more of 10,000, interpreted");
  bench_step(compiled, "one observation more of 10,000, compiled");
  bench_filter(compiled, 10, "a filter of 1,000 particles, 10 steps, compiled");
  bench_filter(compiled, 40, "a filter of 1,000 particles, 40 steps, compiled");
  bench_filter(compiled, 160, "a filter of 1,000 particles, 160 steps, compiled");
  bench_filter({}, 40, "a filter of 1,000 particles, 40 steps, interpreted");
}
