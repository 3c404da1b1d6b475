// Texts of gradients after the pipeline: they equal hand-written programs.
#include "catch.hpp"

#include <overdub/execute/interpreter.hpp>
#include <overdub/forward_program.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/ir/verify.hpp>
#include <overdub/pass/pipeline.hpp>
#include <overdub/reverse/gradient_program.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace {

using namespace overdub;

// The gradient and the value of the only function of a program.
std::string gradient_of(std::string const& text) {
  ir::program p = ir::parse("entry @f\n" + text);
  ir::verify(p);
  std::vector<bool> const all(p[p.entry].parameters().size(), true);
  differentiate_entry(p, all, true);
  pass::default_pipeline(p);
  std::string const made = print(p);
  return made.substr(made.find("func"));
}

TEST_CASE("a loop saves its loop-carried values for its adjoint") {
  CHECK(gradient_of(R"(
func @f(%x: f64, %n: i64) -> f64 {
  %r = loop %n (%i: i64, %s: f64 = %x) -> f64 {
    %a = mul %s, %s : f64
    yield %a
  }
  return %r
}
)") == R"(func @f.and_slopes(%0: f64, %1: i64) -> (f64, f64, i64) {
  %2, %3 = loop %1 (%4: i64, %5: f64 = %0) -> f64 stack f64 {
    %6 = mul %5, %5 : f64
    yield %6, %5
  }
  %7 = loop reversed %1 (%8: i64, %9: f64 = 1.0) -> f64 {
    %10 = at %3, %8 : f64
    %11 = mul %9, %10 : f64
    %12 = add %11, %11 : f64
    yield %12
  }
  return %2, %7, 0
}
)");
}

TEST_CASE("the adjoint of a map is a map that recomputes cheap values") {
  CHECK(gradient_of(R"(
func @f(%x: f64[]) -> f64 {
  %n = length %x : i64
  %m = map %n (%i: i64) -> f64 {
    %a = at %x, %i : f64
    %b = mul %a, %a : f64
    yield %b
  }
  %r = reduce add %m from 0.0 : f64
  return %r
}
)") == R"(func @f.and_slopes(%0: f64[]) -> (f64, f64[]) {
  %1 = length %0 : i64
  %2 = map %1 (%3: i64) -> f64 {
    %4 = at %0, %3 : f64
    %5 = mul %4, %4 : f64
    yield %5
  }
  %6 = reduce add %2 from 0.0 : f64
  %7 = map %1 (%8: i64) -> f64 {
    %9 = at %0, %8 : f64
    %10 = add %9, %9 : f64
    yield %10
  }
  return %6, %7
}
)");
}

TEST_CASE("the cotangents of elements that are read at an index are summed in an accumulator") {
  CHECK(gradient_of(R"(
func @f(%x: f64[], %g: i64[]) -> f64 {
  %n = length %g : i64
  %m = map %n (%i: i64) -> f64 {
    %k = at %g, %i : i64
    %a = at %x, %k : f64
    %b = exp %a : f64
    yield %b
  }
  %r = reduce add %m from 0.0 : f64
  return %r
}
)") == R"(func @f.and_slopes(%0: f64[], %1: i64[]) -> (f64, f64[], i64[]) {
  %2 = length %1 : i64
  %3 = map %2 (%4: i64) -> f64 {
    %5 = at %1, %4 : i64
    %6 = at %0, %5 : f64
    %7 = exp %6 : f64
    yield %7
  }
  %8 = reduce add %3 from 0.0 : f64
  %9 = length %0 : i64
  %10 = fill %9, 0.0 : f64[]
  %11 = accumulate (%12: acc f64[] = %10) -> f64[] {
    map %2 (%13: i64) {
      %14 = at %1, %13 : i64
      %15 = at %3, %13 : f64
      add_to %12, %14, %15
      yield
    }
    yield
  }
  %16 = array : i64[]
  return %8, %11, %16
}
)");
}

TEST_CASE("branches save the residuals of the taken one") {
  CHECK(gradient_of(R"(
func @f(%x: f64, %y: f64) -> f64 {
  %c = lt %x, %y : bool
  %r = if %c -> f64 {
    %s = sin %x : f64
    %t = mul %s, %y : f64
    yield %t
  } else {
    yield %y
  }
  return %r
}
)") == R"(func @f.and_slopes(%0: f64, %1: f64) -> (f64, f64, f64) {
  %2 = lt %0, %1 : bool
  %3, %4 = if %2 -> (f64, f64) {
    %5 = sin %0 : f64
    %6 = mul %5, %1 : f64
    yield %6, %5
  } else {
    yield %1, 0.0
  }
  %7, %8 = if %2 -> (f64, f64) {
    %9 = cos %0 : f64
    %10 = mul %1, %9 : f64
    yield %10, %4
  } else {
    yield 0.0, 1.0
  }
  return %3, %7, %8
}
)");
}

// The derivative of @f by the first parameter, in both modes; the other parameters are constants.
void agrees(std::string const& text, std::vector<datum> const& arguments) {
  ir::program const p = ir::parse("entry @f\n" + text);
  std::vector<datum> const value = executable(p).run(arguments);
  ir::program forward = forward_of(p), backward = p;
  std::vector<bool> asked(arguments.size(), false);
  asked[0] = true;
  differentiate_entry(backward, asked, true);
  REQUIRE(ir::faults_of(backward).empty());
  std::vector<datum> const back = executable(backward).run(arguments);
  CHECK(back[0] == value[0]);
  array<double> const x = arguments[0].as<array<double>>(), derivatives = back[1].as<array<double>>();
  for (i64 i = 0; i < x.size(); ++i) {
    std::vector<double> direction(static_cast<std::size_t>(x.size()));
    direction[static_cast<std::size_t>(i)] = 1.0;
    std::vector<datum> along;
    for (std::size_t k = 0; k < arguments.size(); ++k) {
      along.push_back(arguments[k]);
      if (k == 0) along.emplace_back(array<double>::copy_of(direction));
      if (k > 0 && arguments[k].type() == ir::f64) along.emplace_back(0.0);
    }
    CHECK(executable(forward).run(along)[1].as<double>() == Approx(derivatives[i]));
  }
}

TEST_CASE("an index that a loop computes is recomputed") {
  agrees(
      R"(
func @f(%x: f64[], %n: i64, %y: f64) -> f64 {
  %j, %s = loop %n (%i: i64, %k: i64 = 0, %t: f64 = %y) -> (i64, f64) {
    %z = at %x, 0 : f64
    %u = mul %t, %z : f64
    %k2 = add %k, 1 : i64
    yield %k2, %u
  }
  %a = at %x, %j : f64
  %r = mul %a, %s : f64
  return %r
}
)",
      {array<double>{1.5, 2.5, 0.5, 3.5}, i64{2}, 0.7});
}

TEST_CASE("maps in both branches, of which one is summed, have correct derivatives") {
  for (bool const c : {false, true})
    agrees(
        R"(
func @f(%x: f64[], %c: bool) -> f64 {
  %n = length %x : i64
  %m = if %c -> f64[] {
    %a = map %n (%i: i64) -> f64 {
      %u = at %x, %i : f64
      %v = sin %u : f64
      yield %v
    }
    yield %a
  } else {
    %b = map %n (%k: i64) -> f64 {
      %w = at %x, %k : f64
      %z = exp %w : f64
      yield %z
    }
    yield %b
  }
  %r = reduce add %m from 0.0 : f64
  return %r
}
)",
        {array<double>{1.5, 2.5, 0.5}, c});
}

TEST_CASE("a map inside of an accumulate, whose results are summed, has the correct derivative") {
  agrees(
      R"(
func @f(%x: f64[]) -> f64 {
  %n = length %x : i64
  %g, %m = accumulate (%acc: acc f64[] = %x) -> (f64[], f64[]) {
    %q = map %n (%k: i64) -> f64 {
      %a = at %x, %k : f64
      %b = mul %a, %a : f64
      add_to %acc, %k, %b
      yield %b
    }
    yield %q
  }
  %r = reduce add %m from 0.0 : f64
  %s = reduce mul %g from 1.0 : f64
  %t = add %r, %s : f64
  return %t
}
)",
      {array<double>{1.5, 2.5, 0.5}});
}

TEST_CASE("an index that is computed inside of protect has the correct derivative") {
  agrees(
      R"(
func @f(%x: f64[], %k: i64) -> f64 {
  %r = protect -> f64 {
    %j = add %k, 1 : i64
    %a = at %x, %j : f64
    %b = mul %a, 3.0 : f64
    yield %b
  } failed {
    yield
  }
  return %r
}
)",
      {array<double>{1.5, 2.5, 0.5}, i64{1}});
}

