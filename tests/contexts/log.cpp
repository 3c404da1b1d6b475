#include "catch.hpp"

#include <overdub/contexts/count.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/contexts/log.hpp>

#include <array>
#include <limits>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace od = overdub;
using overdub::contexts::count;
using overdub::contexts::forward;

namespace {

template <class F, class... X>
std::string logged(F const& f, X const&... x) {
  std::ostringstream out;
  overdub::contexts::log log(out);
  od::run(log, f, x...);
  return out.str();
}

constexpr auto square = od::fn<"square">([](auto x) { return x * x; });
constexpr auto norm = od::fn<"norm">([](auto x, auto y) {
  auto const xx = square(x);
  auto const yy = square(y);
  return sqrt(xx + yy);
});

} // namespace

TEST_CASE("log writes the calls of a program as a tree") {
  CHECK(logged(norm, 3.0, 4.0) == R"(norm(3, 4)
  square(3)
    mul(3, 3) = 9
  = 9
  square(4)
    mul(4, 4) = 16
  = 16
  add(9, 16) = 25
  sqrt(25) = 5
= 5
)");
}

TEST_CASE("log writes a function without calls in one line, and several runs in sequence") {
  auto const same = od::fn<"same">([](auto x) { return x; });
  std::ostringstream out;
  overdub::contexts::log log(out);
  od::run(log, same, 1.5);
  od::run(log, square, 2);
  CHECK(out.str() == "same(1.5) = 1.5\nsquare(2)\n  mul(2, 2) = 4\n= 4\n");
}

TEST_CASE("log writes booleans, integers, floats and special numbers") {
  auto const positive = od::fn<"positive">([](auto x) { return x > 0; });
  constexpr double inf = std::numeric_limits<double>::infinity();
  CHECK(logged(positive, 2) == "positive(2)\n  gt(2, 0) = true\n= true\n");
  auto const negate = od::fn<"negate">([](auto x) { return -x; });
  CHECK(logged(negate, 7L) == "negate(7)\n  neg(7) = -7\n= -7\n");
  CHECK(logged(negate, 0.1f) == "negate(0.1)\n  neg(0.1) = -0.1\n= -0.1\n");
  CHECK(logged(negate, inf) == "negate(inf)\n  neg(inf) = -inf\n= -inf\n");
  CHECK(logged(negate, 0.0) == "negate(0)\n  neg(0) = -0\n= -0\n");
}

TEST_CASE("log writes NaN without a sign, since compilers differ in the sign") {
  auto const same = od::fn<"same">([](auto x) { return x; });
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(logged(same, nan) == "same(nan) = nan\n");
  CHECK(logged(same, -nan) == "same(nan) = nan\n");
}

TEST_CASE("log writes arrays up to four elements, tuples, and arrays in tuples") {
  auto const first = od::fn<"first">([](auto xs, auto) { return od::at(xs, 0); });
  CHECK(
      logged(first, od::array<double>{1, 2}, std::tuple(1, std::tuple(2.5, false))) ==
      "first([1, 2], {1, {2.5, false}})\n  at([1, 2], 0) = 1\n= 1\n");
  CHECK(
      logged(first, od::array<double>{1, 2, 3, 4}, std::tuple()) ==
      "first([1, 2, 3, 4], {})\n  at([1, 2, 3, 4], 0) = 1\n= 1\n");
  CHECK(
      logged(first, od::array<bool>{true, false, true, false, true}, 0) ==
      "first([true, false, true, false, ... 5 elements], 0)\n"
      "  at([true, false, true, false, ... 5 elements], 0) = true\n= true\n");
  auto const count_elements = od::fn<"count_elements">([](auto xs) { return od::size(xs); });
  CHECK(logged(count_elements, od::array<int>{}) == "count_elements([])\n  size([]) = 0\n= 0\n");
}

TEST_CASE("log writes std::array, std::vector and std::pair by their elements") {
  auto const same = od::fn<"same">([](auto x) { return x; });
  CHECK(logged(same, std::array{1, 2, 3}) == "same([1, 2, 3]) = [1, 2, 3]\n");
  CHECK(logged(same, std::vector{1.5, 2.5}) == "same([1.5, 2.5]) = [1.5, 2.5]\n");
  CHECK(logged(same, std::pair(1, 2.5)) == "same({1, 2.5}) = {1, 2.5}\n");
  CHECK(logged(same, std::string("text")) == "same(text) = text\n");
}

TEST_CASE(
    "log writes functions by name and other callables by a description: the same under every compiler") {
  auto const apply = od::fn<"apply">([](auto f, auto x) { return f(x); });
  CHECK(logged(apply, square, 3.0) == "apply(square, 3)\n  square(3)\n    mul(3, 3) = 9\n  = 9\n= 9\n");
  CHECK(logged(apply, od::sqrt, 9.0) == "apply(sqrt, 9)\n  sqrt(9) = 3\n= 3\n");
  CHECK(
      logged(
          apply, [](auto x) { return x; }, 9.0) == "apply(<lambda>, 9) = 9\n");
}

TEST_CASE("log writes if_, and the calls of the branch that is taken") {
  auto const abs = od::fn<"abs">([](auto x) {
    return od::if_(
        x < 0.0, [&] { return -x; }, [&] { return x; });
  });
  CHECK(logged(abs, -2.0) == R"(abs(-2)
  lt(-2, 0) = true
  if(true, <lambda>, <lambda>)
    neg(-2) = 2
  = 2
= 2
)");
  CHECK(logged(abs, 3.0) == R"(abs(3)
  lt(3, 0) = false
  if(false, <lambda>, <lambda>) = 3
= 3
)");
}

