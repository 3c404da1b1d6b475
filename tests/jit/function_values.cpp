// Function values in machine code: their conventions, and the thunks of reabstractions.
#include "execute/texts.hpp"

#include <overdub/pass/pipeline.hpp>

#include <string>

namespace {

using namespace overdub;

std::string const affine = R"(
func @affine(%a: f64, %b: f64, %x: f64) -> f64 {
  %p = mul %a, %x : f64
  %y = add %p, %b : f64
  return %y
}
func @twice(%f: boxed fn(f64) -> f64, %x: f64) -> f64 {
  %y = apply %f(%x) : f64
  %z = apply %f(%y) : f64
  return %z
}
func @same(%f: boxed fn(f64) -> f64, %g: boxed fn(f64) -> f64, %n: i64) -> (boxed fn(f64) -> f64) {
  %l = loop %n (%i: i64, %h: boxed fn(f64) -> f64 = %f) -> (boxed fn(f64) -> f64) {
    %c = gt %i, 2 : bool
    %k = if %c -> (boxed fn(f64) -> f64) {
      yield %h
    } else {
      yield %g
    }
    yield %k
  }
  return %l
}
)";

// The first function is the entry.
ir::program program(std::string_view text) { return texts::program(std::string(text) + affine); }

struct left {
  std::size_t before; // thunks of the program as written
  std::size_t behind; // thunks after the passes
  friend bool operator==(left const&, left const&) = default;
};
// The results equal those of the interpreter.
left thunks_of(std::string_view text, std::string_view arguments, std::string_view expected) {
  ir::program p = program(text);
  left found{};
  for (std::size_t* const count : {&found.before, &found.behind}) {
    CHECK(texts::outcome_of(executable(p), arguments) == expected);
    executable const run = jit::compile(p);
    CHECK(texts::outcome_of(run, arguments) == expected);
    *count = jit::thunks(run);
    if (count == &found.before) pass::default_pipeline(p);
  }
  return found;
}
void check(left const& found, left const& expected) {
  INFO(found.before << " thunks, and " << found.behind << " behind the passes");
  CHECK((found == expected));
}

} // namespace

TEST_CASE("inverse reabstractions cancel, and leave no thunk") {
  check(
      thunks_of(
          R"(func @f(%x: f64) -> f64 {
  %f = closure @affine(2.0, 1.0) : fn(f64) -> f64
  %g = reabstract %f : fn(f64) -> f64 as indirect fn(f64) -> f64
  %h = reabstract %g : indirect fn(f64) -> f64 as fn(f64) -> f64
  %y = apply %h(%x) : f64
  return %y
})",
          "3.0", "7.0"),
      {2, 0});
}

TEST_CASE("a reabstracted argument leaves no thunk, whether the callee is inlined or not") {
  check(
      thunks_of(
          R"(func @f(%x: f64) -> f64 {
  %f = closure @affine(2.0, 1.0) : fn(f64) -> f64
  %g = reabstract %f : fn(f64) -> f64 as boxed fn(f64) -> f64
  %y = call @twice(%g, %x) : f64
  return %y
})",
          "1.0", "7.0"),
      {1, 0});
  check(
      thunks_of(
          R"(func @f(%n: i64, %c: bool, %x: f64) -> f64 {
  %f = closure @affine(2.0, 1.0) : fn(f64) -> f64
  %g = closure @affine(3.0, 0.0) : fn(f64) -> f64
  %h = select %c, %f, %g : fn(f64) -> f64
  %b = reabstract %h : fn(f64) -> f64 as boxed fn(f64) -> f64
  %y = call @often(%b, %n, %x) : f64
  return %y
}
func @often(%f: boxed fn(f64) -> f64, %n: i64, %x: f64) -> f64 {
  %end = le %n, 0 : bool
  %r = if %end -> f64 {
    yield %x
  } else {
    %y = apply %f(%x) : f64
    %m = sub %n, 1 : i64
    %z = call @often(%f, %m, %y) : f64
    yield %z
  }
  return %r
})",
          "2, false, 1.0", "9.0"),
      {1, 0});
}

TEST_CASE("reabstracted results of branches, loops and functions leave no thunk if uses have the original "
          "convention") {
  check(
      thunks_of(
          R"(func @f(%n: i64, %c: bool, %x: f64) -> f64 {
  %f = closure @affine(2.0, 1.0) : fn(f64) -> f64
  %b = reabstract %f : fn(f64) -> f64 as boxed fn(f64) -> f64
  %last = loop %n (%i: i64, %h: boxed fn(f64) -> f64 = %b) -> (boxed fn(f64) -> f64) {
    %k = call @next(%h, %c) : boxed fn(f64) -> f64
    yield %k
  }
  %y = apply %last(%x) : f64
  return %y
}
func @next(%f: boxed fn(f64) -> f64, %c: bool) -> (boxed fn(f64) -> f64) {
  %d = reabstract %f : boxed fn(f64) -> f64 as fn(f64) -> f64
  %r = if %c -> (boxed fn(f64) -> f64) {
    %g = closure @added(%d, 1.0) : fn(f64) -> f64
    %h = reabstract %g : fn(f64) -> f64 as boxed fn(f64) -> f64
    yield %h
  } else {
    %k = closure @added(%d, 0.5) : boxed fn(f64) -> f64
    yield %k
  }
  return %r
}
func @added(%f: fn(f64) -> f64, %z: f64, %x: f64) -> f64 {
  %y = apply %f(%x) : f64
  %s = add %y, %z : f64
  return %s
})",
          "3, true, 1.0", "6.0"),
      {2, 0});
}

