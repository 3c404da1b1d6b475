// compile with machine code: at once, or after enough calls (tiers).
#include "catch.hpp"

#include <overdub/compile/compile.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/jit/executor.hpp>

#include <array>
#include <atomic>
#include <cmath>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <vector>

namespace {

namespace od = overdub;
using od::i64;

inline constexpr auto wave = od::fn<"wave">([](auto x) { return sin(x + 1.0); });
inline constexpr auto parts = od::fn<"parts">([](auto n, auto b, auto x) {
  return std::tuple{
      n + i64{1}, !b, std::array{x, x * x},
      od::if_(
          b, [=] { return x; }, [=] { return 0.0f; })};
});
inline constexpr auto norm = od::fn<"norm">([](auto xs) { return sqrt(od::sum(xs)); });

od::compile_options now() { return {.executor = od::jit::compiled(), .tiers = od::tiers::compile_now}; }

struct counting : od::context {
  int calls = 0;
  void before(od::callee auto, auto const&...) { ++calls; }
};
struct hot : od::context {
  int shape = 0;
  int fingerprint() const { return shape; }
  static void options(od::compile_options& o) {
    o.executor = od::jit::compiled();
    o.hot_calls = 32;
  }
};
// An executor whose compilation fails: calls remain interpreted.
class failing final : public od::executor {
public:
  std::string const& name() const override { return name_; }
  std::shared_ptr<od::execute::code const> prepare(od::ir::program const&) const override {
    throw std::runtime_error("no room");
  }

private:
  std::string name_ = "failing";
};

} // namespace

