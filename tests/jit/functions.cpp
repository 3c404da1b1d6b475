// Compiled functions, called from C++.
#include "execute/texts.hpp"

#include <cmath>
#include <optional>
#include <stdexcept>

namespace {

using namespace overdub;

executable compiled(std::string_view text, hosts const& h = {}) {
  return jit::compile(texts::program(text), h);
}

} // namespace

TEST_CASE("a compiled function of numbers is called like a function pointer") {
  jit::function<double(double)> const f(compiled(R"(func @f(%x: f64) -> f64 {
    %a = add %x, 1.0 : f64
    %y = sin %a : f64
    return %y
  })"));
  CHECK(f(0.5) == std::sin(1.5));
  double (*const pointer)(double) = f.pointer();
  CHECK(pointer(0.25) == std::sin(1.25));
}

TEST_CASE("compiled functions take and return numbers of all types, and bools") {
  jit::function<bool(bool, i64, float, double)> const f(
      compiled(R"(func @f(%c: bool, %n: i64, %x: f32, %y: f64) -> bool {
    %a = convert %n : f64
    %b = convert %x : f64
    %d = add %a, %b : f64
    %e = lt %d, %y : bool
    %g = logical_and %c, %e : bool
    return %g
  })"));
  CHECK(f(true, 1, 0.5f, 2.0));
  CHECK_FALSE(f(false, 1, 0.5f, 2.0));
  CHECK_FALSE(f(true, 2, 0.5f, 2.0));
  jit::function<float()> const constant(compiled("func @f() -> f32 { return 1.5f32 }"));
  CHECK(constant() == 1.5f);
}

TEST_CASE("a function that needs memory uses that of its thread") {
  jit::function<double(i64)> const f(compiled(R"(func @f(%n: i64) -> f64 {
    %a = fill %n, 2.0 : f64[]
    %b = loop %n (%i: i64, %x: f64[] = %a) -> f64[] {
      %c = convert %i : f64
      %d = update %x, %i, %c : f64[]
      yield %d
    }
    %s = reduce add %b from 0.0 : f64
    return %s
  })"));
  CHECK(f(10) == 45);
  CHECK_THROWS_AS(f(-1), size_error);
  CHECK(f(5) == 10);
}

TEST_CASE("errors of a compiled function are exceptions with the messages of the interpreter") {
  jit::function<i64(i64, i64)> const f(
      compiled("func @f(%x: i64, %y: i64) -> i64 { %q = div %x, %y : i64 return %q }"));
  CHECK(f(7, -2) == -3);
  CHECK_THROWS_AS(f(7, 0), division_by_zero);
  jit::function<i64(i64)> const deep(compiled(R"(func @f(%n: i64) -> i64 {
    %m = add %n, 1 : i64
    %r = call @f(%m) : i64
    return %r
  })"));
  CHECK_THROWS_AS(deep(0), stack_overflow);
}

TEST_CASE("a function of other types, or an interpreted one, is rejected") {
  auto const run = compiled("func @f(%x: f64) -> f64 { return %x }");
  CHECK_THROWS_AS(jit::function<double(i64)>(run), argument_error);
  CHECK_THROWS_AS(jit::function<double()>(run), argument_error);
  CHECK_THROWS_AS(jit::function<i64(double)>(run), type_error);
  executable const interpreted(texts::program("func @f(%x: f64) -> f64 { return %x }"));
  CHECK_THROWS_AS(jit::function<double(double)>(interpreted), not_executable);
}

TEST_CASE("programs that cannot be compiled are rejected with a diagnostic") {
  ir::program const none;
  CHECK_THROWS_AS(jit::compile(none), not_executable);
  CHECK_THROWS_AS(
      compiled(R"(func @f(%x: f64) -> f64 { %y = host pure "nobody"(%x) : f64 return %y })"), host_error);
  CHECK_THROWS_WITH(
      compiled(R"(func @f(%k: key) -> f64 { return 1.0 })"),
      Catch::Matchers::Contains("cannot be compiled: it has values of type key"));
}

