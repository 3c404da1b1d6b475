// Memory: allocations of calls, out of memory, and depth of recursion.
#include "allocations.hpp"
#include "texts.hpp"

#include <vector>

namespace {

using namespace overdub;

// Recursion, a loop, a branch.
constexpr auto scalars = R"(
func @f(%n: i64, %x: f64) -> f64 {
  %a = call @fib(%n) : i64
  %b = convert %a : f64
  %c = loop %n (%i: i64, %y: f64 = %x) -> f64 { %s = sin %y : f64 %t = add %s, %b : f64 yield %t }
  return %c
}
func @fib(%n: i64) -> i64 {
  %small = lt %n, 2 : bool
  %r = if %small -> i64 { yield %n } else {
    %a = sub %n, 1 : i64
    %b = sub %n, 2 : i64
    %c = call @fib(%a) : i64
    %d = call @fib(%b) : i64
    %e = add %c, %d : i64
    yield %e
  }
  return %r
})";

// Maps in lanes and element by element, rows, loop-carried arrays with updates, function values, protection.
constexpr auto arrays = R"(
func @f(%x: f64[], %n: i64) -> (f64[], f64[][], f64) {
  %a = map %n (%i: i64) -> f64 { %y = at %x, %i : f64 %z = mul %y, %y : f64 yield %z }
  %rows = map %n (%i2: i64) -> f64[] {
    %row = map %n (%j: i64) -> f64 { %u = at %a, %j : f64 %v = at %x, %i2 : f64 %w = add %u, %v : f64 yield %w }
    yield %row
  }
  %b = loop %n (%k: i64, %c: f64[] = %a) -> f64[] { %d = update %c, %k, 1.0 : f64[] yield %d }
  %g = closure @pick(%b) : fn(i64) -> f64
  %e = protect -> f64 { %p = apply %g(0) : f64 yield %p } failed { yield }
  %last, %grown = while (%q: i64 = 0) -> i64 stack f64[] {
    %more = lt %q, 3 : bool
    yield %more
  } do (%q2: i64) { %next = add %q2, 1 : i64 yield %next, %b }
  %both = concat %rows, %grown : f64[][]
  return %a, %both, %e
}
func @pick(%b: f64[], %i: i64) -> f64 { %x = at %b, %i : f64 return %x }
)";

constexpr auto endless = R"(
func @f(%n: i64) -> i64 {
  %stop = eq %n, 0 : bool
  %r = if %stop -> i64 { yield 0 } else {
    %m = sub %n, 1 : i64
    %a = fill 4, %m : i64[]
    %q = protect -> i64 { %c = call @f(%m) : i64 yield %c } failed { %z = at %a, 0 : i64 yield }
    %s = add %q, 1 : i64
    yield %s
  }
  return %r
})";

long allocations_of(auto const& f) {
  long const before = made;
  f();
  return made - before;
}

} // namespace

TEST_CASE("calls of programs on scalars allocate nothing after the first one") {
  for (executable const& run : texts::executables_of(texts::program(scalars))) {
    auto inst = run.instance();
    double const first = inst.call<double>(10, 0.5);
    double second = 0;
    CHECK(allocations_of([&] { second = inst.call<double>(10, 0.5); }) == 0);
    CHECK(second == first);

    CHECK(run.call<double>(10, 0.5) == first); // in memory of its thread
    CHECK(allocations_of([&] { second = run.call<double>(10, 0.5); }) == 0);
  }
}

TEST_CASE("arrays reuse the memory of earlier calls") {
  std::vector<double> const x(50, 2.0);
  for (executable const& run : texts::executables_of(texts::program(arrays))) {
    auto inst = run.instance();
    auto const call = [&] { inst.call<void>(x, 50); };
    call();
    CHECK(allocations_of(call) == 0);
    std::size_t const kept = inst.array_bytes();
    for (int i = 0; i < 100; ++i) call();
    CHECK(inst.array_bytes() == kept);
  }
}

TEST_CASE("without memory a call throws std::bad_alloc, and the instance can be called again") {
  std::vector<double> const x(20, 2.0);
  auto const all_executables = texts::executables_of(texts::program(arrays));
  long const before = alive;
  for (executable const& run : all_executables) {
    auto const expected = run.run(texts::data("[2.0, 2.0, 2.0], 3"));
    auto kept = run.instance();
    bool ended = false;
    for (long n = 0; !ended; ++n) {
      REQUIRE(n < 1'000);
      auto fresh = run.instance();
      for (overdub::instance* const inst : {&fresh, &kept}) {
        bool failed = false;
        allowed = n;
        try {
          inst->call<void>(x, 20);
        } catch (std::bad_alloc const&) {
          failed = true;
        }
        allowed = unlimited;
        if (inst == &fresh) ended = !failed;
        CHECK(inst->run(texts::data("[2.0, 2.0, 2.0], 3")) == expected);
      }
    }
  }
  // The thread's pool is no leak; it existed before.
  executable(texts::program(arrays)).run(texts::data("[2.0], 1"));
  CHECK(alive - before < 40);
}

TEST_CASE("an out-of-memory error has the operation, shape and size of the array") {
  ir::program const p = texts::program(R"(func @f(%n: i64) -> f64[][] {
    %row = fill %n, 1.0 : f64[]
    %all = fill 3000, %row : f64[][]
    return %all
  })");
  for (executable const& run : texts::executables_of(p)) {
    std::string said;
    for (long n = 0; n < 1000; ++n) {
      auto inst = run.instance();
      allowed = n;
      try {
        inst.call<void>(2000);
        allowed = unlimited;
        break;
      } catch (std::bad_alloc const& e) {
        allowed = unlimited;
        said.append(e.what()).append("\n");
      }
    }
    for (char const* const each :
         {"overdub: fill: there is no memory for an array of 2000 elements of 8 bytes (16000 bytes); make it",
          "overdub: fill: there is no memory for an array of 3000 x 2000 elements of 8 bytes (48000000 "
          "bytes); make"})
      CHECK_THAT(said, Catch::Matchers::Contains(each));
  }
}

TEST_CASE("infinite recursion throws stack_overflow, and the instance can be called again") {
  for (executable const& run : texts::executables_of(texts::program(endless))) {
    auto protected_calls = run.instance({.frame_bytes = 1 << 17});
    for (int i = 0; i < 3; ++i) {
      CHECK_THROWS_AS(protected_calls.call<i64>(-1), stack_overflow);
      CHECK(protected_calls.call<i64>(100) == 100);
    }
  }
  ir::program const deep = texts::program(R"(func @f(%n: i64) -> i64 {
    %stop = eq %n, 0 : bool
    %r = if %stop -> i64 { yield 0 } else {
      %m = sub %n, 1 : i64
      %a = call @f(%m) : i64
      %b = add %a, 1 : i64
      yield %b
    }
    return %r
  })");
  for (executable const& run : texts::executables_of(deep)) {
    CHECK_THROWS_AS(run.call<i64>(-1), stack_overflow);
    CHECK(run.call<i64>(100'000) == 100'000);
  }
}
