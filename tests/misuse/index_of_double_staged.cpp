// A staged function reads an array at a number that is no integer.
// expect: overdub: an index or a count must be an integer
#include <overdub/stage/stage.hpp>

namespace od = overdub;

constexpr auto element = od::fn<"element">([](auto const& xs, auto t) {
#ifdef OVERDUB_MENDED
  return xs[od::convert<od::i64>(t)];
#else
  return xs[t];
#endif
});

void run() { static_cast<void>(od::stage(element, od::signature<od::array<double>, double>)); }
