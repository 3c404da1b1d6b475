// Deprecated headers and names: each old header exists, and each old name is an alias of the new one.
#include "catch.hpp"

#include <overdub/contexts/batch.hpp>
#include <overdub/contexts/check.hpp>
#include <overdub/contexts/distributions.hpp>
#include <overdub/contexts/distributions/bounded.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/contexts/hessian.hpp>
#include <overdub/contexts/incremental.hpp>
#include <overdub/contexts/inference.hpp>
#include <overdub/contexts/inference/calibration.hpp>
#include <overdub/contexts/inference/csv.hpp>
#include <overdub/contexts/inference/draws.hpp>
#include <overdub/contexts/inference/nuts.hpp>
#include <overdub/contexts/inference/particles.hpp>
#include <overdub/contexts/inference/progress.hpp>
#include <overdub/contexts/inference/summary.hpp>
#include <overdub/contexts/inference/variational.hpp>
#include <overdub/contexts/models.hpp>
#include <overdub/contexts/models/calibration.hpp>
#include <overdub/contexts/models/choices.hpp>
#include <overdub/contexts/models/dynamic.hpp>
#include <overdub/contexts/models/dynamic_gradients.hpp>
#include <overdub/contexts/models/generating.hpp>
#include <overdub/contexts/models/mcmc.hpp>
#include <overdub/contexts/models/model.hpp>
#include <overdub/contexts/models/posterior.hpp>
#include <overdub/contexts/models/resimulation.hpp>
#include <overdub/contexts/models/sample.hpp>
#include <overdub/contexts/random.hpp>
#include <overdub/contexts/report.hpp>
#include <overdub/contexts/reverse.hpp>
#include <overdub/contexts/test_derivative.hpp>

#include <concepts>

namespace {

namespace od = overdub;

constexpr auto cube = od::fn<"cube">([](auto x) { return x * x * x; });

static_assert(std::same_as<od::contexts::random_key, od::random_key>);
static_assert(std::same_as<od::contexts::random_generator, od::random_generator>);
static_assert(std::same_as<od::contexts::finding_kind, od::finding_kind>);

} // namespace

TEST_CASE("the old names of the namespace contexts are names of overdub") {
  CHECK(od::contexts::derivative(cube, 2.0) == 12.0);
  CHECK(od::contexts::gradient(cube)(2.0) == od::gradient(cube)(2.0));
  CHECK(od::contexts::hessian(cube)(2.0) == od::hessian(cube)(2.0));
  auto f = od::contexts::incremental(cube, 2.0);
  CHECK(f.value() == 8.0);
  using namespace overdub;
  using namespace overdub::contexts;
  CHECK(derivative(cube, 2.0) == 12.0);
  CHECK(run(forward{}, cube, tag(2.0, 1.0)).metadata == 12.0);
}
