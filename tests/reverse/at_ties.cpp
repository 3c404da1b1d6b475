// The derivatives of min and max at ties: one takes the derivative of the first operand, the other that of the second, in
// both modes, so that their sum or product has the right derivative.
#include "catch.hpp"

#include <overdub/contexts/forward.hpp>
#include <overdub/derivative.hpp>
#include <overdub/distributions.hpp>
#include <overdub/overdub.hpp>
#include <overdub/reverse.hpp>

#include <cmath>
#include <limits>

namespace {

namespace od = overdub;
using numbers = od::array<double>;

constexpr auto sum_of_both = od::fn<"sum_of_both">(
    [](auto const& x) { return 3.0 * od::max(x[0], x[1]) + 3.0 * od::min(x[0], x[1]); });
constexpr auto product_of_both =
    od::fn<"product_of_both">([](auto const& x) { return od::max(x[0], x[1]) * od::min(x[0], x[1]); });
constexpr auto sum_of_f =
    od::fn<"sum_of_f">([](auto const& x) { return od::fmax(x[0], x[1]) + od::fmin(x[0], x[1]); });
constexpr auto greatest = od::fn<"greatest">([](auto const& x) { return od::reduce(od::max, x); });
constexpr auto least = od::fn<"least">([](auto const& x) { return od::reduce(od::min, x); });
constexpr auto greatest_from =
    od::fn<"greatest_from">([](auto const& x) { return od::reduce(od::max, x[0] + x[1] - 1.0, x); });
constexpr auto least_from =
    od::fn<"least_from">([](auto const& x) { return od::reduce(od::min, x[0] + x[1] - 1.0, x); });

// The kinks of abs and max cancel.
constexpr auto softplus_of_minus = od::fn<"softplus_of_minus">(
    [](auto const& x) { return od::max(-x[0], 0.0) + od::log1p(od::exp(-od::abs(-x[0]))); });
constexpr auto successes = od::fn<"successes">([](auto const& x) {
  return od::distributions::log_density(od::distributions::binomial_logit(od::i64{3}, x[0]), od::i64{1});
});

template <class F>
void check(F const& f, numbers const& x, numbers const& wanted) {
  numbers const backwards = od::gradient(f)(x), forwards = od::forward_gradient(f, x);
  for (od::i64 i = 0; i < x.size(); ++i) {
    INFO(f.name() << ", element " << i);
    CHECK(backwards[i] == Approx(wanted[i]));
    CHECK(forwards[i] == Approx(wanted[i]));
  }
}

} // namespace

TEST_CASE("the sum and the product of min and max have the derivatives of the sum and the product of their "
          "operands") {
  for (double const t : {2.0, 0.0, -1.0}) {
    check(sum_of_both, {t, t}, {3.0, 3.0});
    check(product_of_both, {t, t}, {t, t});
    check(sum_of_f, {t, t}, {1.0, 1.0});
  }
  check(sum_of_both, {1.0, 2.0}, {3.0, 3.0});
  check(product_of_both, {1.0, 2.0}, {2.0, 1.0});
  double const nan = std::numeric_limits<double>::quiet_NaN();
  check(od::fn<"fmin_of">([](auto const& x) { return od::fmin(x[0], x[1]); }), {nan, 1.0}, {0.0, 1.0});
  check(od::fn<"fmin_of">([](auto const& x) { return od::fmin(x[0], x[1]); }), {1.0, nan}, {1.0, 0.0});
}

TEST_CASE("of equal elements, max selects the first and min the last") {
  check(greatest, {1.0, 3.0, 3.0, 2.0, 3.0}, {0.0, 1.0, 0.0, 0.0, 0.0});
  check(least, {2.0, 1.0, 1.0, 2.0, 1.0, 4.0}, {0.0, 0.0, 0.0, 0.0, 1.0, 0.0});
  check(greatest_from, {2.0, 1.0}, {1.0, 1.0}); // the initial value is the first element
  check(least_from, {2.0, 2.0, 3.0}, {0.0, 1.0, 0.0});
  check(greatest_from, {2.0, 0.5}, {1.0, 0.0});
  check(least_from, {1.0, 0.5}, {0.0, 1.0}); // and the last element is no initial value
  check(least_from, {0.5, 0.75}, {1.0, 1.0});
}

TEST_CASE("the derivative of a power of 0 by the exponent is its limit for positive bases") {
  auto const along = [](double base, double y) {
    return od::derivative([&](auto e) { return od::pow(base, e); }, y);
  };
  CHECK(along(0.0, 0.0) == 0.0);
  CHECK(along(0.0, 2.0) == 0.0);
  CHECK(along(0.0, -1.0) == -std::numeric_limits<double>::infinity());
  constexpr auto power = od::fn<"power">([](auto const& x) { return od::pow(x[0], x[1]); });
  CHECK(od::gradient(power)(numbers{0.0, 0.0})[1] == 0.0);
  CHECK(od::gradient(power)(numbers{0.0, 2.0})[1] == 0.0);
}

TEST_CASE("the derivative of |-x| at 0 is -1, and smooth functions of it have their own derivatives there") {
  for (double const zero : {0.0, -0.0}) {
    check(od::fn<"size_of_minus">([](auto const& x) { return od::abs(-x[0]); }), {zero}, {-1.0});
    check(softplus_of_minus, {zero}, {-0.5});
    check(successes, {zero}, {-0.5}); // 1 - 3 / 2
  }
}
