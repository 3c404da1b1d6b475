// Defunctionalisation: representations of function values, and programs that stay unchanged.
#include "pass/laws.hpp"

#include <overdub/ir/function_types.hpp>
#include <overdub/pass/pipeline.hpp>

#include <string>

namespace {

using namespace overdub;

std::size_t defunctionalise(ir::program& p) { return pass::defunctionalise(p); }

bool holds_function_values(ir::program const& p, int rank = 0) {
  return ir::any_function_value(
      p, [&](ir::function const& f, ir::value_id v) { return f.type_of(v).rank >= rank; });
}
ir::program program_of(std::uint64_t seed) {
  random_program::options o = random_program::any_options(seed);
  o.effects = o.function_values = o.functions_in_data = true;
  return random_program::make(seed, o);
}

// The note with the reason why a program is unchanged.
std::string why_not(std::string_view text) {
  ir::program const before = ir::parse(text, {.file = "text.od"});
  ir::verify(before);
  ir::program p = before;
  CHECK(defunctionalise(p) == 0);
  CHECK(defunctionalise(p) == 0);
  CHECK(p == before);
  REQUIRE(p.notes.size() == 1); // once
  std::string text_of = p.notes[0].text;
  if (ir::place_id const at = p.notes[0].at; at != ir::nothing)
    text_of += " at " + std::to_string(p[at].line);
  return text_of;
}

} // namespace

