// loop, while_ and scan: loop-carried values in contexts.
#include "call/recorder.hpp"
#include "catch.hpp"

#include <tuple>
#include <utility>

namespace {

using namespace overdub;

struct no_op : context {};
struct marking : context {
  template <class T>
  using metadata = int;
  int constant(auto const&) { return 0; }
  auto overdub(elementwise auto f, auto... x) { return tag(f(x.inner...), (x.metadata + ...)); }
};

constexpr auto power =
    fn<"power">([](auto x, auto n) { return loop(n, x, [&](auto, auto state) { return state * x; }); });

TEST_CASE("loop runs its body n times, with the index and the loop-carried value") {
  CHECK(loop(i64{4}, i64{0}, [](i64 i, i64 state) { return state * 10 + i; }) == 123);
  CHECK(loop(i64{0}, 7.0, [](i64, double x) { return x + 1.0; }) == 7.0);
  CHECK(loop(i64{-3}, 7.0, [](i64, double x) { return x + 1.0; }) == 7.0);
}

TEST_CASE("a loop is one call, and each context observes the calls of its body") {
  events list;
  recorder<"A"> a(list);
  recorder<"B"> b(list);
  CHECK(
      overdub::run(
          a, [](auto x) { return power(x, i64{2}); }, 2.0) == 8.0);
  CHECK(list == events{"A power", "A loop", "A mul", "A mul"});
  list.clear();
  CHECK(
      overdub::run(
          compose(a, b), [](auto x) { return power(x, i64{2}); }, 2.0) == 8.0);
  CHECK(list == events{"A power", "B power.A", "A loop", "B loop", "A mul", "B mul", "A mul", "B mul"});
}

// Integers, numbers, an array and a tuple are loop-carried.
constexpr auto mixed = fn<"mixed">([](auto x, auto n) {
  auto start = std::tuple{i64{1}, x, fill(n, 0.0), std::pair{x, true}};
  return loop(n, start, [&](auto i, auto state) {
    auto [count, sum, history, pair] = state;
    auto next = sum + pair.first * x;
    return std::tuple{
        count + i, next, update(std::move(history), i, next), std::pair{pair.first + 1.0, !pair.second}};
  });
});

TEST_CASE("loop-carried integers, numbers, arrays and tuples work in any composition") {
  auto const expected = std::tuple{i64{4}, 20.0, array<double>{6.0, 12.0, 20.0}, std::pair{5.0, false}};
  CHECK(mixed(2.0, i64{3}) == expected);
  CHECK(overdub::run(no_op{}, mixed, 2.0, i64{3}) == expected);
  events list;
  recorder<"A"> a(list);
  CHECK(overdub::run(compose(a, no_op{}, a), mixed, 2.0, i64{3}) == expected);
  auto const marked = overdub::run(compose(no_op{}, marking{}, a), mixed, tag(2.0, 1), i64{3});
  CHECK(std::get<1>(marked).inner == 20.0);
  CHECK(std::get<2>(marked).metadata.size() == 3);
}

TEST_CASE("metadata is loop-carried with its value") {
  // After each iteration: the metadata of the loop-carried value, plus that of x.
  auto const r = overdub::run(marking{}, power, tag(2.0, 1), i64{5});
  CHECK(r.inner == 64.0);
  CHECK(r.metadata == 6);
}

TEST_CASE("an inner loop may use the loop-carried value and the index of the outer one") {
  auto const triangle = [](auto x) {
    return loop(i64{4}, x, [&](auto i, auto outer) {
      return loop(i, outer, [&](auto j, auto inner) { return inner + x * convert<double>(j); });
    });
  };
  events list;
  recorder<"A"> a(list);
  CHECK(triangle(1.0) == 5.0);
  CHECK(overdub::run(compose(a, no_op{}), triangle, 1.0) == 5.0);
}

constexpr auto halvings = fn<"halvings">([](auto x) {
  return while_(
      std::tuple{x, i64{0}}, [](auto const& s) { return std::get<0>(s) > 1.0; },
      [](auto s) {
        return std::tuple{std::get<0>(s) / 2.0, std::get<1>(s) + i64{1}};
      });
});

TEST_CASE("while_ runs while its condition holds, and contexts observe the condition, too") {
  events list;
  recorder<"A"> a(list);
  recorder<"B"> b(list);
  CHECK(halvings(10.0) == std::tuple{0.625, i64{4}});
  CHECK(overdub::run(a, halvings, 2.0) == std::tuple{1.0, i64{1}});
  // The two calls of the body are arguments of one braced initialiser: they run from left to right.
  CHECK(list == events{"A halvings", "A while", "A gt", "A div", "A add", "A gt"});
  CHECK(overdub::run(compose(a, b), halvings, 10.0) == std::tuple{0.625, i64{4}});
  auto const r = overdub::run(marking{}, halvings, tag(10.0, 3));
  CHECK(std::get<0>(r).metadata == 3);
  CHECK(std::get<1>(r).inner == 4);
}

constexpr auto running_sums = fn<"running_sums">([](auto start, auto xs) {
  return scan(
      [](auto sum, auto x) {
        auto next = sum + x;
        return std::tuple{next, next * 10.0};
      },
      start, xs);
});

TEST_CASE("scan returns the final loop-carried value and the array of outputs") {
  array<double> const xs{1.0, 2.0, 3.0};
  auto const expected = std::tuple{6.5, array<double>{15.0, 35.0, 65.0}};
  CHECK(running_sums(0.5, xs) == expected);
  CHECK(overdub::run(no_op{}, running_sums, 0.5, xs) == expected);
  events list;
  recorder<"A"> a(list);
  CHECK(overdub::run(compose(a, no_op{}), running_sums, 0.5, xs) == expected);
  CHECK(list.size() == 8);
  CHECK(running_sums(0.5, array<double>{}) == std::tuple{0.5, array<double>{}});
}

TEST_CASE("scan passes metadata along the array") {
  array<double> const xs{1.0, 2.0, 3.0};
  auto const [last, outputs] =
      overdub::run(marking{}, running_sums, tag(0.5, 100), tag(xs, array<int>{1, 2, 3}));
  CHECK(last.metadata == 106);
  CHECK(outputs.metadata == array<int>{101, 103, 106});
}

TEST_CASE("contexts observe loops over plain numbers that are called through the scope") {
  events list;
  recorder<"A"> a(list);
  auto const program = [](scope auto& cx, auto x) {
    return cx(loop, i64{2}, 0.0, [&](auto, auto sum) { return sum + x; });
  };
  CHECK(overdub::run(a, program, 4.0) == 8.0);
  CHECK(list == events{"A loop", "A add", "A add"});
}

TEST_CASE("an exception ends a loop in the iteration that throws it") {
  events list;
  full_recorder<"A"> a(list);
  auto const program = [](auto xs) {
    return loop(i64{5}, xs[0], [&](auto i, auto sum) {
      auto x = xs[i];
      return sum + x;
    });
  };
  CHECK_THROWS_WITH(
      overdub::run(a, program, array<double>{1.0, 2.0}),
      Catch::Contains("index 2") && Catch::Contains("size 2"));
  CHECK(events(list.end() - 2, list.end()) == events{"A failed at", "A failed loop"});
}

} // namespace
