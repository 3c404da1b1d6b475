// update with an element of another type than the array's.
// expect: overdub: update: the new element is not of the type of the array's elements
// expect: "cleared"
#include <overdub/overdub.hpp>

constexpr auto cleared = overdub::fn<"cleared">([](auto xs) {
#ifdef OVERDUB_MENDED
  return overdub::update(xs, 0, 0.0);
#else
  return overdub::update(xs, 0, 0);
#endif
});

void run(overdub::array<double> xs) {
  overdub::context context;
  overdub::run(context, cleared, xs);
}
