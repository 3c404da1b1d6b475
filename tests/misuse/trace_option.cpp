// expect: overdub: trace_with takes options, such as overdub::contexts::tracing::to_depth<3>
// A callee instead of an option.
#include <overdub/contexts/trace.hpp>

namespace od = overdub;

inline constexpr auto square = od::fn<"square">([](auto x) { return x * x; });

int main() {
#ifdef OVERDUB_MENDED
  using only_square = od::contexts::trace_with<od::contexts::tracing::only<"square">>;
#else
  using only_square = od::contexts::trace_with<decltype(square)>;
#endif
  return od::run(only_square{}, square, 2.0) == 4.0 ? 0 : 1;
}
