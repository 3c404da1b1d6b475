// A program that was staged computes what the C++ function computes, to the bit.
#include "functions.hpp"
#include "results.hpp"

namespace {

using namespace overdub;

template <class F, class... A>
void same_as_native(functions::item<F, A...> const& each) {
  INFO(F::name());
  ir::program const p = stage(each.f, each.arguments);
  property([&] {
    std::tuple<A...> const arguments{results::argument<A>()...};
    std::apply(
        [&](auto const&... a) {
          auto const native = results::outcome_of([&] { return each.f(a...); });
          auto const evaluated = results::evaluated(p, a...);
          RC_ASSERT(native == evaluated);
        },
        arguments);
  });
}

} // namespace

TEST_CASE("evaluating a staged program gives what the C++ function gives, on random numbers") {
  std::apply([](auto const&... each) { (same_as_native(each), ...); }, functions::all);
}

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
      evaluate<double>(p, 1.0, 2.0), Catch::Contains("@square takes 1 arguments, and is given 2"));
  CHECK_THROWS_WITH(
      evaluate<double>(p, i64{1}), Catch::Contains("argument 1 of @square is f64, and is given i64"));
  CHECK_THROWS_WITH(
      evaluate<i64>(p, 1.0), Catch::Contains("does not return the type that it is asked for, i64"));
}

TEST_CASE("a recursion that does not end is an error, and no crash") {
  constexpr auto endless =
      fn<"endless">([](scope auto& cx, auto x) -> decltype(x) { return cx.self(x + 1); });
  ir::program const p = stage(endless, signature<double>);
  CHECK_THROWS_AS(evaluate<double>(p, 1.0), evaluation_error);
}
