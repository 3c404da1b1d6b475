// A program of direct runs, which needs headers alone: it is linked without the library.
#include <overdub/contexts/check_finite.hpp>
#include <overdub/contexts/count.hpp>
#include <overdub/contexts/fast_math.hpp>
#include <overdub/contexts/fault.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/contexts/log.hpp>
#include <overdub/contexts/memoize.hpp>
#include <overdub/contexts/mock.hpp>
#include <overdub/contexts/precision.hpp>
#include <overdub/contexts/profile.hpp>
#include <overdub/contexts/retry.hpp>
#include <overdub/contexts/slice.hpp>
#include <overdub/contexts/tag.hpp>
#include <overdub/contexts/trace.hpp>
#include <overdub/derivative.hpp>
#include <overdub/overdub.hpp>

namespace {

inline constexpr auto cube = overdub::fn<"cube">([](auto x) { return x * x * x; });

} // namespace

int main() {
  overdub::contexts::count counts;
  auto const y =
      overdub::run(overdub::compose(counts, overdub::contexts::forward{}), cube, overdub::tag(2.0, 1.0));
  return y.metadata == 12.0 && overdub::derivative(cube, 2.0) == 12.0 ? 0 : 1;
}
