// A context that inherits rules for other numbers of arguments.
// expect: overdub: the context has a rule that names this function, but with another number of arguments
// expect: "norm"
#include <overdub/contexts/forward.hpp>

constexpr auto norm = overdub::fn<"norm">([](auto x, auto y) { return sqrt(x * x + y * y); });

struct derivatives : overdub::extends<overdub::contexts::forward> {
  using extends::overdub;
#ifdef OVERDUB_MENDED
  auto overdub(overdub::rule_call auto call, decltype(norm), auto x, auto y) { return call.recurse(x, y); }
#else
  auto overdub(decltype(norm), auto x) { return x; }
#endif
};

double run(double x) {
  derivatives context;
  return overdub::run(context, norm, overdub::tag(x, 1.0), 4.0).metadata;
}