TEST_CASE("defunctionalised random programs have the same results, errors and effects") {
  std::size_t changed = 0, kept = 0;
  for (std::uint64_t seed = 0; seed < laws::seeds(4'000); ++seed) {
    ir::program const p = program_of(seed);
    laws::hold_for(p, defunctionalise, {.keeps_cost = false}, seed);
    ir::program q = p;
    if (defunctionalise(q) > 0) {
      ++changed;
      CHECK_FALSE(holds_function_values(q));
    } else if (!q.notes.empty()) {
      ++kept;
    }
  }
  CHECK(changed >= laws::seeds(4'000) / 20);
  CHECK(laws::is_rare(kept, changed, 10));
}

TEST_CASE(
    "after the pipeline no arrays of function values remain if they can be data, with the same results") {
  std::size_t had = 0, kept = 0;
  for (std::uint64_t seed = 10'000; seed < 10'000 + laws::seeds(2'000); ++seed) {
    ir::program p = program_of(seed);
    laws::hold_for(
        p, [](ir::program& q) { pass::default_pipeline(q); }, {false, laws::errors::any, false}, seed);
    pass::dce(p);
    if (!holds_function_values(p, 1)) continue;
    ++had;
    pass::default_pipeline(p);
    if (!holds_function_values(p, 1)) continue;
    ++kept;
    CHECK_FALSE(p.notes.empty());
  }
  CHECK(had > laws::seeds(2'000) / 50);
  CHECK(laws::is_rare(kept, had, 4));
}

TEST_CASE("function values may take and return function values") {
  laws::rewrites(
      defunctionalise, R"(
entry @main
func @main(%x: f64, %c: bool) -> f64 {
  %half = closure @scaled(0.5) : fn(f64) -> f64
  %twice = closure @twice() : fn(fn(f64) -> f64) -> (fn(f64) -> f64)
  %same = closure @same() : fn(fn(f64) -> f64) -> (fn(f64) -> f64)
  %f = select %c, %twice, %same : fn(fn(f64) -> f64) -> (fn(f64) -> f64)
  %g = apply %f(%half) : fn(f64) -> f64
  %y = apply %g(%x) : f64
  return %y
}
func @scaled(%a: f64, %x: f64) -> f64 {
  %y = mul %a, %x : f64
  return %y
}
func @same(%f: fn(f64) -> f64) -> (fn(f64) -> f64) { return %f }
func @twice(%f: fn(f64) -> f64) -> (fn(f64) -> f64) {
  %g = closure @again(%f) : fn(f64) -> f64
  return %g
}
func @again(%f: fn(f64) -> f64, %x: f64) -> f64 {
  %y = apply %f(%x) : f64
  %z = apply %f(%y) : f64
  return %z
})",
      R"(
entry @main
func @main(%x: f64, %c: bool) -> f64 {
  %n = select %c, 1, 2 : i64
  %g, %a = call @apply(%n, 0.5) : i64, f64
  %y = call @apply.1(%g, %a, %x) : f64
  return %y
}
func @scaled(%a: f64, %x: f64) -> f64 {
  %y = mul %a, %x : f64
  return %y
}
func @same(%a: f64) -> f64 { return %a }
func @twice(%a: f64) -> f64 { return %a }
func @again(%a: f64, %x: f64) -> f64 {
  %y = call @scaled(%a, %x) : f64
  %z = call @scaled(%a, %y) : f64
  return %z
}
func @apply(%n: i64, %a: f64) -> (i64, f64) {
  %c = lt %n, 2 : bool
  %g, %b = if %c -> (i64, f64) {
    %d = call @twice(%a) : f64
    yield 3, %d
  } else {
    %e = call @same(%a) : f64
    yield 0, %e
  }
  return %g, %b
}
func @apply.1(%g: i64, %a: f64, %x: f64) -> f64 {
  %c = lt %g, 3 : bool
  %y = if %c -> f64 {
    %z = call @scaled(%a, %x) : f64
    yield %z
  } else {
    %w = call @again(%a, %x) : f64
    yield %w
  }
  return %y
})");
}

TEST_CASE("a capture of only one of two functions is not selected") {
  laws::rewrites(
      defunctionalise, R"(
entry @main
func @main(%xs: f64[], %c: bool) -> f64 {
  %f = closure @first(%xs) : fn() -> f64
  %g = closure @one() : fn() -> f64
  %h = select %c, %f, %g : fn() -> f64
  %y = apply %h() : f64
  return %y
}
func @first(%xs: f64[]) -> f64 {
  %y = at %xs, 0 : f64
  return %y
}
func @one() -> f64 { return 1.0 })",
      R"(
entry @main
func @main(%xs: f64[], %c: bool) -> f64 {
  %n = select %c, 0, 1 : i64
  %y = call @apply(%n, %xs) : f64
  return %y
}
func @first(%xs: f64[]) -> f64 {
  %y = at %xs, 0 : f64
  return %y
}
func @one() -> f64 { return 1.0 }
func @apply(%n: i64, %xs: f64[]) -> f64 {
  %c = lt %n, 1 : bool
  %y = if %c -> f64 {
    %a = call @first(%xs) : f64
    yield %a
  } else {
    %b = call @one() : f64
    yield %b
  }
  return %y
})");
}

TEST_CASE("the slot of a missing capture is empty, or keeps the value of the previous iteration") {
  laws::rewrites(
      defunctionalise, R"(
entry @main
func @main(%xs: f64[], %n: i64) -> f64 {
  %g = closure @one() : fn() -> f64
  %h = loop %n (%i: i64, %f: fn() -> f64 = %g) -> (fn() -> f64) {
    %c = lt %i, 2 : bool
    %k = if %c -> (fn() -> f64) {
      %l = closure @first(%xs) : fn() -> f64
      yield %l
    } else {
      yield %g
    }
    %m = select %c, %k, %f : fn() -> f64
    %z = apply %m() : f64
    yield %g
  }
  %o = select true, %h, %g : fn() -> f64
  %y = apply %o() : f64
  return %y
}
func @first(%xs: f64[]) -> f64 {
  %y = at %xs, 0 : f64
  return %y
}
func @one() -> f64 { return 1.0 })",
      R"(
entry @main
func @main(%xs: f64[], %n: i64) -> f64 {
  loop %n (%i: i64) {
    %c = lt %i, 2 : bool
    %k, %ks = if %c -> (i64, f64[]) {
      yield 1, %xs
    } else {
      %none = array : f64[]
      yield 0, %none
    }
    %m = select %c, %k, 0 : i64
    %z = call @apply(%m, %ks) : f64
    yield
  }
  %y = call @one() : f64
  return %y
}
func @first(%xs: f64[]) -> f64 {
  %y = at %xs, 0 : f64
  return %y
}
func @one() -> f64 { return 1.0 }
func @apply(%n: i64, %xs: f64[]) -> f64 {
  %c = lt %n, 1 : bool
  %y = if %c -> f64 {
    %b = call @one() : f64
    yield %b
  } else {
    %a = call @first(%xs) : f64
    yield %a
  }
  return %y
})");
  laws::rewrites(
      defunctionalise, R"(
entry @main
func @main(%x: f64, %n: i64) -> f64 {
  %f = closure @same(%x) : fn() -> f64
  %g = closure @one() : fn() -> f64
  %h = loop %n (%i: i64, %k: fn() -> f64 = %f) -> (fn() -> f64) {
    yield %g
  }
  %y = apply %h() : f64
  return %y
}
func @same(%x: f64) -> f64 { return %x }
func @one() -> f64 { return 1.0 })",
      R"(
entry @main
func @main(%x: f64, %n: i64) -> f64 {
  %h, %a = loop %n (%i: i64, %k: i64 = 0, %b: f64 = %x) -> (i64, f64) {
    yield 1, %b
  }
  %y = call @apply(%h, %a) : f64
  return %y
}
func @same(%x: f64) -> f64 { return %x }
func @one() -> f64 { return 1.0 }
func @apply(%n: i64, %x: f64) -> f64 {
  %c = lt %n, 1 : bool
  %y = if %c -> f64 {
    %a = call @same(%x) : f64
    yield %a
  } else {
    %b = call @one() : f64
    yield %b
  }
  return %y
})");
}

TEST_CASE("a function value of an empty array is not applied") {
  laws::rewrites(
      defunctionalise, R"(
entry @main
func @main(%i: i64) -> f64 {
  %none = array : (fn(f64) -> f64)[]
  %f = at %none, %i : fn(f64) -> f64
  %y = apply %f(1.0) : f64
  return %y
})",
      R"(
entry @main
func @main(%i: i64) -> f64 {
  %none = array : i64[]
  %f = at %none, %i : i64
  return 0.0
})");
}

TEST_CASE("a user's function called apply is unchanged, and so is a program without function values") {
  ir::program p = ir::parse(R"(
entry @apply
func @apply(%x: f64, %c: bool) -> f64 {
  %f = closure @a() : fn(f64) -> f64
  %g = closure @b() : fn(f64) -> f64
  %h = select %c, %f, %g : fn(f64) -> f64
  %y = apply %h(%x) : f64
  return %y
}
func @a(%x: f64) -> f64 { return %x }
func @b(%x: f64) -> f64 { return 2.0 })");
  CHECK(defunctionalise(p) == 3);
  CHECK(faults_of(p).empty());
  CHECK(p.name_of(p.entry) == "apply");
  CHECK(p.find("apply.1").has_value());
  ir::program const done = p;
  CHECK(defunctionalise(p) == 0);
  CHECK(p == done);
  CHECK(p.notes.empty());
}

TEST_CASE("a function keeps its structure attribute, unless its parameters or results change") {
  ir::program p = ir::parse(R"(
entry @main
func @main(%x: f64, %c: bool) -> f64 structure "(d)d" {
  %f = closure @a(%x) : fn(f64) -> f64
  %y = call @used(%f, %x) : f64
  return %y
}
func @used(%f: fn(f64) -> f64, %x: f64) -> f64 structure "(f,d)d" {
  %y = apply %f(%x) : f64
  return %y
}
func @a(%a: f64, %x: f64) -> f64 structure "(d,d)d" { return %x })");
  CHECK(defunctionalise(p) == 2);
  CHECK(p.text(p[p.entry].structure) == "(d)d");
  CHECK(p[*p.find("used")].structure == ir::nothing);
  CHECK(p.text(p[*p.find("a")].structure) == "(d,d)d");
}

TEST_CASE("a program without an entry is unchanged, because its functions may be called with any argument") {
  std::string_view const text = R"(
func @f(%f: fn(f64) -> f64) -> f64 {
  %y = apply %f(1.0) : f64
  return %y
})";
  laws::rewrites(defunctionalise, text, text);
}

