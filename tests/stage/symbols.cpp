// Run by g++: each of its many contexts has tables of all operations.
// A symbol names functions of C++, too: a context that names one has the same result in direct runs, staged, and for the function's
// program.
#include "catch.hpp"

#include <overdub/contexts/count.hpp>
#include <overdub/contexts/fault.hpp>
#include <overdub/contexts/mock.hpp>
#include <overdub/contexts/slice.hpp>
#include <overdub/execute/interpreter.hpp>
#include <overdub/stage/evaluate.hpp>

#include <string>

namespace {

using namespace overdub;

inline constexpr auto inner = fn<"inner">([](auto x) { return x * x; });
inline constexpr auto looked_up = leaf<"looked_up">([](double x) { return x + 1.0; });
inline constexpr auto outer = fn<"outer">([](auto x) {
  auto const y = inner(x);
  return y + looked_up(x);
});

struct scales_inner : context {
  auto overdub(rule_call auto call, decltype(symbol<"inner">), auto x) { return call.recurse(x) * 10.0; }
};
struct takes_plain_numbers : context {
  auto overdub(rule_call auto, decltype(symbol<"inner">), double x) { return x; }
};
struct prefers_the_type : context {
  auto overdub(decltype(symbol<"inner">), auto) { return 1.0; }
  auto overdub(decltype(inner), auto) { return 2.0; }
};
struct watches : context {
  double before_inner = 0, after_native = 0;
  void before(decltype(symbol<"inner">), double x) { before_inner += x; }
  void after(decltype(symbol<"looked_up">), double result, double) { after_native += result; }
};
struct observes_functions : context {
  void before(function auto, auto const&...) {}
};
struct leaves_inner : contexts::count_of<mul_t, add_t> {
  leave_t enter(decltype(symbol<"inner">)) { return overdub::leave; }
};

void check_in(auto context, double expected) {
  auto staged = context, rewritten = context;
  CHECK(overdub::run(context, outer, 3.0) == expected);
  CHECK(executable(stage(staged, outer, signature<double>)).call<double>(3.0) == expected);
  CHECK(
      executable(overdub::overdub(rewritten, stage(outer, signature<double>))).call<double>(3.0) == expected);
}

} // namespace

// g++ 12 compares parameters of concrete types before it converts the function to the symbol.
TEST_CASE("a rule whose parameters accept no values of programs is not ignored") {
  takes_plain_numbers context;
  CHECK_THROWS_WITH(
      overdub::overdub(context, stage(outer, signature<double>)),
      Catch::Contains("names @inner, and does not take the arguments"));
}
TEST_CASE("rules, hooks and enter that name a symbol apply to the function of that name") {
  check_in(contexts::mock(symbol<"inner">, [](auto x) { return x; }), 7.0);
  check_in(contexts::mock(symbol<"inner">, [](auto x) { return x; }).below(outer), 7.0);
  check_in(contexts::mock(symbol<"looked_up">, [](auto) { return 0.5; }), 9.5);
  check_in(contexts::mock(symbol<"other">, [](auto x) { return x; }), 13.0);
  check_in(compose(observes_functions{}, contexts::mock(symbol<"inner">, [](auto x) { return x; })), 7.0);
  check_in(scales_inner{}, 94.0);
  check_in(prefers_the_type{}, 6.0);
}
TEST_CASE("hooks that name a symbol observe the function of that name") {
  watches direct, staged, rewritten;
  CHECK(overdub::run(direct, outer, 3.0) == 13.0);
  CHECK(executable(stage(staged, outer, signature<double>)).call<double>(3.0) == 13.0);
  CHECK(executable(overdub::overdub(rewritten, stage(outer, signature<double>))).call<double>(3.0) == 13.0);
  for (watches const& w : {direct, staged, rewritten}) {
    CHECK(w.before_inner == 3.0);
    CHECK(w.after_native == 4.0);
  }
  contexts::count_of<decltype(symbol<"inner">)> counted, counted_in_program;
  CHECK(overdub::run(counted, outer, 3.0) == 13.0);
  CHECK(counted(symbol<"inner">) == 1);
  CHECK(
      executable(overdub::overdub(counted_in_program, stage(outer, signature<double>))).call<double>(3.0) ==
      13.0);
  CHECK(counted_in_program(symbol<"inner">) == 1);
}
TEST_CASE("contexts that list callees accept symbols") {
  contexts::fault<decltype(symbol<"looked_up">)> direct(contexts::nth_call(1)),
      rewritten(contexts::nth_call(1));
  CHECK_THROWS_AS(overdub::run(direct, outer, 3.0), contexts::injected_fault);
  executable const p(overdub::overdub(rewritten, stage(outer, signature<double>)));
  CHECK_THROWS_AS(p.call<double>(3.0), contexts::injected_fault);
}
TEST_CASE("slice removes effects of functions that a symbol names") {
  check_in(compose(contexts::mock(symbol<"looked_up">, [](auto) { return 0.5; }), contexts::slice()), 9.5);
  contexts::count_of<decltype(symbol<"looked_up">)> count;
  CHECK_THROWS_WITH(
      overdub::overdub(compose(count, contexts::slice()), stage(outer, signature<double>)),
      Catch::Contains("slice removes the calls of \"looked_up\""));
}
TEST_CASE("enter may name a symbol") {
  leaves_inner direct, rewritten;
  CHECK(overdub::run(direct, outer, 3.0) == 13.0);
  CHECK(executable(overdub::overdub(rewritten, stage(outer, signature<double>))).call<double>(3.0) == 13.0);
  CHECK(direct(mul) == 0);
  CHECK(rewritten(mul) == 0);
  CHECK(direct(add) == rewritten(add));
}
