#include "catch.hpp"

#include <overdub/contexts/count.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/contexts/memoize.hpp>

#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace od = overdub;
using od::i64;
using overdub::contexts::forward;
using overdub::contexts::memoize;

namespace {

constexpr auto fib = od::fn<"fib">([](od::scope auto& cx, auto n) -> decltype(n) {
  return od::if_(
      n < 2, [&] { return n; }, [&] { return cx.self(n - 1) + cx.self(n - 2); });
});
constexpr auto same = od::fn<"same">([](auto x) { return x; });

std::uint64_t bits(double x) {
  std::uint64_t b;
  std::memcpy(&b, &x, sizeof b);
  return b;
}

} // namespace

TEST_CASE("memoize: fib(n) has at most 2n entries for n = 10, ..., 60, and is correct") {
  i64 before = 34, expected = 55; // fib(9), fib(10)
  for (i64 n = 10; n <= 60; ++n) {
    memoize m;
    CHECK(od::run(m, fib, n) == expected);
    CHECK(m.entries <= static_cast<std::size_t>(2 * n));
    CHECK(m.entries == static_cast<std::size_t>(n + 1));
    before = std::exchange(expected, before + expected);
  }
}

TEST_CASE("memoize: a second run has hits only, and clear removes all entries") {
  memoize m;
  od::run(m, fib, i64{30});
  auto const entries = m.entries, hits = m.hits;
  CHECK(od::run(m, fib, i64{30}) == 832040);
  CHECK((m.entries == entries && m.hits == hits + 1));
  m.clear();
  CHECK((m.entries == 0 && m.hits == 0));
  CHECK(od::run(m, fib, i64{30}) == 832040);
  CHECK(m.entries == entries);
}

TEST_CASE("memoize has the result of the function, to the bit, in the first run and later ones") {
  constexpr auto f = od::fn<"f">([](auto x, auto y) { return sin(x) * y + exp(x / 3.0); });
  memoize m;
  for (int round = 0; round < 2; ++round)
    for (double x = -5; x < 5; x += 0.37)
      for (double y : {0.0, -0.0, 1e-310, 0.1, 1e300}) CHECK(bits(od::run(m, f, x, y)) == bits(f(x, y)));
  CHECK(m.hits == m.entries);
}

TEST_CASE("memoize distinguishes 0 and -0, and finds NaN") {
  memoize m;
  CHECK(bits(od::run(m, same, 0.0)) == bits(0.0));
  CHECK(bits(od::run(m, same, -0.0)) == bits(-0.0));
  CHECK(m.entries == 2);
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  for (int i = 0; i < 3; ++i) CHECK(bits(od::run(m, same, nan)) == bits(nan));
  CHECK((m.entries == 3 && m.hits == 2));
}

TEST_CASE("memoize distinguishes functions, and the types of arguments") {
  constexpr auto is_small = od::fn<"is_small">([](auto x) { return x < 2; });
  constexpr auto is_large = od::fn<"is_large">([](auto x) { return x >= 2; });
  memoize m;
  CHECK(od::run(m, is_small, 1.0) == true);
  CHECK(od::run(m, is_large, 1.0) == false);
  // One bit pattern: a small double, a large integer, two floats.
  auto const tiny = 5e-324;
  CHECK(od::run(m, is_small, tiny) == true);
  CHECK(od::run(m, is_small, i64{1} << 52) == false);
  CHECK(bits(2.2250738585072014e-308) == std::uint64_t{1} << 52);
  CHECK(od::run(m, is_small, 2.2250738585072014e-308) == true);
  CHECK(m.entries == 5);
}

TEST_CASE("memoize distinguishes calls with different function objects as arguments") {
  constexpr auto apply = od::fn<"apply">([](auto f, auto x) { return f(x); });
  memoize m;
  CHECK(od::run(m, apply, od::floor, 2.5) == 2.0);
  CHECK(od::run(m, apply, od::ceil, 2.5) == 3.0);
  CHECK(
      od::run(
          m, apply, [](auto x) { return x * x; }, 2.5) == 6.25);
}

