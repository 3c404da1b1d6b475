// A function that makes random choices is called.
// expect: overdub: a function that makes random choices is called outside of a model; run it as a model
#include <overdub/distributions.hpp>
#include <overdub/models/model.hpp>

namespace ds = overdub::distributions;

inline constexpr auto noise = overdub::fn<"noise">(
    [](overdub::scope auto& cx, auto x) { return cx(overdub::sample<"x">, ds::normal(x, 1)); });

auto run() {
#ifdef OVERDUB_MENDED
  return overdub::models::model(noise, 0.0).simulate(overdub::random_key(1));
#else
  return noise(0.0);
#endif
}
