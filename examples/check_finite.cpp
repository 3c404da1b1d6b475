// check_finite: the operation that returns the first NaN. Here: Newton's method for the square root, where the derivative is 0.
#include <overdub/contexts/check_finite.hpp>
#include <overdub/overdub.hpp>

#include <cstdio>
#include <string_view>

namespace od = overdub;

inline constexpr auto step = od::fn<"step">([](auto x, auto a) {
  auto const distance = x * x - a;
  return x - distance / (2.0 * x);
});
inline constexpr auto root = od::fn<"root">(
    [](auto a, auto start) { return od::loop(20, start, [&](auto, auto x) { return step(x, a); }); });

int main() {
  od::contexts::check_finite context;
  std::printf("the root of 2 is %.6f\n", od::run(context, root, 2.0, 1.0));
  try {
    od::run(context, root, 2.0, 0.0);
  } catch (od::contexts::not_finite const& e) {
    std::printf("%s\n", e.what());
    return e.what() == std::string_view("overdub: div(-2, 0) gave -inf, in step, called by root") ? 0 : 1;
  }
  return 1;
}
