// expect: the score is differentiated by arguments that are numbers, arrays, and trees of them
#include <overdub/distributions.hpp>
#include <overdub/models/dynamic_gradients.hpp>

#include <boost/hana/define_struct.hpp>

struct prior {
  BOOST_HANA_DEFINE_STRUCT(prior, (double, mean), (double, sd));
};

double slope() {
#ifdef OVERDUB_MENDED
  auto const g = [](overdub::scope auto& cx, auto const& mean) {
    return cx(overdub::sample<"x">, overdub::distributions::normal(mean, 1.0));
  };
  auto const m = overdub::models::dynamic_model(g, 0.0);
  return std::get<0>(argument_gradients(m, m.simulate(overdub::random_key(1))));
#else
  auto const f = [](overdub::scope auto& cx, auto const& p) {
    return cx(overdub::sample<"x">, overdub::distributions::normal(p.mean, 1.0));
  };
  auto const m = overdub::models::dynamic_model(f, prior{0, 1});
  return std::get<0>(argument_gradients(m, m.simulate(overdub::random_key(1)))).mean;
#endif
}