TEST_CASE("functions of numbers are called directly, with the results of the interpreter") {
  auto const f = od::compile(od::compose(), wave, od::signature<double>, now());
  CHECK(f.made().code().target() != nullptr);
  CHECK(f(2.0) == std::sin(3.0));
}
TEST_CASE("several results, of all kinds, are returned as a tree") {
  auto const f = od::compile(od::compose(), parts, od::signature<i64, bool, float>, now());
  auto const g = od::compile(od::compose(), parts, od::signature<i64, bool, float>);
  for (bool const b : {false, true}) {
    CHECK(f(41, b, 3.0f) == g(41, b, 3.0f));
    CHECK(f(41, b, 3.0f) == std::tuple{i64{42}, !b, std::array{3.0f, 9.0f}, b ? 3.0f : 0.0f});
  }
  CHECK(f.made().code().target() != nullptr);
}
TEST_CASE("tags are passed and returned in registers") {
  auto const f = od::compile(od::contexts::forward{}, wave, od::signature<od::tagged<double, double>>, now());
  CHECK(f.made().code().target() != nullptr);
  auto const r = f(od::tag(2.0, 1.0));
  CHECK(r.inner == std::sin(3.0));
  CHECK(r.metadata == std::cos(3.0));
}
TEST_CASE("functions with arrays or context hooks are not called directly") {
  auto const f = od::compile(od::compose(), norm, od::signature<od::array<double>>, now());
  CHECK(f.made().code().target() == nullptr);
  CHECK(f(od::array<double>{9.0, 16.0}) == 5.0);
  counting a, b;
  auto const g = od::compile(a, wave, od::signature<double>, now());
  auto const h = od::compile(b, wave, od::signature<double>, now());
  CHECK(g.made().code().target() == nullptr);
  CHECK(g(2.0) == std::sin(3.0));
  (void)h(2.0);
  CHECK(a.calls == b.calls);
  CHECK(a.calls > 0);
}
TEST_CASE("executors and tiers are part of the key") {
  od::compilation_cache cache;
  auto const compiled_by = [&](od::compile_options o) {
    o.cache = &cache;
    return &od::compile(od::compose(), wave, od::signature<double>, o).made();
  };
  auto const* const interpreted = compiled_by({});
  auto const* const machine_code = compiled_by(now());
  CHECK(interpreted != machine_code);
  CHECK(compiled_by(now()) == machine_code);
  auto one = now();
  one.executor = od::jit::compiled({.optimisation = 0});
  CHECK(compiled_by(one) != machine_code);
  one.tiers = od::tiers::interpret_only;
  CHECK(compiled_by(one) == interpreted);
  CHECK(cache.statistics().compilations == 3);
}
TEST_CASE("hot functions are compiled in the background, with the same results before and after") {
  od::compilation_cache cache;
  auto const f = od::compile(
      od::compose(), wave, od::signature<double>,
      {.executor = od::jit::compiled(), .hot_calls = 100, .hot_nanoseconds = 1'000'000'000, .cache = &cache});
  CHECK(f.made().code().target() == nullptr);
  double const first = f(0.25);
  for (int i = 0; i < 90; ++i) CHECK(f(0.25) == first);
  od::wait_for_compilations();
  CHECK(f.made().code().target() == nullptr);
  for (int i = 0; i < 30; ++i) CHECK(f(0.25) == first);
  od::wait_for_compilations();
  CHECK(f.made().code().target() != nullptr);
  CHECK(f(0.25) == first);
  CHECK_THAT(explain(f), Catch::Contains("jit -O2, in the background"));
}
TEST_CASE("one long call makes a function hot") {
  auto const sum = od::fn<"sum_to">([](auto n) {
    return od::loop(n, 0.0, [](auto i, auto s) { return s + sin(od::convert<double>(i)); });
  });
  od::compilation_cache cache;
  auto const f = od::compile(
      od::compose(), sum, od::signature<i64>,
      {.executor = od::jit::compiled(), .hot_nanoseconds = 10'000, .cache = &cache});
  double const first = f(100'000);
  od::wait_for_compilations();
  CHECK(f.made().code().target() != nullptr);
  CHECK(f(100'000) == first);
}
TEST_CASE("the options of a context choose the executor of overdub") {
  hot c;
  for (int i = 0; i < 64; ++i) CHECK(od::run(c, wave, 2.0) == std::sin(3.0));
  od::wait_for_compilations();
  for (int i = 0; i < 64; ++i) CHECK(od::run(c, wave, 2.0) == std::sin(3.0));
  CHECK(od::compile(c, wave, od::signature<double>).made().code().target() != nullptr);
}
TEST_CASE("if an executor fails, calls remain interpreted") {
  od::compilation_cache cache;
  auto const by = std::make_shared<failing const>();
  CHECK_THROWS_WITH(
      od::compile(
          od::compose(), wave, od::signature<double>,
          {.executor = by, .tiers = od::tiers::compile_now, .cache = &cache}),
      "no room");
  auto const f = od::compile(
      od::compose(), wave, od::signature<double>, {.executor = by, .hot_calls = 1, .cache = &cache});
  for (int i = 0; i < 20; ++i) CHECK(f(2.0) == std::sin(3.0));
  od::wait_for_compilations();
  CHECK(f(2.0) == std::sin(3.0));
  CHECK_THAT(explain(f), Catch::Contains("failing failed: no room"));
}
TEST_CASE("threads call a function while code is swapped") {
  for (int round = 0; round < 5; ++round) {
    od::compilation_cache cache;
    auto const f = od::compile(
        od::compose(), wave, od::signature<double>,
        {.executor = od::jit::compiled(), .hot_calls = 64, .cache = &cache});
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 3000; ++i)
          if (f(2.0) != std::sin(3.0)) ++wrong;
      });
    for (std::thread& t : threads) t.join();
    od::wait_for_compilations();
    CHECK(wrong == 0);
    CHECK(f.made().code().target() != nullptr);
  }
}

namespace {

struct fast : od::context {
  static void options(od::compile_options& o) {
    o = now();
    o.math = od::ir::math_mode::fast;
  }
};

} // namespace

TEST_CASE("the math mode is an option, also of contexts, and a part of the key") {
  auto consistent = now();
  consistent.math = od::ir::math_mode::consistent;
  auto interpreted = consistent;
  interpreted.tiers = od::tiers::interpret_only;
  auto const f = od::compile(od::compose(), wave, od::signature<double>, consistent);
  auto const g = od::compile(od::compose(), wave, od::signature<double>, interpreted);
  auto const h = od::compile(fast{}, wave, od::signature<double>);
  CHECK(f.made().program().math == od::ir::math_mode::consistent);
  CHECK(h.made().program().math == od::ir::math_mode::fast);
  for (int i = 0; i < 100; ++i) {
    double const x = 0.1 * i;
    CHECK(f(x) == g(x));
    CHECK(f(x) == Approx(std::sin(x + 1.0)).epsilon(1e-15).margin(1e-15));
    CHECK(h(x) == Approx(std::sin(x + 1.0)));
  }
}
