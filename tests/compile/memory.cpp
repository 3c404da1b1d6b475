// Out of memory: a compilation throws, stores nothing, and can be repeated.
#include "allocations.hpp"
#include "catch.hpp"

#include <overdub/compile/compile.hpp>
#include <overdub/compile/library_call.hpp>

#include <memory>
#include <new>
#include <string>

namespace {

namespace od = overdub;

struct shaped : od::context {
  int shape = 0;
  int fingerprint() const { return shape; }
  static void before_optimise(od::ir::program&, int) {}
};
inline constexpr auto wave = od::fn<"wave">([](auto x) { return sin(x + 1.0) * sin(x + 1.0); });

// Runs f with an increasing limit of memory until it succeeds. Returns the number of failures.
template <class F, class After>
long fail_each_allocation(F const& f, After const& after) {
  for (long n = 0;; ++n) {
    bool done = false;
    allowed = n;
    try {
      f();
      done = true;
    } catch (std::bad_alloc const&) {
    }
    allowed = unlimited;
    after(done);
    if (done) return n;
  }
}

} // namespace

TEST_CASE("any allocation of a compilation may fail: no entry is stored, and nothing leaks") {
  shaped c;
  long before = 0;
  for (int round = 0; round < 2; ++round) { // the first round initialises what is allocated once for all
    before = alive;
    od::compilation_cache cache;
    long kept_nothing = 0;
    long const failed = fail_each_allocation(
        [&] { (void)od::compile(c, wave, od::signature<double>, {.cache = &cache}); },
        [&](bool done) {
          if (!done && cache.statistics().entries == 0) ++kept_nothing;
          if (!done && cache.statistics().entries > 0) cache.clear(); // the allocation of the handle failed
        });
    CHECK(failed > 50);
    CHECK(kept_nothing >= failed - 2);
    CHECK(od::compile(c, wave, od::signature<double>, {.cache = &cache})(0.5) == Approx(0.995));
  }
  CHECK(alive == before);
}

TEST_CASE("any allocation of a redefinition may fail: the library is unchanged") {
  char const* const first = "func @f(%x: f64) -> f64 {\n  %y = mul %x, 2.0 : f64\n  return %y\n}\n";
  char const* const second = "func @f(%x: f64) -> f64 {\n  %y = mul %x, 3.0 : f64\n  return %y\n}\n";
  od::library of;
  of.define(first);
  auto const f = of.function<double(double)>("f");
  CHECK(f(1.0) == 2.0);
  int wrong = 0;
  long const failed = fail_each_allocation(
      [&] { of.redefine(second); }, [&](bool done) { wrong += f(1.0) == (done ? 3.0 : 2.0) ? 0 : 1; });
  CHECK(failed > 20);
  CHECK(wrong == 0);
  CHECK(f(1.0) == 3.0);
}
