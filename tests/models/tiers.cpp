// Chains of a model are the same for each executor of its programs: the interpreter, machine code, or tiers of both.
#include "catch.hpp"
#include "models/model_posteriors.hpp"

#include <overdub/compile/tiers.hpp>
#include <overdub/inference/chains.hpp>
#include <overdub/models/mcmc.hpp>
#include <overdub/models/posterior.hpp>

#include <string>
#include <vector>

#if OVERDUB_TESTS_JIT

namespace {

using namespace model_posteriors;

od::random_key const key(7);
vec const points{-1.2, 0.3, 2.9, 3.1, -0.4, 1.7};

od::compile_options ran(od::tiers when) {
  return {.executor = od::jit::compiled(), .tiers = when, .hot_calls = 20};
}

// Some transitions, and more after the compilations that these triggered.
std::vector<double> chain_of_moves(od::compile_options const& o) {
  auto const m = ms::model(o, mixture, vec{0.4, 0.6}, vec{-1.0, 2.0}, points.size());
  ms::followed_trace t(m.generate(ms::choice_map{{"y", points}}, key).of);
  std::vector<double> all;
  ms::move_record made;
  auto const sweep = [&](int from, int to) {
    for (int k = from; k < to; ++k) {
      ms::gibbs("z")(t, key.at(std::int64_t{k}).at("z"), made);
      ms::random_walk("mu", 0.5)(t, key.at(std::int64_t{k}).at("mu"), made);
      all.push_back(t.score());
    }
  };
  sweep(0, 60);
  od::wait_for_compilations();
  sweep(60, 120);
  return all;
}
std::vector<double> chain_of_nuts(od::compile_options const& o) {
  auto const m = ms::model(o, eight_schools_noncentred, vec{15, 10, 16, 11});
  ms::posterior target(m, ms::choice_map{{"y", vec{28, 8, -3, 7}}});
  std::vector<double> all;
  for (int part = 0; part < 2; ++part) {
    inf::draws const d = inf::sample(target, {.chains = 2, .warmup = 50, .draws = 50, .threads = 1});
    for (char const* const name : {"mu", "tau", "z.1"})
      for (double const x : d.column(name).values) all.push_back(x);
    od::wait_for_compilations();
  }
  return all;
}

} // namespace

TEST_CASE("tiered programs of a model draw the same as interpreted and compiled ones") {
  std::vector<double> const moved = chain_of_moves(ran(od::tiers::interpret_only)),
                            sampled = chain_of_nuts(ran(od::tiers::interpret_only));
  for (od::tiers const when : {od::tiers::compile_now, od::tiers::interpret_first}) {
    CHECK(chain_of_moves(ran(when)) == moved);
    CHECK(chain_of_nuts(ran(when)) == sampled);
  }
}

#endif
