// Incremental functions in contexts: updates of what the contexts make of a function are its runs in them.
#include "catch.hpp"
#include "contexts/executors.hpp"

#include <overdub/compile/compile.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/contexts/incremental.hpp>
#include <overdub/ir/cursor.hpp>

#include <cmath>
#include <cstdint>
#include <tuple>

namespace {

namespace od = overdub;
namespace oc = overdub::contexts;
using numbers = od::array<double>;

inline constexpr auto wave = od::fn<"wave">([](auto x, auto y) { return sin(x * x) + y; });
inline constexpr auto total = od::fn<"total">(
    [](auto const& xs, auto a) { return od::sum(od::map([&](auto x) { return sin(x) * a; }, xs)); });

struct doubling : od::context {
  auto overdub(od::sin_t, auto x) { return 2.0 * sin(x); }
};
struct repeating : od::context {
  int times = 1;
  repeating() = default;
  explicit repeating(int n) : times(n) {}
  int fingerprint() const { return times; }
  auto overdub(od::sin_t, auto x) {
    auto all = sin(x);
    for (int i = 1; i < times; ++i) all = all + sin(x);
    return all;
  }
};
struct turning : od::context {
  static void before_optimise(od::ir::program& p) {
    for (std::uint32_t f = 0; f < p.functions.size(); ++f)
      for (od::ir::cursor c(p, od::ir::function_id{f}); c.next();)
        if (c.code() == od::ir::op::sin) c.replace(c->result(c.insert(od::ir::op::cos, {c.operand(0)})));
  }
};
struct scaling : od::context {
  od::context_field<double> by = 3.0;
  scaling() = default;
  explicit scaling(std::tuple<>) {}
  std::tuple<> fingerprint() const { return {}; }
  auto overdub(od::sin_t, auto x) { return by(x) * sin(x); }
};

} // namespace

TEST_CASE("an incremental function in contexts has the value of a run in them, after each update") {
  for (od::compile_options const& o : executors()) {
    repeating r(3);
    auto const contexts = od::compose(doubling{}, r);
    numbers xs{1.0, 2.0, 3.0, -1.0};
    double a = 2.0;
    auto f = oc::incremental(o, contexts, total, xs, a);
    auto const direct = [&] { return od::compile(contexts, total, od::signature<numbers, double>)(xs, a); };
    CHECK(f.value() == Approx(direct()).epsilon(1e-14));
    for (int i = 0; i < 8; ++i) {
      xs = od::update(xs, i % 4, 0.5 * i - 1.0);
      f.set_at<0>(i % 4, 0.5 * i - 1.0);
      double const proposed = f.propose();
      CHECK(proposed == Approx(direct()).epsilon(1e-13));
      f.commit();
      CHECK(f.value() == proposed);
    }
    a = -1.0;
    f.set<1>(a);
    f.commit();
    CHECK(f.value() == Approx(direct()).epsilon(1e-13));
  }
}

TEST_CASE("the fingerprints that the contexts have when it is made decide") {
  repeating r(2);
  auto const twice = oc::incremental(r, wave, 0.5, 1.0);
  r.times = 4;
  auto const more = oc::incremental(r, wave, 0.5, 1.0);
  CHECK(twice.value() == Approx(2.0 * std::sin(0.25) + 1.0));
  CHECK(more.value() == Approx(4.0 * std::sin(0.25) + 1.0));
  CHECK(&twice.program().all_slices() != &more.program().all_slices());
}

TEST_CASE("passes before optimisation rewrite what is followed") {
  auto f = oc::incremental(turning{}, wave, 0.5, 1.0);
  CHECK(f.value() == std::cos(0.25) + 1.0);
  f.set<0>(2.0);
  f.commit();
  CHECK(f.value() == std::cos(4.0) + 1.0);
}

TEST_CASE("metadata go in and out as tags, and follow changes") {
  auto f = oc::incremental(oc::forward{}, wave, od::tag(0.5, 1.0), 1.0);
  auto const direct = [](double x, double dx) { return od::run(oc::forward{}, wave, od::tag(x, dx), 1.0); };
  CHECK(f.value().inner == direct(0.5, 1.0).inner);
  CHECK(f.value().metadata == direct(0.5, 1.0).metadata);
  f.set<0>(od::tag(2.0, 3.0));
  f.commit();
  CHECK(f.value().metadata == direct(2.0, 3.0).metadata);
}

TEST_CASE("a function that reads fields of its contexts is refused") {
  scaling s;
  CHECK_THROWS_WITH(
      oc::incremental(s, wave, 0.5, 1.0),
      Catch::Contains("@wave asks its contexts when it runs (context_field of f64)"));
}
