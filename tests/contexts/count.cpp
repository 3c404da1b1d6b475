#include "catch.hpp"

#include <overdub/compile/compile.hpp>
#include <overdub/contexts/count.hpp>
#include <overdub/contexts/forward.hpp>

#include <map>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <utility>

namespace od = overdub;
using overdub::contexts::count;
using overdub::contexts::count_each;
using overdub::contexts::count_of;
using overdub::contexts::forward;

namespace {

constexpr auto square = od::fn<"square">([](auto x) { return x * x; });
constexpr auto norm = od::fn<"norm">([](auto x, auto y) { return sqrt(square(x) + square(y)); });
constexpr auto fib = od::fn<"fib">([](od::scope auto& cx, auto n) -> decltype(n) {
  return od::if_(
      n < 2, [&] { return n; }, [&] { return cx.self(n - 1) + cx.self(n - 2); });
});
constexpr auto sum_of_squares =
    od::fn<"sum_of_squares">([](auto xs) { return od::sum(od::map(square, xs)); });
constexpr auto fail = od::leaf<"fail">([](double x) {
  if (x > 0) throw std::runtime_error("positive");
  return x;
});

long calls_of_fib(int n) { return n < 2 ? 1 : 1 + calls_of_fib(n - 1) + calls_of_fib(n - 2); }

} // namespace

TEST_CASE("count counts functions and primitives separately") {
  count c;
  CHECK(od::run(c, norm, 3.0, 4.0) == 5.0);
  CHECK(c.functions == 3);  // norm, square, square
  CHECK(c.primitives == 4); // mul, mul, add, sqrt
  CHECK(c.calls() == 7);
}

TEST_CASE("counts of one instance are cumulative over runs, and another instance starts at 0") {
  count c, other;
  od::run(c, square, 3.0);
  od::run(c, square, 3.0);
  CHECK((c.functions == 2 && c.primitives == 2));
  CHECK(other.calls() == 0);
}

TEST_CASE("count counts each call of a recursion, with arguments from 2 to 20") {
  for (int n = 0; n <= 20; ++n) {
    count c;
    CHECK(od::run(c, fib, n) == fib(n));
    long const calls = calls_of_fib(n), inner = (calls - 1) / 2;
    CHECK(c.functions == calls);
    CHECK(c.primitives == 2 * calls + 3 * inner); // lt and if; two subs and an add
  }
}

TEST_CASE("count counts a control primitive once, and the calls of its function for each element") {
  count c;
  od::run(c, sum_of_squares, od::array<double>{1, 2, 3, 4, 5});
  CHECK(c.functions == 1 + 5);
  CHECK(c.primitives == 2 + 5 + 5); // map and its products, reduce and its additions // map and sum; a mul for each element
  count of_none;
  od::run(of_none, sum_of_squares, od::array<double>{});
  CHECK((of_none.functions == 1 && of_none.primitives == 2));
}

TEST_CASE("count observes only the branch that is taken") {
  auto const branch = od::fn<"branch">([](auto x) {
    return od::if_(
        x > 0.0, [&] { return x * x * x; }, [&] { return -x; });
  });
  count positive, negative;
  od::run(positive, branch, 2.0);
  od::run(negative, branch, -2.0);
  CHECK(positive.primitives == 4); // gt, if, mul, mul
  CHECK(negative.primitives == 3); // gt, if, neg
}

TEST_CASE("count includes a call that ended by an exception") {
  auto const careful = od::fn<"careful">([](auto x) { return fail(x * 2.0) + 1.0; });
  count c;
  CHECK_THROWS_AS(od::run(c, careful, 1.0), std::runtime_error);
  CHECK((c.functions == 1 && c.primitives == 2)); // mul and fail; add was not reached
}

TEST_CASE("count outside of forward counts the program; inside, the operations of the derivative, too") {
  count program, everything;
  od::run(od::compose(program, forward{}), norm, od::tag(3.0, 1.0), 4.0);
  CHECK((program.functions == 3 && program.primitives == 4));

  auto const r = od::run(od::compose(forward{}, everything), square, od::tag(3.0, 1.0));
  CHECK((r.inner == 9.0 && r.metadata == 6.0));
  CHECK(everything.functions == 1);  // square.forward
  CHECK(everything.primitives == 4); // x * x; dx * x + x * dx
}

TEST_CASE("two counts in one composition count the same calls, the inner one as derived functions") {
  count outer, inner;
  od::run(od::compose(outer, inner), norm, 3.0, 4.0);
  CHECK((outer.functions == inner.functions && outer.primitives == inner.primitives));
}

