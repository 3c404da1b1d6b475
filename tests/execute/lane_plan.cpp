// The plan of vectorised bodies as text: what varies, what runs in lanes, when shared accumulators are added to, and what does not fit.
#include "catch.hpp"

#include <overdub/implementation/execute/lane_plan.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/ir/regions.hpp>
#include <overdub/ir/walk.hpp>

#include <string>

namespace {

namespace od = overdub;

// The plan of the first map or loop of the first function.
std::string plan_of(std::string const& text) {
  od::ir::program const p = od::ir::parse(text);
  od::ir::function const& f = p[od::ir::function_id{0}];
  od::ir::node_id first = od::ir::nothing;
  od::ir::walk(f, od::ir::function::body, [&](od::ir::node_id n) {
    if (first == od::ir::nothing && od::ir::is_counted(f[n].code)) first = n;
  });
  return text_of(od::execute::lane_plan(f, f.region_at(first, 0)), p, f);
}
std::string first_line_of(std::string const& text) { return text.substr(0, text.find('\n')); }

// The first line of the plan of a map whose element %i is made by these operations, the last of which is %e.
std::string decided(std::string const& operations, std::string const& more = "") {
  return first_line_of(plan_of(
      "func @f(%n: i64, %x: f64[], %m: f64[][], %k: i64, %c: bool, %ks: i64[], %h: fn(f64) -> f64) -> f64[] "
      "{\n"
      "  %y = map %n (%i: i64) -> f64 {\n" +
      operations + "    yield %e\n  }\n  return %y\n}\n" + more));
}

} // namespace

TEST_CASE("values that depend on the index vary, others are computed once for a block") {
  CHECK(
      plan_of(R"(func @f(%x: f64[], %k: i64, %a: f64) -> f64[] {
  %n = length %x : i64
  %y = map %n (%i: i64) -> f64 {
    %b = mul %a, 2.0 : f64
    %e = at %x, %i : f64
    %g = at %x, %k : f64
    %s = mul %e, %b : f64
    %t = add %s, %g : f64
    yield %t
  }
  return %y
})") == "%y = map: in blocks\n"
        "  entry: varies %i strided\n"
        "  %b = mul: once for a block\n"
        "  %e = at: in lanes, varies %e\n"
        "  %g = at: once for a block\n"
        "  %s = mul: in lanes, varies %s\n"
        "  %t = add: in lanes, varies %t\n");
}

TEST_CASE("sums, differences and products of a strided and a uniform number are strided") {
  CHECK(
      plan_of(R"(func @f(%x: f64[], %k: i64, %n: i64) -> (f64[], i64[]) {
  %y, %z = map %n (%i: i64) -> (f64, i64) {
    %a = add %k, %i : i64
    %b = mul %a, %k : i64
    %c = sub %b, 1 : i64
    %e = at %x, %c : f64
    %square = mul %i, %i : i64
    %half = div %i, 2 : i64
    %d = add %square, %half : i64
    yield %e, %d
  }
  return %y, %z
})") == "%y, %z = map: in blocks\n"
        "  entry: varies %i strided and as a vector\n"
        "  %a = add: in lanes, varies %a strided\n"
        "  %b = mul: in lanes, varies %b strided\n"
        "  %c = sub: in lanes, varies %c strided\n"
        "  %e = at: in lanes, varies %e\n"
        "  %square = mul: in lanes, varies %square\n"
        "  %half = div: in lanes, varies %half\n"
        "  %d = add: in lanes, varies %d\n");
}

TEST_CASE("sums and differences of strided numbers are strided, and products of them are not") {
  CHECK(
      plan_of(R"(func @f(%x: f64[], %k: i64, %n: i64) -> f64[] {
  %y = map %n (%i: i64) -> f64 {
    %a = mul %i, %k : i64
    %b = add %a, %i : i64
    %c = sub %i, %b : i64
    %e = at %x, %c : f64
    %d = mul %c, %i : i64
    %g = at %x, %d : f64
    %h = add %e, %g : f64
    yield %h
  }
  return %y
})") == "%y = map: in blocks\n"
        "  entry: varies %i strided and as a vector\n"
        "  %a = mul: in lanes, varies %a strided\n"
        "  %b = add: in lanes, varies %b strided\n"
        "  %c = sub: in lanes, varies %c strided and as a vector\n"
        "  %e = at: in lanes, varies %e\n"
        "  %d = mul: in lanes, varies %d\n"
        "  %g = at: in lanes, varies %g\n"
        "  %h = add: in lanes, varies %h\n");
}

