// A rule's result has another type than the function's result.
// expect: overdub: a rule's result must have the type of the function's own result
// expect: "half"
#include <overdub/overdub.hpp>

constexpr auto half = overdub::fn<"half">([](overdub::scope auto&, auto x) { return x / 2; });

struct fewer : overdub::context {
#ifdef OVERDUB_MENDED
  auto overdub(decltype(half), auto x) { return overdub::convert<int>(0.5 * x); }
#else
  auto overdub(decltype(half), auto x) { return 0.5 * x; }
#endif
};

int run(int n) {
  fewer context;
  return overdub::run(context, half, n);
}