TEST_CASE("log writes loops, and the calls of each iteration") {
  auto const power =
      od::fn<"power">([](auto x, auto n) { return od::loop(n, x, [&](auto, auto p) { return p * x; }); });
  CHECK(logged(power, 2.0, 2) == R"(power(2, 2)
  loop(2, 2, <lambda>)
    mul(2, 2) = 4
    mul(4, 2) = 8
  = 8
= 8
)");
  auto const halve = od::fn<"halve">([](auto x) {
    return od::while_(
        x, [](auto y) { return y > 1.0; }, [](auto y) { return y / 2.0; });
  });
  CHECK(logged(halve, 2.0) == R"(halve(2)
  while(2, <lambda>, <lambda>)
    gt(2, 1) = true
    div(2, 2) = 1
    gt(1, 1) = false
  = 1
= 1
)");
}

TEST_CASE("log writes map, scan and reduce, and the calls for each element") {
  auto const f = od::fn<"f">([](auto xs) {
    auto const squares = od::map(square, xs);
    return od::reduce(od::mul, squares);
  });
  CHECK(logged(f, od::array<double>{2, 3}) == R"(f([2, 3])
  map(square, [2, 3])
    square(2)
      mul(2, 2) = 4
    = 4
    square(3)
      mul(3, 3) = 9
    = 9
  = [4, 9]
  reduce(mul, [4, 9])
    mul(4, 9) = 36
  = 36
= 36
)");
  auto const sums = od::fn<"sums">([](auto xs) {
    return od::scan(
        [](auto s, auto x) {
          auto const next = s + x;
          return std::tuple(next, next);
        },
        0.0, xs);
  });
  CHECK(logged(sums, od::array<double>{2, 3}) == R"(sums([2, 3])
  scan(<lambda>, 0, [2, 3])
    add(0, 2) = 2
    add(2, 3) = 5
  = {5, [2, 5]}
= {5, [2, 5]}
)");
}

TEST_CASE("log writes the calls that an exception leaves, and the exception") {
  auto const f = od::fn<"f">([](auto xs, auto i) { return od::at(xs, i) + 1.0; });
  std::ostringstream out;
  overdub::contexts::log log(out);
  CHECK_THROWS_AS(od::run(log, f, od::array<double>{1, 2}, 2), od::index_error);
  CHECK(out.str() == R"(f([1, 2], 2)
  at([1, 2], 2) threw overdub: at: index 2 is out of range for an array of size 2
threw overdub: at: index 2 is out of range for an array of size 2
)");
  out.str("");
  CHECK(od::run(log, f, od::array<double>{1, 2}, 1) == 3.0); // the indentation is reset
  CHECK(out.str() == "f([1, 2], 1)\n  at([1, 2], 1) = 2\n  add(2, 1) = 3\n= 3\n");
}

TEST_CASE("log writes an exception that is no std::exception, and continues after a body catches it") {
  auto const fail = od::leaf<"fail">([](double x) -> double { throw x; });
  auto const f = od::fn<"f">([fail](auto x) {
    try {
      return fail(x);
    } catch (double) {
      return x * 2.0;
    }
  });
  CHECK(logged(f, 1.0) == "f(1)\n  fail(1) threw\n  mul(1, 2) = 2\n= 2\n");
}

TEST_CASE("log outside of forward writes the program; inside, the operations of the derivative, too") {
  std::ostringstream program, derivative;
  overdub::contexts::log outer(program), inner(derivative);
  od::run(od::compose(outer, forward{}), square, od::tag(3.0, 1.0));
  CHECK(program.str() == "square(3)\n  mul(3, 3) = 9\n= 9\n");

  auto const sine = od::fn<"sine">([](auto x) { return sin(x); });
  od::run(od::compose(forward{}, inner), sine, od::tag(0.0, 2.0));
  CHECK(derivative.str() == R"(sine.forward(0)
  sin(0) = 0
  cos(0) = 1
  mul(1, 2) = 2
= 0
)");
}

TEST_CASE("log inside of another context writes the original names of functions that are passed to map") {
  std::ostringstream out;
  overdub::contexts::log log(out);
  count c;
  auto const f = od::fn<"f">([](auto xs) {
    auto const squares = od::map(square, xs);
    return od::map([](auto x) { return x; }, squares);
  });
  od::run(od::compose(c, log), f, od::array<double>{2});
  CHECK(out.str() == R"(f.count([2])
  map(square, [2])
    square.count(2)
      mul(2, 2) = 4
    = 4
  = [4]
  map(<lambda>, [4]) = [4]
= [4]
)");
}

TEST_CASE("log writes the names of the contexts of a function, outermost last") {
  std::ostringstream out;
  overdub::contexts::log log(out);
  count c;
  auto const same = od::fn<"same">([](auto x) { return x; });
  od::run(od::compose(c, forward{}, log), same, od::tag(1.0, 2.0));
  CHECK(out.str() == "same.count.forward(1) = 1\n");
}

struct lambda_rate {
  double each;
  friend std::ostream& operator<<(std::ostream& out, lambda_rate const& rate) { return out << rate.each; }
};

TEST_CASE("log writes a user's class by its operator<<, whatever its name") {
  constexpr auto scaled = od::fn<"scaled">([](auto rate, auto) { return rate.each; });
  CHECK(logged(scaled, lambda_rate{0.5}, 1.0) == "scaled(0.5, 1) = 0.5\n");
}

TEST_CASE("log writes the value of an optional, or that it has none") {
  constexpr auto root = od::fn<"root">([](auto x) {
    using number = std::optional<decltype(x)>;
    return od::concrete(x) < 0.0 ? number() : number(sqrt(x));
  });
  CHECK(logged(root, 4.0) == "root(4)\n  sqrt(4) = 2\n= 2\n");
  CHECK(logged(root, -4.0) == "root(-4) = nothing\n");
}
