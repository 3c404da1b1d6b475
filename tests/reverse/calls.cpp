// Gradients of calls: residuals of callees are saved, and nothing is recomputed.
#include "catch.hpp"
#include "reverse/finite_difference.hpp"

#include <overdub/compile/compile.hpp>
#include <overdub/execute/interpreter.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/ir/verify.hpp>
#include <overdub/pass/pipeline.hpp>
#include <overdub/reverse.hpp>
#include <overdub/reverse/pullback_program.hpp>

#include <cmath>
#include <string>
#include <tuple>
#include <vector>

namespace {

using namespace overdub;

// x ↦ sin(…sin(sin(x) · x)… · x), by recursion.
constexpr char const* recursive = R"(entry @f
func @f(%x: f64, %n: i64) -> f64 {
  %c = lt %n, 1 : bool
  %r = if %c -> f64 {
    yield %x
  } else {
    %m = sub %n, 1 : i64
    %y = call @f(%x, %m) : f64
    %s = sin %y : f64
    %z = mul %s, %x : f64
    yield %z
  }
  return %r
}
)";
double value(double x, int n) { return n < 1 ? x : std::sin(value(x, n - 1)) * x; }
double first_derivative(double x, int n) {
  if (n < 1) return 1;
  double const y = value(x, n - 1);
  return std::cos(y) * first_derivative(x, n - 1) * x + std::sin(y);
}

ir::program gradient_of(std::string const& text, recursion calls = recursion::saved) {
  ir::program p = ir::parse(text);
  ir::verify(p);
  differentiate_entry(
      p, std::vector<bool>(p[p.entry].parameters().size(), true), true, {.calls = calls, .loops = {}});
  ir::verify(p);
  return p;
}
std::vector<datum> results_of(ir::program const& p, std::vector<datum> const& arguments) {
  return executable(p).run(arguments);
}
double derivative_at(ir::program const& p, std::vector<datum> const& arguments) {
  return results_of(p, arguments)[1].as<double>();
}
std::size_t count(std::string const& text, std::string const& what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

TEST_CASE("the residuals of a recursive call are saved in a function value") {
  ir::program p = gradient_of(recursive);
  CHECK(derivative_at(p, {1.2, i64{30}}) == Approx(first_derivative(1.2, 30)));
  pass::default_pipeline(p);
  ir::verify(p);
  CHECK(derivative_at(p, {1.2, i64{30}}) == Approx(first_derivative(1.2, 30)));
  std::string const text = print(p);
  CHECK(count(text, "call @f(") == 0);
  CHECK(text.find("closure @f.backward") != std::string::npos);
}

TEST_CASE("each call runs once, with its side effects") {
  std::string text = recursive;
  text.insert(text.find("    %s = sin"), "    host ordered \"note\"(%y)\n");
  int notes = 0;
  hosts h;
  h.add<void(double)>("note", [&](double) { ++notes; });
  std::vector<datum> const arguments{1.2, i64{50}};
  CHECK(executable(gradient_of(text), h).run(arguments)[1].as<double>() == Approx(first_derivative(1.2, 50)));
  CHECK(notes == 50);
}

TEST_CASE("a program that is differentiated again recomputes calls") {
  ir::program p = gradient_of(recursive, recursion::recomputed);
  CHECK(print(p).find("closure") == std::string::npos);
  CHECK(derivative_at(p, {1.2, i64{12}}) == Approx(first_derivative(1.2, 12)));
}

TEST_CASE("the loop that calls a function stacks the residuals of the call") {
  ir::program p = gradient_of(R"(entry @main
func @main(%x: f64, %n: i64) -> f64 {
  %r = loop %n (%i: i64, %s: f64 = %x) -> f64 {
    %y = call @steps(%s, %x) : f64
    yield %y
  }
  return %r
}
func @steps(%x: f64, %a: f64) -> f64 {
  %e = sin %x : f64
  %p = protect -> f64 {
    %r = while (%y: f64 = %e) -> f64 {
      %c = lt %y, 10.0 : bool
      yield %c
    } do (%v: f64) {
      %z = mul %v, 1.5 : f64
      %w = add %z, %a : f64
      yield %w
    }
    yield %r
  } failed {
    yield
  }
  %q = sin %p : f64
  return %q
}
)");
  auto const f = [](double x) {
    double s = x;
    for (int i = 0; i < 2; ++i) {
      double y = std::sin(s);
      while (y < 10.0) y = y * 1.5 + x;
      s = std::sin(y);
    }
    return s;
  };
  CHECK(derivative_at(p, {1.3, i64{2}}) == Approx(finite_difference(f, 1.3)).epsilon(1e-5));
}

TEST_CASE("a recursive call in a loop is recomputed") {
  std::string const tree = R"(entry @f
func @f(%x: f64, %n: i64) -> f64 {
  %c = lt %n, 1 : bool
  %r = if %c -> f64 {
    yield %x
  } else {
    %m = sub %n, 1 : i64
    %s = loop 2 (%i: i64, %a: f64 = %x) -> f64 {
      %y = call @f(%a, %m) : f64
      %t = sin %y : f64
      %b = add %t, %a : f64
      yield %b
    }
    yield %s
  }
  return %r
}
)";
  struct {
    double operator()(double x, int n) const {
      if (n < 1) return x;
      for (int i = 0; i < 2; ++i) x += std::sin((*this)(x, n - 1));
      return x;
    }
  } const f;
  auto const at = [&](double x) { return f(x, 4); };
  for (auto const calls : {recursion::saved, recursion::recomputed})
    CHECK(
        derivative_at(gradient_of(tree, calls), {0.3, i64{4}}) ==
        Approx(finite_difference(at, 0.3)).epsilon(1e-6));
}

