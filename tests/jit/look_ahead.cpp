// Hoisted bounds checks: a program has the results and the errors of the interpreter.
#include "cache_folder.hpp"
#include "execute/texts.hpp"
#include "property.hpp"

#include <string>
#include <vector>

namespace {

using namespace overdub;

void agree(std::string const& text, std::string const& arguments) {
  INFO(text << "\nof " << arguments);
  ir::program const p = texts::program(text);
  std::string const expected = texts::outcome_of(executable(p), arguments);
  for (int const level : {0, 2}) {
    INFO("level " << level);
    CHECK(texts::outcome_of(jit::compile(p, {}, {.optimisation = level}), arguments) == expected);
  }
}

// A sum over a nest of loops, whose innermost reads %x at `index`: a function of %n, %m, and the loops' indices %i, %j, %k.
std::string nest(std::string const& index, std::string const& outer, std::string const& inner) {
  return "func @f(%x: f64[], %n: i64, %m: i64) -> f64 {\n"
         "  %all = map %n (%i: i64) -> f64 {\n" +
         outer + "    %rows = map %a (%j: i64) -> f64 {\n" + inner +
         "      %row = map %b (%k: i64) -> f64 {\n" + index +
         "        %e = at %x, %at : f64\n        yield %e\n      }\n"
         "      %s = reduce add %row from 0.0 : f64\n      yield %s\n    }\n"
         "    %t = reduce add %rows from 0.0 : f64\n    yield %t\n  }\n"
         "  %sum = reduce add %all from 0.0 : f64\n  return %sum\n}\n";
}

constexpr char const* in_order = R"(
        %p = mul %i, %m : i64
        %q = add %p, %j : i64
        %r = mul %q, %m : i64
        %at = add %r, %k : i64
)";

} // namespace

TEST_CASE("the check of an index in a nest of loops is hoisted before it, and failures are detected") {
  std::string const text = nest(in_order, "%a = add %m, 0 : i64\n", "%b = add %m, 0 : i64\n");
  agree(text, "[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], 2, 2");
  agree(text, "[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], 2, 2");
  agree(text, "[1.0], 0, 2");
  agree(text, "[1.0], 2, 0");
  agree(text, "[], 3, -1");
  agree(text, "[1.0, 2.0], -3, 2");
}

TEST_CASE("loops without iterations read nothing, at any index") {
  std::string const text =
      nest("%at = add %n, 100 : i64\n", "%a = sub %n, %n : i64\n", "%b = add %m, 0 : i64\n");
  agree(text, "[1.0], 3, 4");
  // Triangles: the innermost loop of the first iterations is empty.
  std::string const triangle =
      nest("%at = add %j, %k : i64\n", "%a = add %i, 0 : i64\n", "%b = add %j, 0 : i64\n");
  agree(triangle, "[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 4, 0");
  agree(triangle, "[1.0, 2.0, 3.0], 4, 0");
  agree(triangle, "[], 2, 0");
}

TEST_CASE("decreasing indices, and products that overflow, are checked") {
  std::string const down = nest(
      "%p = sub %n, %i : i64\n%at = sub %p, 1 : i64\n", "%a = add %m, 0 : i64\n", "%b = add %m, 0 : i64\n");
  agree(down, "[1.0, 2.0, 3.0], 3, 2");
  agree(down, "[1.0, 2.0], 3, 2");
  std::string const wide = nest("%at = mul %i, %m : i64\n", "%a = add 1, 0 : i64\n", "%b = add 1, 0 : i64\n");
  agree(wide, "[1.0, 2.0, 3.0], 2, 2");
  agree(wide, "[1.0, 2.0, 3.0], 5, 4611686018427387904"); // 4 times that is 0
  agree(wide, "[1.0, 2.0, 3.0], 3, -1");
  std::string const far = nest("%at = add %i, %m : i64\n", "%a = add 1, 0 : i64\n", "%b = add 1, 0 : i64\n");
  agree(far, "[1.0, 2.0, 3.0], 3, 9223372036854775807");
  agree(far, "[1.0, 2.0, 3.0], 3, -9223372036854775808");
}

TEST_CASE("accesses are checked if trip counts overflow") {
  auto const text = [](std::string const& count) {
    return "func @f(%x: f64[], %n: i64, %k: i64) -> f64 {\n"
           "  %r = loop %n (%i: i64, %s: f64 = 0.0) -> f64 {\n    %c = " +
           count +
           " %i, %k : i64\n"
           "    %t = loop %c (%j: i64, %u: f64 = %s) -> f64 {\n"
           "      %e = at %x, %j : f64\n      %v = add %u, %e : f64\n      yield %v\n    }\n"
           "    yield %t\n  }\n  return %r\n}\n";
  };
  agree(text("mul"), "[1.0], 4, -9223372036854775758"); // trip counts are 0, negative, 100 and negative
  agree(text("mul"), "[1.0], 2, 1");
  agree(text("mul"), "[1.0], 3, 1");
  agree(text("add"), "[1.0], 2, 9223372036854775807");
  agree(text("add"), "[1.0, 2.0], 2, 1");
}

