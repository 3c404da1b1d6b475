// A rule for a family whose first parameter is not constrained to callees.
// expect: overdub: a rule of this context takes anything in the place of its function
// expect: tracer
#include <overdub/overdub.hpp>

struct tracer : overdub::context {
  int calls = 0;
#ifdef OVERDUB_MENDED
  auto overdub(overdub::callee auto f, auto... x) {
#else
  auto overdub(auto f, auto... x) {
#endif
    ++calls;
    return f(x...);
  }
};

constexpr auto twice = overdub::fn<"twice">([](auto x) { return 2.0 * x; });

double run(double x) {
  tracer context;
  return overdub::run(context, twice, x);
}