TEST_CASE("gradients of mutually recursive functions are correct") {
  ir::program p = gradient_of(R"(entry @even
func @even(%x: f64[], %n: i64) -> f64 {
  %c = lt %n, 1 : bool
  %r = if %c -> f64 {
    %a = at %x, 0 : f64
    yield %a
  } else {
    %m = sub %n, 1 : i64
    %y = call @odd(%x, %m) : f64
    %s = sin %y : f64
    yield %s
  }
  return %r
}
func @odd(%x: f64[], %n: i64) -> f64 {
  %m = sub %n, 1 : i64
  %l = length %x : i64
  %z = map %l (%i: i64) -> f64 {
    %a = at %x, %i : f64
    %b = mul %a, %a : f64
    yield %b
  }
  %y = call @even(%z, %m) : f64
  %w = call @even(%x, %m) : f64
  %s = mul %y, %w : f64
  return %s
}
)");
  struct {
    double operator()(double x, int n) const {
      if (n < 1) return x;
      return std::sin((*this)(x * x, n - 2) * (*this)(x, n - 2));
    }
  } const f;
  auto const at = [&](double x) { return f(x, 4); };
  CHECK(
      results_of(p, {array<double>{1.1, 3.0}, i64{4}})[1].as<array<double>>()[0] ==
      Approx(finite_difference(at, 1.1)).epsilon(1e-6));
}

TEST_CASE("a host object that contains active values is rejected with a diagnostic") {
  ir::program p = ir::parse(R"(entry @f
func @f(%x: f64) -> f64 {
  %o = host pure "box"(%x) : opaque "box"
  %y = host pure "unbox"(%o) : f64
  return %y
}
)");
  CHECK_THROWS_WITH(
      differentiate_entry(p, {true}, true),
      Catch::Matchers::Contains(
          "a function value, or an object of the host, that holds values which depend"));
}

TEST_CASE("a program that is split into its two passes has its side effects once") {
  std::string const text = R"(entry @f
func @f(%x: f64, %n: i64) -> f64 {
  %r = loop %n (%i: i64, %s: f64 = %x) -> f64 {
    %w = host ordered "weight"(%i) : f64
    %t = sin %s : f64
    %u = mul %t, %w : f64
    yield %u
  }
  return %r
}
)";
  ir::program first = ir::parse(text), second = first;
  to_forward_pass(first);
  to_backward_pass(second);
  ir::verify(first);
  ir::verify(second);
  CHECK(count(print(second), "host") == 0);
  hosts h;
  h.add("weight", [](i64 i) { return 0.5 + static_cast<double>(i); });
  auto const f = [&](double x) {
    return executable(ir::parse(text), h).run(std::vector<datum>{x, i64{4}})[0].as<double>();
  };
  std::vector<datum> kept = executable(first, h).run(std::vector<datum>{0.7, i64{4}});
  CHECK(kept[0].as<double>() == f(0.7));
  kept.erase(kept.begin());
  kept.emplace_back(1.0);
  CHECK(results_of(second, kept)[0].as<double>() == Approx(finite_difference(f, 0.7)));
}

constexpr char const* ruled = R"(entry @s
func @s(%x: f64) -> f64 tangent @t {
  %y = sin %x : f64
  return %y
}
func @t(%r: f64, %x: f64, %dx: f64) -> f64 {
  %e = add %r, 1.0 : f64
  %d = mul %e, %dx : f64
  return %d
}
)";
TEST_CASE("a function with a rule can be split into its two passes") {
  ir::program first = ir::parse(ruled), second = first;
  to_forward_pass(first);
  to_backward_pass(second);
  ir::verify(first);
  ir::verify(second);
  std::vector<datum> kept = results_of(first, {0.5});
  CHECK(kept[0].as<double>() == std::sin(0.5));
  kept.erase(kept.begin());
  kept.emplace_back(2.0);
  CHECK(results_of(second, kept)[0].as<double>() == 2.0 * (std::sin(0.5) + 1.0));
}

TEST_CASE("a function whose backward pass would repeat side effects cannot be split") {
  std::string text = recursive;
  text.insert(text.find("    %s = sin"), "    host ordered \"note\"(%y)\n");
  ir::program p = ir::parse(text);
  CHECK_THROWS_WITH(
      to_backward_pass(p), Catch::Matchers::Contains("would be recomputed in the backward pass"));
}

