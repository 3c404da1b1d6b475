// A variable that starts as a plain number accumulates values.
// expect first: overdub: a plain number is the left side of \+=, and a value of a context the right one
#include <overdub/contexts/count.hpp>
#include <overdub/overdub.hpp>

#include <type_traits>
#include <vector>

constexpr auto total = overdub::fn<"total">([](auto const& v) {
#ifdef OVERDUB_MENDED
  std::decay_t<decltype(v[0])> s = 0;
#else
  double s = 0;
#endif
  for (auto const& x : v) s += x;
  return s;
});

double run(std::vector<double> const& v) {
  overdub::contexts::count count;
  return overdub::run(count, total, v);
}
