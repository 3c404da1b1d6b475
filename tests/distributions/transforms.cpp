// Transforms from the unconstrained space: they are invertible, their values are in the support, and their Jacobians are those of
// derivatives.
#include "catch.hpp"
#include "property.hpp"

#include <overdub/contexts/forward.hpp>
#include <overdub/distributions.hpp>

#include <boost/math/quadrature/sinh_sinh.hpp>

#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

namespace {

namespace od = overdub;
namespace ds = overdub::distributions;
using od::i64;
using vector = od::array<double>;

template <class S>
void is_bijection(S const& support) {
  auto const constrain = od::fn<"constrain">([&](auto y) { return support.constrain(y); });
  auto const log_det = od::fn<"log_det">([&](auto y) { return support.log_abs_det_jacobian(y) + 0.0 * y; });
  auto const there = od::fn<"there">([&](auto y) { return support.unconstrain(support.constrain(y)); });
  property([&] {
    double const y = between(-12, 12), x = support.constrain(y);
    RC_ASSERT(support.contains(x));
    double const conditioning = std::exp(std::abs(y)) * 1e-14 + 1e-13;
    RC_ASSERT(std::abs(support.unconstrain(x) - y) < conditioning);
    double const derivative = od::run(od::contexts::forward{}, constrain, od::tag(y, 1.0)).metadata;
    RC_ASSERT(std::abs(support.log_abs_det_jacobian(y) - std::log(std::abs(derivative))) < 1e-12);
    // The derivative of the Jacobian, which a sampler needs, by differences.
    double const h = 1e-4, d = od::run(od::contexts::forward{}, log_det, od::tag(y, 1.0)).metadata;
    RC_ASSERT(std::abs(d - (log_det(y + h) - log_det(y - h)) / (2 * h)) < 1e-6);
    RC_ASSERT(std::abs(od::run(od::contexts::forward{}, there, od::tag(y, 1.0)).metadata - 1) < conditioning);
  });
  for (double const y : {-800.0, 800.0}) { // extreme values: no NaN
    CHECK(!std::isnan(support.constrain(y)));
    CHECK(!std::isnan(support.log_abs_det_jacobian(y)));
    CHECK(!std::isnan(od::run(od::contexts::forward{}, log_det, od::tag(y, 1.0)).metadata));
  }
}

// log |det| by Gaussian elimination.
double log_det(std::vector<std::vector<double>> m) {
  double sum = 0;
  for (std::size_t i = 0; i < m.size(); ++i) {
    std::size_t pivot = i;
    for (std::size_t r = i; r < m.size(); ++r)
      if (std::abs(m[r][i]) > std::abs(m[pivot][i])) pivot = r;
    std::swap(m[i], m[pivot]);
    sum += std::log(std::abs(m[i][i]));
    for (std::size_t r = i + 1; r < m.size(); ++r) {
      double const factor = m[r][i] / m[i][i];
      for (std::size_t c = i; c < m.size(); ++c) m[r][c] -= factor * m[i][c];
    }
  }
  return sum;
}

// A family of the closed unit interval.
struct share_t : ds::distribution<"share", share_t> {
  static constexpr std::tuple<> parameters{};
  static constexpr ds::unit_interval support() { return {}; }
  static constexpr auto log_density_at(auto const& x) { return 0.0 * x; }
};
inline constexpr share_t share{};

inline constexpr auto stick = od::fn<"stick">([](auto y) { return ds::simplex::constrain(y); });

} // namespace

TEST_CASE("the transforms of supports of numbers") {
  is_bijection(ds::reals{});
  is_bijection(ds::positive_reals{});
  is_bijection(ds::nonnegative_reals{});
  is_bijection(ds::open_unit_interval{});
  is_bijection(ds::unit_interval{});
  is_bijection(ds::interval{-2.0, 3.0});
  is_bijection(ds::at_least{-2.0});
  is_bijection(ds::at_most{-2.0});
}

TEST_CASE("the supports of families, and of truncated ones") {
  CHECK(support(ds::uniform(1, 4)).constrain(0.0) == 2.5);
  auto const t = ds::truncated(ds::exponential(1), -3, 4);
  CHECK(support(t).low == 0.0);
  CHECK(support(t).high == 4.0);
  is_bijection(support(t));
  is_bijection(support(ds::truncated_below(ds::half_normal(1), 2)));
  is_bijection(support(ds::truncated_above(ds::half_normal(1), 2)));
  is_bijection(support(ds::truncated_above(ds::normal(0, 1), 2)));
  is_bijection(support(ds::truncated(ds::uniform(0, 1), 0.5, 2)));
  CHECK(std::is_same_v<
        decltype(support(ds::mixture(std::tuple(1, 1), ds::gamma(1, 1), ds::lognormal(0, 1)))),
        ds::positive_reals>);
  CHECK(std::is_same_v<
        decltype(support(ds::mixture(std::tuple(1, 1), ds::gamma(1, 1), ds::normal(0, 1)))), ds::reals>);
  auto const joint = [](auto const&... d) { return support(ds::mixture(std::tuple((void(d), 1)...), d...)); };
  CHECK(std::is_same_v<decltype(joint(ds::exponential(1), ds::gamma(1, 1))), ds::nonnegative_reals>);
  CHECK(std::is_same_v<decltype(joint(ds::gamma(1, 1), ds::half_normal(1))), ds::nonnegative_reals>);
  CHECK(std::is_same_v<decltype(joint(ds::gamma(1, 1), ds::beta(1, 1))), ds::nonnegative_reals>);
  CHECK(std::is_same_v<decltype(joint(ds::beta(1, 1), share(), ds::beta(2, 1))), ds::unit_interval>);
  CHECK(std::is_same_v<decltype(joint(ds::beta(1, 1), ds::normal(0, 1))), ds::reals>);
  CHECK(
      log_density(ds::mixture(std::tuple(1, 1), ds::exponential(1), ds::gamma(2, 1)), 0.0) ==
      Approx(std::log(0.5)));
  CHECK(support(ds::binomial(5, 0.5)).contains(i64{5}));
  CHECK(!support(ds::binomial(5, 0.5)).contains(i64{6}));
}