TEST_CASE("accesses in some iterations only are checked there") {
  agree(
      R"(func @f(%x: f64[], %n: i64) -> f64 {
    %y = map %n (%i: i64) -> f64 {
      %z = map %n (%j: i64) -> f64 {
        %is = gt %i, 0 : bool
        %e = if %is -> f64 { %h = sub %i, 1 : i64 %g = at %x, %h : f64 yield %g } else { yield 0.0 }
        yield %e
      }
      %s = reduce add %z from 0.0 : f64
      yield %s
    }
    %s2 = reduce add %y from 0.0 : f64
    return %s2
  })",
      "[1.0, 2.0], 3");
}

TEST_CASE("the first error is thrown, if several iterations fail") {
  std::string const text = R"(func @f(%x: f64[], %y: f64[], %n: i64) -> f64 {
    %z = map %n (%i: i64) -> f64 {
      %a = at %x, %i : f64
      %w = map 2 (%j: i64) -> f64 { %k = add %i, %j : i64 %b = at %y, %k : f64 %c = mul %a, %b : f64 yield %c }
      %s = reduce add %w from 0.0 : f64
      yield %s
    }
    %s2 = reduce add %z from 0.0 : f64
    return %s2
  })";
  agree(text, "[1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0, 5.0], 4");
  agree(text, "[1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 4.0, 5.0], 4");
  agree(text, "[1.0, 2.0, 3.0], [1.0, 2.0, 3.0], 4");
  agree(text, "[1.0, 2.0], [1.0, 2.0, 3.0], 4");
}

TEST_CASE("valid programs whose loops are empty where an index is out of range are not interpreted") {
  auto const stays = [](std::string const& text, array<double> const& x, array<double> const& y, i64 n) {
    ir::program const p = texts::program(text);
    executable const compiled = jit::compile(p);
    CHECK(compiled.call<double>(x, y, n) == executable(p).call<double>(x, y, n));
    auto code = *compiled.code();
    code.interpreted = [&]() -> execute::code const& {
      FAIL("it was interpreted");
      return code;
    };
    CHECK_NOTHROW(executable(std::make_shared<execute::code const>(code)).call<double>(x, y, n));
  };
  // Reads of the previous iteration, in loops that are empty in the first one.
  stays(
      R"(func @f(%x: f64[], %y: f64[], %n: i64) -> f64 {
    %a = map %n (%i: i64) -> f64 {
      %h = sub %i, 1 : i64
      %b = map %i (%j: i64) -> f64 { %e = at %x, %h : f64 %g = at %y, %j : f64 %p = mul %e, %g : f64 yield %p }
      %s = reduce add %b from 0.0 : f64
      yield %s
    }
    %t = reduce add %a from 0.0 : f64
    return %t
  })",
      {1.0, 2.0, 3.0}, {1.0, 2.0, 3.0}, 4);
  // A trip count that depends on two loops, one of which bounds the other.
  stays(
      R"(func @f(%x: f64[], %y: f64[], %n: i64) -> f64 {
    %a = map 3 (%i: i64) -> f64 {
      %b = map %i (%j: i64) -> f64 {
        %lag = sub %i, %j : i64
        %m = sub %n, %lag : i64
        %c = map %m (%k: i64) -> f64 { %e = at %x, %k : f64 yield %e }
        %s = reduce add %c from 0.0 : f64
        yield %s
      }
      %t = reduce add %b from 0.0 : f64
      yield %t
    }
    %u = reduce add %a from 0.0 : f64
    return %u
  })",
      {1.0, 2.0, 3.0}, {1.0}, 4);
  // An index that depends on two loops, one of which bounds a third, which bounds the other.
  stays(
      R"(func @f(%x: f64[], %y: f64[], %n: i64) -> f64 {
    %a = map %n (%i: i64) -> f64 {
      %b = map %i (%j: i64) -> f64 {
        %c = map %j (%k: i64) -> f64 {
          %d = sub %k, %i : i64
          %h = add %d, %n : i64
          %e = at %x, %h : f64
          yield %e
        }
        %s = reduce add %c from 0.0 : f64
        yield %s
      }
      %t = reduce add %b from 0.0 : f64
      yield %t
    }
    %u = reduce add %a from 0.0 : f64
    return %u
  })",
      {1.0, 2.0, 3.0}, {1.0}, 4);
}

