// evaluate(program, x...): programs run by C++ types, and what is refused.
#include "catch.hpp"
#include "laws/functions.hpp"

#include <overdub/stage/evaluate.hpp>

using namespace overdub;

TEST_CASE("a program is evaluated by C++ types, and on values of a context in that context") {
  ir::program const p = stage(functions::several, signature<double, double>);
  auto const [together, product, less] = evaluate<double, double, bool>(p, 2.0, 3.0);
  CHECK(together == 5.0);
  CHECK(product == 6.0);
  CHECK(less);
}

TEST_CASE("wrong arguments are refused in a sentence") {
  ir::program const p = stage(functions::square, signature<double>);
  CHECK_THROWS_WITH(
      evaluate<double>(p, 1.0, 2.0), Catch::Contains("@square takes 1 arguments, and was given 2"));
  CHECK_THROWS_WITH(
      evaluate<double>(p, i64{1}), Catch::Contains("@square: argument 1 is f64, and was given i64"));
  CHECK_THROWS_AS(evaluate<double>(p, ir::function_id{7}, 1.0), argument_error);
  CHECK_THROWS_WITH(
      evaluate<i64>(p, 1.0), Catch::Contains("does not return the type that it is asked for, i64"));
}

TEST_CASE("a program that is not valid is refused") {
  ir::program p = stage(functions::square, signature<double>);
  ir::cursor c(p, p.entry);
  c.next();
  c.set_operands(c.node(), {});
  CHECK_THROWS_AS(evaluate<double>(p, 1.0), ir::verify_error);
  ir::program q = stage(functions::square, signature<double>);
  q.entry = ir::function_id{7};
  CHECK_THROWS_AS(evaluate<double>(q, 1.0), ir::verify_error);
}

TEST_CASE("a recursion that does not end is an error, and no crash") {
  constexpr auto endless =
      fn<"endless">([](scope auto& cx, auto x) -> decltype(x) { return cx.self(x + 1); });
  ir::program const p = stage(endless, signature<double>);
  CHECK_THROWS_AS(evaluate<double>(p, 1.0), stack_overflow);
}
