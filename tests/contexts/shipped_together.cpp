// The contexts of the library in one composition: each works, in direct runs and compiled.
#include "catch.hpp"

#include <overdub/compile/compile.hpp>
#include <overdub/contexts/count.hpp>
#include <overdub/contexts/fast_math.hpp>
#include <overdub/contexts/fault.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/contexts/log.hpp>
#include <overdub/contexts/mock.hpp>
#include <overdub/contexts/precision.hpp>
#include <overdub/contexts/profile.hpp>
#include <overdub/contexts/retry.hpp>
#include <overdub/contexts/slice.hpp>

#include <cmath>
#include <cstddef>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace od = overdub;
namespace contexts = overdub::contexts;

std::vector<double> observed;
inline constexpr auto say = od::leaf<"say">([](double x) { observed.push_back(x); });
inline constexpr auto ask = od::leaf<"ask">([](double x) { return 1e9 * x; });
inline constexpr auto step = od::fn<"step">([](auto x) {
  say(x);
  auto const y = ask(x);
  return sin(x) + 0.5 * y;
});
inline constexpr auto walk =
    od::fn<"walk">([](auto x) { return od::loop(4, x, [](auto, auto y) { return step(y); }); });
inline constexpr auto fake = [](auto x) { return x * 0.25; };

// The observations of one run.
struct observers {
  std::ostringstream text;
  contexts::log log{text};
  contexts::count count;
  contexts::count_each each;
  contexts::profile profile;
  contexts::deferred_effects<> later;
  contexts::precision precision{1e-9};
  contexts::fault<decltype(say)> fault{contexts::nth_call(3)};

  auto all() {
    return od::compose(
        log, count, each, profile, fault, contexts::mock(ask, fake), contexts::slice(later), precision,
        contexts::forward{});
  }
  std::string told() {
    std::string all = text.str() + std::to_string(count.calls()) + ' ' + std::to_string(later.size());
    for (auto const& [edge, n] : each.edges())
      all += '\n' + std::string(edge.first) + ' ' + std::string(edge.second) + ' ' + std::to_string(n);
    for (auto const& r : profile.paths())
      all += '\n' + std::to_string(r.path.size()) + ' ' + std::to_string(r.calls);
    for (auto const& r : precision.losses())
      all += '\n' + std::string(r.function) + std::string(r.operation) + std::to_string(r.worst);
    return all;
  }
};

} // namespace

TEST_CASE(
    "nine contexts in one composition observe the same in a compiled run as in a direct one, also failures") {
  observers direct, compiled;
  auto both = direct.all();
  auto const f = od::compile(compiled.all(), walk, od::signature<od::tagged<double, double>>);
  observed.clear();
  CHECK_THROWS_AS(od::run(both, walk, od::tag(0.3, 1.0)), contexts::injected_fault);
  CHECK_THROWS_AS(f(od::tag(0.3, 1.0)), contexts::injected_fault);
  CHECK(direct.later.size() == 2);
  auto const a = od::run(both, walk, od::tag(0.3, 1.0));
  auto const b = f(od::tag(0.3, 1.0));
  CHECK((a.inner == b.inner && a.metadata == b.metadata));
  CHECK(observed.empty());
  CHECK(direct.told() == compiled.told());
  direct.later.replay();
  auto const said = std::exchange(observed, {});
  compiled.later.replay();
  CHECK((said.size() == 6 && said == observed));
}

TEST_CASE("contexts that rewrite a program apply in their order") {
  auto const exact = [](auto x) {
    for (int i = 0; i < 4; ++i) x = std::sin(x) + 0.5 * (x * 0.25);
    return x;
  };
  auto faked = contexts::mock(ask, fake);
  observed.clear();
  double const fast = od::run(od::compose(faked, contexts::slice(), contexts::fast_math{}), walk, 0.3);
  CHECK((fast != exact(0.3) && std::abs(fast - exact(0.3)) < 1e-9));
  double const single =
      od::run(od::compose(faked, contexts::slice(), contexts::single_precision{}), walk, 0.3);
  CHECK((single != exact(0.3) && std::abs(single - exact(0.3)) < 1e-6));
  // retry repeats the mock.
  int failures = 2;
  auto moody = contexts::mock(ask, [&](auto x) {
    if (failures-- > 0) throw 1;
    return x * 0.25;
  });
  CHECK(
      od::run(od::compose(contexts::retry(contexts::times<3>, ask), moody, contexts::slice()), walk, 0.3) ==
      exact(0.3));
  CHECK(observed.empty());
}
