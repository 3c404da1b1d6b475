// Members of contexts that rules compute with: loads in compiled programs, plain numbers in direct runs.
#include "catch.hpp"

#include <overdub/compile/compile.hpp>
#include <overdub/contexts/forward.hpp>

#include <cmath>
#include <tuple>

namespace {

namespace od = overdub;
using od::i64;

struct scaled : od::context {
  od::context_field<double> by = 1.0;
  od::context_field<od::array<double>> shifts = od::array<double>{0.0};
  od::context_field<i64> which = 0;
  scaled() = default;
  explicit scaled(std::tuple<>) {}
  std::tuple<> fingerprint() const { return {}; }
  auto overdub(od::sin_t, auto x) { return by(x) * sin(x) + shifts(x)[which(x)]; }
};
inline constexpr auto wave = od::fn<"wave">([](auto x) { return sin(x) + sin(2.0 * x); });

struct adrift : od::context {
  od::context_field<double> const* elsewhere;
  explicit adrift(int = 0) {
    static od::context_field<double> const one = 1.0;
    elsewhere = &one;
  }
  int fingerprint() const { return 0; }
  auto overdub(od::sin_t, auto x) { return (*elsewhere)(x)*sin(x); }
};

} // namespace

TEST_CASE("compiled programs read fields when they run: one program serves all contexts and their changes") {
  scaled a, b;
  auto const f = od::compile(a, wave, od::signature<double>);
  auto const g = od::compile(b, wave, od::signature<double>);
  CHECK(&f.made() == &g.made());
  CHECK(f(0.5) == std::sin(0.5) + std::sin(1.0));
  a.by = 3.0;
  a.shifts = od::array<double>{0.0, 10.0};
  a.which = 1;
  CHECK(f(0.5) == (3.0 * std::sin(0.5) + 10.0) + (3.0 * std::sin(1.0) + 10.0));
  CHECK(g(0.5) == std::sin(0.5) + std::sin(1.0));
  CHECK(od::run(a, wave, 0.5) == f(0.5));
  CHECK(a.by.get() == 3.0);
}

TEST_CASE("in direct runs, fields are the members themselves, and constants for inner contexts") {
  scaled a;
  a.by = 2.0;
  double const x = 0.5;
  CHECK(a.by(x) == 2.0);
  auto const r = od::run(od::compose(a, od::contexts::forward{}), wave, od::tag(x, 1.0));
  CHECK(r.inner == 2.0 * std::sin(x) + 2.0 * std::sin(2.0 * x));
  CHECK(r.metadata == Approx(2.0 * std::cos(x) + 4.0 * std::cos(2.0 * x)));
}

TEST_CASE("a field that is in no context of the program is rejected") {
  adrift c;
  CHECK_THROWS_WITH(od::run(c, wave, 0.5), Catch::Contains("not stored in a context of the program"));
}