TEST_CASE("an index that is stored is needed as a vector, and one that only selects elements is not") {
  auto const text = [](std::string const& value) {
    return "func @f(%x: i64[], %n: i64) -> i64[][] {\n  %y = map %n (%i: i64) -> i64[] {\n"
           "    %u = update %x, 0, " +
           value + " : i64[]\n    %v = update %u, %i, 7 : i64[]\n    yield %v\n  }\n  return %y\n}";
  };
  CHECK(
      plan_of(text("3")) == "%y = map: in blocks\n"
                            "  entry: varies %i strided\n"
                            "  %u = update: once for a block\n"
                            "  %v = update: in lanes, varies %v\n");
  CHECK(
      plan_of(text("%i")) == "%y = map: in blocks\n"
                             "  entry: varies %i strided and as a vector\n"
                             "  %u = update: in lanes, varies %u\n"
                             "  %v = update: in lanes, varies %v\n");
}

TEST_CASE("a loop is in lanes if a loop-carried value varies, which may be found in its second iteration") {
  CHECK(
      plan_of(R"(func @f(%x: f64[], %n: i64) -> f64[] {
  %y = map %n (%i: i64) -> f64 {
    %p, %q, %r = loop %n (%j: i64, %a: f64 = 0.0, %b: f64 = 1.0, %c: f64 = 2.0) -> (f64, f64, f64) {
      %e = at %x, %i : f64
      %d = add %c, 1.0 : f64
      yield %b, %e, %d
    }
    yield %p
  }
  return %y
})") == "%y = map: in blocks\n"
        "  entry: varies %i strided\n"
        "  %p, %q, %r = loop: in lanes, varies %p, varies %q\n"
        "    entry: varies %a, varies %b\n"
        "    %e = at: in lanes, varies %e\n"
        "    %d = add: once for a block\n");
}

TEST_CASE("the length of a varying array is uniform, and results of a divergent branch vary") {
  CHECK(
      plan_of(R"(func @f(%m: f64[][], %n: i64) -> f64[] {
  %y = map %n (%i: i64) -> f64 {
    %row = at %m, %i : f64[]
    %l = length %row : i64
    %c = lt %i, %n : bool
    %r = if %c -> f64 { yield 1.0 } else { yield 2.0 }
    %u = lt %l, %n : bool
    %s = if %u -> f64 { yield 3.0 } else { yield 4.0 }
    %sum = reduce add %row from %s : f64
    %z = add %sum, %r : f64
    yield %z
  }
  return %y
})") == "%y = map: in blocks\n"
        "  entry: varies %i strided and as a vector\n"
        "  %row = at: in lanes, varies %row\n"
        "  %l = length: once for a block\n"
        "  %c = lt: in lanes, varies %c\n"
        "  %r = if: in lanes, varies %r\n"
        "  %u = lt: once for a block\n"
        "  %s = if: once for a block\n"
        "  %sum = reduce: in lanes, varies %sum\n"
        "  %z = add: in lanes, varies %z\n");
}

