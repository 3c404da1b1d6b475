// compile: a function in contexts as a program that is staged once.
#include "catch.hpp"

#include <overdub/compile/compile.hpp>
#include <overdub/contexts/forward.hpp>

namespace {

namespace od = overdub;
using od::array;
using od::i64;

inline constexpr auto wave = od::fn<"wave">([](auto x) { return sin(x + 1.0); });

struct counting : od::context {
  int calls = 0;
  void before(od::callee auto, auto const&...) { ++calls; }
};

} // namespace

TEST_CASE("compile compiles a function without contexts") {
  auto const f = od::compile(od::compose(), wave, od::signature<double>);
  CHECK(f(2.0) == std::sin(3.0));
}
TEST_CASE("compile in forward has the result of a run in forward") {
  auto const f = od::compile(od::contexts::forward{}, wave, od::signature<od::tagged<double, double>>);
  auto const r = f(od::tag(2.0, 1.0));
  CHECK(r.inner == std::sin(3.0));
  CHECK(r.metadata == std::cos(3.0));
}
TEST_CASE("hooks observe each call, in the context object of the compiled function") {
  counting a, b;
  auto const f = od::compile(a, wave, od::signature<double>);
  auto const g = od::compile(b, wave, od::signature<double>);
  CHECK(&f.made() == &g.made());
  (void)f(1.0);
  (void)f(1.0);
  (void)g(1.0);
  CHECK(a.calls == 2 * b.calls);
  counting direct;
  (void)od::run(direct, wave, 1.0);
  CHECK(b.calls == direct.calls);
}
