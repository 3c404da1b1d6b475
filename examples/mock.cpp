// mock: tests a program without its environment. Here: prices in other currencies, without the exchange.
#include <overdub/contexts/count.hpp>
#include <overdub/contexts/mock.hpp>
#include <overdub/overdub.hpp>

#include <cstdio>
#include <stdexcept>

namespace od = overdub;
namespace contexts = overdub::contexts;

// Euros for an amount in dollars: queries the exchange, which is closed.
inline constexpr auto exchange =
    od::leaf<"exchange">([](double) -> double { throw std::runtime_error("the exchange is closed"); });

inline constexpr auto shipping = od::fn<"shipping">([](auto weight) { return exchange(4.0 + 2.0 * weight); });
inline constexpr auto price = od::fn<"price">([](auto dollars, auto weight) {
  auto const goods = exchange(dollars);
  return goods + shipping(weight);
});

int main() {
  bool closed = false;
  try {
    (void)price(100.0, 3.0);
  } catch (std::runtime_error const& e) {
    std::printf("without a mock: %s\n", e.what());
    closed = true;
  }

  // Replaces all calls in the run.
  auto half = contexts::mock(exchange, [](auto dollars) { return 0.5 * dollars; });
  double const everywhere = od::run(half, price, 100.0, 3.0);
  std::printf("at half a euro a dollar:             %5.2f\n", everywhere);

  // In calls of `shipping` the rate is 0, and in other calls of `price` it is 0.5.
  auto free_shipping = contexts::mock(exchange, [](auto dollars) { return 0.0 * dollars; }).below(shipping);
  double const promotion = od::run(od::compose(free_shipping, half), price, 100.0, 3.0);
  std::printf("free shipping:                       %5.2f\n", promotion);

  // By depth: calls in the body of the function that runs have depth 1.
  contexts::count_of<decltype(exchange)> calls;
  double const both =
      od::run(od::compose(calls, half.at_depth<1, 1>(), half.at_depth<2>()), price, 100.0, 3.0);
  std::printf("one mock for each depth, %ld calls: %5.2f\n", calls(exchange), both);

  // A test double that records its argument.
  double last = 0;
  auto recording = contexts::mock(exchange, [&](auto dollars) { return last = dollars; });
  double const recorded = od::run(recording, price, 100.0, 3.0);
  std::printf("the last argument:                   %5.2f\n", last);
  return closed && everywhere == 55.0 && promotion == 50.0 && both == 55.0 && last == 10.0 &&
                 recorded == 110.0
             ? 0
             : 1;
}
