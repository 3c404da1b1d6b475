// Rubin's eight schools: a model whose posterior NUTS samples. The mean effect is between 2 and 7.
#include "layers.hpp"

#include <overdub/distributions.hpp>
#include <overdub/inference.hpp>
#include <overdub/models.hpp>
#include <overdub/overdub.hpp>

namespace od = overdub;
namespace ds = overdub::distributions;

namespace {
inline constexpr auto schools = od::fn<"schools">([](od::scope auto& cx, auto const& sds) {
  auto const mu = cx(od::sample<"mu">, ds::normal(0, 5));
  auto const tau = cx(od::sample<"tau">, ds::half_normal(5));
  return od::map(
      [&](auto sd) {
        auto const eta = cx(od::sample<"eta">, ds::normal(0, 1));
        return cx(od::sample<"y">, ds::normal(mu + tau * eta, sd));
      },
      sds);
});
} // namespace

bool model_is_right() {
  auto const m = od::models::model(schools, od::array<double>{15, 10, 16, 11, 9, 11, 10, 18});
  od::models::posterior const p(m, {{"y", od::array<double>{28, 8, -3, 7, -1, 1, 18, 12}}});
  od::inference::summary const s(
      od::inference::sample(p, {.chains = 2, .warmup = 300, .draws = 500, .seed = 1}));
  double const mean = s["mu"].mean;
  return p.dimension() == 10 && mean > 2 && mean < 7;
}
