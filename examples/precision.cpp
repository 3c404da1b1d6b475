// precision: the accuracy of a program in single precision. Here: the variance of numbers far from zero, by two formulas that
// are mathematically equal.
#include <overdub/contexts/precision.hpp>
#include <overdub/overdub.hpp>

#include <cmath>
#include <cstdio>
#include <iostream>

namespace od = overdub;
namespace contexts = overdub::contexts;

inline constexpr auto mean =
    od::fn<"mean">([](auto xs) { return od::sum(xs) / od::convert<double>(od::size(xs)); });

// The mean of the squares, less the square of the mean.
inline constexpr auto in_one_pass = od::fn<"in_one_pass">([](auto xs) {
  auto const m = mean(xs);
  auto const squares = od::map([](auto x) { return x * x; }, xs);
  return mean(squares) - m * m;
});
// The mean of the squared distances from the mean.
inline constexpr auto in_two_passes = od::fn<"in_two_passes">([](auto xs) {
  auto const m = mean(xs);
  return mean(od::map([&](auto x) { return (x - m) * (x - m); }, xs));
});

// The relative error of the variance in single precision, and the operations that cause it.
double loss(auto const& variance, od::array<double> const& xs) {
  contexts::single_precision single;
  double const in_double = variance(xs), in_single = od::run(single, variance, xs);
  contexts::precision report(1e-3);
  od::run(report, variance, xs);
  std::printf("%-14s %.6f, in single precision %.6f\n", variance.name().data(), in_double, in_single);
  std::cout << report << '\n';
  return std::abs(in_single - in_double) / in_double;
}

int main() {
  // Temperatures in kelvin, which change by half a degree.
  auto const kelvin =
      od::map([](auto i) { return 300.0 + 0.5 * od::sin(0.1 * od::convert<double>(i)); }, od::iota(1000));
  double const one_pass = loss(in_one_pass, kelvin), two_passes = loss(in_two_passes, kelvin);
  return one_pass > 1e-3 && two_passes < 1e-5 ? 0 : 1;
}
