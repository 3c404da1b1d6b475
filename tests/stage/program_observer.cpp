// Contexts that observe any callee: the library's evaluation calls their hooks as the evaluation in their own types does.
#include "catch.hpp"

#include <overdub/contexts/count.hpp>
#include <overdub/contexts/log.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/overdub.hpp>
#include <overdub/stage/evaluate.hpp>

#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace od = overdub;
using od::i64;

namespace {

od::ir::program const& program() {
  static od::ir::program const p = od::ir::parse(R"od(
func @scaled(%x: f64, %n: i64) -> f64 {
  %r = loop %n (%i: i64, %s: f64 = 0.0) -> f64 {
    %t = add %s, %x : f64
    yield %t
  }
  return %r
}
func @main(%a: f64[], %m: f64[][], %n: i64, %b: bool, %f: f32) -> f64 {
  %s = reduce add %a from 0.0 : f64
  %z = length %a : i64
  %c = map %z (%i: i64) -> f64 {
    %w = at %a, %i : f64
    %y = sin %w : f64
    yield %y
  }
  %d = at %c, 0 : f64
  %e = call @scaled(%d, %n) : f64
  %g = if %b -> f64 {
    yield %e
  } else {
    yield %s
  }
  %k = at %m, 1 : f64[]
  %l = at %k, %n : f64
  %h = convert %f : f64
  %o = add %g, %l : f64
  %q = mul %o, %h : f64
  return %q
}
entry @main
)od");
  return p;
}

// The same hooks, in the types of each operation.
struct typed_log : od::contexts::log {
  using log::log;
};

template <class Log>
std::string text_of_run(i64 n, std::string* thrown = nullptr) {
  std::ostringstream out;
  Log log(out);
  auto const f = [](auto const&... x) { return od::evaluate<double>(program(), x...); };
  od::array<double> const a{1.0, 2.0};
  od::array<od::array<double>> const m{a, a};
  try {
    double const y = od::run(log, f, a, m, n, true, 2.0F);
    out << y << '\n';
  } catch (std::exception const& e) {
    if (thrown) *thrown = e.what();
  }
  return out.str();
}

// Throws in the hook of its call of that number.
struct failing : od::context {
  using observes_any_callee = failing;
  int calls = 0, failures = 0, at = 0;
  bool fails_after = false;
  void before(od::callee auto const&, auto const&...) {
    if (++calls == at && !fails_after) throw std::runtime_error("before");
  }
  void after(od::callee auto const&, auto const&, auto const&...) {
    if (calls >= at && fails_after) throw std::runtime_error("after");
  }
  void failed(od::callee auto const&, std::exception_ptr const&, auto const&...) { ++failures; }
};

} // namespace

TEST_CASE("the hooks of contexts that observe any callee receive the same calls as others") {
  static_assert(od::detail::observes_any_callee<od::contexts::log>);
  static_assert(!od::detail::observes_any_callee<typed_log>);
  std::string const text = text_of_run<od::contexts::log>(1);
  CHECK(text == text_of_run<typed_log>(1));
  CHECK_THAT(text, Catch::StartsWith("main([1, 2], [[1, 2], [1, 2]], 1, true, 2)\n"));
  CHECK_THAT(text, Catch::Contains("scaled(") && Catch::Contains("reduce(add, "));
}
TEST_CASE("contexts that observe any callee see that calls fail") {
  std::string a, b;
  std::string const text = text_of_run<od::contexts::log>(7, &a);
  CHECK(text == text_of_run<typed_log>(7, &b));
  CHECK(a == b);
  CHECK_THAT(a, Catch::Contains("index 7"));
  CHECK_THAT(text, Catch::Contains("threw"));
}
TEST_CASE("in a composition, all contexts that observe any callee receive each call") {
  auto const f = [](auto const&... x) { return od::evaluate<double>(program(), x...); };
  od::array<double> const a{1.0, 2.0};
  od::array<od::array<double>> const m{a, a};
  od::contexts::count one, two;
  od::run(od::compose(one, two), f, a, m, i64{1}, true, 2.0F);
  CHECK(one.functions == 2);
  CHECK(one.primitives == 18); // of the loop and the map, each iteration
  CHECK(two.calls() == one.calls());
}
TEST_CASE("if a hook throws, the call fails for the contexts outside of it") {
  auto const f = [](auto const&... x) { return od::evaluate<double>(program(), x...); };
  od::array<double> const a{1.0, 2.0};
  od::array<od::array<double>> const m{a, a};
  for (bool const after : {false, true}) {
    failing outer, inner;
    inner.at = 3;
    inner.fails_after = after;
    CHECK_THROWS_AS(od::run(od::compose(outer, inner), f, a, m, i64{1}, true, 2.0F), std::runtime_error);
    CHECK(outer.calls >= 2);
    CHECK(outer.failures >= 2); // the call, and main
    CHECK(inner.failures >= 1);
  }
}