TEST_CASE("a function of closures that capture one another is cloned for each set of captures") {
  laws::rewrites(
      defunctionalise, R"(
entry @main
func @main(%x: f64, %c: bool) -> f64 {
  %f = closure @scaled(%x) : fn(f64) -> f64
  %g = closure @twice(%f) : fn(f64) -> f64
  %h = closure @twice(%g) : fn(f64) -> f64
  %k = select %c, %g, %h : fn(f64) -> f64
  %y = apply %k(%x) : f64
  return %y
}
func @scaled(%a: f64, %x: f64) -> f64 {
  %y = mul %a, %x : f64
  return %y
}
func @twice(%f: fn(f64) -> f64, %x: f64) -> f64 {
  %y = apply %f(%x) : f64
  %z = apply %f(%y) : f64
  return %z
})",
      R"(
entry @main
func @main(%x: f64, %c: bool) -> f64 {
  %k = select %c, 1, 2 : i64
  %y = call @apply(%k, %x, %x) : f64
  return %y
}
func @scaled(%a: f64, %x: f64) -> f64 {
  %y = mul %a, %x : f64
  return %y
}
func @twice(%a: f64, %x: f64) -> f64 {
  %y = call @scaled(%a, %x) : f64
  %z = call @scaled(%a, %y) : f64
  return %z
}
func @twice.1(%a: f64, %x: f64) -> f64 {
  %y = call @twice(%a, %x) : f64
  %z = call @twice(%a, %y) : f64
  return %z
}
func @apply(%k: i64, %a: f64, %x: f64) -> f64 {
  %c = lt %k, 2 : bool
  %y = if %c -> f64 {
    %g = call @twice(%a, %x) : f64
    yield %g
  } else {
    %h = call @twice.1(%a, %x) : f64
    yield %h
  }
  return %y
})");
}