TEST_CASE("accumulators of the body vary if a lane adds a varying number, or adds in some lanes only") {
  auto const text = [](std::string const& adds) {
    return "func @f(%x: f64[], %zeros: f64[], %n: i64, %k: i64) -> f64[] {\n"
           "  %y = map %n (%i: i64) -> f64 {\n"
           "    %sum = accumulate (%acc: acc f64[] = %zeros) -> f64[] {\n" +
           adds + "      yield\n    }\n    %e = at %sum, %k : f64\n    yield %e\n  }\n  return %y\n}";
  };
  CHECK(
      plan_of(text("      add_to %acc, %k, 1.0\n")) == "%y = map: in blocks\n"
                                                       "  entry: varies %i strided\n"
                                                       "  %sum = accumulate: once for a block\n"
                                                       "    add_to: once for a block\n"
                                                       "  %e = at: once for a block\n");
  CHECK(
      plan_of(text("      %e1 = at %x, %i : f64\n      add_to %acc, %k, %e1\n")) ==
      "%y = map: in blocks\n"
      "  entry: varies %i strided\n"
      "  %sum = accumulate: in lanes, varies %sum\n"
      "    entry: varies %acc\n"
      "    %e1 = at: in lanes, varies %e1\n"
      "    add_to: in lanes\n"
      "  %e = at: in lanes, varies %e\n");
  CHECK(
      plan_of(
          text("      %c = lt %i, %k : bool\n      if %c { add_to %acc, %k, 1.0 yield } else { yield }\n")) ==
      "%y = map: in blocks\n"
      "  entry: varies %i strided and as a vector\n"
      "  %sum = accumulate: in lanes, varies %sum\n"
      "    entry: varies %acc\n"
      "    %c = lt: in lanes, varies %c\n"
      "    if: in lanes\n"
      "      add_to: in lanes\n"
      "  %e = at: in lanes, varies %e\n");
}

TEST_CASE("additions to an accumulator outside of the body are performed in the order of the iterations") {
  auto const text = [](std::string const& adds, std::string const& element = "f64") {
    return "func @f(%x: " + element + "[], %zeros: " + element + "[], %n: i64, %k: i64) -> " + element +
           "[] {\n  %sum = accumulate (%acc: acc " + element + "[] = %zeros) -> " + element +
           "[] {\n    map %n (%i: i64) {\n      %e = at %x, %i : " + element + "\n" + adds +
           "      yield\n    }\n    yield\n  }\n  return %sum\n}";
  };
  std::string const head = "map: in blocks\n  entry: varies %i strided\n  %e = at: in lanes, varies %e\n";
  // One number, or one operation outside of loops.
  CHECK(plan_of(text("      add_to %acc, %k, %e\n")) == head + "  add_to: in lanes, adds at once\n");
  // The elements of the lanes differ.
  CHECK(
      plan_of(text("      add_to %acc, %i, %e\n      add_to %acc, %i, %e\n")) ==
      head + "  add_to: in lanes, adds at once\n  add_to: in lanes, adds at once\n");
  // Two operations add to one number.
  CHECK(
      plan_of(text("      add_to %acc, %k, %e\n      add_to %acc, 0, %e\n")) ==
      head + "  add_to: in lanes, adds by cell\n  add_to: in lanes, adds by cell\n");
  CHECK(
      plan_of(text("      add_to %acc, %k, %e\n      add_to %acc, %i, %e\n")) ==
      head + "  add_to: in lanes, adds by lane\n  add_to: in lanes, adds by lane\n");
  // Sums of integers do not depend on their order.
  CHECK(
      plan_of(text("      add_to %acc, %k, %e\n      add_to %acc, 0, %e\n", "i64")) ==
      head + "  add_to: in lanes, adds at once\n  add_to: in lanes, adds at once\n");
  // A loop adds several times, unless its index is an index of the operation.
  auto const in_loop = [&](std::string const& index) {
    return plan_of(
        text("      map %k (%j: i64) {\n        add_to %acc, " + index + ", %e\n        yield\n      }\n"));
  };
  CHECK(in_loop("%k") == head + "  map: in lanes\n    add_to: in lanes, adds by cell\n");
  CHECK(in_loop("%j") == head + "  map: in lanes\n    add_to: in lanes, adds by cell\n");
  CHECK(
      plan_of(text("      map %k (%j: i64) {\n        %h = add %i, %j : i64\n        add_to %acc, %h, %e\n"
                   "        yield\n      }\n")) ==
      head +
          "  map: in lanes\n    %h = add: in lanes, varies %h strided\n    add_to: in lanes, adds by lane\n");
}

