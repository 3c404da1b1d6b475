// Long mode, run by g++: each of its many contexts has tables of all operations, which take a compiler minutes and up to 10 GB.
// Exempt calls in programs: the mark comes from C++ and from text; printing, parsing, comparing and rewriting preserve it, and all
// executors respect it.
#include "catch.hpp"

#include <overdub/contexts/count.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/contexts/mock.hpp>
#include <overdub/derivative.hpp>
#include <overdub/execute/interpreter.hpp>
#include <overdub/forward_program.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/ir/verify.hpp>
#include <overdub/pass/pipeline.hpp>
#include <overdub/reverse.hpp>
#include <overdub/stage/evaluate.hpp>
#include <overdub/stage/stage.hpp>

#include <string>
#include <tuple>
#include <type_traits>

namespace {

using namespace overdub;

inline constexpr auto square = fn<"square">([](auto x) { return x * x; });
inline constexpr auto quartic = fn<"quartic">([](auto x) { return square(square(x)); });
inline constexpr auto root = fn<"root">([](auto x) {
  auto const unseen = exempt(quartic)(x);
  auto const sine = exempt(overdub::sin)(x);
  auto const seen = square(x);
  return unseen * x + seen + sine;
});

std::size_t exempt_calls(ir::program const& p) {
  std::string const text = ir::print(p);
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find("call exempt @", at)) != std::string::npos; ++at) ++count;
  return count;
}
double value_of(ir::program const& p) { return executable(p).call<double>(2.0); }

struct products : context {
  double seen = 0;
  void before(mul_t, double x, double) { seen += x; }
};
struct no_products : context {
  auto overdub(mul_t, auto x, auto y) { return x + y; }
};
// The metadata of a product are the sum of its factors' and more.
struct weights : context {
  template <class T>
  using metadata = std::conditional_t<std::is_same_v<plain_t<T>, double>, T, zero>;
  zero constant(auto const&) const { return {}; }
  template <class X, class Y>
  requires(std::is_same_v<plain_t<decltype(X::inner)>, double>) auto overdub(mul_t f, X x, Y y) {
    return overdub::tag(f(x.inner, y.inner), x.metadata + y.metadata + 1.0);
  }
};

} // namespace

TEST_CASE("exempt calls are staged with a mark, printed, parsed and compared") {
  ir::program const p = stage(root, signature<double>);
  CHECK(exempt_calls(p) == 2);
  ir::program const read = ir::parse(ir::print(p));
  CHECK(read == p);
  CHECK(value_of(p) == root(2.0));
  ir::program without = p;
  ir::function_id const f = without.entry;
  for (ir::cursor c(without, f); c.next();)
    if (c.code() == ir::op::call) c.attributes_of(c.node()).flags = 0;
  CHECK_FALSE(without == p);
}

TEST_CASE("a pass can set the mark, and the verifier accepts it on calls alone") {
  ir::program p = ir::parse(R"ir(entry @main
func @half(%0: f64) -> f64 {
  %1 = mul %0, 0.5 : f64
  return %1
}
func @main(%0: f64) -> f64 {
  %1 = call @half(%0) : f64
  %2 = mul %1, %0 : f64
  return %2
}
)ir");
  products before;
  (void)value_of(overdub::overdub(before, p));
  CHECK(before.seen == 3.0);
  for (ir::cursor c(p, p.entry); c.next();)
    if (c.code() == ir::op::call) c.attributes_of(c.node()).flags = ir::attributes::exempt;
  ir::verify(p);
  products after;
  CHECK(value_of(overdub::overdub(after, p)) == 2.0);
  CHECK(after.seen == 1.0);
  for (ir::cursor c(p, p.entry); c.next();)
    if (c.code() == ir::op::mul) c.attributes_of(c.node()).flags = ir::attributes::exempt;
  CHECK_THROWS(ir::verify(p));
}

TEST_CASE("contexts observe the same in direct runs, staged, rewritten and evaluated") {
  ir::program const p = stage(root, signature<double>);
  auto const check = [&]<class C>(C, auto const& seen, double value) {
    C direct, staged, rewritten, evaluated;
    CHECK(overdub::run(direct, root, 2.0) == value);
    ir::program const in_context = stage(staged, root, signature<double>);
    CHECK(value_of(in_context) == value);
    ir::program const after = overdub::overdub(rewritten, p);
    CHECK(exempt_calls(after) == 2);
    CHECK(value_of(after) == value);
    CHECK(
        overdub::run(
            evaluated, [&](auto x) { return evaluate<double>(p, x); }, 2.0) == value);
    CHECK(seen(staged) == seen(direct));
    CHECK(seen(rewritten) == seen(direct));
    CHECK(seen(evaluated) == seen(direct));
    // rewritten once more
    C again;
    CHECK(exempt_calls(overdub::overdub(again, after)) == 2);
  };
  check(
      products{}, [](auto const& c) { return c.seen; }, root(2.0));
  check(
      contexts::count{}, [](auto const& c) { return c.primitives; }, root(2.0));
  double const sum_of_16_and_2 = 18.0;
  check(
      no_products{}, [](auto const&) { return 0; }, sum_of_16_and_2 + 4.0 + overdub::sin(2.0));
}

TEST_CASE("the result of an exempt call is a constant, in forward and reverse mode") {
  ir::program const p = stage(root, signature<double>);
  double const slope = 16.0 + 4.0; // of 16 x + x^2
  CHECK(derivative(root, 2.0) == slope);
  CHECK(std::get<1>(executable(forward_of(p)).call<std::tuple<double, double>>(2.0, 1.0)) == slope);
  CHECK(gradient(root)(2.0) == slope);
  CHECK(exempt_calls(forward_of(p)) == 2);
  ir::program optimised = p;
  pass::default_pipeline(optimised);
  CHECK(exempt_calls(optimised) == 2);
  CHECK(
      std::get<1>(executable(forward_of(optimised)).call<std::tuple<double, double>>(2.0, 1.0)) ==
      slope);
}

TEST_CASE("an exempt call drops metadata") {
  auto const deep = fn<"deep">([](auto x) { return exempt(quartic)(x) * (x * x); });
  CHECK(overdub::run(weights{}, deep, tag(2.0, 5.0)).metadata == 12.0);
  ir::program const p = stage(deep, signature<double>);
  auto const r = executable(overdub::overdub(weights{}, p)).call<std::tuple<double, double>>(2.0, 5.0);
  CHECK(std::get<0>(r) == 64.0);
  CHECK(std::get<1>(r) == 12.0);
}

int polls = 0;
inline constexpr auto poll = leaf<"poll">([] { return static_cast<double>(++polls); }, effects::ordered);
inline constexpr auto ask = fn<"ask">([](scope auto& cx) { return cx(poll); });
inline constexpr auto polled =
    fn<"polled">([](scope auto& cx, auto x) -> decltype(x) { return x + cx(exempt(ask)); });

TEST_CASE("an exempt call without arguments is made when the program runs") {
  polls = 0;
  ir::program const p = stage(polled, signature<double>);
  CHECK(polls == 0);
  CHECK(exempt_calls(p) == 1);
  executable const run(p);
  CHECK(run.call<double>(1.0) == 2.0);
  CHECK(run.call<double>(1.0) == 3.0);
  CHECK(polls == 2);
}
