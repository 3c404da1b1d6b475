// Small branches in recurrences: the forward pass computes partial derivatives, and the backward pass has no branch.
#include "catch.hpp"
#include "reverse/finite_difference.hpp"

#include <overdub/compile/compile.hpp>
#include <overdub/ir/walk.hpp>
#include <overdub/overdub.hpp>
#include <overdub/reverse.hpp>
#include <overdub/test_derivative.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <tuple>

namespace {

namespace od = overdub;
using od::gradient;
using od::value_and_gradient;

// The number of branches in a compiled program.
template <class Compiled>
int branches_in(Compiled const& compiled) {
  int all = 0;
  od::ir::program const& p = compiled.made().program();
  for (od::ir::function const& f : p.functions)
    od::ir::walk(f, od::ir::function::body, [&](od::ir::node_id n) { all += f[n].code == od::ir::op::if_; });
  return all;
}
template <class... A, class F>
auto interpreted(F const& f) {
  return od::compile(f, od::signature<A...>, {.tiers = od::tiers::interpret_only});
}

constexpr auto steps = od::fn<"steps">([](auto const& x) {
  return od::loop(od::size(x), 0.0 * x[0], [&](auto i, auto sum) {
    auto const a = od::at(x, i);
    return od::if_(
        a > 0.5, [=] { return sum + a * a; },
        [=] {
          return od::if_(
              sum > 2.0, [=] { return sum * 0.5 - a; }, [=] { return sum - a / (1.0 + a * a); });
        });
  });
});

TEST_CASE("the gradient of a loop with branches adds no branch, and explain reports it") {
  auto const both = interpreted<od::array<double>>(value_and_gradient(steps));
  CHECK(branches_in(both) == 2);
  CHECK(explain(both).find("partial derivatives in the forward pass") != std::string::npos);
  od::array<double> const x{0.7, -0.3, 1.9, 0.1, -1.2, 0.6, 1.4, -0.4};
  auto const [value, derivatives] = both(x);
  CHECK(value == steps(x));
  for (od::i64 i = 0; i < x.size(); ++i)
    CHECK(close(
        derivatives[i], finite_difference([&](double y) { return steps(od::update(x, i, y)); }, x[i]), 1e-9));
}

// Reads an element at another index than the iteration's, so that an accumulator collects its cotangents.
constexpr auto largest = od::fn<"largest">([](auto const& x) {
  return od::loop(od::size(x) - 1, x[0], [&](auto i, auto most) {
    auto const a = od::at(x, i + 1);
    return od::if_(
        most < a, [=] { return a * a; }, [=] { return most; });
  });
});

TEST_CASE("an element that a branch of a recurrence captures gets its cotangent after the loop") {
  od::array<double> const x{0.5, 0.75, 0.25, 1.5, 1.25, 3.0};
  CHECK(largest(x) == 9);
  auto const slopes = gradient(largest)(x);
  for (od::i64 i = 0; i < x.size(); ++i) CHECK(slopes[i] == (i == 5 ? 6.0 : 0.0));
}

TEST_CASE("the gradient of such a loop in float adds no branch, either") {
  od::array<float> const x{0.7f, -0.3f, 1.9f, 0.1f, -1.2f, 0.6f};
  od::array<double> const same{0.7, -0.3, 1.9, 0.1, -1.2, 0.6};
  auto const derivatives = gradient(steps)(x);
  auto const expected = gradient(steps)(same);
  for (od::i64 i = 0; i < x.size(); ++i) CHECK(close(double{derivatives[i]}, expected[i], 1e-5));
}

// Nested branches, which select, pass on, and omit values.
constexpr auto pieces = od::fn<"pieces">([](auto x, auto y) {
  auto const inner = [=] {
    return od::if_(
        y > 1.0, [=] { return od::max(x, 0.5 * x) - y; },
        [=] {
          return od::if_(
              x < -1.0, [=] { return y * y; }, [=] { return sin(x) * exp(y); });
        });
  };
  return od::if_(x > 0.0, inner, [=] {
    return od::if_(
        x < -2.0, [=] { return x; }, [=] { return x / y; });
  });
});
constexpr auto swings = od::fn<"swings">([](auto x, auto y, auto n) {
  return od::loop(n, x, [=](auto, auto s) { return pieces(s, y) - 0.3 * s; });
});
constexpr auto descent = od::fn<"descent">([](auto x, auto y) {
  return std::get<1>(od::while_(
      std::tuple(x, 0.0 * x), [](auto const& s) { return std::get<0>(s) > 0.5; },
      [=](auto const& s) {
        auto const a = std::get<0>(s), total = std::get<1>(s);
        auto const next = od::if_(
            a > 2.0, [=] { return a / (1.5 + y * y); }, [=] { return a - 0.3 * y * y; });
        return std::tuple(next, total + a * a);
      }));
});

TEST_CASE("gradients of branches in branches, loops and whiles agree with differences and forward mode") {
  for (double const x : {2.5, 0.4, -0.7, -1.5, -2.6})
    for (double const y : {0.8, 1.7}) {
      auto const r = od::test_derivative(pieces, x, y);
      CHECK(r.text().find("hold") != std::string::npos);
      CHECK(od::test_derivative(swings, x, y, od::i64{5}).text().find("hold") != std::string::npos);
    }
  CHECK(od::test_derivative(descent, 5.3, 0.9).text().find("hold") != std::string::npos);
}

TEST_CASE("a memory limit does not change the partial derivatives of branches") {
  for (od::i64 const n : {0, 1, 2, 9, 100}) {
    auto const all = value_and_gradient<0, 1>(swings)(0.4, 0.8, n);
    CHECK(value_and_gradient<0, 1>(swings, od::save_logarithmic)(0.4, 0.8, n) == all);
    CHECK(value_and_gradient<0, 1>(swings, od::memory_limit<100>)(0.4, 0.8, n) == all);
  }
}

constexpr auto by_x = od::fn<"by_x">([](auto x, auto y) { return gradient<0>(swings)(x, y, od::i64{3}); });
TEST_CASE("a memory limit does not change the gradient of a gradient") {
  for (double const x : {2.5, 0.4, -0.7, -2.6})
    for (double const y : {0.8, 1.7}) {
      auto const [xx, xy] = gradient(by_x)(x, y);
      CHECK(close(xx, finite_difference([&](double z) { return by_x(z, y); }, x), 1e-7));
      CHECK(close(xy, finite_difference([&](double z) { return by_x(x, z); }, y), 1e-7));
    }
}

// The gradient can be differentiated again if a partial derivative is 0.
constexpr auto flat = od::fn<"flat">([](auto x, auto y, auto n) {
  return od::loop(n, y, [=](auto, auto s) {
    return od::if_(
        s > 0.0, [=] { return s + x * x; }, [=] { return s; });
  });
});
constexpr auto weighted = od::fn<"weighted">([](auto x, auto w, auto n) {
  return od::loop(n, x, [=](auto, auto s) {
    return od::if_(
        s > 0.0, [=] { return w * s; }, [=] { return 0.0 * s; });
  });
});
constexpr auto flat_by_x =
    od::fn<"flat_by_x">([](auto x, auto y) { return gradient<0>(flat)(x, y, od::i64{2}); });
constexpr auto by_weight =
    od::fn<"by_weight">([](auto x, auto w) { return gradient<1>(weighted)(x, w, od::i64{1}); });
constexpr auto by_start =
    od::fn<"by_start">([](auto x, auto w) { return gradient<0>(weighted)(x, w, od::i64{1}); });
TEST_CASE("the gradient of a gradient is correct where partial derivatives are 0") {
  CHECK(gradient(flat_by_x)(0.0, 1.0) == std::tuple(4.0, 0.0));
  CHECK(gradient(by_start)(2.0, 0.0) == std::tuple(0.0, 1.0));
  CHECK(gradient(by_weight)(2.0, 0.0) == std::tuple(1.0, 0.0));
}

// The root's derivative is infinite at 0.
constexpr auto left_out = od::fn<"left_out">([](auto x, auto y) {
  return sqrt(od::loop(od::i64{2}, y, [=](auto, auto s) {
    return od::if_(
        x > 1.0, [=] { return x * s / 3.0; }, [=] { return s; });
  }));
});
constexpr auto chosen = od::fn<"chosen">([](auto x, auto y) {
  return sqrt(od::loop(od::i64{1}, y, [=](auto, auto s) {
    return od::if_(
        x > 1.0, [=] { return x * s / 3.0; }, [=] { return od::max(x, s); });
  }));
});
constexpr auto steep = od::fn<"steep">([](auto x, auto y) {
  return od::loop(od::i64{2}, y, [=](auto, auto s) {
    return od::if_(
        x > 1.0, [=] { return s; }, [=] { return sqrt(x) + s; });
  });
});
constexpr double infinity = std::numeric_limits<double>::infinity();

TEST_CASE("values that a branch does not use, or does not select, get no infinite cotangent") {
  CHECK(gradient(left_out)(0.5, 0.0) == std::tuple(0.0, infinity));
  CHECK(gradient(chosen)(-1.0, 0.0) == std::tuple(0.0, infinity));
  CHECK(gradient(chosen)(0.0, -1.0) == std::tuple(infinity, 0.0));
}
TEST_CASE("an infinite derivative of one branch does not affect the other") {
  CHECK(gradient(steep)(0.0, 3.0) == std::tuple(infinity, 1.0));
  CHECK(gradient(steep)(2.0, 3.0) == std::tuple(0.0, 1.0));
}

constexpr auto of_three = od::fn<"of_three">([](auto x, auto y, auto n) {
  return od::loop(n, x, [=](auto, auto s) {
    auto const z = cos(y) + s;
    return od::if_(
        s > y, [=] { return sin(s) * y; }, [=] { return y * z; });
  });
});
constexpr auto each_by_itself = od::fn<"each_by_itself">([](auto const& x) {
  return od::sum(od::map(
      [](auto a) {
        return od::if_(
            a > 0.5, [=] { return a / (1.0 + a); }, [=] { return -a; });
      },
      x));
});
TEST_CASE("larger branches are branches of the backward pass, too") {
  auto const three = interpreted<double, double, od::i64>(value_and_gradient<0, 1>(of_three));
  CHECK(explain(three).find("partial derivatives in the forward pass") == std::string::npos);
  CHECK(branches_in(three) == 2);
  auto const itself = interpreted<od::array<double>>(value_and_gradient(each_by_itself));
  CHECK(explain(itself).find("partial derivatives in the forward pass") == std::string::npos);
}

} // namespace
