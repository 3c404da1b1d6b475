// The function of scan returns a number, instead of a loop-carried value and an output.
// expect: overdub: the function of scan returns std::tuple\{state, output\}
// expect: "partial_sums"
#include <overdub/overdub.hpp>

#include <tuple>

constexpr auto partial_sums = overdub::fn<"partial_sums">([](auto xs) {
#ifdef OVERDUB_MENDED
  auto step = [](auto s, auto x) { return std::tuple(s + x, s + x); };
#else
  auto step = [](auto s, auto x) { return s + x; };
#endif
  return overdub::sum(std::get<1>(overdub::scan(step, 0.0, xs)));
});

double run(overdub::array<double> xs) {
  overdub::context context;
  return overdub::run(context, partial_sums, xs);
}
