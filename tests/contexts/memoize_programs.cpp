// memoize and retry apply to functions of programs that are evaluated in them.
#include "catch.hpp"

#include <overdub/contexts/memoize.hpp>
#include <overdub/contexts/retry.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/stage/evaluate.hpp>

#include <string>

namespace {

using namespace overdub;

// Two functions of one signature, one of arrays, and one of two results.
std::string text_with(char const* factor) {
  return std::string(R"ir(entry @main
func @once(%0: f64) -> f64 {
  %1 = mul %0, )ir") +
         factor + R"ir( : f64
  return %1
}
func @twice(%0: f64) -> f64 {
  %1 = add %0, %0 : f64
  return %1
}
func @total(%0: f64[]) -> f64 {
  %1 = reduce add %0 from 0.0 : f64
  return %1
}
func @pair(%0: f64, %1: f64[]) -> (f64, f64) {
  %2 = call @total(%1) : f64
  return %2, %0
}
func @main(%0: f64, %1: f64[]) -> f64 {
  %2 = call @once(%0) : f64
  %3 = call @twice(%0) : f64
  %4, %5 = call @pair(%2, %1) : f64, f64
  %6, %7 = call @pair(%3, %1) : f64, f64
  %8 = add %4, %5 : f64
  %9 = add %6, %7 : f64
  %10 = mul %8, %9 : f64
  return %10
}
)ir";
}
double run_in(auto& context, ir::program const& p, double x, array<double> const& xs) {
  return overdub::run(
      context, [&](auto y, auto const& ys) { return evaluate<double>(p, y, ys); }, x, xs);
}

} // namespace

TEST_CASE("memoize distinguishes functions of programs by the program, their names and their arguments") {
  ir::program const p = ir::parse(text_with("1.0"));
  array<double> const xs{1.0, 2.0}, ys{2.0, 2.0};
  contexts::memoize memo;
  CHECK(run_in(memo, p, 3.0, xs) == (3.0 + 3.0) * (3.0 + 6.0));
  CHECK(memo.entries == 4); // main, once, twice and total
  CHECK(memo.hits == 1);    // total
  CHECK(run_in(memo, ir::program(p), 3.0, xs) == 54.0);
  CHECK((memo.entries == 4 && memo.hits == 2));
  CHECK(run_in(memo, p, 3.0, ys) == (4.0 + 3.0) * (4.0 + 6.0));
  CHECK((memo.entries == 6 && memo.hits == 5));
  CHECK(run_in(memo, ir::parse(text_with("10.0")), 3.0, xs) == (3.0 + 30.0) * (3.0 + 6.0));
  CHECK(memo.entries == 10);
}

TEST_CASE("retry repeats calls of functions of programs") {
  ir::program p = ir::parse(R"ir(entry @main
func @total(%0: f64[]) -> f64 {
  %1 = reduce add %0 from 0.0 : f64
  %2 = host may_fail "overdub.test.fails"(%1) : f64
  return %2
}
func @main(%0: f64[]) -> f64 {
  %1 = call @total(%0) : f64
  return %1
}
)ir");
  int calls = 0;
  p.hosts.push_back(
      {.name = p.intern("overdub.test.fails"),
       .run =
           [](void* object, void const* const* arguments, void* const* results) {
             if (++*static_cast<int*>(object) < 3) throw error(message("it fails"));
             *static_cast<double*>(results[0]) = *static_cast<double const*>(arguments[0]);
           },
       .object = &calls});
  auto tries = contexts::retry(contexts::times<3>, symbol<"total">);
  array<double> const xs{1.0, 2.0};
  CHECK(
      overdub::run(
          tries, [&](auto const& ys) { return evaluate<double>(p, ys); }, xs) == 3.0);
  CHECK(calls == 3);
}
