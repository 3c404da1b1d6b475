// Metadata in containers, structs and conversions stays with the number that it belongs to.
#include "catch.hpp"

#include <overdub/contexts/count.hpp>
#include <overdub/contexts/forward.hpp>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>
#include <vector>

namespace od = overdub;
using od::i64;
using overdub::contexts::forward;
using overdub::contexts::forward_along;
using overdub::contexts::tangents;

namespace {

template <class F, class... X>
auto derived(F const& f, X const&... x) {
  return od::run(forward{}, f, x...);
}
auto along(double x, double direction) { return od::tag(x, direction); }

} // namespace

TEST_CASE("metadata survives construction, copies, assignment, moves and swaps of values") {
  auto const f = od::fn<"f">([](auto x, auto y) {
    auto a = x;
    auto b(y);
    a = b;
    b = x * 2.0;
    auto c = std::move(b);
    std::swap(a, c);
    a += c;
    a *= y;
    return a; // (2x + y) y
  });
  auto const r = derived(f, along(3.0, 1.0), along(5.0, 10.0));
  CHECK((r.inner == 55.0 && r.metadata == 2.0 * 5.0 + 10.0 * (6.0 + 2 * 5.0)));
}

TEST_CASE("metadata survives arrays, vectors, pairs and tuples, constructed in a body or passed to it") {
  auto const f = od::fn<"f">([](auto xs, auto ys, auto p) {
    std::vector<decltype(p.first)> made{xs[0] * ys[1], p.first};
    made.push_back(xs[1] + std::get<1>(p.second));
    made.insert(made.begin(), ys[0]);
    std::array const both{made[3], made[1]};
    return std::tuple(made, both, std::pair(made[2], ys.size()));
  });
  auto const [made, both, pair] = derived(
      f, std::array{along(2.0, 1.0), along(3.0, 2.0)}, std::vector{along(5.0, 3.0), along(7.0, 4.0)},
      std::pair(along(11.0, 5.0), std::tuple(0, along(13.0, 6.0))));
  REQUIRE(made.size() == 4);
  CHECK((made[0].inner == 5.0 && made[0].metadata == 3.0));
  CHECK((made[1].inner == 14.0 && made[1].metadata == 1.0 * 7.0 + 2.0 * 4.0));
  CHECK((made[2].inner == 11.0 && made[2].metadata == 5.0));
  CHECK((made[3].inner == 16.0 && made[3].metadata == 8.0));
  CHECK((both[0].metadata == 8.0 && both[1].metadata == made[1].metadata));
  CHECK((pair.first.metadata == 5.0 && pair.second.inner == 2));
}

TEST_CASE("metadata passes through functions that take and return containers of many elements") {
  auto const scaled = od::fn<"scaled">([](auto xs, auto by) {
    for (auto& x : xs) x = x * by;
    return xs;
  });
  auto const f = od::fn<"f">([scaled](auto xs, auto by) { return scaled(scaled(xs, by), 2.0); });
  std::vector<od::tagged<double, double>> xs;
  for (int i = 0; i < 100; ++i) xs.push_back(along(i, i % 3));
  auto const r = derived(f, xs, along(3.0, 1.0));
  REQUIRE(r.size() == 100);
  for (std::size_t i = 0; i < 100; ++i) {
    CHECK(r[i].inner == xs[i].inner * 6.0);
    CHECK(r[i].metadata == xs[i].metadata * 6.0 + xs[i].inner * 2.0);
  }
  CHECK(derived(f, std::vector<od::tagged<double, double>>{}, along(3.0, 1.0)).empty());
  CHECK(derived(f, std::array<od::tagged<double, double>, 1>{along(2.0, 1.0)}, 3.0)[0].metadata == 6.0);
}

TEST_CASE("an empty vector can be passed with other values, also in a context with state") {
  auto const count_all =
      od::fn<"count_all">([](auto const& xs, auto x) { return x + static_cast<double>(xs.size()); });
  auto const f = od::fn<"f">([count_all](auto xs, auto x) { return count_all(xs, x) + count_all(xs, x); });
  overdub::contexts::count c;
  CHECK(od::run(c, f, std::vector<double>{}, 3.0) == 6.0);
  CHECK((c.functions == 3 && c.primitives == 3));
}

