// A model captures a number.
// expect: overdub: a model captures nothing; give what it captured as an argument
#include <overdub/distributions.hpp>
#include <overdub/models/model.hpp>

namespace ds = overdub::distributions;

auto run(double sd) {
#ifdef OVERDUB_MENDED
  return overdub::models::model(
      [](overdub::scope auto& cx, auto mean, auto s) {
        return cx(overdub::sample<"x">, ds::normal(mean, s));
      },
      0.0, sd);
#else
  return overdub::models::model(
      [sd](overdub::scope auto& cx, auto mean) { return cx(overdub::sample<"x">, ds::normal(mean, sd)); },
      0.0);
#endif
}
