// expect: overdub: to_depth<N> is for N > 0
// Depth 1 is the function that runs.
#include <overdub/contexts/trace.hpp>

namespace od = overdub;

inline constexpr auto square = od::fn<"square">([](auto x) { return x * x; });

int main() {
#ifdef OVERDUB_MENDED
  using outermost = od::contexts::trace_with<od::contexts::tracing::to_depth<1>>;
#else
  using outermost = od::contexts::trace_with<od::contexts::tracing::to_depth<0>>;
#endif
  return od::run(outermost{}, square, 2.0) == 4.0 ? 0 : 1;
}
