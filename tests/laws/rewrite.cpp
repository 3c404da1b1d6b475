// Run by g++: each of its contexts has tables of all operations.
// Rewriting a program in a context yields the program that staging in the context yields.
#include "catch.hpp"
#include "functions.hpp"

#include <overdub/contexts/forward.hpp>
#include <overdub/derivative.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/pass/pipeline.hpp>
#include <overdub/stage/evaluate.hpp>

#include <cmath>
#include <string>
#include <tuple>

namespace {

using namespace overdub;

template <class Context, class F, class... A>
void same_program(Context context, functions::item<F, A...> const& each) {
  ir::program const staged = stage(context, each.f, each.arguments);
  ir::program const rewritten = overdub::overdub(context, stage(each.f, each.arguments));
  INFO(F::name());
  CHECK(ir::print(rewritten) == ir::print(staged));
  CHECK(rewritten == staged);
}

// A function of a function value: FROM is its type where it is made, and TO where it is applied.
std::string text_of_functions(std::string const& from, std::string const& to, bool in_callee) {
  std::string const becomes = from == to ? "" : "  %g = reabstract %v : " + from + " as " + to + "\n";
  std::string const given = from == to ? "%v" : "%g";
  std::string const taken = in_callee ? from : to;
  return R"(entry @f
func @f(%x: f64, %c: bool) -> f64 {
  %k = closure @scaled(%x) : )" +
         from + "\n  %m = closure @shifted(%x) : " + from + "\n  %v = select %c, %k, %m : " + from + "\n" +
         (in_callee ? "" : becomes) + "  %y = call @used(" + (in_callee ? "%v" : given) + R"(, %x) : f64
  return %y
}
func @scaled(%a: f64, %x: f64) -> f64 {
  %y = mul %a, %x : f64
  return %y
}
func @shifted(%a: f64, %x: f64) -> f64 {
  %s = sin %a : f64
  %y = sub %x, %s : f64
  return %y
}
func @used(%)" +
         (in_callee ? "v" : "g") + ": " + taken + ", %x: f64) -> f64 {\n" + (in_callee ? becomes : "") +
         "  %y = apply " + (in_callee ? given : "%g") + R"((%x) : f64
  %z = exp %y : f64
  return %z
}
)";
}
std::size_t reabstractions(ir::program const& p) {
  std::string const text = ir::print(p);
  std::size_t count = 0;
  for (std::size_t at = text.find("reabstract"); at != std::string::npos;
       at = text.find("reabstract", at + 1))
    ++count;
  return count;
}
// The program after dead-code elimination, in canonical form.
ir::program canonical(ir::program p) {
  pass::dce(p);
  pass::canonicalise(p);
  return p;
}

} // namespace

TEST_CASE("rewriting a program under forward equals staging C++ under forward") {
  std::apply([](auto const&... each) { (same_program(contexts::forward{}, each), ...); }, functions::all);
}

TEST_CASE("contexts reject a loop with an infinite chain of loop-carried function values with a diagnostic") {
  ir::program const p = ir::parse(R"(entry @f
func @f(%n: i64, %x: f64) -> f64 {
  %g = closure @id() : fn(f64) -> f64
  %last = loop %n (%i: i64, %h: fn(f64) -> f64 = %g) -> (fn(f64) -> f64) {
    %k = closure @after(%h) : fn(f64) -> f64
    yield %k
  }
  %y = apply %last(%x) : f64
  return %y
}
func @id(%x: f64) -> f64 { return %x }
func @after(%f: fn(f64) -> f64, %x: f64) -> f64 {
  %y = apply %f(%x) : f64
  %z = add %y, 1.0 : f64
  return %z
}
)");
  CHECK(evaluate<double>(p, i64{3}, 0.5) == 3.5);
  CHECK_THROWS_WITH(
      overdub::overdub(contexts::forward{}, p),
      Catch::Contains("a loop that carries function values is not rewritten by contexts"));
  // In a run, the loop runs with values of the context.
  CHECK(derivative([&](auto x) { return evaluate<double>(p, i64{3}, x); }, 0.5) == 1.0);
}

