// A gradient of one function, with headers alone.
#include <overdub/overdub.hpp>
#include <overdub/reverse.hpp>

namespace od = overdub;

inline constexpr auto loss = od::fn<"loss">([](auto x) { return x * x * FACTOR; });

extern "C" [[gnu::visibility("default")]] int faults() {
  return (loss(3.0) != 9 * FACTOR) + (od::gradient(loss)(3.0) != 6 * FACTOR);
}
