// The derivative of sin(x + 1) is cos(x + 1) times 1, as dual numbers written by hand compute it.
//
// same: derivative_by_hand derivative_by_overdub
// same: along_by_hand along_by_overdub
#include <overdub/contexts/forward.hpp>
#include <overdub/derivative.hpp>

#include <cmath>

namespace {

inline constexpr auto shifted_sine =
    overdub::fn<"shifted_sine">([](auto x) { return overdub::sin(x + 1.0); });

struct dual {
  double value, tangent;
};
dual operator+(dual a, double b) { return {a.value + b, a.tangent}; }
dual sin(dual a) {
  double const value = std::sin(a.value);
  return {value, a.tangent * std::cos(a.value)};
}

} // namespace

extern "C" {
double derivative_by_hand(double x) { return sin(dual{x, 1.0} + 1.0).tangent; }
double derivative_by_overdub(double x) { return overdub::derivative(shifted_sine, x); }

void along_by_hand(double x, double dx, double* out) {
  dual const y = sin(dual{x, dx} + 1.0);
  out[0] = y.value;
  out[1] = y.tangent;
}
void along_by_overdub(double x, double dx, double* out) {
  auto const y = overdub::run(overdub::contexts::forward{}, shifted_sine, overdub::tag(x, dx));
  out[0] = y.inner;
  out[1] = y.metadata;
}
}
