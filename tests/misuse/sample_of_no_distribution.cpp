// The argument of a random choice is not a distribution, but its parameters.
// expect: overdub: a random choice is given one distribution: cx\(sample<"x">, normal\(0, 1\)\)
#include <overdub/distributions.hpp>
#include <overdub/models/model.hpp>

namespace ds = overdub::distributions;

auto run() {
  return overdub::models::model(
      [](overdub::scope auto& cx, auto x) {
#ifdef OVERDUB_MENDED
        return cx(overdub::sample<"x">, ds::normal(x, 1));
#else
        return cx(overdub::sample<"x">, x, 1.0);
#endif
      },
      0.0);
}
