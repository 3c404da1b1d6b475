// reverse: gradients in the time of a few runs, however many arguments there are. Here: the rates of a chain of reactions
// are estimated from its products.
#include <overdub/overdub.hpp>
#include <overdub/reverse.hpp>

#include <cmath>
#include <cstdio>
#include <tuple>

namespace od = overdub;

// A becomes B at one rate, and B becomes C at another: the amounts of B at n times.
inline constexpr auto amounts = od::fn<"amounts">([](auto const& rates, auto n) {
  auto const one_step = [&](auto const& state, auto) {
    auto const& [a, b] = state;
    auto const made = 0.05 * rates[0] * a, lost = 0.05 * rates[1] * b;
    return std::tuple(std::tuple(a - made, b + made - lost), b);
  };
  auto const none = 0.0 * rates[0];
  return std::get<1>(od::scan(one_step, std::tuple(none + 1.0, none), od::iota(n)));
});

inline constexpr auto error = od::fn<"error">([](auto const& rates, auto const& measured) {
  auto const found = amounts(rates, od::size(measured));
  return od::sum(od::map([](auto x, auto y) { return (x - y) * (x - y); }, found, measured));
});

int main() {
  od::array<double> const measured = amounts(od::array<double>{1.3, 0.4}, od::i64{200});
  od::array<double> rates{0.5, 1.0};

  auto const slopes = od::value_and_gradient<0>(error);
  double last = 0;
  for (int step = 0; step < 1000; ++step) {
    auto const [value, slope] = slopes(rates, measured);
    if (step % 200 == 0) std::printf("rates %.4f %.4f, error %.3g\n", rates[0], rates[1], value);
    rates = od::array<double>{rates[0] - 0.01 * slope[0], rates[1] - 0.01 * slope[1]};
    last = value;
  }
  std::printf("rates %.4f %.4f, error %.3g\n", rates[0], rates[1], last);
  return std::abs(rates[0] - 1.3) < 1e-3 && std::abs(rates[1] - 0.4) < 1e-3 ? 0 : 1;
}
