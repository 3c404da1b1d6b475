// A signed number is compared with an unsigned one.
// expect: overdub: numbers of these types cannot be mixed here without losing some
// expect: lt_t.*int.*unsigned int
// expect: "below"
#include <overdub/overdub.hpp>

constexpr auto below = overdub::fn<"below">([](auto n, auto limit) {
#ifdef OVERDUB_MENDED
  return n < overdub::convert<int>(limit);
#else
  return n < limit;
#endif
});

bool run(int n, unsigned limit) {
  overdub::context context;
  return overdub::run(context, below, n, limit);
}
