// if_: contexts intercept its branches.
#include "call/recorder.hpp"
#include "catch.hpp"

#include <tuple>

namespace {

using namespace overdub;

constexpr auto magnitude = fn<"magnitude">([](auto x) {
  return if_(
      x < 0.0, [&] { return -x; }, [&] { return square(x); });
});

TEST_CASE("only the branch that is taken runs, in the context") {
  events list;
  recorder<"A"> a(list);
  CHECK(overdub::run(a, magnitude, -3.0) == 3.0);
  CHECK(list == events{"A magnitude", "A lt", "A if", "A neg"});
  list.clear();
  CHECK(overdub::run(a, magnitude, 3.0) == 9.0);
  CHECK(list == events{"A magnitude", "A lt", "A if", "A square", "A mul"});
}

TEST_CASE("in a composition each context observes the branch, and the calls in it") {
  events list;
  recorder<"A"> a(list);
  recorder<"B"> b(list);
  CHECK(overdub::run(compose(a, b), magnitude, -3.0) == 3.0);
  CHECK(list == events{"A magnitude", "B magnitude.A", "A lt", "B lt", "A if", "B if", "A neg", "B neg"});
}

TEST_CASE("a constant in one branch is lifted when the condition is a value") {
  events list;
  recorder<"A"> a(list);
  auto const relu = [](auto x) {
    return if_(
        x > 0.0, [&] { return x; }, [] { return 0.0; });
  };
  CHECK(overdub::run(a, relu, 2.0) == 2.0);
  CHECK(overdub::run(compose(a, a), relu, -2.0) == 0.0);
  auto const both = [](auto x) {
    return if_(
               x > 0.0, [] { return 1.0; }, [] { return -1.0; }) *
           x;
  };
  CHECK(overdub::run(compose(a, a), both, -2.0) == 2.0);
}

TEST_CASE("branches may return trees, with constants among the leaves") {
  events list;
  recorder<"A"> a(list);
  auto const split = [](auto x) {
    return if_(
        x > 0.0,
        [&] {
          return std::tuple{x, 0.0, i64{1}};
        },
        [&] {
          return std::tuple{0.0, -x, i64{2}};
        });
  };
  CHECK(overdub::run(a, split, 2.0) == std::tuple{2.0, 0.0, i64{1}});
  CHECK(overdub::run(compose(a, a), split, -2.0) == std::tuple{0.0, 2.0, i64{2}});
}

TEST_CASE("branches nest") {
  events list;
  recorder<"A"> a(list);
  auto const sign = [](auto x) {
    return if_(
        x > 0.0, [] { return 1.0; },
        [&] {
          return if_(
              x < 0.0, [] { return -1.0; }, [&] { return x; });
        });
  };
  CHECK(overdub::run(compose(a, a), sign, 5.0) == 1.0);
  CHECK(overdub::run(compose(a, a), sign, -5.0) == -1.0);
  CHECK(overdub::run(compose(a, a), sign, 0.0) == 0.0);
  CHECK(sign(-5.0) == -1.0);
}

TEST_CASE("a plain condition selects one of two branches of one type, and no context observes it") {
  events list;
  recorder<"A"> a(list);
  auto const program = [](auto x) {
    bool const flag = true;
    return if_(
        flag, [&] { return x + 1.0; }, [&] { return x; });
  };
  CHECK(overdub::run(a, program, 2.0) == 3.0);
  CHECK(list == events{"A add"});
}

TEST_CASE("hooks observe an exception that leaves a branch") {
  events list;
  end_recorder<"A"> a(list);
  auto const program = [](auto xs) {
    return if_(
        xs[0] > 0.0, [&] { return xs[9]; }, [&] { return xs[0]; });
  };
  CHECK_THROWS_AS(overdub::run(a, program, array<double>{1.0}), index_error);
  CHECK(list == events{"A after at", "A after gt", "A failed at", "A failed if"});
}

} // namespace
