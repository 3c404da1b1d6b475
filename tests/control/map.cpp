// map applies a function to the elements of arrays: contexts observe one call, and the calls inside.
#include "call/recorder.hpp"
#include "catch.hpp"

#include <string>
#include <tuple>
#include <utility>

namespace {

using namespace overdub;

struct no_op : context {};
array<double> const xs{1.0, 2.0, 3.0};

TEST_CASE("map applies a function to the elements of one or more arrays") {
  CHECK(map([](double x) { return 2.0 * x; }, xs) == array<double>{2.0, 4.0, 6.0});
  CHECK(map(add, xs, array<double>{10.0, 20.0, 30.0}) == array<double>{11.0, 22.0, 33.0});
  CHECK(map(convert<i64>, xs) == array<i64>{1, 2, 3});
  CHECK(map([](double x) { return x; }, array<double>{}).empty());
}

TEST_CASE("map rejects arrays of different sizes, and the error has both sizes") {
  CHECK_THROWS_AS(map(add, xs, array<double>{1.0}), size_error);
  CHECK_THROWS_WITH(map(add, xs, array<double>{1.0}), Catch::Contains("3") && Catch::Contains("1"));
}

TEST_CASE("each context observes the calls of a map's function in order") {
  events list;
  recorder<"A"> a(list);
  recorder<"B"> b(list);
  auto const program = [](auto v) { return map(square, v); };
  CHECK(overdub::run(a, program, array<double>{1.0, 2.0}) == array<double>{1.0, 4.0});
  CHECK(list == events{"A map", "A square", "A mul", "A square", "A mul"});
  list.clear();
  overdub::run(compose(a, b), program, array<double>{1.0});
  CHECK(list == events{"A map", "B map", "A square", "B square.A", "A mul", "B mul"});
}

TEST_CASE("a map's function may capture values, and return a constant") {
  auto const shift = [](auto v, auto x) { return map([&](auto e) { return e + x; }, v); };
  events list;
  recorder<"A"> a(list);
  CHECK(overdub::run(compose(a, no_op{}), shift, xs, 10.0) == array<double>{11.0, 12.0, 13.0});
  CHECK(
      overdub::run(
          a, [](auto v) { return map([](auto) { return 1.0; }, v); }, xs) == array<double>{1.0, 1.0, 1.0});
}

TEST_CASE("contexts observe a map over plain indices through the scope") {
  events list;
  recorder<"A"> a(list);
  auto const program = [](scope auto& cx, auto v) {
    return cx(
        map, [&](auto i) { return v[i]; }, iota(i64{2}));
  };
  CHECK(overdub::run(a, program, xs) == array<double>{1.0, 2.0});
  CHECK(list == events{"A map", "A at", "A at"});
}

TEST_CASE("if the function returns a tree, map returns a tree of arrays") {
  auto const split = [](auto v) {
    return map([](auto x) { return std::tuple{x, std::pair{x * x, x > 1.5}}; }, v);
  };
  auto const expected =
      std::tuple{xs, std::pair{array<double>{1.0, 4.0, 9.0}, array<bool>{false, true, true}}};
  CHECK(split(xs) == expected);
  CHECK(overdub::run(no_op{}, split, xs) == expected);
  CHECK(overdub::run(compose(no_op{}, no_op{}), split, xs) == expected);
}

TEST_CASE("map passes a tree to the function for each element of a tree of arrays") {
  auto const products = [](auto v, auto w) {
    return map([](auto e) { return std::get<0>(e) * std::get<1>(e); }, zip(v, w));
  };
  CHECK(products(xs, xs) == array<double>{1.0, 4.0, 9.0});
  CHECK(overdub::run(compose(no_op{}, no_op{}), products, xs, xs) == array<double>{1.0, 4.0, 9.0});
}

TEST_CASE("nested maps run in the contexts of the values that they use") {
  auto const sums = [](auto v) {
    return map([&](auto x) { return sum(map([&](auto y) { return x * y; }, v)); }, v);
  };
  events list;
  recorder<"A"> a(list);
  CHECK(sums(xs) == array<double>{6.0, 12.0, 18.0});
  CHECK(overdub::run(compose(a, no_op{}), sums, xs) == array<double>{6.0, 12.0, 18.0});
}

TEST_CASE("elements may be of any type, and an exception destroys the elements that were constructed") {
  array<std::string> const words{
      "a string that is too long for the small buffer", "short", "the third of them all"};
  CHECK(map([](std::string const& s) { return s + "!"; }, words)[1] == "short!");
  auto const fails_late = [](std::string const& s) {
    if (s == "the third of them all") throw std::runtime_error("third");
    return s + " and a tail that makes it long enough to be allocated";
  };
  CHECK_THROWS_WITH(map(fails_late, words), "third");
  auto const as_tree = [&](std::string const& s) { return std::tuple{s, fails_late(s)}; };
  CHECK_THROWS_WITH(map(as_tree, words), "third");
}

} // namespace
