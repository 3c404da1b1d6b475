// The contexts of the library, as machine code.
#include "catch.hpp"

#include <overdub/compile/compile.hpp>
#include <overdub/contexts/count.hpp>
#include <overdub/contexts/fast_math.hpp>
#include <overdub/contexts/fault.hpp>
#include <overdub/contexts/mock.hpp>
#include <overdub/contexts/precision.hpp>
#include <overdub/contexts/profile.hpp>
#include <overdub/contexts/retry.hpp>
#include <overdub/contexts/slice.hpp>
#include <overdub/jit/executor.hpp>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

namespace {

namespace od = overdub;
namespace contexts = overdub::contexts;

od::compile_options machine_code() {
  return {.executor = od::jit::compiled(), .tiers = od::tiers::compile_now};
}

std::vector<double> said;
inline constexpr auto say = od::leaf<"say">([](double x) { said.push_back(x); });
inline constexpr auto spoken = od::fn<"spoken">([](auto x) {
  say(x);
  auto const y = sqrt(x) + 1.0;
  say(y);
  return y;
});

int failures = 0;
inline constexpr auto moody = od::leaf<"moody">([](double x) {
  if (failures-- > 0) throw std::runtime_error("moody");
  return x * 2.0;
});
inline constexpr auto moods = od::fn<"moods">([](auto x) { return moody(x) + moody(x + 1.0); });

} // namespace

TEST_CASE("slice works as machine code") {
  contexts::deferred_effects later;
  auto const f = od::compile(contexts::slice(later), spoken, od::signature<double>, machine_code());
  said.clear();
  CHECK((f(4.0) == 3.0 && f(9.0) == 4.0 && said.empty()));
  later.replay();
  CHECK(std::exchange(said, {}) == std::vector{4.0, 3.0, 9.0, 4.0});
  auto const silent = od::compile(contexts::slice(), spoken, od::signature<double>, machine_code());
  CHECK((silent(4.0) == 3.0 && said.empty()));
}

TEST_CASE("mock works as machine code") {
  auto m = contexts::mock(say, [](auto) {});
  auto const f = od::compile(m, spoken, od::signature<double>, machine_code());
  said.clear();
  CHECK((f(4.0) == 3.0 && said.empty()));
  auto roots = contexts::mock(od::sqrt, [](auto x) { return x * x; }).below(spoken);
  auto const g = od::compile(roots, spoken, od::signature<double>, machine_code());
  CHECK(g(3.0) == 10.0);
  CHECK(std::exchange(said, {}) == std::vector{3.0, 10.0});
}

TEST_CASE("fault and retry work as machine code") {
  failures = 0;
  contexts::fault<> second(contexts::nth_call(2));
  auto const f = od::compile(second, moods, od::signature<double>, machine_code());
  CHECK_THROWS_WITH(f(1.0), "overdub: call 2 of those that may fail was made to fail: moody");
  CHECK((f(1.0) == 6.0 && second.calls == 4));
  auto again = contexts::retry(contexts::times<3>, moody);
  auto const g = od::compile(again, moods, od::signature<double>, machine_code());
  failures = 2;
  CHECK(g(1.0) == 6.0);
  failures = 3;
  CHECK_THROWS_WITH(g(1.0), "moody");
}

TEST_CASE("single_precision and precision work as machine code") {
  auto const f =
      od::fn<"f">([](auto xs) { return od::sum(od::map([](auto x) { return x * x - 1e-3; }, xs)); });
  od::array<double> const xs{0.1, 1e4, -3.3, 123456789.0};
  contexts::single_precision single;
  auto const g = od::compile(single, f, od::signature<od::array<double>>, machine_code());
  CHECK(g(xs) == od::run(single, f, xs));
  CHECK(g(xs) != f(xs));
  contexts::precision direct(1e-9), compiled(1e-9);
  auto const square = od::fn<"square">([](auto x) { return (x + 1.0) * (x - 1.0); });
  auto const h = od::compile(compiled, square, od::signature<double>, machine_code());
  CHECK(h(123456789.0) == od::run(direct, square, 123456789.0));
  REQUIRE(compiled.losses().size() == 3);
  for (std::size_t i = 0; i < 3; ++i) CHECK(compiled.losses()[i].worst == direct.losses()[i].worst);
}

TEST_CASE("fast_math as machine code has the bits of direct runs") {
  auto const f = od::fn<"f">([](auto x) {
    auto const waves = sin(x) + 2.0 * cos(x) - tan(0.5 * x);
    return waves + exp(0.01 * x) + tanh(x);
  });
  contexts::fast_math fast;
  auto const g = od::compile(fast, f, od::signature<double>, machine_code());
  int others = 0;
  for (double const x : {0.0, -0.0, 1e-9, 0.5, -1.75, 3.0, 100.5, -654.25, 9e4}) {
    double const direct = od::run(fast, f, x), exact = f(x);
    INFO(x);
    CHECK(g(x) == direct);
    CHECK(direct == Approx(exact).margin(1e-9).epsilon(1e-9));
    others += direct != exact;
  }
  CHECK(others > 4); // libm's results would differ
  for (double const x : {std::numeric_limits<double>::infinity(), std::nan("")}) CHECK(std::isnan(g(x)));
}

TEST_CASE("profile works as machine code") {
  contexts::profile direct, compiled;
  auto const f = od::compile(compiled, moods, od::signature<double>, machine_code());
  failures = 0;
  CHECK(f(1.0) == od::run(direct, moods, 1.0));
  failures = 1;
  CHECK_THROWS(f(1.0));
  failures = 1;
  CHECK_THROWS(od::run(direct, moods, 1.0));
  auto const a = direct.paths(), b = compiled.paths();
  REQUIRE((a.size() == 2 && b.size() == 2));
  for (std::size_t i = 0; i < 2; ++i) CHECK((a[i].path == b[i].path && a[i].calls == b[i].calls));
}

TEST_CASE("count_each works as machine code") {
  contexts::count_each direct, compiled;
  auto const f = od::compile(compiled, moods, od::signature<double>, machine_code());
  failures = 0;
  CHECK(f(1.0) == od::run(direct, moods, 1.0));
  CHECK((compiled.edges() == direct.edges() && compiled.calls("moods", "moody") == 2));
}
