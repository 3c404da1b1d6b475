// The accuracy of derivatives of the table's operations, at all magnitudes, against closed forms in long double: a few
// units in the last place, for normal numbers.
#include "catch.hpp"
#include "reverse/closed_form_derivatives.hpp"

#include <overdub/contexts/forward.hpp>
#include <overdub/derivative.hpp>

#include <string>

namespace {

using namespace overdub;
using contexts::forward;

constexpr int few = 8, few_twice = 32; // units in the last place

template <class T, class Op>
void check_one_in(Op op) {
  closed_forms::real worst = 0, worst_second = 0;
  T at = 0, at_second = 0;
  for (double const number : closed_forms::magnitudes()) {
    T const x = static_cast<T>(number);
    if (!std::isnormal(x)) continue;
    auto const right = closed_forms::of_one(op.name(), x);
    auto const first = [](auto u) { return derivative(Op{}, u); };
    auto const d = closed_forms::distance(first(x), right.first);
    if (d > worst) worst = d, at = x;
    if (closed_forms::distance(T(0), right.first) == 0) continue;
    auto const d2 = closed_forms::distance(derivative(first, x), right.second);
    if (d2 > worst_second) worst_second = d2, at_second = x;
  }
  INFO(op.name() << " at " << at << ", twice at " << at_second << ", of " << sizeof(T) << " bytes");
  CHECK(worst <= few);
  CHECK(worst_second <= few_twice);
}
template <class Op>
void check_one(Op op) {
  check_one_in<double>(op);
  check_one_in<float>(op);
}

template <class Op>
void check_two(Op op) {
  std::array<closed_forms::real, 2> worst{};
  std::array<std::pair<double, double>, 2> at{};
  auto const numbers = closed_forms::magnitudes();
  for (std::size_t i = 0; i < numbers.size(); i += 3)
    for (std::size_t j = i % 2; j < numbers.size(); j += 2) {
      double const x = numbers[i], y = numbers[j];
      if (!std::isfinite(op(x, y))) continue;
      auto const right = closed_forms::of_two(op.name(), x, y);
      auto const note = [&](std::size_t k, double found, closed_forms::real wanted) {
        auto const d = closed_forms::distance(found, wanted);
        if (d > worst[k]) worst[k] = d, at[k] = {x, y};
      };
      note(0, run(forward{}, op, tag(x, 1.0), y).metadata, right.x);
      note(1, run(forward{}, op, x, tag(y, 1.0)).metadata, right.y);
    }
  INFO(
      op.name() << " at " << at[0].first << ", " << at[0].second << " and at " << at[1].first << ", "
                << at[1].second);
  CHECK(worst[0] <= few);
  CHECK(worst[1] <= few);
}

} // namespace

TEST_CASE("derivatives of unary operations have an error of a few units in the last place") {
  check_one(overdub::sqrt);
  check_one(overdub::cbrt);
  check_one(overdub::exp);
  check_one(overdub::exp2);
  check_one(overdub::expm1);
  check_one(overdub::log);
  check_one(overdub::log2);
  check_one(overdub::log10);
  check_one(overdub::log1p);
  check_one(overdub::sin);
  check_one(overdub::cos);
  check_one(overdub::tan);
  check_one(overdub::asin);
  check_one(overdub::acos);
  check_one(overdub::atan);
  check_one(overdub::sinh);
  check_one(overdub::cosh);
  check_one(overdub::asinh);
  check_one(overdub::acosh);
  check_one(overdub::atanh);
  check_one(overdub::erf);
  check_one(overdub::erfc);
  check_one_in<double>(overdub::tgamma); // digamma of floats loses digits near its poles
  check_one_in<double>(overdub::lgamma);
}

TEST_CASE("derivatives of binary operations have an error of a few units in the last place") {
  check_two(overdub::mul);
  check_two(overdub::div);
  check_two(overdub::hypot);
  check_two(overdub::atan2);
  check_two(overdub::pow);
}
