// Long mode, run by g++: each of its many contexts has tables of all operations, which take a compiler minutes and up to 10 GB.
// Calls of a program's functions that have no C++ type, and of those on arrays, on many values, and on function values.
#include "catch.hpp"

#include <overdub/contexts/count.hpp>
#include <overdub/contexts/forward.hpp>
#include <overdub/contexts/log.hpp>
#include <overdub/contexts/mock.hpp>
#include <overdub/execute/interpreter.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/stage/evaluate.hpp>

#include <sstream>
#include <string>
#include <tuple>

namespace {

using namespace overdub;

constexpr char const* areas = R"ir(entry @main
func @"area(double)"(%0: f64) -> f64 {
  %1 = mul %0, %0 : f64
  %2 = mul %1, 3.0 : f64
  return %2
}
func @"weight(double[])"(%0: f64[]) -> f64 {
  %1 = reduce add %0 from 0.0 : f64
  return %1
}
func @main(%0: f64, %1: f64[]) -> f64 {
  %2 = call @"area(double)"(%0) : f64
  %3 = call @"weight(double[])"(%1) : f64
  %4 = mul %2, %3 : f64
  return %4
}
)ir";
array<double> const weights{0.5, 1.5};

double run_with(auto&& context, char const* text = areas) {
  return executable(overdub::overdub(context, ir::parse(text))).call<double>(2.0, weights);
}

struct area_is_one : context {
  auto overdub(decltype(symbol<"area(double)">), auto) { return 1.0; }
};
struct observes_area : context {
  double sum = 0;
  void before(decltype(symbol<"area(double)">), double x) { sum += x; }
};
struct weight_is_one : context {
  auto overdub(decltype(symbol<"weight(double[])">), auto) { return 1.0; }
};
struct two_parameters : context {
  auto overdub(decltype(symbol<"area(double)">), auto x, auto y) { return x + y; }
};
struct all_twice : context {
  template <rule_call Call, function F, class... X>
  recurse_t<Call, F, X...> overdub(Call call, F, X... x) {
    return call.recurse(x...) * 2.0;
  }
};
struct sizes : context {
  long elements = 0;
  void before(function auto, auto const&... x) { (add(x), ...); }
  template <class X>
  void add(X const& x) {
    if constexpr (requires { x.visit([](auto const&) {}); }) {
      if (x) x.visit([&](auto const& held) { add(held); });
    } else if constexpr (requires { x.size(); })
      elements += x.size();
    else
      elements += 1;
  }
};

// Leaves functions of two numbers.
struct leaves_pairs : contexts::count {
  leave_t enter(function auto, argument_types<double, double>) { return overdub::leave; }
};
// Leaves a function for a number and for an array.
struct leaves_area : contexts::count {
  leave_t enter(decltype(symbol<"area(double)">), argument_types<double>) { return overdub::leave; }
};
struct leaves_weight : contexts::count {
  leave_t enter(decltype(symbol<"weight(double[])">), argument_types<array<double>>) {
    return overdub::leave;
  }
};

// Has no rules and hooks.
struct leaves_arrays : context {
  static constexpr std::string_view name = "leaves_arrays";
  leave_t enter(function auto, argument_types<array<double>>) { return overdub::leave; }
};

std::string refused(auto&& context) {
  try {
    (void)run_with(context);
  } catch (error const& e) {
    return e.what();
  }
  return "";
}

} // namespace

TEST_CASE("symbols name functions of programs") {
  CHECK(run_with(area_is_one{}) == 2.0);
  CHECK(run_with(contexts::mock(symbol<"area(double)">, [](auto x) { return x; })) == 4.0);
  observes_area observer;
  CHECK(run_with(observer) == 24.0);
  CHECK(observer.sum == 2.0);
  contexts::count_of<decltype(symbol<"area(double)">), decltype(symbol<"weight(double[])">)> counts;
  CHECK(run_with(counts) == 24.0);
  CHECK(counts(symbol<"area(double)">) == 1);
  CHECK(counts(symbol<"weight(double[])">) == 1);
}

TEST_CASE("hooks observe calls on arrays, whose types they query") {
  sizes s;
  CHECK(run_with(s) == 24.0);
  CHECK(s.elements == 3 + 1 + 2); // of main, area and weight
  std::ostringstream out;
  CHECK(run_with(contexts::log(out)) == 24.0);
  CHECK(out.str().find("weight(double[])([0.5, 1.5])") != std::string::npos);
  contexts::count_each each;
  CHECK(run_with(each) == 24.0);
  CHECK(each.calls("main", "area(double)") == 1);
  CHECK(each.calls("area(double)", "mul") == 2);
}