TEST_CASE("memory limits apply to loop-carried arrays and to reversed loops") {
  std::string const text = R"(entry @f
func @f(%x: f64[], %n: i64) -> (f64, f64[]) {
  %z = fill 3, 0.5 : f64[]
  %r, %w, %b, %k, %all = loop reversed %n (%i: i64, %s: f64[] = %x, %u: f64[] = %z, %c: bool = true, %h: f32 = 1.5f32) -> (f64[], f64[], bool, f32) stack f64 {
    %l = length %s : i64
    %t = map %l (%j: i64) -> f64 {
      %a = at %s, %j : f64
      %e = sin %a : f64
      %o = convert %i : f64
      %p = mul %e, %o : f64
      %q = select %c, %p, %e : f64
      yield %q
    }
    %v = map 3 (%m: i64) -> f64 {
      %a2 = at %u, %m : f64
      %b2 = at %t, 0 : f64
      %c2 = mul %a2, %b2 : f64
      yield %c2
    }
    %g = at %v, 1 : f64
    %d = logical_not %c : bool
    %h2 = add %h, %h : f32
    yield %t, %v, %d, %h2, %g
  }
  %sum = reduce add %r from 0.0 : f64
  %sum2 = reduce add %w from 0.0 : f64
  %res = add %sum, %sum2 : f64
  return %res, %all
}
)";
  auto const back = [&](checkpointing const& loops, i64 n) {
    ir::program p = ir::parse(text);
    transpose_entry(p, {.calls = recursion::saved, .loops = loops});
    ir::verify(p);
    bool const is_limited = print(p).find("while") != std::string::npos;
    CHECK(is_limited == (loops.kind != checkpointing::strategy::none));
    std::vector<double> along(static_cast<std::size_t>(n), 0.25);
    return results_of(p, {array<double>{0.3, -0.7, 1.1}, n, 1.5, array<double>::copy_of(along)});
  };
  using strategy = checkpointing::strategy;
  for (i64 const n : {0, 1, 2, 5, 40}) {
    std::vector<datum> const all = back({.kind = strategy::none, .bytes = 0}, n);
    CHECK(back({.kind = strategy::logarithmic, .bytes = 0}, n) == all);
    CHECK(back({.kind = strategy::memory_limit, .bytes = 1}, n) == all);
    CHECK(back({.kind = strategy::memory_limit, .bytes = 500}, n) == all);
  }
}

TEST_CASE("loops with side effects save their residuals, also under a memory limit") {
  ir::program p = ir::parse(R"(entry @f
func @f(%x: f64, %n: i64) -> f64 {
  %r = loop %n (%i: i64, %s: f64 = %x) -> f64 {
    host ordered "note"(%i)
    %t = sin %s : f64
    yield %t
  }
  return %r
}
)");
  differentiate_entry(
      p, {true, false}, true,
      {.calls = recursion::saved, .loops = {.kind = checkpointing::strategy::memory_limit, .bytes = 100}});
  ir::verify(p);
  CHECK(count(print(p), "host ordered") == 1);
}

// For n iterations and s checkpoints besides the initial value, r n - C(s + r, r - 1) iterations are recomputed, for the
// smallest r such that n <= C(s + r, s) (Griewank and Walther, Revolve, 2000).
TEST_CASE("checkpointing recomputes the minimum number of iterations") {
  for (auto const& [trip_count, bytes, recomputed] :
       {std::tuple{i64{10}, 16 * 4, 15.0}, {i64{35}, 16 * 5, 84.0}, {i64{100}, 16 * 101, 99.0}}) {
    ir::program p = ir::parse(R"(entry @f
func @f(%x: f64, %n: i64) -> f64 {
  %r = loop %n (%i: i64, %s: f64 = %x) -> f64 {
    %t = sin %s : f64
    yield %t
  }
  return %r
}
)");
    differentiate_entry(
        p, {true, false}, false,
        {.calls = recursion::saved,
         .loops = {.kind = checkpointing::strategy::memory_limit, .bytes = bytes}});
    // A host call counts each recomputed sine.
    std::string text = print(p);
    for (std::size_t at = text.find(" = sin"); at != std::string::npos; at = text.find(" = sin", at + 100)) {
      std::size_t const line = text.rfind('\n', at) + 1;
      text.insert(line, "    host ordered \"note\"()\n");
    }
    double runs = 0;
    hosts h;
    h.add<void()>("note", [&] { ++runs; });
    (void)executable(ir::parse(text), h).run(std::vector<datum>{0.5, trip_count});
    CHECK(runs == recomputed);
  }
}

inline constexpr auto power = fn<"power">([](auto& cx, auto x, auto n) -> decltype(x) {
  return if_(
      n <= 0, [&] { return 0.0 * x + 1.0; }, [&] { return x * cx.self(x, n - 1); });
});
inline constexpr auto slope_of_power =
    fn<"slope_of_power">([](auto x, auto n) { return gradient<0>(power)(x, n); });

TEST_CASE("gradients of gradients of recursion are correct") {
  CHECK(gradient<0>(slope_of_power)(1.5, i64{5}) == Approx(20.0 * std::pow(1.5, 3)));
}

} // namespace
