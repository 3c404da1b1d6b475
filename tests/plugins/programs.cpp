// A plugin whose functions are staged, rewritten and compiled. It is compiled twice, with different FACTORs: the functions of two shared
// objects have the same names and different results.
#include <overdub/batch.hpp>
#include <overdub/compile/compile.hpp>
#include <overdub/compile/scoped_global.hpp>
#include <overdub/contexts/count.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/distributions.hpp>
#include <overdub/incremental.hpp>
#include <overdub/models/model.hpp>
#include <overdub/overdub.hpp>
#include <overdub/reverse.hpp>

#include <cmath>
#include <cstdio>

namespace od = overdub;
namespace contexts = overdub::contexts;
namespace ds = overdub::distributions;

inline constexpr auto loss = od::fn<"loss">([](auto x) { return x * x * FACTOR; });
inline constexpr auto total = od::fn<"total">([](auto xs) { return od::sum(od::map(loss, xs)); });
inline constexpr auto slope = od::fn<"slope">([](auto x) { return od::gradient(loss)(x); });
inline constexpr auto drawn = od::fn<"drawn">([](od::scope auto& cx, auto x) {
  auto const mean = cx(od::sample<"mean">, ds::normal(x * FACTOR, 1.0));
  return mean * FACTOR;
});

namespace {
int faults_so_far = 0;
void expect(char const* what, double got, double wanted) {
  if (std::abs(got - wanted) <= 1e-12 * std::abs(wanted)) return;
  std::printf("plugin of factor %g: %s is %.17g, and should be %.17g\n", double{FACTOR}, what, got, wanted);
  ++faults_so_far;
}
} // namespace

/// The number of results of this plugin that are not those of its own functions.
extern "C" [[gnu::visibility("default")]] int faults() {
  faults_so_far = 0;
  double const k = FACTOR;
  expect("the value", loss(3.0), 9 * k);
  expect("the gradient", od::gradient(loss)(3.0), 6 * k);
  expect("the gradient of a sum", od::gradient(total)(od::array<double>{1, 3})[1], 6 * k);
  expect("the pullback", od::pullback(loss)(3.0).second(1.0), 6 * k);
  expect("the gradient in a context", od::run(contexts::count{}, slope, 3.0), 6 * k);
  expect("the batch", od::batch(loss)(od::array<double>{1, 3})[1], 9 * k);

  contexts::count counted;
  expect("the compiled function", od::compile(counted, loss, od::signature<double>)(3.0), 9 * k);
  expect("the compiled slope", od::compile(od::compose(), slope, od::signature<double>)(3.0), 6 * k);

  // A scoped_global applies to calls from this shared object, whichever object contains the library.
  auto const compiled_loss = od::compile(od::compose(), loss, od::signature<double>);
  {
    contexts::count_of<od::mul_t> products;
    od::scoped_global const here(products);
    expect("the value in a scoped_global", compiled_loss(3.0), 9 * k);
    expect("the products in a scoped_global", static_cast<double>(products(od::mul)), 2);
  }
  auto followed = od::incremental(total, od::array<double>{1, 3});
  expect("the incremental value", followed.value(), 10 * k);
  followed.set_at<0>(0, 2.0);
  expect("the updated value", followed.propose(), 13 * k);

  auto const m = od::models::model(drawn, 2.0);
  auto const [t, weight] = m.generate({{"mean", 1.5}}, od::random_key(7));
  double const off = 1.5 - 2 * k;
  expect("the density", weight, -0.5 * off * off - 0.5 * std::log(2 * 3.14159265358979323846));
  expect("the model's result", m.result(t), 1.5 * k);
  return faults_so_far;
}
