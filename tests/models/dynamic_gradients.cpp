// Run by clang: whole models are differentiated in contexts.
// choice_gradients of dynamic models, against those of the staged model and finite differences.
#include "catch.hpp"

#include <overdub/distributions.hpp>
#include <overdub/models/dynamic_gradients.hpp>
#include <overdub/models/model.hpp>
#include <overdub/overdub.hpp>

#include <algorithm>
#include <cstddef>

namespace od = overdub;
namespace ds = overdub::distributions;
namespace ms = overdub::models;

namespace {

inline constexpr auto regression = od::fn<"regression">([](od::scope auto& cx, auto const& xs) {
  auto const slope = cx(od::sample<"slope">, ds::normal(0.0, 2.0));
  auto const sd = cx(od::sample<"sd">, ds::half_normal(1.5));
  auto const weights = cx(od::sample<"weights">, ds::dirichlet(od::array<double>{1.5, 2.0, 3.0}));
  auto const kind = cx(od::sample<"kind">, ds::categorical(weights));
  return cx(
      od::map, [&](auto const& x) { return cx(od::sample<"y">, ds::normal(slope * x + weights[kind], sd)); },
      xs);
});

// A number that is halved until it is small, each time with noise; by recursion, and a branch of C++ on an active value.
inline constexpr auto halves = od::fn<"halves">([](od::scope auto& cx, auto x) -> decltype(x) {
  if (x < 0.5) return cx.lift(0.0) + x;
  auto const error = cx(od::sample<"error">, ds::normal(0.0, 0.1 * x));
  return 1.0 + cx(od::within<"next">(cx.function()), 0.5 * x + error);
});
inline constexpr auto halved = od::fn<"halved">([](od::scope auto& cx, auto rate) {
  auto const start = cx(od::sample<"start">, ds::gamma(9.0, rate));
  auto const times = cx(od::within<"at">(halves), start);
  auto const last = cx(
      od::while_, start, [](auto const& s) { return s > 1.0; },
      [&](auto const& s) { return s * cx(od::sample<"part">, ds::beta(2.0, 3.0)); });
  cx(od::sample<"seen">, ds::normal(times + last, 0.5));
  return times;
});

template <class M, class T>
double difference(M const& m, T const& t, ms::address const& at) {
  double const h = 1e-5, x = t.template get<double>(at);
  return (m.update(t, {{at, x + h}}).weight - m.update(t, {{at, x - h}}).weight) / (2 * h);
}

} // namespace

TEST_CASE("choice gradients of a dynamic model are those of the staged one") {
  od::array<double> const xs{-1.0, 0.5, 2.0, 3.5, 0.25, -2.0, 1.0, 4.0, 0.125};
  auto const staged = ms::model(regression, xs);
  auto const m = ms::dynamic_model(regression, xs);
  for (int k = 0; k < 20; ++k) {
    od::random_key const key = od::random_key(5).at(k);
    auto const gradients = choice_gradients(staged.simulate(key), {"slope", "sd", "weights", "y"});
    auto const t = m.simulate(key);
    auto const all = choice_gradients(m, t, {"slope", "sd", "weights", "y"});
    CHECK(all.get<double>("slope") == Approx(gradients.get<double>("slope")).epsilon(1e-12));
    CHECK(all.get<double>("sd") == Approx(gradients.get<double>("sd")).epsilon(1e-12));
    auto const now = all.get<od::array<double>>("weights"),
               then = gradients.get<od::array<double>>("weights");
    for (od::i64 i = 0; i < 3; ++i) CHECK(now[i] == Approx(then[i]).epsilon(1e-12));
    auto const ys = gradients.get<od::array<double>>("y");
    for (od::i64 i = 0; i < xs.size(); ++i)
      CHECK(all.get<double>(ms::address("y", {i})) == Approx(ys[i]).epsilon(1e-12));
    // A selection of some has the same gradients.
    auto const some = choice_gradients(m, t, {"sd", "y[7]"});
    CHECK(some.size() == 2);
    CHECK(some.get<double>("sd") == all.get<double>("sd"));
    CHECK(some.get<double>("y[7]") == all.get<double>("y[7]"));
  }
}

TEST_CASE("choice gradients of recursion, branches of C++ and while_") {
  auto const m = ms::dynamic_model(halved, 1.5);
  std::size_t largest = 0;
  for (int k = 0; k < 50; ++k) {
    auto const t = m.simulate(od::random_key(2).at(k));
    auto const gradients = choice_gradients(m, t, ms::selection::all());
    CHECK(gradients.size() == t.size());
    largest = std::max(largest, t.size());
    for (auto const& [at, derivative] : gradients)
      CHECK(derivative.as<double>() == Approx(difference(m, t, at)).epsilon(1e-4).margin(1e-6));
  }
  CHECK(largest > 8); // more than one run
}

TEST_CASE("choice gradients of dynamic models reject discrete choices and traces of other models") {
  od::array<double> const xs{1.0};
  auto const m = ms::dynamic_model(regression, xs);
  auto const t = m.simulate(od::random_key(1));
  CHECK(choice_gradients(m, t, {}).empty());
  CHECK_THROWS_WITH(
      choice_gradients(m, t, ms::selection::all()),
      "overdub: the choice \"kind\" is discrete, and has no derivative; select continuous choices");
  auto const longer = m.with(od::array<double>{1.0, 2.0});
  CHECK_THROWS_WITH(
      choice_gradients(m, longer.simulate(od::random_key(1)), {"sd"}),
      "overdub: the trace has 6 choices, and the model makes 5 of them: it is one of another model, or of "
      "other "
      "arguments");
  CHECK_THROWS_WITH(
      choice_gradients(m.with(od::array<double>{1.0, 2.0}), t, {"sd"}),
      "overdub: the trace has no choice at y[1], which the model makes: it is one of another model, or of "
      "other "
      "arguments");
}
