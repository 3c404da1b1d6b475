// A refusal is a permanent rejection by a context. The cache stores it, so that the function is neither staged nor checked again.
#include "catch.hpp"

#include <overdub/check.hpp>
#include <overdub/compile/compile.hpp>

#include <atomic>
#include <stdexcept>

namespace {

namespace od = overdub;

inline constexpr auto doubled = od::fn<"doubled">([](auto x) { return x + x; });
inline constexpr auto impossible = od::fn<"impossible">([](auto x) { return od::acosh(od::sin(x) - 1.0); });

struct refusing : od::context {
  int shape = 0;
  int fingerprint() const { return shape; }
  static inline std::atomic<int> looks{0};
  static void after_inference(od::ir::program const&, int shape) {
    ++looks;
    if (shape > 0) throw od::refusal(od::message("overdub: refused %d", shape));
    if (shape < 0) throw std::runtime_error("not today");
  }
};
od::compile_options in(od::compilation_cache& cache) { return {.cache = &cache}; }

} // namespace

TEST_CASE("the cache stores a refusal, and throws it again without another check") {
  od::compilation_cache cache;
  refusing c;
  c.shape = 1;
  refusing::looks = 0;
  for (int i = 0; i < 5; ++i)
    CHECK_THROWS_WITH(od::compile(c, doubled, od::signature<double>, in(cache)), "overdub: refused 1");
  CHECK(refusing::looks == 1);
  c.shape = 2;
  CHECK_THROWS_WITH(od::compile(c, doubled, od::signature<double>, in(cache)), "overdub: refused 2");
  CHECK(refusing::looks == 2);
  c.shape = 0;
  CHECK(od::compile(c, doubled, od::signature<double>, in(cache))(2.0) == 4.0);
  auto const s = cache.statistics();
  CHECK(s.refusals == 2);
  CHECK(s.failures == 2);
  CHECK(s.compilations == 3);
  CHECK(s.entries == 3);
  CHECK(s.hits == 4);
}

TEST_CASE("other errors are not stored, and refusals are cleared and evicted as other entries are") {
  od::compilation_cache cache;
  refusing c;
  c.shape = -1;
  refusing::looks = 0;
  for (int i = 0; i < 3; ++i)
    CHECK_THROWS_WITH(
        od::compile(c, doubled, od::signature<double>, in(cache)), Catch::Matchers::EndsWith("not today"));
  CHECK(refusing::looks == 3);
  CHECK(cache.statistics().entries == 0);
  c.shape = 1;
  CHECK_THROWS_AS(od::compile(c, doubled, od::signature<double>, in(cache)), od::refusal);
  cache.clear();
  CHECK(cache.statistics().bytes == 0);
  CHECK_THROWS_AS(od::compile(c, doubled, od::signature<double>, in(cache)), od::refusal);
  CHECK(refusing::looks == 5);
  cache.set_limits({.entries = 1});
  c.shape = 0;
  CHECK(od::compile(c, doubled, od::signature<double>, in(cache))(2.0) == 4.0);
  CHECK(cache.statistics().evictions == 1);
  c.shape = 1;
  CHECK_THROWS_AS(od::compile(c, doubled, od::signature<double>, in(cache)), od::refusal);
  CHECK(refusing::looks == 7);
}

TEST_CASE("checked analyses a function once, run or compiled") {
  od::checked checked;
  auto const before = od::compilation_cache::shared().statistics();
  for (int i = 0; i < 4; ++i) {
    CHECK_THROWS_AS(od::compile(checked, impossible, od::signature<double>), od::check_failed);
    CHECK_THROWS_AS(od::run(checked, impossible, 1.0), od::check_failed);
  }
  auto const after = od::compilation_cache::shared().statistics();
  CHECK(after.compilations == before.compilations + 1);
  CHECK(after.refusals == before.refusals + 1);
}