TEST_CASE("function values that are loop-carried or in arrays become data in contexts") {
  // Of two functions, a * x and sin(a) - x, the i-th is applied to x, then both alternately to the last result.
  ir::program const p = ir::parse(R"(entry @f
func @f(%n: i64, %x: f64) -> f64 {
  %g = closure @scaled(%x) : fn(f64) -> f64
  %h = closure @shifted(%x) : fn(f64) -> f64
  %both = array %g, %h : (fn(f64) -> f64)[]
  %i = bit_and %n, 1 : i64
  %first = at %both, %i : fn(f64) -> f64
  %start = apply %first(%x) : f64
  %a, %b, %y = loop %n (%k: i64, %c: fn(f64) -> f64 = %g, %d: fn(f64) -> f64 = %h, %s: f64 = %start) -> (fn(f64) -> f64, fn(f64) -> f64, f64) {
    %t = apply %c(%s) : f64
    yield %d, %c, %t
  }
  return %y
}
func @scaled(%a: f64, %x: f64) -> f64 {
  %y = mul %a, %x : f64
  return %y
}
func @shifted(%a: f64, %x: f64) -> f64 {
  %s = sin %a : f64
  %y = sub %s, %x : f64
  return %y
}
)");
  auto const by_hand = [](i64 n, auto x) {
    auto s = n % 2 == 0 ? x * x : overdub::sin(x) - x;
    for (i64 k = 0; k < n; ++k) s = k % 2 == 0 ? x * s : overdub::sin(x) - s;
    return s;
  };
  ir::program const slope = overdub::overdub(contexts::forward{}, p);
  ir::program const twice = overdub::overdub(contexts::forward{}, slope);
  for (i64 const n : {0, 1, 2, 3}) {
    double const x = 0.7;
    CHECK(
        evaluate<double, double>(slope, n, x, 1.0) ==
        std::tuple(by_hand(n, x), derivative([&](auto y) { return by_hand(n, y); }, x)));
    CHECK(
        std::get<3>(evaluate<double, double, double, double>(twice, n, x, 1.0, 1.0, 0.0)) ==
        Approx(derivative([&](auto z) { return derivative([&](auto y) { return by_hand(n, y); }, z); }, x)));
  }
}

TEST_CASE("the derivative of a reabstracted function value is its reabstracted derivative") {
  constexpr char direct[] = "fn(f64) -> f64";
  for (std::string const to : {"indirect fn(f64) -> f64", "boxed fn(f64) -> f64"})
    for (bool const in_callee : {false, true}) {
      ir::program const p = ir::parse(text_of_functions(direct, to, in_callee));
      ir::program const plain = ir::parse(text_of_functions(direct, direct, in_callee));
      ir::program const slope = overdub::overdub(contexts::forward{}, p);
      INFO(ir::print(slope));
      // The convention is preserved, and the types are those of the derivatives.
      CHECK(reabstractions(p) == 1);
      CHECK(reabstractions(slope) == 1);
      std::string const derived = "fn(f64, f64) -> (f64, f64)";
      CHECK_THAT(
          ir::print(slope),
          Catch::Contains(" : " + derived + " as " + to.substr(0, to.find("fn")) + derived));
      // Differentiation commutes with the removal of reabstractions.
      ir::program cancelled = p;
      pass::reabstract_at_callers(cancelled);
      pass::specialise_conventions(cancelled);
      pass::cancel_reabstractions(cancelled);
      ir::program later = slope;
      pass::reabstract_at_callers(later);
      pass::specialise_conventions(later);
      pass::cancel_reabstractions(later);
      CHECK(
          canonical(overdub::overdub(contexts::forward{}, cancelled)).functions.size() ==
          canonical(later).functions.size());
      CHECK(reabstractions(later) == reabstractions(cancelled));
      // The derivative is the same to the bit.
      for (bool const c : {true, false})
        for (double const x : {0.5, -1.25}) {
          auto const expected =
              evaluate<double, double>(overdub::overdub(contexts::forward{}, plain), x, 1.0, c);
          CHECK(evaluate<double, double>(slope, x, 1.0, c) == expected);
          CHECK(evaluate<double, double>(later, x, 1.0, c) == expected);
          auto const run = [&](auto in) { return evaluate<double>(p, in, c); };
          double const y = c ? std::exp(x * x) : std::exp(x - std::sin(x));
          CHECK(std::get<0>(expected) == y);
          double const by_hand = c ? y * (x + x) : y * (1 - std::cos(x));
          CHECK(std::get<1>(expected) == Approx(by_hand));
          CHECK(derivative(run, x) == std::get<1>(expected));
        }
    }
}
