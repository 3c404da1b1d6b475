// A model: waiting times between eruptions are short or long. Each is assigned to one kind, and assignments are updated one at a time.
#include <overdub/distributions.hpp>
#include <overdub/inference.hpp>
#include <overdub/models.hpp>
#include <overdub/overdub.hpp>

#include <cmath>
#include <iostream>
#include <string>

namespace od = overdub;
namespace ds = overdub::distributions;
namespace md = overdub::models;

inline constexpr auto eruptions = od::fn<"eruptions">([](od::scope auto& cx, auto n) {
  auto const share = cx(od::sample<"share">, ds::beta(2, 2)); // the share of long ones
  auto const sd = cx(od::sample<"sd">, ds::half_normal(10));
  auto const centre = cx(od::tabulate, od::i64{2}, [&](auto k) {
    return cx(od::sample<"centre">, ds::normal(55.0 + 25.0 * od::convert<double>(k), 10));
  });
  return cx(od::tabulate, n, [&](auto) {
    auto const is_long = cx(od::sample<"long">, ds::bernoulli(share));
    return cx(od::sample<"waiting">, ds::normal(centre[od::convert<od::i64>(is_long)], sd));
  });
});

int main() {
  od::array<double> const waiting{79, 54, 74, 62, 85, 55, 88, 85, 51, 85, 54, 84, 78, 47, 83,
                                  52, 62, 84, 52, 79, 51, 47, 78, 69, 74, 83, 55, 76, 78, 79};
  auto const m = md::model(eruptions, waiting.size());
  md::choice_map const seen{{"waiting", waiting}};

  auto const chains = md::mcmc(
      m, seen, md::gibbs("long"), md::random_walk("centre", 2), md::random_walk("sd"),
      md::random_walk("share", 0.1));
  auto const draws = od::inference::run_chains(
      chains.keeping({"centre", "sd", "share"}), {.chains = 2, .warmup = 500, .draws = 4000},
      od::random_key(3));
  od::inference::summary const found(draws);
  std::cout << found;

  // The operations that the update of one assignment runs.
  md::followed_trace t(m.generate(seen, od::random_key(1)).of, seen);
  od::i64 const first[] = {0};
  std::uint32_t const site = t.core().site_at("long");
  t.set_bits(site, first, 1 - t.bits(site, first));
  std::cout << "an assignment moves by " << t.propose() << ":\n" << t.program().explain();
  double const low = found["centre[1]"].mean, high = found["centre[2]"].mean;
  return std::abs(low - 54) < 3 && std::abs(high - 80) < 3 ? 0 : 1;
}
