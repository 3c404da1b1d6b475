// update puts an element of another type into an array.
// expect: overdub: update puts an element of another type into an array
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
