#include "catch.hpp"
#include "reverse/finite_difference.hpp"

#include <overdub/compile/compile.hpp>
#include <overdub/contexts/count.hpp>
#include <overdub/hessian.hpp>
#include <overdub/reverse.hpp>

#include <boost/hana/define_struct.hpp>

#include <array>
#include <cmath>
#include <string>
#include <tuple>

// clang requires this outside of the unnamed namespace: overdub declares functions of it that are never called.
namespace reverse_test {

template <class T, class N>
struct spring {
  BOOST_HANA_DEFINE_STRUCT(spring, (T, stiffness), (T, length), (N, coils));
};

} // namespace reverse_test

namespace {

namespace od = overdub;
using od::gradient;
using od::value_and_gradient;
using reverse_test::spring;

inline constexpr auto product = od::fn<"product">([](auto x, auto y) { return sin(x) * y + x / y; });
inline constexpr auto norm = od::fn<"norm">(
    [](auto const& xs) { return sqrt(od::sum(od::map([](auto const& x) { return x * x; }, xs))); });

TEST_CASE("the gradient of a function of numbers is a tuple of numbers") {
  auto const [dx, dy] = gradient(product)(1.0, 2.0);
  CHECK(dx == std::cos(1.0) * 2.0 + 0.5);
  CHECK(dy == Approx(std::sin(1.0) - 0.25));
  CHECK(gradient<1>(product)(1.0, 2.0) == dy);
  auto const [value, by_x] = value_and_gradient<0>(product)(1.0, 2.0);
  CHECK(value == product(1.0, 2.0));
  CHECK(by_x == dx);
}

TEST_CASE("the gradient of a function of an array is an array") {
  od::array<double> const xs{3.0, 4.0};
  od::array<double> const derivatives = gradient(norm)(xs);
  CHECK(derivatives[0] == Approx(0.6));
  CHECK(derivatives[1] == Approx(0.8));
}

TEST_CASE("the gradient of a function of floats has floats") {
  static_assert(std::is_same_v<decltype(gradient(product)(1.0f, 2.0f)), std::tuple<float, float>>);
  CHECK(std::get<1>(gradient(product)(1.0f, 2.0f)) == Approx(std::sin(1.0f) - 0.25f));
}

inline constexpr auto energy = od::fn<"energy">([](auto const& s, auto x) {
  auto const d = x - s.length;
  return 0.5 * s.stiffness * d * d * od::convert<double>(s.coils);
});

TEST_CASE("the gradient by a struct is a struct, with 0 for integers") {
  spring<double, od::i64> const s{2.0, 1.0, 3};
  auto const [by_spring, by_x] = gradient(energy)(s, 1.5);
  CHECK(by_spring.stiffness == 0.5 * 0.25 * 3);
  CHECK(by_spring.length == -2.0 * 0.5 * 3);
  CHECK(by_spring.coils == 0);
  CHECK(by_x == 2.0 * 0.5 * 3);
}

inline constexpr auto pendulum = od::fn<"pendulum">([](auto angle, auto damping, auto steps) {
  auto const [last, speed] = od::loop(steps, std::tuple(angle, 0.0 * angle), [&](auto, auto const& state) {
    auto const& [a, v] = state;
    auto const w = v - 0.01 * (sin(a) + damping * v);
    return std::tuple(a + 0.01 * w, w);
  });
  return last * last + speed;
});

TEST_CASE("the backward pass of a loop runs backwards") {
  auto const [by_angle, by_damping] = gradient<0, 1>(pendulum)(1.0, 0.3, od::i64{200});
  CHECK(
      close(by_angle, finite_difference([](double a) { return pendulum(a, 0.3, od::i64{200}); }, 1.0), 1e-9));
  CHECK(close(
      by_damping, finite_difference([](double d) { return pendulum(1.0, d, od::i64{200}); }, 0.3), 1e-9));
}

// An array gets longer in each iteration: (x), (x, x/2 + 1), ...
inline constexpr auto growing = od::fn<"growing">([](auto x, auto n) {
  auto const a = od::loop(n, od::fill(od::i64{1}, x), [](auto, auto v) {
    return od::concat(v, od::map([](auto e) { return e * 0.5 + 1.0; }, v));
  });
  return od::dot(a, a);
});

TEST_CASE("the gradient of a loop whose array gets longer is correct") {
  // 2 (0.7 + 2 * 1.35 / 2 + 1.675 / 4)
  CHECK(gradient<0>(growing)(0.7, od::i64{2}) == Approx(4.9375));
}

struct silent : od::context {};
struct sin_is_cos : od::context {
  auto overdub(od::sin_t, auto x) { return od::cos(x); }
};
inline constexpr auto waves =
    od::fn<"waves">([](auto const& xs) { return od::sum(od::map([](auto x) { return od::sin(x); }, xs)); });
template <class C>
inline constexpr auto waves_in = od::fn<"waves_in">([](auto const& xs) {
  C context;
  return od::run(context, waves, xs);
});

TEST_CASE("a function that runs another one in a context has the gradient of the rewritten function") {
  od::array<double> const xs{1.0, 2.0};
  CHECK(gradient(waves_in<sin_is_cos>)(xs) == od::array<double>{-std::sin(1.0), -std::sin(2.0)});
  CHECK(gradient(waves_in<silent>)(xs) == gradient(waves)(xs));
}

inline constexpr auto power = od::fn<"power">([](auto& cx, auto x, auto n) -> decltype(x) {
  return od::if_(
      n <= 0, [&] { return 0.0 * x + 1.0; }, [&] { return x * cx.self(x, n - 1); });
});

TEST_CASE("recursion is differentiated, and its calls may take different branches") {
  for (od::i64 n = 0; n < 6; ++n)
    CHECK(
        gradient<0>(power)(1.5, n) ==
        Approx(static_cast<double>(n) * std::pow(1.5, static_cast<double>(n) - 1.0)));
}

inline constexpr auto kink = od::fn<"kink">([](auto x) {
  return od::if_(
      x < 0.0, [&] { return x * x; }, [&] { return 3.0 * x; });
});

TEST_CASE("each iteration differentiates the branch that it takes") {
  auto const first_derivative = gradient(kink);
  CHECK(first_derivative(-2.0) == -4.0);
  CHECK(first_derivative(2.0) == 3.0);
  CHECK(first_derivative(-1.0) == -2.0);
}

inline constexpr auto slope_of_product =
    od::fn<"slope_of_product">([](auto x) { return gradient<0>(product)(x, 2.0); });

TEST_CASE("gradients of gradients are correct") {
  CHECK(gradient(slope_of_product)(1.0) == Approx(-2.0 * std::sin(1.0)));
}

inline constexpr auto stretched = od::fn<"stretched">([](auto const& length, auto const& xs) {
  auto const [by_spring, by_x] = gradient(energy)(spring{length * 2.0, length, od::i64{3}}, xs[0] + xs[1]);
  return by_spring.length * by_x;
});

TEST_CASE("gradients by structs and arrays work inside of a differentiated function") {
  auto const force = [](double length, double x) { return 6.0 * length * (x - length); };
  auto const expected = [&](double l) { return -force(l, 1.75) * force(l, 1.75); };
  CHECK(close(gradient<0>(stretched)(1.0, std::array{1.0, 0.75}), finite_difference(expected, 1.0), 1e-9));
}

TEST_CASE("contexts observe the call of a gradient as that of a function") {
  od::contexts::count count;
  double const x = od::run(count, slope_of_product, 1.0);
  CHECK(x == slope_of_product(1.0));
  CHECK(count.primitives > 3);
}

TEST_CASE("a compiled gradient makes no cache lookup, and has an explanation") {
  auto const compiled = od::compile(gradient(norm), od::signature<od::array<double>>);
  CHECK(compiled(od::array<double>{3.0, 4.0})[1] == Approx(0.8));
  CHECK(explain(compiled).find("reduce add") != std::string::npos);
}

inline constexpr auto polar = od::fn<"polar">([](auto const& p) {
  return od::concat(od::fill(od::i64{1}, p[0] * cos(p[1])), od::fill(od::i64{1}, p[0] * sin(p[1])));
});

TEST_CASE("a Jacobian has a row for each result") {
  auto const rows = od::jacobian(polar)(od::array<double>{2.0, 0.5});
  CHECK(rows[0][0] == Approx(std::cos(0.5)));
  CHECK(rows[0][1] == Approx(-2.0 * std::sin(0.5)));
  CHECK(rows[1][0] == Approx(std::sin(0.5)));
  CHECK(rows[1][1] == Approx(2.0 * std::cos(0.5)));
}

TEST_CASE("a pullback can be called with any number of cotangents") {
  auto const [value, back] = od::pullback(polar)(od::array<double>{2.0, 0.5});
  CHECK(value[0] == Approx(2.0 * std::cos(0.5)));
  CHECK(back(od::array<double>{1.0, 0.0})[1] == Approx(-2.0 * std::sin(0.5)));
  CHECK(back(od::array<double>{0.0, 1.0})[1] == Approx(2.0 * std::cos(0.5)));
}

TEST_CASE("a pullback owns its residuals, and does not run the function again") {
  auto const made = [](double angle) { return od::pullback(pendulum)(angle, 0.3, 200); };
  auto const [value, back] = made(1.0);
  auto const [other, other_back] = made(1.5);
  CHECK(value == pendulum(1.0, 0.3, od::i64{200}));
  auto const [by_angle, by_damping, by_turns] = back(2.0);
  auto const [angle, damping] = gradient<0, 1>(pendulum)(1.0, 0.3, od::i64{200});
  CHECK(by_angle == 2.0 * angle);
  CHECK(by_damping == Approx(2.0 * damping));
  CHECK(by_turns == 0);
  CHECK(back.bytes() >= 200 * sizeof(double));
  CHECK(back.bytes() < 200 * 4 * sizeof(double));
  CHECK(std::get<0>(other_back(1.0)) != by_angle);
  CHECK(std::get<0>(back(2.0)) == by_angle);
}

inline constexpr auto with_count = od::fn<"with_count">([](auto x, auto n) { return std::tuple(x * x, n); });
TEST_CASE("pullbacks accept functions with integers among arguments and results") {
  auto const [value, back] = od::pullback(with_count)(3.0, 2);
  CHECK(value == std::tuple(9.0, od::i64{2}));
  CHECK(back(std::tuple(1.0, od::i64{0})) == std::tuple(6.0, od::i64{0}));
}

TEST_CASE("a memory limit does not change the gradient") {
  using od::memory_limit, od::save_logarithmic;
  for (od::i64 const n : {0, 1, 2, 3, 17, 500}) {
    auto const all = value_and_gradient<0, 1>(pendulum)(1.0, 0.3, n);
    CHECK(value_and_gradient<0, 1>(pendulum, save_logarithmic)(1.0, 0.3, n) == all);
    CHECK(value_and_gradient<0, 1>(pendulum, memory_limit<1>)(1.0, 0.3, n) == all);
    CHECK(value_and_gradient<0, 1>(pendulum, memory_limit<1000>)(1.0, 0.3, n) == all);
    CHECK(value_and_gradient<0, 1>(pendulum, memory_limit<1'000'000>)(1.0, 0.3, n) == all);
  }
}

TEST_CASE("explain lists residuals") {
  auto const all = explain(od::compile(gradient<0>(pendulum), od::signature<double, double, od::i64>));
  CHECK(all.find("loop saves f64") != std::string::npos);
  CHECK(all.find("in each iteration") != std::string::npos);
  auto const some = explain(
      od::compile(gradient<0>(pendulum, od::save_logarithmic), od::signature<double, double, od::i64>));
  CHECK(some.find("loop saves its loop-carried values, in some iterations") != std::string::npos);
}

inline constexpr auto cubic = od::fn<"cubic">([](auto const& x) { return x[0] * x[0] * x[1] + sin(x[1]); });

TEST_CASE("a Hessian, and its product with a vector, are those by hand") {
  od::array<double> const x{1.5, 0.5};
  auto const rows = od::hessian(cubic)(x);
  CHECK(rows[0][0] == Approx(1.0));
  CHECK(rows[0][1] == Approx(3.0));
  CHECK(rows[1][0] == Approx(3.0));
  CHECK(rows[1][1] == Approx(-std::sin(0.5)));
  auto const product_with = od::hessian_vector_product(cubic)(x, od::array<double>{1.0, 2.0});
  CHECK(product_with[0] == Approx(7.0));
  CHECK(product_with[1] == Approx(3.0 - 2.0 * std::sin(0.5)));
  CHECK(od::hessian(od::fn<"power_4">([](auto y) { return y * y * y * y; }))(2.0) == Approx(48.0));
}

inline constexpr auto from_host = od::leaf<"from_host">([](double x) { return x; }, od::effects::pure);
inline constexpr auto calls_host = od::fn<"calls_host">([](auto x) { return from_host(x) * x; });

TEST_CASE("a host function has no derivative, and the error says so") {
  CHECK_THROWS_WITH(
      gradient(calls_host)(1.0),
      Catch::Matchers::Contains("from_host") && Catch::Matchers::Contains("has no derivative"));
}

} // namespace
