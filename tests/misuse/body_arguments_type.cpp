// A function's body takes a double, and a value of a context does not convert to one.
// expect: overdub: the body of this function cannot be called with these arguments.*take parameters as `auto`
// expect: "twice"
#include <overdub/overdub.hpp>

#ifdef OVERDUB_MENDED
constexpr auto twice = overdub::fn<"twice">([](auto x) { return 2.0 * x; });
#else
constexpr auto twice = overdub::fn<"twice">([](double x) { return 2.0 * x; });
#endif

double run(double x) {
  overdub::context context;
  return overdub::run(context, twice, x);
}