TEST_CASE("a processor unknown to LLVM is rejected") {
  CHECK_THROWS_WITH(
      jit::compile(texts::program("func @f() -> f64 { return 1.0 }"), {}, {.cpu = "abacus"}),
      Catch::Matchers::Contains("LLVM has no processor \"abacus\""));
#if defined(__x86_64__)
  auto const on = [](jit::options const& o) {
    return jit::compile(texts::program("func @f() -> f64 { return 1.0 }"), {}, o);
  };
  CHECK_THROWS_WITH(
      on({.cpu = "i386"}), Catch::Matchers::Contains("\"i386\"") && Catch::Matchers::Contains("has no "));
  CHECK_THROWS_WITH(on({.cpu = "x86-64", .features = "-sse2"}), Catch::Matchers::Contains("has no sse2"));
#endif
}

TEST_CASE("machine code lives as long as any object that may call it") {
  std::optional<jit::function<double(double)>> f;
  {
    auto const run = compiled("func @f(%x: f64) -> f64 { %y = mul %x, %x : f64 return %y }");
    f.emplace(run);
  }
  CHECK((*f)(3) == 9);
}

TEST_CASE("protect handlers run on failure, innermost first") {
  std::vector<double> seen;
  hosts h;
  h.add("note", [&](double x) { seen.push_back(x); });
  h.add("fail", [](double x) -> double { throw std::domain_error(std::to_string(x)); });
  auto const run = compiled(
      R"(func @f(%x: f64, %again: bool) -> f64 {
    %a = protect -> f64 {
      %b = protect -> f64 {
        %c = host may_fail "fail"(%x) : f64
        yield %c
      } failed {
        host ordered "note"(1.0)
        %d = if %again -> f64 { %e = host may_fail "fail"(2.0) : f64 yield %e } else { yield 0.0 }
        %p = protect -> f64 {
          %q = if %again -> f64 { yield 0.0 } else { %r = div 1, 1 : i64 %s = convert %r : f64 yield %s }
          yield %q
        } failed { yield }
        yield
      }
      yield %b
    } failed {
      host ordered "note"(3.0)
      yield
    }
    return %a
  })",
      h);
  CHECK_THROWS_WITH(run.call<double>(5.0, false), Catch::Matchers::Contains("5.0"));
  CHECK(seen == std::vector{1.0, 3.0});
  seen.clear();
  CHECK_THROWS_WITH(run.call<double>(5.0, true), Catch::Matchers::Contains("2.0"));
  CHECK(seen == std::vector{1.0, 3.0});
}

TEST_CASE("host functions may call compiled programs, and throw through them") {
  auto const inner = compiled(R"(func @f(%x: f64[]) -> f64 { %y = at %x, 3 : f64 return %y })");
  hosts h;
  h.add("inner", [&](array<double> const& x) { return inner.call<double>(x); });
  auto const run = compiled(
      R"(func @f(%n: i64) -> f64 {
    %x = fill %n, 1.5 : f64[]
    %y = host may_fail "inner"(%x) : f64
    return %y
  })",
      h);
  CHECK(run.call<double>(4) == 1.5);
  CHECK_THROWS_AS(run.call<double>(3), index_error);
  CHECK(run.call<double>(4) == 1.5);
}

TEST_CASE("programs can be compiled for other processors") {
  ir::program const p = texts::program(R"(func @f(%x: f64[]) -> f64 {
    %n = length %x : i64
    %p = map %n (%i: i64) -> f64 { %a = at %x, %i : f64 %b = mul %a, %a : f64 yield %b }
    %s = reduce add %p from 0.0 : f64
    %t = floor %s : f64
    return %t
  })");
#if defined(__x86_64__)
  jit::options const o{.cpu = "x86-64"};
#else
  jit::options const o{};
#endif
  std::vector<double> const x(21, 1.25);
  CHECK(jit::compile(p, {}, o).call<double>(x) == executable(p).call<double>(x));
}
