// The programs of a model run parts of its function: hooks would observe some calls and not others.
// expect: overdub: a context with hooks is given to model
#include <overdub/distributions.hpp>
#include <overdub/models/dynamic.hpp>
#include <overdub/models/model.hpp>

struct observing : overdub::context {
  int sines = 0;
  void before(overdub::sin_t, double) { ++sines; }
};
inline constexpr auto wave = overdub::fn<"wave">([](overdub::scope auto& cx, auto sd) {
  return sin(cx(overdub::sample<"x">, overdub::distributions::normal(0.0, sd)));
});

double run() {
  observing h;
#ifdef OVERDUB_MENDED
  return overdub::models::dynamic_model(h, wave, 1.0).simulate(overdub::random_key(1)).score();
#else
  return overdub::models::model(h, wave, 1.0).simulate(overdub::random_key(1)).score();
#endif
}