TEST_CASE("rules of calls on arrays, or with other arguments, are rejected") {
  CHECK(refused(weight_is_one{}).find("a rule answers @weight(double[])") != std::string::npos);
  CHECK(refused(two_parameters{}).find("a rule names @area(double), and does not take") != std::string::npos);
  CHECK(refused(all_twice{}).find("a rule answers @main") != std::string::npos);
}

TEST_CASE("rewriting a program again preserves the names of its functions") {
  observes_area inner;
  ir::program const once = overdub::overdub(inner, ir::parse(areas));
  ir::program const twice = overdub::overdub(
      area_is_one{}, ir::parse(ir::print(overdub::overdub(area_is_one{}, ir::parse(areas)))));
  CHECK(executable(twice).call<double>(2.0, weights) == 2.0);
  observes_area outer;
  CHECK(executable(overdub::overdub(outer, once)).call<double>(2.0, weights) == 24.0);
  CHECK(outer.sum == 2.0);
  CHECK(inner.sum == 2.0);
}

TEST_CASE("functions with several results, many arguments, function values and recursion are observed") {
  constexpr char const* text = R"ir(entry @main
func @pair(%0: f64, %1: f64[]) -> (f64, f64) {
  %2 = reduce add %1 from 0.0 : f64
  return %0, %2
}
func @ten(%0: f64, %1: f64, %2: f64, %3: f64, %4: f64, %5: f64, %6: f64, %7: f64, %8: f64, %9: f64) -> f64 {
  %10 = sub %0, %9 : f64
  return %10
}
func @down(%0: f64) -> f64 {
  %1 = lt %0, 1.0 : bool
  %2 = if %1 -> f64 {
    yield %0
  } else {
    %3 = sub %0, 1.0 : f64
    %4 = call @down(%3) : f64
    yield %4
  }
  return %2
}
func @main(%0: f64, %1: f64[]) -> f64 {
  %2, %3 = call @pair(%0, %1) : f64, f64
  %4 = call @ten(%2, %3, %0, %0, %0, %0, %0, %0, %0, 0.5) : f64
  %5 = call @down(%4) : f64
  return %5
}
)ir";
  contexts::count_each each;
  CHECK(run_with(each, text) == 0.5);
  CHECK(each.calls("pair") == 1);
  CHECK(each.calls("ten") == 1);
  CHECK(each.calls("down", "down") == 1);
}

TEST_CASE("a context with metadata composes with one with hooks") {
  contexts::count_each each;
  auto const gradient = overdub::overdub(compose(contexts::forward{}, each), ir::parse(R"ir(entry @main
func @square(%0: f64) -> f64 {
  %1 = mul %0, %0 : f64
  return %1
}
func @main(%0: f64) -> f64 {
  %1 = call @square(%0) : f64
  return %1
}
)ir"));
  auto const [value, slope] = executable(gradient).call<std::tuple<double, double>>(3.0, 1.0);
  CHECK(value == 9.0);
  CHECK(slope == 6.0);
  CHECK(each.calls("square.forward") == 1);
}

TEST_CASE(
    "enter receives the types of the arguments of functions of numbers, and other functions are rejected") {
  constexpr char const* text = R"ir(entry @main
func @inner(%0: f64, %1: f64) -> f64 {
  %2 = mul %0, %1 : f64
  %3 = add %2, %1 : f64
  return %3
}
func @main(%0: f64) -> f64 {
  %1 = call @inner(%0, 3.0) : f64
  %2 = sin %1 : f64
  return %2
}
)ir";
  contexts::count all;
  (void)executable(overdub::overdub(all, ir::parse(text))).call<double>(2.0);
  CHECK(all.primitives == 3);
  leaves_pairs pairs;
  (void)executable(overdub::overdub(pairs, ir::parse(text))).call<double>(2.0);
  CHECK(pairs.functions == 2);
  CHECK(pairs.primitives == 1);
  contexts::count whole;
  CHECK(run_with(whole) == 24.0);
  leaves_area area;
  CHECK(run_with(area) == 24.0);
  CHECK(whole.primitives - area.primitives == 2); // the products in area
  CHECK(refused(leaves_arrays{}).find("asks for the types of the arguments of @main") != std::string::npos);
  CHECK(
      refused(leaves_weight{}).find("asks for the types of the arguments of @weight(double[])") !=
      std::string::npos);
}
