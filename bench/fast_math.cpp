// The polynomials of fast_math against the functions of libm that they replace: a sum over a thousand arguments.
#include "ratio.hpp"

#include <overdub/contexts/fast_math.hpp>
#include <overdub/overdub.hpp>

#include <cmath>
#include <vector>

namespace {

template <class F>
void time(char const* question, F const& f, double low, double high, double goal) {
  std::vector<double> arguments(1000);
  for (std::size_t i = 0; i < arguments.size(); ++i)
    arguments[i] = low + (high - low) * static_cast<double>(i * 7919 % 1000) / 1000;
  auto const sum = [&](auto const& g) {
    double all = 0;
    for (double x : arguments) all += g(bench::opaque(x));
    return all;
  };
  overdub::contexts::fast_math fast;
  bench::compare(
      question, bench::way{"libm", 0, [&] { return sum(f); }},
      bench::way{"fast_math", goal, [&] { return sum([&](double x) { return overdub::run(fast, f, x); }); }});
}

} // namespace

int main() {
  using overdub::fn;
  time("sin", fn<"f">([](auto x) { return overdub::sin(x); }), -50, 50, 1);
  time("cos", fn<"f">([](auto x) { return overdub::cos(x); }), -50, 50, 1);
  time("tan", fn<"f">([](auto x) { return overdub::tan(x); }), -50, 50, 1);
  time("tanh", fn<"f">([](auto x) { return overdub::tanh(x); }), -5, 5, 1);
  time("exp", fn<"f">([](auto x) { return overdub::exp(x); }), -50, 50, 0);
}
