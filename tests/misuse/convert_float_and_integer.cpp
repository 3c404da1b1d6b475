// A float with an integer constant.
// expect: overdub: numbers of these types cannot be mixed here without losing some
// expect: add_t.*float.*int
// expect: "next"
#include <overdub/overdub.hpp>

constexpr auto next = overdub::fn<"next">([](auto x) {
#ifdef OVERDUB_MENDED
  return x + 1.0f;
#else
  return x + 1;
#endif
});

float run(float x) {
  overdub::context context;
  return overdub::run(context, next, x);
}