TEST_CASE("memoize distinguishes two functions of one type with different captures") {
  auto const times = [](double k) { return od::fn<"times">([k](auto x) { return x * k; }); };
  memoize m;
  CHECK(od::run(m, times(2.0), 10.0) == 20.0);
  CHECK(od::run(m, times(3.0), 10.0) == 30.0);
}

TEST_CASE("memoize compares arrays by their elements and sizes, at every level of a tree") {
  constexpr auto total = od::fn<"total">([](auto x, auto y) { return od::sum(x) - od::sum(y); });
  using array = od::array<double>;
  memoize m;
  CHECK(od::run(m, total, array{1, 2}, array{3}) == 0.0);
  CHECK(od::run(m, total, array{1}, array{2, 3}) == -4.0);
  CHECK(od::run(m, total, array{1, 2, 3}, array{}) == 6.0);
  CHECK(od::run(m, total, array{}, array{1, 2, 3}) == -6.0);
  CHECK((m.entries == 4 && m.hits == 0));
  std::vector<double> const elsewhere{1, 2};
  CHECK(od::run(m, total, array::borrow(elsewhere), array{3}) == 0.0);
  CHECK((m.entries == 4 && m.hits == 1));
}

TEST_CASE("memoize compares vectors of values with their sizes") {
  constexpr auto sizes = od::fn<"sizes">(
      [](auto const& x, auto const& y) { return static_cast<int>(10 * x.size() + y.size()); });
  using vector = std::vector<double>;
  memoize m;
  CHECK(od::run(m, sizes, vector{1, 2}, vector{3}) == 21);
  CHECK(od::run(m, sizes, vector{1}, vector{2, 3}) == 12);
}

TEST_CASE("memoize: if an argument changes after the call, the key has the old elements") {
  constexpr auto total = od::fn<"total">([](auto x) { return od::sum(x); });
  memoize m;
  std::vector<double> data{1, 2, 3};
  CHECK(od::run(m, total, od::array<double>::borrow(data)) == 6.0);
  data[0] = 10;
  CHECK(od::run(m, total, od::array<double>::borrow(data)) == 15.0);
}

TEST_CASE("memoize returns trees and arrays") {
  constexpr auto f =
      od::fn<"f">([](auto x) { return std::tuple(od::map([](auto i) { return i * i; }, x), od::sum(x)); });
  memoize m;
  for (int i = 0; i < 2; ++i) {
    auto const [squares, sum] = od::run(m, f, od::array<int>{1, 2, 3});
    CHECK((squares == od::array<int>{1, 4, 9} && sum == 6));
  }
  CHECK((m.entries == 1 && m.hits == 1));
}

TEST_CASE("memoize keeps results longer than the memory that they were borrowed from") {
  memoize m;
  constexpr auto keep = od::fn<"keep">([](auto xs) { return std::tuple(xs, od::at(xs, 0)); });
  for (int i = 0; i < 3; ++i) {
    auto const data = std::make_unique<std::vector<double>>(1000, 0.5);
    auto const xs = od::array<double>::borrow(*data);
    CHECK(od::run(m, same, xs) == xs);
    CHECK(std::get<0>(od::run(m, keep, xs)) == xs);
  }
  CHECK((m.entries == 2 && m.hits == 4));
}

TEST_CASE("memoize is correct inside of forward, and with numbers of all types") {
  constexpr auto f = od::fn<"f">([](auto x) { return x * x; });
  memoize m;
  for (int i = 0; i < 2; ++i) {
    auto const r = od::run(od::compose(forward{}, m), f, od::tag(3.0, 1.0));
    CHECK((r.inner == 9.0 && r.metadata == 6.0));
    CHECK(od::run(m, f, 3.0f) == 9.0f);
    CHECK(od::run(m, f, 3u) == 9u);
    CHECK(od::run(m, same, true));
    CHECK(od::run(m, same, 'c') == 'c');
    CHECK(od::run(m, f, 3.0L) == 9.0L);
  }
}