TEST_CASE("a reduction from an inactive initial value has the correct derivative") {
  agrees(
      R"(
func @f(%x: f64[], %w: f64) -> f64 {
  %r = reduce %x from %w (%a: f64, %b: f64) -> f64 {
    %p = mul %a, %b : f64
    %q = sin %p : f64
    yield %q
  }
  return %r
}
)",
      {array<double>{1.5, 2.5, 0.5, 0.25, 3.0}, 0.7});
}

TEST_CASE("operations without a derivative are rejected with their location") {
  ir::program p = ir::parse(
      R"(entry @f
func @f(%x: f64) -> f64 {
  %y = host pure "lookup"(%x) : f64
  %z = mul %y, %y : f64
  return %z
}
)",
      {.file = "model.od"});
  CHECK_THROWS_WITH(
      differentiate_entry(p, {true}, true),
      Catch::Matchers::Contains("@f.value_and_gradient: host (model.od:3)") &&
          Catch::Matchers::Contains("\"lookup\" has no derivative"));
}

TEST_CASE("random choices with active parameters are rejected") {
  ir::program p = ir::parse(R"(entry @f
func @f(%x: f64) -> f64 {
  %y = sample "y" "normal"(%x, 1.0) : f64
  return %y
}
)");
  CHECK_THROWS_AS(differentiate_entry(p, {true}, true), differentiation_error);
}

TEST_CASE("a host function with inactive arguments is called once, and not again in the backward pass") {
  ir::program p = ir::parse(R"(entry @f
func @f(%x: f64, %n: i64) -> f64 {
  %r = loop %n (%i: i64, %s: f64 = 0.0) -> f64 {
    %w = host ordered "weight"(%i) : f64
    %t = mul %x, %w : f64
    %u = add %s, %t : f64
    yield %u
  }
  return %r
}
)");
  differentiate_entry(p, {true, false}, true);
  pass::default_pipeline(p);
  std::string const text = print(p);
  auto const first = text.find("host ordered");
  CHECK(first != std::string::npos);
  CHECK(text.find("host ordered", first + 1) == std::string::npos);
}

} // namespace
