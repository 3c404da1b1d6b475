// Run by g++: each of its contexts has tables of all operations.
// Contexts with passes and fingerprints that start inside of another context's run: the other context observes the operations of
// their programs.
#include "catch.hpp"
#include "contexts/test_contexts.hpp"

#include <overdub/compile/compile.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/derivative.hpp>

#include <cmath>
#include <tuple>

namespace {

namespace od = overdub;
using namespace test_contexts;
using overdub::contexts::forward;

inline constexpr auto both =
    od::fn<"both">([](auto x, auto n) { return std::tuple(sin(x), x * od::convert<double>(n)); });

} // namespace

TEST_CASE("a context with a pass starts inside of another run, which observes the rewritten program") {
  double const x = 0.5;
  turning t;
  observing h;
  auto const inner = [&](auto y) { return 2.0 * od::run(t, wave, y); };
  CHECK(od::run(h, inner, x) == 2.0 * od::run(t, wave, x));
  CHECK(h.products.size() == 2);
  CHECK(h.cosines.size() == 1);
  t.is_on = false;
  CHECK(od::run(h, inner, x) == 2.0 * (std::sin(x * x) + x));
  CHECK(h.products.size() == 4);
  CHECK(h.cosines.size() == 1);
}

TEST_CASE("such a context starts in a run with the scope, too, with any arguments") {
  turning t;
  observing h;
  constexpr auto of = [](turning& c) {
    return [&c](od::scope auto& cx, auto x) { return x + od::run(c, cx, wave, 0.5); };
  };
  CHECK(od::run(h, of(t), 1.0) == 1.0 + od::run(t, wave, 0.5));
  CHECK(h.cosines.size() == 1);
}

TEST_CASE("forward differentiates the program that the pass rewrote") {
  double const x = 0.5;
  turning t;
  auto const inner = [&](auto y) { return od::run(t, wave, y); };
  CHECK(overdub::derivative(inner, x) == Approx(1.0 - 2.0 * x * std::sin(x * x)));
}

TEST_CASE("fields are read in each inner run, and compositions start inside of another run") {
  double const x = 0.5;
  scaling s;
  turning t;
  observing h;
  auto const inner = [&](auto y) { return od::run(s, wave, y); };
  CHECK(od::run(h, inner, x) == 3.0 * std::sin(x * x) + x);
  s.by = 4.0;
  CHECK(od::run(h, inner, x) == 4.0 * std::sin(x * x) + x);
  auto const all = [&](auto y) { return od::run(od::compose(s, t), wave, y); };
  CHECK(od::run(h, all, x) == 4.0 * std::cos(x * x) + x);
}

TEST_CASE("an inner run takes and returns trees and integers") {
  turning t;
  observing h;
  auto const inner = [&](auto y, auto n) { return od::run(t, both, y, n); };
  auto const [c, p] = od::run(h, inner, 0.5, 3);
  CHECK(c == std::cos(0.5));
  CHECK(p == 1.5);
}

TEST_CASE("a context with a pass has its own metadata inside of another run") {
  struct turning_forward : forward {
    static void before_optimise(od::ir::program&) {}
  };
  observing h;
  auto const inner = [](auto y) {
    turning_forward f;
    return od::run(f, wave, od::tag(y, 1.0)).metadata;
  };
  CHECK(od::run(h, inner, 0.5) == Approx(std::cos(0.25) + 1.0));
}

TEST_CASE("other contexts observe the operations of compiled functions") {
  double const x = 0.5;
  scaling s;
  turning t;
  observing h;
  auto const plain = od::compile(od::compose(), wave, od::signature<double>);
  auto const with_field = od::compile(s, wave, od::signature<double>);
  auto const with_pass = od::compile(t, wave, od::signature<double>);
  CHECK(
      od::run(
          h, [&](auto y) { return plain(y); }, x) == plain(x));
  CHECK(h.products.size() == 1);
  CHECK(
      od::run(
          h, [&](auto y) { return with_field(y); }, x) == with_field(x));
  CHECK(
      od::run(
          h, [&](auto y) { return with_pass(y); }, x) == with_pass(x));
  CHECK(h.cosines.size() == 1);
  auto const slope = [&](auto const& of) { return overdub::derivative([&](auto y) { return of(y); }, x); };
  CHECK(slope(plain) == Approx(1.0 + 2.0 * x * std::cos(x * x)));
  CHECK(slope(with_field) == Approx(1.0 + 6.0 * x * std::cos(x * x)));
  CHECK(slope(with_pass) == Approx(1.0 - 2.0 * x * std::sin(x * x)));
}
