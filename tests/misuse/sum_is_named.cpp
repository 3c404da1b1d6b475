// A rule names sum, which is a reduction by add.
// expect: overdub: sum and dot are no calls of their own
#include <overdub/overdub.hpp>

struct doubled : overdub::context {
#ifdef OVERDUB_MENDED
  auto overdub(overdub::add_t, auto x, auto y) { return x + y; }
#else
  auto overdub(overdub::sum_t, auto xs) { return 2.0 * overdub::sum(xs); }
#endif
};

constexpr auto total = overdub::fn<"total">([](auto xs) { return overdub::sum(xs); });

double run(overdub::array<double> xs) { return overdub::run(doubled{}, total, xs); }
