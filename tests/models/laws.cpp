// Random models satisfy the laws of the generative function interface. OVERDUB_PROGRAMS=100000 tests more models.
#include "catch.hpp"
#include "models/example_models.hpp"
#include "models/generative_laws.hpp"
#include "models/random_models.hpp"

#include <overdub/ir/print.hpp>
#include <overdub/models/dynamic.hpp>
#if OVERDUB_TESTS_JIT
#include <overdub/jit/executor.hpp>
#endif

#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace example_models;
using incremental_updates::programs;
using random_models::random_model;
using random_program::random_numbers;

using staged_random_model = ms::staged_function<std::tuple<double, double>, i64, i64, double, vec, bool>;

static_assert(ms::model_trace<ms::trace>);
static_assert(ms::mutable_model_trace<ms::followed_trace> && ms::mutable_model_trace<ms::reexecuted_trace>);
static_assert(ms::generative_function<staged_random_model>);

// A random model with random arguments.
staged_random_model with_arguments(ms::shared_core const& core, random_numbers& random) {
  std::vector<od::datum> const x = random_models::arguments(random);
  return {core, x[0].as<i64>(), x[1].as<i64>(), x[2].as<double>(), x[3].as<vec>(), x[4].as<bool>()};
}

} // namespace

TEST_CASE("random models satisfy the laws of the generative function interface") {
  std::uint64_t const count = programs(400);
  generative_laws::counts all;
  std::uint64_t conditional = 0;
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    auto const core =
        std::make_shared<ms::model_core const>(random_model(seed).make(), od::compile_options());
    for (ms::site const& s : core->sites()) conditional += s.is_conditional;
    random_numbers random(~seed);
    generative_laws::laws<staged_random_model> judged(
        with_arguments(core, random), [&](random_numbers& others) { return with_arguments(core, others); },
        ~seed, all);
    if (std::string const why = judged.why(); !why.empty())
      FAIL("random model " << seed << ": " << why << "\n" << od::ir::print(random_model(seed).make()));
  }
  if (count < 100) return; // too few for all kinds
  CHECK(all.choices > 5 * count);
  CHECK(conditional > count / 2);
  CHECK(all.flips > count / 10);
  CHECK(all.untaken < count);
  CHECK(all.gradients > count);
  CHECK(all.mutables > count / 8);
  CHECK(all.kept_observations > count / 4);
}

TEST_CASE("models that are run directly satisfy the laws, and make the traces of staged ones") {
  generative_laws::counts all;
  auto const check = [&](auto const& f, auto const& others, auto const&... x) {
    auto const direct = ms::dynamic_model(f, x...);
    auto const staged = ms::model(f, x...);
    using dynamic = std::remove_cvref_t<decltype(direct)>;
    static_assert(ms::generative_function<dynamic> && ms::model_trace<typename dynamic::trace_type>);
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      INFO("@" << std::string(f.name()) << ", seed " << seed);
      generative_laws::laws<dynamic, false> judged(
          direct, [&](random_numbers& random) { return others(direct, random); }, seed, all);
      CHECK(judged.why() == "");
      CHECK(generative_laws::why_different(staged, direct, seed) == "");
      CHECK(generative_laws::why_different(direct, staged, seed) == "");
    }
  };
  auto const below = [](random_numbers& random, std::uint64_t n) {
    return static_cast<i64>(random.below(n));
  };
  check(
      groups, [&](auto const& m, auto& random) { return m.with(below(random, 5), below(random, 4)); }, i64{3},
      i64{2});
  check(
      walk, [&](auto const& m, auto& random) { return m.with(below(random, 9), 0.5); }, i64{6}, 0.2);
  check(
      kinds, [&](auto const& m, auto& random) { return m.with(below(random, 9)); }, i64{5});
  check(
      parts, [&](auto const& m, auto& random) { return m.with(below(random, 5)); }, i64{3});
  check(
      everything,
      [&](auto const& m, auto& random) {
        return m.with(below(random, 5), vec{1, 2, 0.5});
      },
      i64{3}, vec{1.0, 2.0, 0.5});
  CHECK((all.flips > 10 && all.kept_observations > 10));
}

TEST_CASE("scores are the sums of log densities that plain C++ computes") {
  auto const near = [](double a, double b) { return std::abs(a - b) <= 1e-12 * std::max(1.0, std::abs(b)); };
  vec const xs{0.5, 1, -2, 3};
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    od::random_key const key(seed);
    INFO("seed " << seed);
    auto const n = static_cast<i64>(seed % 5);
    ms::trace const l = ms::model(line, xs).simulate(key), g = ms::model(groups, n, i64{3}).simulate(key),
                    w = ms::model(walk, 4 * n, 0.2).simulate(key), k = ms::model(kinds, 3 * n).simulate(key),
                    p = ms::model(parts, n).simulate(key);
    CHECK(near(l.score(), density_of_line(l, xs)));
    CHECK(near(g.score(), density_of_groups(g, n, 3)));
    CHECK(near(w.score(), density_of_walk(w, 4 * n, 0.2)));
    CHECK(near(k.score(), density_of_kinds(k, 3 * n)));
    CHECK(near(p.score(), density_of_parts(p, n)));
  }
}

#if OVERDUB_TESTS_JIT
TEST_CASE("machine code makes the same traces") {
  od::compile_options compiled;
  compiled.executor = od::jit::compiled({.optimisation = 1});
  compiled.tiers = od::tiers::compile_now;
  std::uint64_t const count = programs(12);
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    od::ir::program const p = random_model(seed).make();
    auto const interpreted = std::make_shared<ms::model_core const>(p, od::compile_options());
    auto const machine = std::make_shared<ms::model_core const>(p, compiled);
    std::vector<od::datum> const arguments{i64{4}, i64{2}, 0.5, vec{1, 2, -1, 0.5}, true};
    od::random_key const key(seed), other(seed + 1);
    ms::trace const a = ms::simulate(interpreted, arguments, key), b = ms::simulate(machine, arguments, key);
    INFO("random model " << seed);
    CHECK(a.choices() == b.choices());
    CHECK(a.score() == b.score());
    auto const ra = ms::regenerate(a, arguments, ms::selection::all(), other),
               rb = ms::regenerate(b, arguments, ms::selection::all(), other);
    CHECK(ra.of.choices() == rb.of.choices());
    CHECK(ra.of.score() == rb.of.score());
    auto const ua = ms::update(a, arguments, ra.of.choices(), key),
               ub = ms::update(b, arguments, ra.of.choices(), key);
    CHECK(ua.of.score() == ub.of.score());
    CHECK(ua.weight == ub.weight);
    CHECK(ms::project(a, ms::selection::all()) == ms::project(b, ms::selection::all()));
  }
}
#endif
