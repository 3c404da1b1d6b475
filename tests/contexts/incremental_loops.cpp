// incremental: loops in maps, as series of many individuals are, run from the change on in their turn.
#include "catch.hpp"
#include "contexts/executors.hpp"

#include <overdub/contexts/incremental.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/overdub.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace {

namespace od = overdub;
namespace oc = overdub::contexts;
using od::i64;
using numbers = od::array<double>;
using rows = od::array<numbers>;

// Of each row the sum of what is carried over it, which begins with a number of the row's own; and what is carried at its end.
constexpr auto panel = od::fn<"panel">([](auto x, auto starts, auto by) {
  return od::sum(od::map(
      [&](auto row, auto start) {
        auto const [last, states] = od::scan(
            [&](auto s, auto e) {
              auto const next = od::floor(by * s + e);
              return std::pair(next, next * e);
            },
            start, row);
        return last + 0.25 * od::sum(states);
      },
      x, starts));
});

rows of(std::vector<std::vector<double>> const& x) {
  std::vector<numbers> all;
  for (auto const& row : x) all.push_back(numbers::copy_of(row));
  return rows::copy_of(all);
}
bool has(std::string const& text, char const* what) { return text.find(what) != text.npos; }

} // namespace

TEST_CASE("a loop in a map runs from the change on, in its turn, and stops where it agrees") {
  for (od::compile_options const& o : executors()) {
    std::vector<std::vector<double>> x(7, std::vector<double>(40));
    std::vector<double> starts(7);
    for (std::size_t i = 0; i < x.size(); ++i)
      for (std::size_t t = 0; t < x[i].size(); ++t) x[i][t] = static_cast<double>((i * 13 + t * 7) % 11) / 4;
    auto f = oc::incremental(o, panel, of(x), numbers::copy_of(starts), 0.5);
    for (std::size_t k = 0; k < 60; ++k) {
      std::size_t const i = k * 3 % x.size(), t = k * 17 % x[i].size();
      double const e = static_cast<double>(k * 5 % 23) / 4;
      f.set_at<0>(i, t, e);
      f.propose();
      std::string const ran = f.explain();
      if (ran != "nothing ran\n") {
        CHECK(has(ran, "loop: from the first turn that changed on"));
        CHECK_FALSE(has(ran, "all of it"));
      }
      if (k % 3 == 0) {
        f.rollback();
        continue;
      }
      f.commit();
      x[i][t] = e;
      if (k % 4 == 0) { // what a row begins with
        starts[i] = e - 1;
        f.set_at<1>(i, e - 1);
        f.commit();
      }
      INFO("update " << k);
      REQUIRE(f.value() == Approx(panel(of(x), numbers::copy_of(starts), 0.5)).epsilon(1e-13));
    }
    // Nothing in it goes over all turns.
    auto const& slices = f.program().all_slices();
    auto kept = slices.variables();
    std::string const text = od::ir::print(
        oc::increments::slice_of(
            slices.program(), slices.program().entry, kept, {{.places = 1, .indices = 2}, {}, {}})
            .program);
    CHECK(has(text, " while "));
    CHECK_FALSE(has(text, " loop "));
    f.set<2>(0.25); // what all use
    f.commit();
    CHECK(f.value() == Approx(panel(of(x), numbers::copy_of(starts), 0.25)).epsilon(1e-13));
  }
}

TEST_CASE("rows come with their loops, and two of them change at once") {
  std::vector<std::vector<double>> x{{1, 2, 3}, {4, 5, 6}};
  std::vector<double> starts{0.5, 0.25};
  auto f = oc::incremental(panel, of(x), numbers::copy_of(starts), 0.5);
  auto const check = [&] { CHECK(f.value() == Approx(panel(of(x), numbers::copy_of(starts), 0.5))); };
  f.append<0>(numbers{7, 8, 9});
  f.append<1>(2.0);
  f.commit();
  x.push_back({7, 8, 9});
  starts.push_back(2.0);
  check();
  f.set_at<0>(2, 1, -8.0);
  f.set_at<0>(0, 2, 3.5);
  f.propose();
  CHECK_FALSE(has(f.explain(), "all of it"));
  f.commit();
  x[2][1] = -8;
  x[0][2] = 3.5;
  check();
}