TEST_CASE("each loop around an addition at once selects its number, besides the index of the body") {
  auto const text = [](std::string const& cell) {
    return "func @f(%x: f64[], %zeros: f64[][][], %is: i64[], %n: i64, %k: i64) -> f64[][][] {\n"
           "  %sum = accumulate (%acc: acc f64[][][] = %zeros) -> f64[][][] {\n    map %n (%i: i64) {\n"
           "      %b = at %is, %i : i64\n      loop %k (%j: i64) {\n        add_to %acc, " +
           cell + ", 1.0\n        yield\n      }\n      yield\n    }\n    yield\n  }\n  return %sum\n}";
  };
  std::string const head = "map: in blocks\n  entry: varies %i strided\n  %b = at: in lanes, varies %b\n"
                           "  loop: in lanes\n    add_to: in lanes, adds ";
  CHECK(plan_of(text("%b, %j, 0")) == head + "at once\n");
  CHECK(plan_of(text("%b, %k, 0")) == head + "by lane\n");
  CHECK(plan_of(text("0, %j, 0")) == head + "by cell\n");
}

TEST_CASE("if the additions to one accumulator are deferred, those to all are") {
  CHECK(
      plan_of(R"(func @f(%x: f64[], %zeros: f64[], %n: i64, %k: i64) -> (f64[], f64[], i64[]) {
  %is = iota %n : i64[]
  %p, %q, %r = accumulate (%a: acc f64[] = %zeros, %b: acc f64[] = %zeros, %c: acc i64[] = %is) -> (f64[], f64[], i64[]) {
    map %n (%i: i64) {
      %e = at %x, %i : f64
      add_to %a, %i, %e
      add_to %b, 0, %e
      add_to %b, 0, %e
      add_to %c, %k, 1
      yield
    }
    yield
  }
  return %p, %q, %r
})") == "map: in blocks\n"
        "  entry: varies %i strided\n"
        "  %e = at: in lanes, varies %e\n"
        "  add_to: in lanes, adds by lane\n"
        "  add_to: in lanes, adds by cell\n"
        "  add_to: in lanes, adds by cell\n"
        "  add_to: in lanes, adds by cell\n");
}

TEST_CASE("a body with calls, random choices, function values or protected regions does not fit") {
  std::string const callee = "func @g(%a: f64) -> f64 {\n  return %a\n}\n";
  std::string const y = "%y = map: element by element, for ";
  CHECK(decided("    %e = call @g(1.0) : f64\n", callee) == y + "%e = call");
  CHECK(
      decided("    %p = closure @g() : fn(f64) -> f64\n    %e = apply %p(1.0) : f64\n", callee) ==
      y + "%p = closure");
  CHECK(decided("    %e = apply %h(1.0) : f64\n") == y + "%e = apply");
  CHECK(decided("    %e = protect -> f64 { yield 1.0 } failed { yield }\n") == y + "%e = protect");
  CHECK(decided("    %e = host pure \"g\"(1.0) : f64\n") == y + "%e = host");
  CHECK(
      decided("    %p = reabstract %h : fn(f64) -> f64 as indirect fn(f64) -> f64\n    %e = convert %k : "
              "f64\n") == y + "%p = reabstract");
  CHECK(decided("    %e = sample \"a\" \"normal\"(0.0, 1.0) : f64\n") == y + "%e = sample");
  CHECK(
      decided(
          "    %g, %t = loop %k (%j: i64, %u: fn(f64) -> f64 = %h, %v: f64 = 0.0) -> (fn(f64) -> f64, f64) { "
          "yield %u, %v }\n    %e = mul %t, 2.0 : f64\n") == y + "%g, %t = loop");
}

