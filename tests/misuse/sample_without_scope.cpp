// A random choice is made without the scope.
// expect: overdub: a random choice is made through the scope, since its address and its distribution
#include <overdub/distributions.hpp>
#include <overdub/models/model.hpp>

namespace ds = overdub::distributions;

auto run() {
#ifdef OVERDUB_MENDED
  return overdub::models::model(
      [](overdub::scope auto& cx, auto x) { return cx(overdub::sample<"x">, ds::normal(x, 1)); }, 0.0);
#else
  return overdub::models::model([](auto x) { return overdub::sample<"x">(ds::normal(x, 1)); }, 0.0);
#endif
}