TEST_CASE("closures with recursive captures are not represented as data, and a note has their location") {
  std::string const why =
      "@main: a closure of @twice captures function values that may be such closures again; "
      "the program's function values are not represented as data";
  CHECK(why_not(R"(entry @main
func @main(%n: i64, %x: f64) -> f64 {
  %f = closure @same() : fn(f64) -> f64
  %g = loop %n (%i: i64, %h: fn(f64) -> f64 = %f) -> (fn(f64) -> f64) {
    %t = closure @twice(%h) : fn(f64) -> f64
    yield %t
  }
  %y = apply %g(%x) : f64
  return %y
}
func @same(%x: f64) -> f64 { return %x }
func @twice(%f: fn(f64) -> f64, %x: f64) -> f64 {
  %y = apply %f(%x) : f64
  %z = apply %f(%y) : f64
  return %z
})") == why + " at 5");
}

TEST_CASE(
    "function values of the host and of the entry are unchanged, and so are closures of arrays in arrays") {
  CHECK(
      why_not(R"(entry @main
func @main(%f: fn(f64) -> f64) -> f64 {
  %y = apply %f(1.0) : f64
  return %y
})") == "@main: the entry takes a function value; the program's function values are not represented as data "
        "at 2");
  CHECK(
      why_not(R"(entry @main
func @main() -> (fn() -> f64) {
  %f = closure @one() : fn() -> f64
  return %f
}
func @one() -> f64 { return 1.0 })") == "@main: the entry returns a function value; the program's function "
                                        "values are not represented as data at 2");
  CHECK(
      why_not(R"(entry @main
func @main() {
  %f = closure @one() : fn() -> f64
  host ordered "run"(%f)
  return
}
func @one() -> f64 { return 1.0 })") == "@main: a function value is given to \"run\", or comes from it; the "
                                        "program's function values are not represented as data at 4");
  CHECK(
      why_not(R"(entry @main
func @main(%xs: f64[], %ys: f64[], %i: i64) -> f64 {
  %f = closure @first(%xs) : fn() -> f64
  %g = closure @first(%ys) : fn() -> f64
  %all = array %f, %g : (fn() -> f64)[]
  %h = at %all, %i : fn() -> f64
  %y = apply %h() : f64
  return %y
}
func @first(%xs: f64[]) -> f64 {
  %y = at %xs, 0 : f64
  return %y
})") ==
      "@main: a closure of @first is an element of an array of function values, and captures an array: their "
      "sizes may "
      "differ; the program's function values are not represented as data at 3");
}

TEST_CASE("a captured host object is data if there is no other closure") {
  std::string const text = R"(entry @main
func @main(%c: bool) -> f64 {
  %file = host ordered "open"() : opaque "FILE*"
  %f = closure @read(%file) : fn() -> f64
  %g = closure @OTHER : fn() -> f64
  %h = select %c, %f, %g : fn() -> f64
  %y = apply %h() : f64
  return %y
}
func @one() -> f64 { return 1.0 }
func @read(%file: opaque "FILE*") -> f64 {
  %y = host ordered "read"(%file) : f64
  return %y
})";
  auto const with = [&](std::string const& other) {
    std::string made = text;
    return made.replace(made.find("OTHER"), 5, other);
  };
  ir::program p = ir::parse(with("read(%file)"));
  CHECK(defunctionalise(p) == 3);
  CHECK(faults_of(p).empty());
  CHECK(
      why_not(with("one()")) ==
      "@main: a closure of @read may be another one, and captures a key or an object of the host; the "
      "program's function values are not represented as data at 4");
}

TEST_CASE("closures with doubly nested captures are not expanded exponentially") {
  std::string text = "entry @main\nfunc @main(%x: f64) -> f64 {\n  %f0 = closure @k0(%x) : fn(f64) -> f64\n";
  std::string functions = "func @k0(%a: f64, %x: f64) -> f64 { return %a }\n";
  for (int i = 1; i < 20; ++i) {
    std::string const n = std::to_string(i), m = std::to_string(i - 1);
    text += "  %f" + n + " = closure @k" + n + "(%f" + m + ", %f" + m + ") : fn(f64) -> f64\n";
    functions += "func @k" + n +
                 "(%f: fn(f64) -> f64, %g: fn(f64) -> f64, %x: f64) -> f64 {\n  %y = apply %f(%x) : f64\n" +
                 "  %z = apply %g(%y) : f64\n  return %z\n}\n";
  }
  text += "  %y = apply %f19(%x) : f64\n  return %y\n}\n" + functions;
  CHECK(
      why_not(text).find("captures more than a thousand values, those that they captured counted") !=
      std::string::npos);
}
