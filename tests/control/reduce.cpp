// reduce, sum and dot: their order of evaluation is specified, and this file has an independent reference.
#include "call/recorder.hpp"
#include "property.hpp"

#include <overdub/contexts/forward.hpp>
#include <overdub/contexts/tag.hpp>

#include <string>
#include <tuple>
#include <vector>

namespace {

using namespace overdub;

struct no_op : context {};

std::vector<double> random_numbers(i64 n) {
  std::vector<double> out;
  for (i64 i = 0; i < n; ++i) out.push_back(between(-1.0, 1.0) * std::exp2(between(-30.0, 30.0)));
  return out;
}
array<double> borrowed_array(std::vector<double> const& v) { return array<double>::borrow(v); }

// Lane j has the sum of the elements j, j + 8, ...; empty lanes are skipped.
struct lane {
  bool empty = true;
  double sum = 0.0;
};
lane operator+(lane a, lane b) {
  if (a.empty) return b;
  if (b.empty) return a;
  return {false, a.sum + b.sum};
}
double eight_lanes(std::vector<double> const& v) {
  lane l[8];
  for (std::size_t i = 0; i < v.size(); ++i) l[i % 8] = l[i % 8] + lane{false, v[i]};
  return (((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7]))).sum;
}

std::string balanced(std::vector<std::string> const& v) {
  if (v.size() == 1) return v[0];
  std::size_t left = 1;
  while (2 * left < v.size()) left *= 2;
  auto const middle = v.begin() + static_cast<std::ptrdiff_t>(left);
  return "(" + balanced({v.begin(), middle}) + balanced({middle, v.end()}) + ")";
}

TEST_CASE("a sum of floating-point numbers uses eight interleaved lanes for every size") {
  property([] {
    for (i64 n = 1; n <= 100; ++n) {
      auto const v = random_numbers(n);
      auto const xs = borrowed_array(v);
      RC_ASSERT(same_bits(sum(xs), eight_lanes(v)));
      RC_ASSERT(same_bits(reduce(add, xs), eight_lanes(v)));
      RC_ASSERT(same_bits(reduce(add, 0.5, xs), 0.5 + eight_lanes(v)));
      RC_ASSERT(same_bits(dot(xs, fill(n, 1.0)), eight_lanes(v)));
    }
  });
}

TEST_CASE("the order of a sum is the same in every context") {
  property([] {
    events list;
    recorder<"A"> a(list);
    auto const v = random_numbers(*rc::gen::inRange<i64>(1, 100));
    auto const xs = borrowed_array(v);
    auto const sums = [](auto x) { return std::tuple{sum(x), reduce(add, x), dot(x, x)}; };
    RC_ASSERT(overdub::run(no_op{}, sums, xs) == sums(xs));
    RC_ASSERT(overdub::run(compose(a, no_op{}), sums, xs) == sums(xs));
  });
}

TEST_CASE("other functions combine in a balanced tree, whose left part is the largest power of two below n") {
  auto const join = [](std::string const& a, std::string const& b) { return "(" + a + b + ")"; };
  std::vector<std::string> v;
  for (int n = 1; n <= 100; ++n) {
    v.push_back(std::to_string(n) + ",");
    CHECK(reduce(join, array<std::string>::copy_of(v)) == balanced(v));
  }
}

TEST_CASE("a product, and an addition of the user's, use the tree") {
  auto const v = std::vector{0.1, 0.2, 0.3, 0.4, 0.5};
  auto const xs = borrowed_array(v);
  CHECK(same_bits(reduce(mul, xs), ((0.1 * 0.2) * (0.3 * 0.4)) * 0.5));
  CHECK(same_bits(reduce([](double a, double b) { return a + b; }, xs), ((0.1 + 0.2) + (0.3 + 0.4)) + 0.5));
}

TEST_CASE("integers are summed exactly, and wrap around") {
  i64 const highest = std::numeric_limits<i64>::max();
  CHECK(sum(iota(i64{1000})) == 499500);
  CHECK(sum(array<i64>{highest, 1, 5}) == std::numeric_limits<i64>::min() + 5);
  CHECK(reduce(max, array<i64>{3, 9, 2}) == 9);
}

TEST_CASE("short integers and bools are summed as C++ adds them, in every context") {
  CHECK(sum(array<bool>{true, true, true}) == 3);
  CHECK(sum(array<unsigned char>{200, 200}) == 400);
  auto const f = [](auto xs) { return sum(xs); };
  CHECK(run(contexts::forward{}, f, array<bool>{true, false, true}).inner == 2);
  CHECK(run(contexts::tag{}, f, array<bool>{true, false, true}).inner == 2);
}

TEST_CASE("an empty array sums to 0, and reduces to the initial element or not at all") {
  CHECK(sum(array<double>{}) == 0.0);
  CHECK(dot(array<double>{}, array<double>{}) == 0.0);
  CHECK(reduce(mul, 7.0, array<double>{}) == 7.0);
  CHECK_THROWS_AS(reduce(mul, array<double>{}), size_error);
  CHECK_THROWS_WITH(
      reduce(mul, array<double>{}), Catch::Contains("empty") && Catch::Contains("reduce(f, initial, array)"));
  CHECK_THROWS_AS(
      overdub::run(
          no_op{}, [](auto xs) { return reduce(mul, xs); }, array<double>{}),
      size_error);
}

TEST_CASE("the initial element is the first operand") {
  auto const join = [](std::string const& a, std::string const& b) { return "(" + a + b + ")"; };
  CHECK(reduce(join, std::string("0"), array<std::string>{"1", "2", "3"}) == "(0((12)3))");
}

TEST_CASE("dot rejects arrays of different sizes") {
  CHECK_THROWS_AS(dot(array<double>{1.0}, array<double>{}), size_error);
}

TEST_CASE("the function of a reduction runs in the context") {
  events list;
  recorder<"A"> a(list);
  constexpr auto combine = fn<"combine">([](auto x, auto y) { return x * y; });
  auto const program = [=](auto xs) { return reduce(combine, xs); };
  CHECK(overdub::run(a, program, array<double>{2.0, 3.0, 4.0}) == 24.0);
  CHECK(list == events{"A reduce", "A combine", "A mul", "A combine", "A mul"});
  CHECK(overdub::run(compose(a, no_op{}), program, array<double>{2.0, 3.0, 4.0}) == 24.0);
}

TEST_CASE("a tree of arrays reduces to a tree") {
  auto const best = [](auto xs) {
    return reduce(
        [](auto p, auto q) {
          return if_(
              std::get<0>(p) < std::get<0>(q), [&] { return q; }, [&] { return p; });
        },
        zip(xs, iota(size(xs))));
  };
  array<double> const xs{3.0, 9.0, 2.0};
  CHECK(best(xs) == std::tuple{9.0, i64{1}});
  CHECK(overdub::run(no_op{}, best, xs) == std::tuple{9.0, i64{1}});
}

} // namespace
