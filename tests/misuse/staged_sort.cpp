// The standard library sorts by comparisons of a staged program.
// expect: overdub: a comparison of values of a program that is being staged is used as a plain bool, as std::sort
// expect: "median"
#include <overdub/overdub.hpp>
#include <overdub/stage/stage.hpp>

#include <algorithm>
#include <array>

namespace od = overdub;

constexpr auto median = od::fn<"median">([](auto x, auto y, auto z) {
#ifdef OVERDUB_MENDED
  return od::max(od::min(x, y), od::min(od::max(x, y), z));
#else
  std::array all{x, y, z};
  std::sort(all.begin(), all.end());
  return all[1];
#endif
});

void run() { (void)od::stage(median, od::signature<double, double, double>); }
