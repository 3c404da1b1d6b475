// Updates when memory runs out: a failed update can be proposed, committed or rolled back again, and no change is lost or applied
// twice.
#include "allocations.hpp"
#include "catch.hpp"

#include <overdub/distributions.hpp>
#include <overdub/incremental.hpp>
#include <overdub/overdub.hpp>

#include <cstdint>
#include <new>
#include <vector>

namespace {

namespace od = overdub;
namespace dist = overdub::distributions;
using od::i64;
using numbers = od::array<double>;
using indices = od::array<i64>;

constexpr auto grouped = od::fn<"grouped">([](auto z, auto x, auto means) {
  auto const point = [&](auto k, auto y) { return dist::log_density(dist::normal(means[k], 1.0), y); };
  auto const states = od::scan(
      [](auto s, auto e) {
        auto const next = 0.5 * s + e;
        return std::tuple{next, next};
      },
      0.25, x);
  return od::sum(od::map(point, z, x)) + od::sum(std::get<1>(states)) + od::reduce(od::max, x);
});

// Runs f with an increasing limit of memory until it succeeds.
template <class F>
long tried_until_done(F const& f) {
  for (long n = 0;; ++n) {
    allowed = n;
    try {
      f();
      allowed = unlimited;
      return n;
    } catch (std::bad_alloc const&) {
    }
    allowed = unlimited;
  }
}

} // namespace

TEST_CASE("any allocation of an update may fail: the update is applied once when there is memory") {
  std::vector<i64> z(48);
  std::vector<double> x(48), means{0.0, 1.0};
  for (std::size_t i = 0; i < z.size(); ++i) {
    z[i] = static_cast<i64>(i * 5 / 3 % 2);
    x[i] = 0.5 * static_cast<double>(i * 7 % 5) - 1;
  }
  auto const of = [](std::vector<double> const& all) { return numbers::copy_of(all); };
  auto f = od::incremental(grouped, indices::copy_of(z), of(x), of(means));
  long failed = 0;
  for (int k = 0; k < 60; ++k) {
    switch (k % 4) {
    case 0: // the arrays get longer, or are short again
      z.push_back(k % 2);
      x.push_back(0.125 * k);
      f.append<0>(z.back());
      f.append<1>(x.back());
      break;
    case 1:
      means[0] = 0.25 * k;
      f.set_at<2>(0, means[0]);
      break;
    case 2:
      x[2] = 0.5 * k;
      f.set_at<1>(2, x[2]);
      z[1] = 1 - z[1];
      f.set_at<0>(1, z[1]);
      break;
    default:
      x.assign(x.size(), 0.0625 * k);
      f.set<1>(of(x));
    }
    if (k % 8 == 6) // more of them, as a list
      for (std::size_t i = 0; i < 5; ++i) {
        z[4 * i] = (k + static_cast<i64>(i)) % 2;
        x[3 * i] = 0.25 * k - static_cast<double>(i);
        failed += tried_until_done([&] { f.set_at<0>(4 * i, z[4 * i]); });
        failed += tried_until_done([&] { f.set_at<1>(3 * i, x[3 * i]); });
      }
    if (k % 3 == 0) {
      failed += tried_until_done([&] { f.propose(); });
      failed += tried_until_done([&] { f.commit(); });
    } else {
      failed += tried_until_done([&] { f.commit(); });
    }
    INFO("update " << k);
    REQUIRE(f.value() == Approx(grouped(indices::copy_of(z), of(x), of(means))).epsilon(1e-12));
  }
  CHECK(failed > 500);
}

TEST_CASE("a failed commit can be rolled back: value and differences are the old ones") {
  std::vector<i64> const z{0, 1, 1, 0};
  std::vector<double> const x{0.5, 1.5, -0.5, 2.5}, means{0.0, 1.0}, moved{0.25, 1.0};
  auto const of = [](std::vector<double> const& all) { return numbers::copy_of(all); };
  auto f = od::incremental(grouped, indices::copy_of(z), of(x), of(means));
  double const before = f.value();
  double const by = grouped(indices::copy_of(z), of(x), of(moved)) - before;
  long failed = 0;
  for (bool is_done = false; !is_done; ++failed) {
    f.append<0>(i64{1});
    f.append<1>(9.0);
    f.propose();
    allowed = failed;
    try {
      f.commit();
      is_done = true;
    } catch (std::bad_alloc const&) {
    }
    allowed = unlimited;
    if (is_done) break;
    f.rollback();
    INFO("after " << failed << " allocations");
    REQUIRE(f.value() == before);
    f.propose();
    REQUIRE(f.value() == before);
    f.set_at<2>(0, moved[0]);
    f.propose();
    REQUIRE(f.difference() == Approx(by).epsilon(1e-12));
    f.rollback();
  }
  CHECK(failed > 0);
  CHECK(f.value() != before);
}

TEST_CASE("an assignment that fails changes nothing; one that fits allocates nothing") {
  std::vector<double> const means{0.0, 1.0}, moved{0.25, 1.0};
  auto const of = [](std::vector<double> const& all) { return numbers::copy_of(all); };
  std::vector<i64> z{0, 1, 1, 0};
  std::vector<double> x{0.5, 1.5, -0.5, 2.5};
  auto const first = od::incremental(grouped, indices::copy_of(z), of(x), of(means));
  auto f = first, g = first;
  double const changed = grouped(indices::copy_of(z), of({0.5, 1.5, 4.0, 2.5}), of(means));
  for (int k = 0; k < 40; ++k) {
    z.push_back(k % 2);
    x.push_back(0.25 * k);
    g.append<0>(z.back());
    g.append<1>(x.back());
    g.commit();
  }
  long failed = 0;
  for (bool is_done = false; !is_done; ++failed) {
    f = od::incremental_function(first); // its arrays have no reserved memory
    f.set_at<1>(2, 4.0);
    f.propose();
    allowed = failed;
    try {
      f = g;
      is_done = true;
    } catch (std::bad_alloc const&) {
    }
    allowed = unlimited;
    if (is_done) break;
    INFO("allocation " << failed);
    if (failed % 2 == 0) f.propose();
    f.commit();
    REQUIRE(f.value() == Approx(changed).epsilon(1e-12));
    f.set_at<1>(2, -0.5); // the commit updated the saved values
    f.commit();
    REQUIRE(f.value() == Approx(first.value()).epsilon(1e-12));
  }
  CHECK(failed > 3);
  CHECK(f.value() == g.value());
  f.set_at<2>(0, moved[0]);
  f.commit();
  CHECK(f.value() == Approx(grouped(indices::copy_of(z), of(x), of(moved))).epsilon(1e-12));
  g.set_at<2>(1, 0.5);
  g.commit();
  allowed = 0;
  f = g;
  allowed = unlimited;
  CHECK(f.value() == g.value());
}