TEST_CASE("metadata survives containers that are loop-carried or the result of if_") {
  auto const f = od::fn<"f">([](auto x, auto y) {
    auto const fibonacci = od::loop(5, std::array{x, y}, [](auto, auto s) {
      return std::array{s[1], s[0] + s[1]};
    });
    return od::if_(
        x < y, [&] { return std::pair(fibonacci[0], x); }, [&] { return std::pair(y, x); });
  });
  auto const r = derived(f, along(1.0, 1.0), along(2.0, 100.0));
  CHECK((r.first.inner == 13.0 && r.first.metadata == 3.0 + 500.0 && r.second.metadata == 1.0));
}

TEST_CASE(
    "metadata survives conversions between floating-point types, and is dropped by conversions to integers") {
  auto const f = od::fn<"f">([](auto x) {
    auto const as_float = od::convert<float>(x);
    return std::tuple(od::convert<double>(as_float) * 2.0, od::convert<i64>(x), as_float);
  });
  auto const [twice, whole, single] = derived(f, along(2.75, 3.0));
  CHECK((twice.inner == 5.5 && twice.metadata == 6.0));
  CHECK(single.metadata == 3.0f);
  CHECK(whole.inner == 2);
}

TEST_CASE("containers of values work in nested runs, and with tangents in several directions") {
  auto const f = od::fn<"f">([](auto x, auto y) {
    auto const last = od::loop(3, std::array{x, y}, [](auto, auto s) {
      return std::array{s[0] * s[1], s[1]};
    });
    return last[0]; // x y^3
  });
  auto const gradient = od::run(
      forward_along<2>{}, f, od::tag(2.0, tangents<double, 2>{1, 0}),
      od::tag(3.0, tangents<double, 2>{0, 1}));
  CHECK((gradient.metadata == tangents<double, 2>{27, 54}));

  auto const by_x = od::fn<"by_x">([f](auto x, auto y) { return derived(f, od::tag(x, 1.0), y).metadata; });
  auto const along_y = derived(by_x, 2.0, along(3.0, 1.0));
  CHECK((along_y.inner == 27.0 && along_y.metadata == 27.0));
  auto const along_x = derived(by_x, along(2.0, 1.0), 3.0);
  CHECK((along_x.inner == 27.0 && along_x.metadata == 0.0));
}

TEST_CASE("zip, fill and std::array results keep metadata in a context that has it") {
  auto const f = od::fn<"f">([](auto xs, auto ys, auto z) {
    auto const [x, y] = od::at(od::zip(xs, ys), 1);
    auto const products = od::map([](auto e) { return std::get<0>(e) * std::get<1>(e); }, od::zip(xs, ys));
    return std::tuple(x, y, od::sum(products), od::sum(od::fill(3, z)));
  });
  od::array<double> const xs{1, 2}, ys{3, 4}, dx{10, 20};
  auto const [x, y, dot, filled] = derived(f, od::tag(xs, dx), ys, along(7.0, 2.0));
  CHECK((x.inner == 2.0 && x.metadata == 20.0));
  CHECK((y.inner == 4.0 && y.metadata == 0.0));
  CHECK((dot.inner == 11.0 && dot.metadata == 110.0));
  CHECK((filled.inner == 21.0 && filled.metadata == 6.0));
}

TEST_CASE(
    "contexts observe the comparisons of standard sorting algorithms, and metadata stays with its number") {
  auto const median = od::fn<"median">([](auto x, auto y, auto z) {
    std::vector v{x, y, z};
    std::sort(v.begin(), v.end());
    std::ranges::nth_element(v, v.begin() + 1);
    return *std::max_element(v.begin(), v.begin() + 2);
  });
  auto const d = od::run(forward{}, median, od::tag(3.0, 1.0), 4.0, 2.0);
  CHECK((d.inner == 3.0 && d.metadata == 1.0));
  od::contexts::count counted;
  CHECK(od::run(counted, median, 3.0, 1.0, 2.0) == 2.0);
  CHECK(counted.primitives >= 3);
}
