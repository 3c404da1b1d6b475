// A native function that is staged returns a class that programs do not have.
// expect: overdub: a native function that is staged returns bool, i64, float, double or an array of them
#include <overdub/stage/stage.hpp>

#include <string>

constexpr auto length = overdub::leaf<"length">([](double x) {
#ifdef OVERDUB_MENDED
  return static_cast<double>(std::to_string(x).size());
#else
  return std::to_string(x);
#endif
});
constexpr auto digits = overdub::fn<"digits">([](auto x) {
  auto const text = length(x);
  (void)text;
  return x;
});

auto program() { return overdub::stage(digits, overdub::signature<double>); }
