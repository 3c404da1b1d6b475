// evaluate(program, x...): runs programs by C++ types, and rejects wrong arguments and programs.
#include "catch.hpp"
#include "laws/functions.hpp"

#include <overdub/execute/interpreter.hpp>
#include <overdub/ir/cursor.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/stage/evaluate.hpp>

using namespace overdub;

TEST_CASE("a program is evaluated by C++ types, and in the context of its arguments") {
  ir::program const p = stage(functions::several, signature<double, double>);
  auto const [together, product, less] = evaluate<double, double, bool>(p, 2.0, 3.0);
  CHECK(together == 5.0);
  CHECK(product == 6.0);
  CHECK(less);
}

TEST_CASE("wrong arguments are rejected with a diagnostic") {
  ir::program const p = stage(functions::square, signature<double>);
  CHECK_THROWS_WITH(
      evaluate<double>(p, 1.0, 2.0), Catch::Contains("@square takes 1 arguments, and was given 2"));
  CHECK_THROWS_WITH(
      evaluate<double>(p, i64{1}), Catch::Contains("@square: argument 1 is f64, and was given i64"));
  CHECK_THROWS_AS(evaluate<double>(p, ir::function_id{7}, 1.0), argument_error);
  CHECK_THROWS_WITH(evaluate<i64>(p, 1.0), Catch::Contains("does not return the requested type, i64"));
}

TEST_CASE("an invalid program is rejected") {
  ir::program p = stage(functions::square, signature<double>);
  ir::cursor c(p, p.entry);
  c.next();
  c.set_operands(c.node(), {});
  CHECK_THROWS_AS(evaluate<double>(p, 1.0), ir::verify_error);
  ir::program q = stage(functions::square, signature<double>);
  q.entry = ir::function_id{7};
  CHECK_THROWS_AS(evaluate<double>(q, 1.0), ir::verify_error);
}

TEST_CASE("infinite recursion is an error, and does not crash") {
  constexpr auto endless =
      fn<"endless">([](scope auto& cx, auto x) -> decltype(x) { return cx.self(x + 1); });
  ir::program const p = stage(endless, signature<double>);
  CHECK_THROWS_AS(evaluate<double>(p, 1.0), stack_overflow);
}

namespace {
struct counts_products : context {
  int products = 0;
  void before(mul_t, auto, auto) { ++products; }
};
// Each iteration computes one product, and yields a row that is longer than the previous one.
constexpr std::string_view counted = R"(
entry @main
func @main(%x: f64) -> i64 {
  %n, %rows = loop 4 (%i: i64, %m: i64 = 2) -> (i64) stack (f64[]) {
    %y = mul %x, 2.0 : f64
    %row = fill %m, %y : f64[]
    %next = add %m, 1 : i64
    yield %next, %row
  }
  %size = length %rows : i64
  return %size
}
)",
                           open_ended = R"(
entry @main
func @main(%x: f64) -> i64 {
  %n, %rows = while (%m: i64 = 2) -> (i64) stack (f64[]) {
    %more = lt %m, 6 : bool
    yield %more
  } do (%k: i64) {
    %y = mul %x, 2.0 : f64
    %row = fill %k, %y : f64[]
    %next = add %k, 1 : i64
    yield %next, %row
  }
  %size = length %rows : i64
  return %size
}
)",
                           mapped = R"(
entry @main
func @main(%x: f64) -> i64 {
  %rows = map 4 (%i: i64) -> (f64[]) {
    %y = mul %x, 2.0 : f64
    %m = add %i, 2 : i64
    %row = fill %m, %y : f64[]
    yield %row
  }
  %size = length %rows : i64
  return %size
}
)";
} // namespace

TEST_CASE("a loop ends at the first row of another size, evaluated and interpreted") {
  for (std::string_view const text : {counted, open_ended, mapped}) {
    static ir::program p;
    p = ir::parse(text);
    INFO(text);
    counts_products c;
    std::string evaluated, interpreted;
    try {
      overdub::run(
          c, [](auto x) { return evaluate<i64>(p, x); }, 1.0);
    } catch (size_error const& e) {
      evaluated = e.what();
    }
    CHECK(c.products == 2);
    try {
      executable(overdub::overdub(c, p)).call<i64>(1.0);
    } catch (size_error const& e) {
      interpreted = e.what();
    }
    CHECK(c.products == 4);
    CHECK(evaluated == interpreted);
  }
}
