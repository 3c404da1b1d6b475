// forward observes a native function without a derivative rule.
// expect: overdub: forward cannot differentiate this native function; extend the context with a rule for it
// expect: "lookup"
#include <overdub/contexts/forward.hpp>

constexpr auto lookup = overdub::leaf<"lookup">([](double x) { return x * x; });
constexpr auto price = overdub::fn<"price">([](auto x) { return lookup(x) * 2.0; });

#ifdef OVERDUB_MENDED
struct differentiate : overdub::extends<overdub::contexts::forward> {
  using extends::overdub;
  auto overdub(decltype(lookup) f, auto x) { return overdub::tag(f(x.inner), 2.0 * x.inner * x.metadata); }
};
#else
using differentiate = overdub::contexts::forward;
#endif

double run(double x) {
  differentiate context;
  return overdub::run(context, price, overdub::tag(x, 1.0)).metadata;
}
