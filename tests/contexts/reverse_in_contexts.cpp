// Gradients of functions in contexts: the derivative of what the contexts make of a function, whatever the contexts have.
#include "catch.hpp"

#include <overdub/compile/compile.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/contexts/hessian.hpp>
#include <overdub/contexts/reverse.hpp>
#include <overdub/ir/cursor.hpp>

#include <cmath>
#include <cstdint>
#include <tuple>
#include <vector>

namespace {

namespace od = overdub;
namespace oc = overdub::contexts;

inline constexpr auto square = od::fn<"square">([](auto x) { return x * x; });
inline constexpr auto wave = od::fn<"wave">([](auto x) { return sin(square(x)) + x; });
inline constexpr auto energy =
    od::fn<"energy">([](auto const& xs) { return od::sum(od::map([](auto x) { return sin(x) * x; }, xs)); });

struct doubling : od::context {
  auto overdub(od::sin_t, auto x) { return 2.0 * sin(x); }
};
// The rule is made by a fingerprint.
struct repeating : od::context {
  int times = 1;
  repeating() = default;
  explicit repeating(int n) : times(n) {}
  int fingerprint() const { return times; }
  auto overdub(od::sin_t, auto x) {
    auto all = sin(x);
    for (int i = 1; i < times; ++i) all = all + sin(x);
    return all;
  }
};
// The rule reads a field.
struct scaling : od::context {
  od::context_field<double> by = 3.0;
  scaling() = default;
  explicit scaling(std::tuple<>) {}
  std::tuple<> fingerprint() const { return {}; }
  auto overdub(od::sin_t, auto x) { return by(x) * sin(x); }
};
struct hearing : od::context {
  std::vector<double> products;
  void before(od::mul_t, auto x, auto y) { products.push_back(static_cast<double>(x * y)); }
};
// A pass: sines become cosines.
struct turning : od::context {
  bool is_on = true;
  bool fingerprint() const { return is_on; }
  static void before_optimise(od::ir::program& p, bool is_on) {
    if (!is_on) return;
    for (std::uint32_t f = 0; f < p.functions.size(); ++f)
      for (od::ir::cursor c(p, od::ir::function_id{f}); c.next();)
        if (c.code() == od::ir::op::sin) c.replace(c->result(c.insert(od::ir::op::cos, {c.operand(0)})));
  }
};

double slope_of_sine(double x) { return 2.0 * x * std::cos(x * x); }

} // namespace

TEST_CASE("the gradient of a function in a context is that of what the context's rules make of it") {
  double const x = 0.5;
  CHECK(oc::gradient(doubling{}, wave)(x) == Approx(2.0 * slope_of_sine(x) + 1.0));
  CHECK(oc::gradient(od::compose(), wave)(x) == oc::gradient(wave)(x));
  auto const [value, slope] = oc::value_and_gradient(doubling{}, wave)(x);
  CHECK(value == od::run(doubling{}, wave, x));
  CHECK(slope == oc::gradient(doubling{}, wave)(x));
  od::array<double> const xs{1.0, 2.0, -0.5};
  CHECK(oc::gradient(doubling{}, energy)(xs)[1] == Approx(2.0 * (std::cos(2.0) * 2.0 + std::sin(2.0))));
}

TEST_CASE("fingerprints of contexts choose the program of a gradient, and fields are read in each call") {
  double const x = 0.5;
  repeating r(2);
  auto const by_fingerprint = oc::gradient(r, wave);
  CHECK(by_fingerprint(x) == Approx(2.0 * slope_of_sine(x) + 1.0));
  r.times = 5;
  CHECK(by_fingerprint(x) == Approx(5.0 * slope_of_sine(x) + 1.0));
  scaling s;
  auto const by_field = oc::gradient(s, wave);
  CHECK(by_field(x) == Approx(3.0 * slope_of_sine(x) + 1.0));
  s.by = 4.0;
  CHECK(by_field(x) == Approx(4.0 * slope_of_sine(x) + 1.0));
  auto const both = oc::gradient(od::compose(doubling{}, s), wave);
  CHECK(both(x) == Approx(8.0 * slope_of_sine(x) + 1.0));
  auto const compiled = od::compile(by_field, od::signature<double>);
  CHECK(compiled(x) == by_field(x));
  s.by = 0.0;
  CHECK(compiled(x) == 1.0);
}