TEST_CASE("functions of functions are called directly, too") {
  check(
      thunks_of(
          R"(func @f(%x: f64, %c: bool) -> f64 {
  %t = closure @twice() : fn(boxed fn(f64) -> f64, f64) -> f64
  %u = reabstract %t : fn(boxed fn(f64) -> f64, f64) -> f64 as indirect fn(fn(f64) -> f64, f64) -> f64
  %g = closure @affine(2.0, 1.0) : fn(f64) -> f64
  %y = apply %u(%g, %x) : f64
  return %y
})",
          "1.0, true", "7.0"),
      {2, 0});
}

TEST_CASE("two types have one thunk, for any number of function values") {
  // Without an entry, passes do not move reabstractions across functions.
  ir::program p = program(R"(func @f(%x: f64, %n: i64) -> (f64, f64) {
  %f = closure @affine(2.0, 1.0) : fn(f64) -> f64
  %g = closure @affine(3.0, 0.0) : fn(f64) -> f64
  %a = reabstract %f : fn(f64) -> f64 as boxed fn(f64) -> f64
  %b = reabstract %g : fn(f64) -> f64 as boxed fn(f64) -> f64
  %h = call @same(%a, %b, %n) : boxed fn(f64) -> f64
  %k = reabstract %h : boxed fn(f64) -> f64 as fn(f64) -> f64
  %y = apply %k(%x) : f64
  %m = reabstract %k : fn(f64) -> f64 as boxed fn(f64) -> f64
  %z = call @twice(%m, %x) : f64
  return %y, %z
})");
  executable const run = jit::compile(p);
  CHECK(jit::thunks(run) == 2);
  CHECK(texts::outcome_of(run, "1.0, 1") == "3.0, 9.0");
  CHECK(texts::outcome_of(run, "1.0, 0") == "3.0, 7.0");
  CHECK(jit::thunks(executable(p)) == 0);
}

TEST_CASE("a capture chain of function values releases them, whatever its length") {
  ir::program const p = program(R"(func @f(%n: i64, %a: f64[]) -> i64 {
  %f = closure @size(%a) : fn() -> i64
  %last = loop %n (%i: i64, %g: fn() -> i64 = %f) -> (fn() -> i64) {
    %b = reabstract %g : fn() -> i64 as boxed fn() -> i64
    %h = closure @forget(%b, %a) : fn() -> i64
    yield %h
  }
  %s = apply %last() : i64
  return %s
}
func @size(%a: f64[]) -> i64 {
  %n = length %a : i64
  return %n
}
func @forget(%f: boxed fn() -> i64, %a: f64[]) -> i64 {
  %n = length %a : i64
  return %n
})");
  std::vector<datum> const given{datum(100'000), datum(array<double>{1, 2, 3})};
  for (executable const& run : {executable(p), jit::compile(p)}) {
    auto instance = run.instance();
    std::vector<std::size_t> bytes;
    for (int i = 0; i < 3; ++i) {
      CHECK(instance.run(given) == std::vector<datum>{datum(3)});
      bytes.push_back(instance.array_bytes());
    }
    CHECK(bytes[1] == bytes[0]);
    CHECK(bytes[2] == bytes[0]);
  }
}

TEST_CASE("an array argument of a function value is updated in place, with any convention") {
  for (std::string const calls : {"", "indirect ", "boxed "}) {
    ir::program const p = program(
        "func @f(%n: i64, %c: bool) -> f64 {\n  %f = closure @put(1.0) : " + calls +
        "fn(f64[], i64) -> f64[]\n  %g = closure @put(2.0) : " + calls +
        "fn(f64[], i64) -> f64[]\n  %h = select %c, %f, %g : " + calls + R"(fn(f64[], i64) -> f64[]
  %a = fill %n, 0.0 : f64[]
  %b = loop %n (%i: i64, %x: f64[] = %a) -> f64[] {
    %y = apply %h(%x, %i) : f64[]
    yield %y
  }
  %s = reduce add %b from 0.0 : f64
  return %s
}
func @put(%v: f64, %a: f64[], %i: i64) -> f64[] {
  %b = update %a, %i, %v : f64[]
  return %b
})");
    auto instance = jit::compile(p).instance();
    CHECK(
        instance.run(std::vector<datum>{datum(10'000), datum(true)}) == std::vector<datum>{datum(10'000.0)});
    CHECK(instance.array_bytes() < 200'000);
  }
}