TEST_CASE("what runs in some lanes only is cheap, cannot fail, and results in numbers") {
  auto const masked = [](std::string const& operations, std::string const& condition = "%b") {
    return decided(
        "    %b = lt %i, %k : bool\n    %e = if " + condition + " -> f64 {\n" + operations +
        "      yield %r\n    } else { yield 0.0 }\n");
  };
  std::string const good = "%y = map: in blocks", bad = "%y = map: element by element, for ";
  CHECK(masked("      %z = mul %i, 2 : i64\n      %r = convert %z : f64\n") == good);
  CHECK(masked("      %z = div %i, %k : i64\n      %r = convert %z : f64\n") == bad + "%z = div");
  CHECK(masked("      %z = rem %i, %k : i64\n      %r = convert %z : f64\n") == bad + "%z = rem");
  CHECK(masked("      %r = div 1.0, 2.0 : f64\n") == good);
  CHECK(masked("      %r = at %x, 0 : f64\n") == bad + "%r = at");
  CHECK(masked("      %r = at %x, 0 : f64\n", "%c") == good);
  CHECK(
      masked("      %r = if %c -> f64 { %d = at %x, 0 : f64 yield %d } else { yield 0.0 }\n") ==
      bad + "%d = at");
  CHECK(
      masked("      %r = if %b -> f64 { yield 1.0 } else { %d = loop 2 (%t: i64, %u: f64 = 0.0) -> f64 { "
             "yield %u } yield %d }\n") == bad + "%d = loop");
  auto const of_arrays = [](std::string const& condition) {
    return decided(
        "    %b = lt %i, %k : bool\n    %q = if " + condition +
        " -> f64[] { yield %x } else { yield %x }\n    %e = at %q, 0 : f64\n");
  };
  CHECK(of_arrays("%b") == bad + "%q = if");
  CHECK(of_arrays("%c") == good);
}

TEST_CASE("arrays are selected and made for all lanes alike, and trip counts are uniform") {
  std::string const good = "%y = map: in blocks", bad = "%y = map: element by element, for ";
  std::string const row = "    %r = at %m, %i : f64[]\n", at0 = "    %e = at %q, 0 : f64\n";
  std::string const index = "    %j = at %ks, %i : i64\n";
  auto const with = [&](std::string const& operation) { return decided(row + index + operation + at0); };
  CHECK(with("    %q = select %c, %x, %x : f64[]\n") == good);
  CHECK(with("    %q = select %c, %r, %x : f64[]\n") == bad + "%q = select");
  CHECK(with("    %q = slice %r, 0, %k : f64[]\n") == good);
  CHECK(with("    %q = slice %x, 0, %j : f64[]\n") == bad + "%q = slice");
  CHECK(with("    %q = update %x, %j, 1.0 : f64[]\n") == good);
  CHECK(with("    %w = update %m, %k, %r : f64[][]\n    %q = at %w, 0 : f64[]\n") == good);
  CHECK(with("    %w = update %m, %j, %r : f64[][]\n    %q = at %w, 0 : f64[]\n") == bad + "%w = update");
  CHECK(with("    %w = update %m, 0, %r : f64[][]\n    %q = at %w, %j : f64[]\n") == bad + "%q = at");
  CHECK(with("    %q = fill %k, 1.0 : f64[]\n") == good);
  CHECK(with("    %q = fill %j, 1.0 : f64[]\n") == bad + "%q = fill");
  CHECK(with("    %p = iota %k : i64[]\n    %q = gather %r, %p : f64[]\n") == good);
  CHECK(with("    %p = iota %j : i64[]\n    %q = gather %r, %p : f64[]\n") == bad + "%p = iota");
  CHECK(with("    %p = array %j : i64[]\n    %q = gather %r, %p : f64[]\n") == bad + "%q = gather");
  CHECK(with("    %q = concat %r, %x : f64[]\n") == good);
  CHECK(with("    %q = map %k (%t: i64) -> f64 { yield 1.0 }\n") == good);
  CHECK(with("    %q = map %j (%t: i64) -> f64 { yield 1.0 }\n") == bad + "%q = map");
}

TEST_CASE("a while loop fits if all lanes end together and what it stacks is uniform") {
  auto const loop = [](std::string const& bound, std::string const& stacked) {
    return decided(
        "    %j = at %ks, %i : i64\n    %l, %all = while (%t: i64 = 0) -> i64 stack i64 {\n"
        "      %go = lt %t, " +
        bound +
        " : bool\n      yield %go\n    } do (%u: i64) {\n"
        "      %next = add %u, 1 : i64\n      yield %next, " +
        stacked +
        "\n    }\n"
        "    %r = at %x, %i : f64\n    %d = convert %l : f64\n    %e = add %r, %d : f64\n");
  };
  auto const varying = [](std::string const& bound, std::string const& stacked) {
    return decided(
        "    %j = at %ks, %i : i64\n    %l, %v, %all = while (%t: i64 = 0, %s: i64 = %j) -> (i64, i64) stack "
        "i64 {\n"
        "      %go = lt %t, " +
        bound +
        " : bool\n      yield %go\n    } do (%u: i64, %w: i64) {\n"
        "      %next = add %u, 1 : i64\n      yield %next, %w, " +
        stacked + "\n    }\n    %e = convert %v : f64\n");
  };
  std::string const good = "%y = map: in blocks", bad = "%y = map: element by element, for ";
  CHECK(loop("%k", "%u") == good);
  CHECK(loop("%j", "%u") == bad + "%l, %all = while");
  CHECK(varying("%k", "%u") == good);
  CHECK(varying("%s", "%u") == bad + "%l, %v, %all = while");
  CHECK(varying("%k", "%w") == bad + "%l, %v, %all = while");
}

