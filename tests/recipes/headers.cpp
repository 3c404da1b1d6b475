// The recipes for contexts, distributions and kernels, which overlay.py performs, add headers that the library as it is fits.
#include "catch.hpp"

#include <overdub/contexts/last_call.hpp>
#include <overdub/distributions.hpp>
#include <overdub/inference.hpp>
#include <overdub/models.hpp>
#include <overdub/overdub.hpp>
#include <overdub/stage/stage.hpp>

#include <cmath>
#include <cstddef>

namespace {

namespace od = overdub;
namespace ds = overdub::distributions;

inline constexpr auto square = od::fn<"square">([](auto x) { return x * x; });
inline constexpr auto coin =
    od::fn<"coin">([](od::scope auto& cx) { return cx(od::sample<"z">, ds::bernoulli(0.3)); });

} // namespace

TEST_CASE("a context observes direct runs, and is staged") {
  od::contexts::last_call last;
  CHECK(od::run(last, square, 3.0) == 9.0);
  CHECK(last.calls == 1);
  CHECK(last.callee == "square");
  CHECK(od::stage(last, square, od::signature<double>).entry != od::ir::nothing);
}

TEST_CASE("a distribution has a density, a support and draws") {
  CHECK(
      log_density(ds::falling(2.0), 0.0) == Approx(0).margin(1e-12)); // the density at the mode is 2 / width
  CHECK(log_density(ds::falling(2.0), 3.0) == -HUGE_VAL);
  double const x = draw(ds::falling(2.0), od::random_key(1));
  CHECK(x >= 0);
  CHECK(x <= 2);
}

TEST_CASE("run_chains runs a kernel") {
  auto const draws = od::inference::run_chains(
      [](std::size_t, od::random_key const&) { return od::inference::coin_walk{}; }, {.draws = 2000},
      od::random_key(1));
  CHECK(od::inference::summary(draws)["x"].mean == Approx(0.5).margin(0.05));
}

TEST_CASE("mcmc runs a move") {
  auto const chains = od::models::mcmc(od::model(coin), {}, od::models::negation{"z"});
  auto const draws = od::inference::run_chains(chains, {.draws = 5000}, od::random_key(1));
  CHECK(od::inference::summary(draws)["z"].mean == Approx(0.3).margin(0.05));
}
