// A model in a model captures a number.
// expect: overdub: a model in a model captures nothing; give it arguments
#include <overdub/distributions.hpp>
#include <overdub/models/model.hpp>

namespace ds = overdub::distributions;

auto run() {
  return overdub::models::model(
      [](overdub::scope auto& cx, auto x) {
#ifdef OVERDUB_MENDED
        auto const noise = overdub::fn<"noise">(
            [](overdub::scope auto& c, auto mean) { return c(overdub::sample<"x">, ds::normal(mean, 1)); });
        return cx(overdub::within<"left">(noise), x);
#else
        auto const noise = overdub::fn<"noise">(
            [x](overdub::scope auto& c) { return c(overdub::sample<"x">, ds::normal(x, 1)); });
        return cx(overdub::within<"left">(noise));
#endif
      },
      0.0);
}