TEST_CASE("reductions fit by an operation on numbers, and not by a region or of bools") {
  std::string const bad = "%y = map: element by element, for ";
  CHECK(
      decided("    %r = at %m, %i : f64[]\n    %e = reduce max %r from 0.0 : f64\n") ==
      "%y = map: in blocks");
  CHECK(
      decided("    %r = at %m, %i : f64[]\n    %e = reduce %r from 0.0 (%a: f64, %b: f64) -> f64 {\n"
              "      %s = add %a, %b : f64\n      yield %s\n    }\n") == bad + "%e = reduce");
}

TEST_CASE("reductions are computed with their maps: any in blocks, sums in lanes, and sums of products in "
          "one instruction") {
  auto const text = [](std::string const& yielded, std::string const& reduce, std::string const& more = "") {
    return "func @f(%x: f64[], %k: f64, %n: i64) -> f64 {\n  %p = map %n (%i: i64) -> f64 {\n"
           "    %e = at %x, %i : f64\n    %m = mul %e, " +
           yielded + " : f64\n    yield %m\n  }\n  %r = reduce " + reduce + " %p from 0.0 : f64\n" + more +
           "  return %r\n}";
  };
  std::string const bare = "%p = map: in blocks", with = bare + ", with %r = reduce";
  CHECK(first_line_of(plan_of(text("%k", "add"))) == with);
  CHECK(first_line_of(plan_of(text("%k", "max"))) == with);
  CHECK(first_line_of(plan_of(text("%e", "add"))) == with + " of %m = mul");
  CHECK(first_line_of(plan_of(text("%e", "max"))) == with);
  CHECK(first_line_of(plan_of(text("%e", "add", "  %l = length %p : i64\n"))) == bare);
  auto const nested = [](std::string const& body, std::string const& reduce,
                         std::string const& type = "f64") {
    return plan_of(
        "func @f(%x: f64[], %k: f64, %n: i64, %is: i64[]) -> " + type + "[] {\n  %y = map %n (%i: i64) -> " +
        type + " {\n    %e = at %x, %i : f64\n    %j = at %is, %i : i64\n    %p = map %n (%t: i64) -> " +
        type + " {\n" + body + "    }\n    %r = reduce " + reduce + " %p : " + type +
        "\n    yield %r\n  }\n  return %y\n}");
  };
  auto const line_of_p = [](std::string const& plan) {
    std::size_t const at = plan.find("%p = map");
    return plan.substr(at, plan.find('\n', at) - at);
  };
  std::string const lanes = "%p = map: in lanes";
  CHECK(
      line_of_p(nested("      %m = mul %e, %k : f64\n      yield %m\n", "add")) ==
      lanes + ", with %r = reduce of %m = mul, varies %p");
  CHECK(
      line_of_p(
          nested("      %m = mul %e, %k : f64\n      %s = add %m, 1.0 : f64\n      yield %s\n", "add")) ==
      lanes + ", with %r = reduce, varies %p");
  // The product has another use, or is not computed last.
  CHECK(
      line_of_p(
          nested("      %m = mul %e, %k : f64\n      %s = add %m, 1.0 : f64\n      yield %m\n", "add")) ==
      lanes + ", with %r = reduce, varies %p");
  CHECK(line_of_p(nested("      %m = mul %e, %k : f64\n      yield %m\n", "max")) == lanes + ", varies %p");
  CHECK(
      line_of_p(nested("      %m = mul %j, 2 : i64\n      yield %m\n", "add", "i64")) ==
      lanes + ", varies %p");
}