// All operations of a support that a custom truncated distribution may use.
TEST_CASE("the intersection of a support with an interval and with half-lines") {
  auto const holds = [](auto const& s, double low, double high, bool has_low, bool has_high) {
    for (double const x : {low - 0.125, low, 0.5 * (low + high), high, high + 0.125})
      CHECK(s.contains(x) == ((!has_low || x >= low) && (!has_high || x <= high)));
    is_bijection(s);
  };
  ds::at_least const from{-1.0};
  holds(from.between(-2.0, 3.0), -1, 3, true, true);
  holds(from.above(2.0), 2, 3, true, false);
  holds(from.below(2.0), -1, 2, true, true);
  ds::at_most const to{3.0};
  holds(to.between(-2.0, 4.0), -2, 3, true, true);
  holds(to.above(2.0), 2, 3, true, true);
  holds(to.below(2.0), 1, 2, false, true);
  ds::unit_interval const unit;
  holds(unit.between(0.25, 3.0), 0.25, 1, true, true);
  holds(unit.above(0.25), 0.25, 1, true, true);
  holds(unit.below(0.25), 0, 0.25, true, true);
}

TEST_CASE("rounding does not move the transform of an interval out of it") {
  ds::interval const s{-1.0, 0.1};
  for (double y = 0; y < 800; y += 0.25) {
    CHECK(s.contains(s.constrain(y)));
    CHECK(s.contains(s.constrain(-y)));
  }
  property([] {
    double const low = between(-3, 3), high = low + between(1e-9, 5);
    ds::interval const any{low, high};
    RC_ASSERT(any.contains(any.constrain(between(30, 700))));
    RC_ASSERT(any.contains(any.constrain(between(-700, -30))));
  });
}

TEST_CASE("a density on the unconstrained space integrates to 1") {
  boost::math::quadrature::sinh_sinh<double> line;
  auto const total = [&](auto const& d) {
    return line.integrate([&](double y) {
      auto const s = support(d);
      double const p = std::exp(log_density(d, s.constrain(y)) + s.log_abs_det_jacobian(y));
      return std::isnan(p) ? 0.0 : p;
    });
  };
  CHECK(total(ds::gamma(2, 3)) == Approx(1).epsilon(1e-8));
  CHECK(total(ds::beta(2, 3)) == Approx(1).epsilon(1e-8));
  CHECK(total(ds::truncated(ds::normal(0, 1), 1, 2)) == Approx(1).epsilon(1e-8));
  CHECK(total(ds::truncated_above(ds::normal(0, 1), 1)) == Approx(1).epsilon(1e-8));
}

TEST_CASE("stick-breaking: sums to 1, is invertible, and has the Jacobian of its first elements") {
  for (double const part : ds::simplex::constrain(vector{0, 0, 0})) CHECK(part == Approx(0.25));
  CHECK(ds::simplex::constrain(vector{}).size() == 1);
  CHECK(ds::simplex::unconstrain(vector{1}).size() == 0);
  property([] {
    std::vector<double> ys;
    for (int i = *rc::gen::inRange(1, 7); i > 0; --i) ys.push_back(between(-5, 5));
    auto const y = vector::copy_of(ys), x = stick(y);
    RC_ASSERT(ds::simplex::contains(x));
    auto const back = ds::simplex::unconstrain(x);
    RC_ASSERT(back.size() == y.size());
    for (i64 i = 0; i < y.size(); ++i) RC_ASSERT(std::abs(back[i] - y[i]) < 1e-9);
    std::vector<std::vector<double>> jacobian;
    for (std::size_t j = 0; j < ys.size(); ++j) {
      std::vector<double> e(ys.size());
      e[j] = 1;
      auto const column = od::run(od::contexts::forward{}, stick, od::tag(y, vector::copy_of(e))).metadata;
      jacobian.emplace_back();
      for (i64 i = 0; i < y.size(); ++i) jacobian.back().push_back(column[i]);
    }
    RC_ASSERT(std::abs(log_det(jacobian) - ds::simplex::log_abs_det_jacobian(y)) < 1e-8);
  });
  // For extreme values, elements are small, and do not underflow.
  CHECK(ds::simplex::unconstrain(ds::simplex::constrain(vector{-300, 5}))[0] == Approx(-300).epsilon(1e-13));
}