TEST_CASE("hooks hear of the calls of the forward pass once") {
  hearing h;
  CHECK(oc::gradient(h, wave)(0.5) == oc::gradient(wave)(0.5));
  CHECK(h.products == std::vector<double>{0.25});
}

TEST_CASE("passes rewrite the function before it is differentiated") {
  double const x = 0.5;
  turning t;
  auto const of = oc::gradient(t, wave);
  CHECK(of(x) == Approx(-2.0 * x * std::sin(x * x) + 1.0));
  t.is_on = false;
  CHECK(of(x) == oc::gradient(wave)(x));
}

TEST_CASE("second derivatives, Jacobians and products in contexts are those of what the contexts make") {
  double const x = 0.5;
  double const second = 2.0 * std::cos(x * x) - 4.0 * x * x * std::sin(x * x);
  CHECK(oc::hessian(doubling{}, wave)(x) == Approx(2.0 * second));
  CHECK(oc::hessian_vector_product(doubling{}, wave)(x, 3.0) == Approx(6.0 * second));
  CHECK(
      oc::vector_jacobian_product(doubling{}, wave)(x, 3.0) == Approx(3.0 * (2.0 * slope_of_sine(x) + 1.0)));
  hearing h;
  CHECK(oc::hessian(h, wave)(x) == Approx(second));
  CHECK(h.products == std::vector<double>{0.25});
  scaling s;
  CHECK(oc::hessian(s, wave)(x) == Approx(3.0 * second));
  constexpr auto sines =
      od::fn<"sines">([](auto const& xs) { return od::map([](auto e) { return sin(e); }, xs); });
  CHECK(oc::jacobian(doubling{}, sines)(od::array<double>{0.5, 1.0})[1][1] == Approx(2.0 * std::cos(1.0)));
}

TEST_CASE("of contexts with metadata, cotangents of values and of metadata go back to both") {
  constexpr auto product = od::fn<"product">([](auto x, auto y) { return x * y; });
  auto const back = oc::vector_jacobian_product(oc::forward{}, product);
  auto const [dx, dy] = back(od::tag(2.0, 3.0), 5.0, od::tag(1.0, 0.0));
  CHECK(dx.inner == 5.0);
  CHECK(dx.metadata == 0.0);
  CHECK(dy == 2.0);
  auto const [ex, ey] = back(od::tag(2.0, 3.0), 5.0, od::tag(0.0, 1.0)); // of the tangent, 3 y
  CHECK(ex.inner == 0.0);
  CHECK(ex.metadata == 5.0);
  CHECK(ey == 3.0);
}

TEST_CASE("a gradient in contexts is called in other contexts, and differentiated") {
  double const x = 0.5;
  CHECK(od::run(hearing{}, oc::gradient(doubling{}, wave), x) == oc::gradient(doubling{}, wave)(x));
  CHECK(
      od::run(oc::forward{}, oc::gradient(doubling{}, wave), od::tag(x, 1.0)).metadata ==
      Approx(oc::hessian(doubling{}, wave)(x)));
  CHECK(oc::gradient(oc::gradient(doubling{}, wave))(x) == Approx(oc::hessian(doubling{}, wave)(x)));
  scaling s;
  hearing own, around;
  CHECK(od::run(doubling{}, oc::gradient(s, wave), x) == oc::gradient(s, wave)(x));
  CHECK(od::run(around, oc::gradient(od::compose(own, s), wave), x) == Approx(3.0 * slope_of_sine(x) + 1.0));
  CHECK(own.products.size() == 1); // x * x: what the rule computes is behind this context
  CHECK(around.products.size() > own.products.size());
}