TEST_CASE("count_of counts the chosen callees only, also through outer contexts") {
  count_of<decltype(square), od::sqrt_t, od::sin_t> c;
  od::run(od::compose(forward{}, c), norm, od::tag(3.0, 1.0), 4.0);
  CHECK(c(square) == 2); // as square.forward
  CHECK(c(od::sqrt) == 1);
  CHECK(c(od::sin) == 0);
}

TEST_CASE("count_of can count a control primitive and a leaf") {
  count_of<od::map_t, decltype(fail), od::if_t> c;
  auto const f = od::fn<"f">([](auto xs) { return od::sum(od::map([](auto x) { return fail(-x); }, xs)); });
  CHECK(od::run(c, f, od::array<double>{1, 2, 3}) == -6.0);
  CHECK((c(od::map) == 1 && c(fail) == 3 && c(od::if_) == 0));
}

TEST_CASE("joining forks adds their counts") {
  count c;
  od::run(c, norm, 3.0, 4.0);
  count fork = c.fork();
  CHECK(fork.calls() == 0);
  od::run(fork, square, 3.0);
  c.join(std::move(fork));
  CHECK((c.functions == 4 && c.primitives == 5));

  count_of<decltype(square)> some, forked = some.fork();
  od::run(forked, norm, 3.0, 4.0);
  some.join(std::move(forked));
  CHECK(some(square) == 2);
}

TEST_CASE("count_each counts callees, and the edges from callers to callees") {
  count_each c;
  od::run(c, norm, 3.0, 4.0);
  CHECK(
      c.callees() ==
      std::map<std::string_view, long>{{"add", 1}, {"mul", 2}, {"norm", 1}, {"sqrt", 1}, {"square", 2}});
  CHECK(
      c.edges() == std::map<std::pair<std::string_view, std::string_view>, long>{
                       {{"", "norm"}, 1},
                       {{"norm", "add"}, 1},
                       {{"norm", "sqrt"}, 1},
                       {{"norm", "square"}, 2},
                       {{"square", "mul"}, 2}});
  od::run(c, square, 2.0);
  CHECK((c.calls("square") == 3 && c.calls("", "square") == 1 && c.calls("square", "mul") == 3));
  CHECK((c.calls("sin") == 0 && c.calls("norm", "sin") == 0 && c.calls("mul", "norm") == 0));
}

TEST_CASE("count_each counts the edges of a recursion, of maps, and after an exception") {
  count_each c;
  od::run(c, fib, 5);
  CHECK((c.calls("fib") == calls_of_fib(5) && c.calls("fib", "fib") == calls_of_fib(5) - 1));
  od::run(c, sum_of_squares, od::array<double>{1, 2, 3});
  CHECK((c.calls("sum_of_squares", "map") == 1 && c.calls("sum_of_squares", "square") == 3));
  auto const careful = od::fn<"careful">([](auto x) { return fail(x * 2.0) + 1.0; });
  CHECK_THROWS(od::run(c, careful, 1.0));
  CHECK((c.calls("careful", "fail") == 1 && c.calls("careful", "add") == 0));
  od::run(c, square, 1.0);
  CHECK(c.calls("", "square") == 1);
}

TEST_CASE("count_each inside of a context counts the rewritten calls, and joins forks") {
  count_each c;
  od::run(od::compose(forward{}, c), norm, od::tag(3.0, 1.0), 4.0);
  CHECK((c.calls("norm.forward", "square.forward") == 2 && c.calls("square.forward", "mul") == 6));
  count_each fork = c.fork();
  CHECK(fork.callees().empty());
  od::run(fork, square, 3.0);
  c.join(std::move(fork));
  CHECK(c.calls("", "square") == 1);
}

TEST_CASE("count, count_of and count_each count the calls of a compiled program when it runs") {
  count a, direct_a;
  count_of<decltype(square), od::sqrt_t> b;
  count_each c, direct_c;
  auto const f = od::compile(od::compose(a, b, c), norm, od::signature<double, double>);
  CHECK((a.calls() == 0 && c.callees().empty()));
  CHECK((f(3.0, 4.0) == 5.0 && f(6.0, 8.0) == 10.0));
  for (int i = 0; i < 2; ++i)
    od::run(od::compose(direct_a, count_of<decltype(square), od::sqrt_t>{}, direct_c), norm, 3.0, 4.0);
  CHECK((a.functions == direct_a.functions && a.primitives == direct_a.primitives));
  CHECK((b(square) == 4 && b(od::sqrt) == 2));
  CHECK((c.callees() == direct_c.callees() && c.edges() == direct_c.edges()));
}
