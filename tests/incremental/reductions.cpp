// incremental: reductions other than sums, which are updated along a path of a segment tree.
#include "catch.hpp"
#include "contexts/executors.hpp"

#include <overdub/incremental.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/overdub.hpp>

#include <limits>
#include <string>
#include <vector>

namespace {

namespace od = overdub;
using od::i64;
using numbers = od::array<double>;

// Neither associative nor commutative.
constexpr auto folded = od::fn<"folded">([](auto x, auto start) {
  auto const gaps = od::tabulate(od::size(x) - 1, [&](auto t) { return x[t + 1] - 0.5 * x[t]; });
  return od::reduce([](auto a, auto b) { return 0.75 * a - b; }, start, gaps);
});
constexpr auto highest = od::fn<"highest">([](auto x) { return od::reduce(od::max, x); });
constexpr auto product = od::fn<"product">(
    [](auto x) { return od::reduce(od::mul, 1.0, od::map([](auto e) { return 1.0 + 0.1 * e; }, x)); });
constexpr auto everywhere = od::fn<"everywhere">([](auto x, auto most) {
  return od::reduce(
      [](auto a, auto b) { return a && b; }, true, od::map([&](auto e) { return e < most; }, x));
});

std::vector<double> wave(i64 n) {
  std::vector<double> all;
  for (i64 k = 0; k < n; ++k) all.push_back(static_cast<double>((k * 37 + 11) % 64) / 8 - 4);
  return all;
}

} // namespace

TEST_CASE("updated reductions of any length and function equal those of a new run, to the bit") {
  for (od::compile_options const& o : executors())
    for (i64 const n : {1, 2, 3, 4, 5, 7, 8, 9, 16, 21, 33}) {
      numbers x = numbers::copy_of(wave(n));
      auto f = od::incremental(o, folded, x, 0.25);
      auto h = od::incremental(o, highest, x);
      auto p = od::incremental(o, product, x);
      for (i64 k = 0; k < 3 * n; ++k) {
        i64 const i = k * 5 % n;
        double const e = static_cast<double>(k * 29 % 128) / 16 - 4;
        f.set_at<0>(i, e);
        h.set_at<0>(i, e);
        p.set_at<0>(i, e);
        if (k % 4 == 1) {
          f.propose(), h.propose(), p.propose();
          f.rollback(), h.rollback(), p.rollback();
          continue;
        }
        x = od::update(x, i, e);
        if (k % 5 == 0 && n > 2) { // two at once, on paths that meet
          i64 const other = (i + 2) % n;
          f.set_at<0>(other, e + 1);
          h.set_at<0>(other, e + 1);
          p.set_at<0>(other, e + 1);
          x = od::update(x, other, e + 1);
        }
        f.commit(), h.commit(), p.commit();
        INFO(n << " elements, update " << k);
        REQUIRE(f.value() == folded(x, 0.25));
        REQUIRE(h.value() == highest(x));
        REQUIRE(p.value() == product(x));
      }
      f.set<1>(2.0); // the initial value
      f.commit();
      CHECK(f.value() == folded(x, 2.0));
    }
}

TEST_CASE("explain says which reductions are updated along a path") {
  auto h = od::incremental(highest, numbers::copy_of(wave(1000)));
  h.set_at<0>(500, 100.0);
  h.propose();
  CHECK(h.explain() == "%1 = reduce: updated along a path of its tree\n0 other operations\n");
  CHECK(h.difference() == 100.0 - h.value());
  auto const& programs = h.program().update_programs();
  auto saved = programs.variables();
  auto const update = od::increments::make_update_program(
      programs.program(), programs.program().entry, saved, {{.elements = 1, .indices = 1}});
  CHECK(od::ir::print(update.program).find("update") == std::string::npos); // no copy of all elements
  h.commit();
  h.set_at<0>(500, std::numeric_limits<double>::quiet_NaN());
  h.commit();
  CHECK(
      h.value() ==
      highest(od::update(numbers::copy_of(wave(1000)), 500, std::numeric_limits<double>::quiet_NaN())));

  auto all = od::incremental(everywhere, numbers::copy_of(wave(100)), 5.0);
  CHECK(all.value());
  all.set_at<0>(50, 7.0);
  CHECK_FALSE(all.propose());
  CHECK(all.explain().find("= reduce: updated along a path of its tree\n") != std::string::npos);
  all.commit();
  all.set<1>(8.0);
  CHECK(all.propose());
  CHECK(
      all.explain().find("= reduce: recomputed in full, since all elements may have changed\n") !=
      std::string::npos);
  all.commit();
  all.set_at<0>(50, 9.0);
  CHECK_FALSE(all.propose());
}

TEST_CASE("reductions of empty arrays are their initial values") {
  auto f = od::incremental(folded, numbers{1.0}, 0.5);
  f.set_at<0>(0, 2.0);
  CHECK(f.propose() == 0.5);
  f.set<1>(0.75);
  CHECK(f.propose() == 0.75);
  f.commit();
  f.append<0>(3.0);
  f.commit();
  CHECK(f.value() == folded(numbers{2.0, 3.0}, 0.75));
}