TEST_CASE("memoize does not repeat a body, and stores nothing if it throws") {
  int runs = 0;
  auto const tick = od::leaf<"tick">([&runs](double x) {
    ++runs;
    if (x < 0) throw std::runtime_error("negative");
    return x;
  });
  static decltype(tick) const* ticker = nullptr;
  ticker = &tick;
  constexpr auto f = od::fn<"f">([](auto x) { return (*ticker)(x); });
  memoize m;
  for (int i = 0; i < 3; ++i) CHECK(od::run(m, f, 2.0) == 2.0);
  CHECK((runs == 1 && m.entries == 1));
  for (int i = 0; i < 2; ++i) CHECK_THROWS_AS(od::run(m, f, -1.0), std::runtime_error);
  CHECK((runs == 3 && m.entries == 1 && m.hits == 2));
}

TEST_CASE("memoize inside of forward stores derivatives with their directions") {
  memoize m;
  constexpr auto cube = od::fn<"cube">([](auto x) { return x * x * x; });
  for (double direction : {1.0, 2.0, 1.0}) {
    auto const r = od::run(od::compose(forward{}, m), cube, od::tag(2.0, direction));
    CHECK((r.inner == 8.0 && r.metadata == 12.0 * direction));
  }
  CHECK((m.entries == 2 && m.hits == 1));

  constexpr auto fibs = od::fn<"fibs">([](od::scope auto& cx, auto n, auto x) -> decltype(x) {
    return od::if_(
        n < 2, [&] { return x; }, [&] { return cx.self(n - 1, x) + cx.self(n - 2, x); });
  });
  m.clear();
  auto const r = od::run(od::compose(forward{}, m), fibs, i64{40}, od::tag(3.0, 1.0));
  CHECK((r.inner == 3.0 * 165580141 && r.metadata == 165580141));
  CHECK(m.entries == 41);
}

TEST_CASE("memoize can be moved with its entries, and cannot be copied") {
  STATIC_REQUIRE(!std::is_copy_constructible_v<memoize>);
  memoize m;
  od::run(m, same, 1.0);
  memoize moved = std::move(m);
  od::run(moved, same, 1.0);
  CHECK((moved.entries == 1 && moved.hits == 1));
  CHECK(od::run(od::compose(std::move(moved)), same, 1.0) == 1.0);
}

struct scale : od::context {
  double factor;
  explicit scale(double by) : factor(by) {}
  auto overdub(od::mul_t, auto x, auto y) { return x * y * factor; }
};

TEST_CASE("memoize distinguishes two outer contexts of one type with different members") {
  constexpr auto square = od::fn<"square">([](auto x) { return x * x; });
  memoize m;
  CHECK(od::run(od::compose(scale{2}, m), square, 3.0) == 18.0);
  CHECK(od::run(od::compose(scale{3}, m), square, 3.0) == 27.0);
  CHECK(m.entries == 0);

  od::contexts::count c; // hooks do not matter
  for (int i = 0; i < 2; ++i) CHECK(od::run(od::compose(c, m), square, 3.0) == 9.0);
  CHECK((m.entries == 1 && m.hits == 1));
}

constexpr auto squared = od::fn<"squared">([](auto x) { return x * x; });
constexpr auto boxed = od::fn<"boxed">([](auto x) { return std::make_unique<decltype(x)>(squared(x)); });
constexpr auto opened = od::fn<"opened">([](auto x) { return *boxed(x) + 1.0; });

TEST_CASE("memoize returns results that cannot be copied, and does not store them") {
  memoize m;
  CHECK(od::run(m, opened, 3.0) == 10.0);
  CHECK(*od::run(m, boxed, 3.0) == 9.0);
  CHECK((m.entries == 2 && m.hits == 1)); // opened and squared are stored, and squared is a hit
}
