// expect: overdub: in a context with metadata, a function returns `tagged`, a number and its metadata, which has no gradient
#include <overdub/contexts/forward.hpp>
#include <overdub/reverse.hpp>

constexpr auto square = overdub::fn<"square">([](auto x) { return x * x; });

double run(double x) {
#ifdef OVERDUB_MENDED
  return overdub::run(overdub::contexts::forward{}, overdub::gradient(square), overdub::tag(x, 1.0)).metadata;
#else
  return overdub::gradient(overdub::contexts::forward{}, square)(overdub::tag(x, 1.0)).metadata;
#endif
}