TEST_CASE("arguments and the instance are unchanged after a program was rerun by the interpreter") {
  ir::program const p = texts::program(R"(func @f(%x: f64[], %n: i64) -> (f64[], f64) {
    %y = loop %n (%i: i64, %v: f64[] = %x) -> f64[] { %e = update %v, %i, 0.0 : f64[] yield %e }
    %z = map %n (%j: i64) -> f64 { %k = add %j, 1 : i64 %g = at %x, %k : f64 yield %g }
    %s = reduce add %z from 0.0 : f64
    return %y, %s
  })");
  auto inst = jit::compile(p).instance();
  array<double> const x{1.0, 2.0, 3.0};
  using both = std::tuple<array<double>, double>;
  for (int round = 0; round < 3; ++round) {
    CHECK_THROWS_AS(inst.call<both>(x, 3), index_error);
    CHECK(x == array<double>{1.0, 2.0, 3.0});
    auto const [y, s] = inst.call<both>(x, 2);
    CHECK(y == array<double>{0.0, 0.0, 3.0});
    CHECK(s == 5);
  }
}

TEST_CASE("a compiled function of scalars detects failures") {
  ir::program const p = texts::program(R"(func @f(%n: i64, %m: i64) -> f64 {
    %x = fill %n, 1.5 : f64[]
    %y = map %m (%i: i64) -> f64 {
      %z = map %m (%j: i64) -> f64 { %k = add %i, %j : i64 %g = at %x, %k : f64 yield %g }
      %s = reduce add %z from 0.0 : f64
      yield %s
    }
    %s2 = reduce add %y from 0.0 : f64
    return %s2
  })");
  jit::function<double(i64, i64)> const f(jit::compile(p));
  CHECK(f(3, 2) == 6);
  CHECK_THROWS_WITH(f(2, 2), Catch::Contains("index 2"));
  CHECK(f(3, 2) == 6);
}

TEST_CASE("code from disk detects failures, too") {
  cache_folder const folder;
  ir::program const p = texts::program(nest(in_order, "%a = add %m, 0 : i64\n", "%b = add %m, 0 : i64\n"));
  std::string const arguments = "[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], 2, 2";
  std::string const expected = texts::outcome_of(executable(p), arguments);
  for (int round = 0; round < 2; ++round)
    CHECK(texts::outcome_of(jit::compile(p, {}, {.cache = folder.open()}), arguments) == expected);
}

TEST_CASE("random nests of loops with random indices have the results and errors of the interpreter") {
  using texts_of = std::vector<std::string>;
  property([] {
    auto const number = [] { return *rc::gen::inRange(-1, 5); };
    // A sum of up to three terms, each of which is a visible value.
    auto const sum_of = [&](std::string const& name, texts_of const& visible) {
      std::string text, last = std::to_string(number());
      int const terms = *rc::gen::inRange(0, 4);
      for (int t = 0; t < terms; ++t) {
        std::string const x = *rc::gen::elementOf(visible), y = *rc::gen::elementOf(visible);
        std::string const term = name + "t" + std::to_string(t), sum = name + "s" + std::to_string(t);
        switch (*rc::gen::inRange(0, 4)) {
        case 0:
          text += term + " = mul " + x + ", " + y + " : i64\n";
          break;
        case 1:
          text += term + " = sub " + x + ", " + std::to_string(number()) + " : i64\n";
          break;
        case 2:
          text += term + " = div " + x + ", 2 : i64\n";
          break;
        default:
          text += term + " = add " + x + ", 0 : i64\n";
        }
        text += sum + " = " + *rc::gen::element<std::string>("add", "sub") + " " + last + ", " + term +
                " : i64\n";
        last = sum;
      }
      return text + name + " = add " + last + ", 0 : i64\n";
    };
    std::string const outer = sum_of("%a", {"%n", "%m", "%i"});
    std::string const inner = sum_of("%b", {"%n", "%m", "%i", "%j"});
    std::string const index = sum_of("%at", {"%n", "%m", "%i", "%j", "%k"});
    std::string x = "[1.0";
    int const size = *rc::gen::inRange(0, 12);
    for (int e = 0; e < size; ++e) x += ", " + std::to_string(e) + ".5";
    ir::program const p = texts::program(nest(index, outer, inner));
    executable const interpreted(p), compiled = jit::compile(p);
    for (int round = 0; round < 4; ++round) {
      std::string const arguments = x + "], " + std::to_string(number()) + ", " + std::to_string(number());
      RC_ASSERT(texts::outcome_of(compiled, arguments) == texts::outcome_of(interpreted, arguments));
    }
  });
}
