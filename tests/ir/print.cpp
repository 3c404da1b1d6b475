// The printer: the text of each construct, round trips, and names of values.
#include "property.hpp"

#include <overdub/implementation/ir/keywords.hpp>
#include <overdub/implementation/ir/literal.hpp>
#include <overdub/ir/cursor.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/ir/print.hpp>

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace overdub::ir;

// The expected text of each construct.
std::vector<std::string_view> const canonical{
    R"(func @nothing() {
  return
}
)",
    R"(entry @norm

func @norm(%x: f64[], %scale: f64) -> f64 structure "point<f64>" {
  %n = length %x : i64
  %sq = map %n (%i: i64) -> f64 {
    %xi = at %x, %i : f64
    %p = mul %xi, %xi : f64
    yield %p
  }
  %s = reduce add %sq from 0.0 : f64
  %y = call @rescale(%s, %scale) : f64
  return %y
}

func @rescale(%x: f64, %scale: f64) -> f64 {
  %0 = mul %x, %scale : f64
  return %0
}
)",
    R"(func @reductions(%xs: f64[], %ks: i64[]) -> (f64, f64, i64) {
  %0 = reduce max %xs : f64
  %1, %2 = reduce %xs, %ks from 1.0, 0 (%3: f64, %4: i64, %5: f64, %6: i64) -> (f64, i64) {
    yield %5, %4
  }
  %7 = reduce in_lanes %xs (%8: f64, %9: f64) -> f64 {
    %10 = hypot %8, %9 : f64
    yield %10
  }
  return %0, %1, %2
}
)",
    R"(func @branches(%c: bool, %a: f64) -> f64 {
  if %c {
    yield
  } else {
    yield
  }
  %r = if %c -> f64 {
    yield %a
  } else {
    yield inf
  }
  %q, %0 = protect -> (f64, i64) {
    yield %r, 2
  } failed {
    host ordered "sorry"()
    yield
  }
  return %q
}
)",
    R"(func @loops(%n: i64, %init: f64) -> (f64, f64[]) {
  loop %n (%0: i64) {
    yield
  }
  %steps = loop reversed %n (%1: i64) stack i64 {
    yield %1
  }
  %l, %m, %ys = loop %n (%i: i64, %a: f64 = %init, %b: f64 = 0.0) -> (f64, f64) stack f64 {
    yield %b, %a, %a
  }
  %w, %zs, %us = while (%z: f64 = %l) -> f64 stack (f64, bool[]) {
    %c = lt %z, 1e+100 : bool
    yield %c
  } do (%z2: f64) {
    %d = array true, false : bool[]
    %next = add %z2, %z2 : f64
    yield %next, %z2, %d
  }
  while {
    yield false
  } do {
    yield
  }
  return %w, %ys
}
)",
    R"(func @accumulators(%start: f64[], %grid: f32[][], %bins: i64[]) -> (f64[], f32[][], i64) {
  %g, %h, %k = accumulate (%acc: acc f64[] = %start, %rows: acc f32[][] = %grid) -> (f64[], f32[][], i64) {
    %n = length %bins : i64
    map %n (%i: i64) {
      %bin = at %bins, %i : i64
      add_to %acc, %bin, 1.0
      add_to %rows, %bin, 0, 0.5f32
      yield
    }
    yield %n
  }
  return %g, %h, %k
}
)",
    R"(func @outside(%x: f64, %file: opaque "FILE*", %k: key) -> f64 {
  assert true, "all is well"
  host ordered "print"(%file, %x)
  %v, %u = host may_fail "lookup"(%x) : f64, opaque "FILE*"[]
  %z = sample "z"[3, 4] "normal"(%x, 1.0) : f64
  %y = sample "y" "coin"() : bool
  %h = closure @outside(%x) : boxed fn(opaque "FILE*", key) -> f64
  %w = apply %h(%file, %k) : f64
  return %w
}
)",
    R"(func @types(%0: bool[], %1: fn() -> (), %2: indirect fn(f64, i64) -> (f32, f32)) -> (fn() -> ()) {
  %3 = array : (fn(key[]) -> (fn(f64) -> f64))[][]
  %4 = array : opaque "a \"name\""[]
  %5 = select true, %1, %1 : fn() -> ()
  return %5
}
)",
    R"(func @f.forward<3>#2'() {
  call @"any text, with \"quotes\" and a \\"()
  return
}

func @"any text, with \"quotes\" and a \\"() {
  return
}
)"};

std::string literal_text(type t, std::uint64_t bits) {
  std::string text;
  append_literal(text, t, bits);
  return text;
}
std::uint64_t bits_of(double x) { return std::bit_cast<std::uint64_t>(x); }
std::uint64_t bits_of(float x) { return std::bit_cast<std::uint32_t>(x); }

// The bits of a literal in a text, as an operand.
std::pair<type, std::uint64_t> read_back(std::string const& literal, std::string const& type_text) {
  program const p = parse("func @f() -> " + type_text + " { return " + literal + " }");
  function const& f = p.functions[0];
  value_id const v = f.operand(f.yield_of(function::body), 0);
  return {f.type_of(v), f.bits_of(v)};
}

// A function of three parameters that returns them.
program of_names(std::vector<std::string> const& names) {
  program p;
  function_id const f = p.add("f", std::vector<type>(names.size(), f64));
  p[f].results.assign(names.size(), f64);
  cursor c(p, f, function::body);
  std::vector<value_id> values;
  for (std::size_t i = 0; i < names.size(); ++i) {
    values.push_back(c->parameters()[i]);
    if (!names[i].empty()) c.set_name(values.back(), p.intern(names[i]));
  }
  c.yield(values);
  return p;
}

} // namespace

TEST_CASE("printed programs can be parsed, and are printed identically again") {
  for (std::string_view const text : canonical) {
    INFO(text);
    program const p = parse(text);
    CHECK(print(p) == text);
    CHECK(parse(print(p)) == p);
  }
}

TEST_CASE("a literal shows its type, and every bit pattern round-trips") {
  CHECK(literal_text(f64, bits_of(2.0)) == "2.0");
  CHECK(literal_text(f64, bits_of(-0.0)) == "-0.0");
  CHECK(literal_text(f64, bits_of(0.1)) == "0.1");
  CHECK(literal_text(f64, bits_of(1e22)) == "1e+22");
  CHECK(literal_text(f64, bits_of(5e-324)) == "5e-324");
  CHECK(literal_text(f64, bits_of(-1.0 / 0.0)) == "-inf");
  CHECK(literal_text(f64, 0x7ff8000000000000) == "nan");
  CHECK(literal_text(f64, 0xfff8000000000000) == "nan(0xfff8000000000000)");
  CHECK(literal_text(f32, bits_of(0.1f)) == "0.1f32");
  CHECK(literal_text(f32, bits_of(3.0f)) == "3.0f32");
  CHECK(literal_text(f32, 0x7fc00000) == "nanf32");
  CHECK(literal_text(f32, 0xff800001) == "nan(0xff800001)f32");
  CHECK(literal_text(f32, 0x7f800000) == "inff32");
  CHECK(literal_text(i64, ~std::uint64_t{0}) == "-1");
  CHECK(literal_text(i64, std::uint64_t{1} << 63) == "-9223372036854775808");
  CHECK(literal_text(boolean, 1) == "true");
  property([] {
    auto const bits = *rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<std::uint64_t>());
    auto const exponent = std::uint64_t{0x7ff} << 52;
    for (std::uint64_t const b : {bits, bits | exponent, bits_of(any<double>())})
      RC_ASSERT(read_back(literal_text(f64, b), "f64") == std::pair(f64, b));
    for (std::uint64_t const b : {bits >> 32, bits >> 32 | 0x7f800000, bits_of(any<float>())})
      RC_ASSERT(read_back(literal_text(f32, b), "f32") == std::pair(f32, b));
    auto const integer = static_cast<std::uint64_t>(any<std::int64_t>());
    RC_ASSERT(read_back(literal_text(i64, integer), "i64") == std::pair(i64, integer));
  });
}

TEST_CASE("a quoted text preserves every byte, and UTF-8 characters remain readable") {
  auto const quote = [](std::string_view text) {
    std::string out;
    append_quoted(out, text);
    return out;
  };
  CHECK(quote("größer \u2264 \U0001F600") == "\"größer \u2264 \U0001F600\"");
  CHECK(quote("a\"b\\c\n\t\r") == R"("a\"b\\c\n\t\r")");
  CHECK(quote(std::string_view("\0\x7f\xff", 3)) == R"("\x00\x7f\xff")");
  CHECK(quote("\xc3") == R"("\xc3")");                         // half a character
  CHECK(quote("\xc0\x80") == R"("\xc0\x80")");                 // overlong
  CHECK(quote("\xed\xa0\x80") == R"("\xed\xa0\x80")");         // a surrogate
  CHECK(quote("\xf4\x90\x80\x80") == R"("\xf4\x90\x80\x80")"); // above the last code point
  std::string all;
  for (int c = 0; c < 256; ++c) all += static_cast<char>(c);
  program const p = parse("func @f() { assert true, " + quote(all) + " return }");
  function const& f = p.functions[0];
  CHECK(p.text(f[f[function::body].first].attributes.text()) == all);
}

TEST_CASE("values have their own names if these are unambiguous, and numbers otherwise") {
  CHECK(print(of_names({"x", "y'", "_"})).starts_with("func @f(%x: f64, %y': f64, %_: f64)"));
  CHECK(print(of_names({"", "x", ""})).starts_with("func @f(%0: f64, %x: f64, %1: f64)"));
  CHECK(print(of_names({"x", "x", "x"})).starts_with("func @f(%x: f64, %0: f64, %1: f64)"));
  CHECK(print(of_names({"7", "a b", "%x", "x-y", "größe"}))
            .starts_with("func @f(%0: f64, %1: f64, %2: f64, %3: f64, %4: f64)"));
  program const p = of_names({"x", "x", "1"});
  CHECK(parse(print(p)) == p);
}

TEST_CASE("equal programs with equal names have equal texts, whatever their internal numbering") {
  std::string const text = "func @f(%x: f64) -> f64 {\n  %0 = sin %x : f64\n  return %0\n}\n";
  program p = parse(text);
  program const q = p;
  p.intern("a text that nothing uses");
  cursor c(p, function_id{0});
  c.next();
  value_id const again = c.add(op::sin, c.operand(0));
  c.replace(again);
  CHECK(p == q);
  CHECK(print(p) == text);
  p.add("gone", {});
  p.erase(function_id{1});
  CHECK(print(p) == text);
}

TEST_CASE("locations are printed on request, and can be parsed") {
  std::string const text = R"(func @f(%x: f64) -> f64 at "f.cpp":3:1 {
  %a = sin %x : f64 at "f.cpp":12:3, "g \"2\".cpp":7
  %b = if true -> f64 at "f.cpp":13 {
    yield %a at "f.cpp":14:1
  } else {
    yield %x
  }
  assert true, "at" at "f.cpp":15
  return %b
}
)";
  program const p = parse(text);
  CHECK(print(p, {.places = true}) == text);
  CHECK(print(p).find(".cpp") == std::string::npos);
  CHECK(p == parse(print(p)));
}

TEST_CASE("a single function can be printed") {
  program const p = parse(canonical[1]);
  CHECK(print(p, function_id{0}) + '\n' + print(p, function_id{1}) == canonical[1].substr(13));
}

TEST_CASE("a program that the verifier rejects can be printed") {
  program p;
  function_id const f = p.add("f", std::vector{f64});
  cursor c(p, f, function::body);
  value_id const x = c->parameters()[0];
  std::vector<type> const results{f64};
  std::vector<type> const arguments[] = {{}, {f64}};
  node_id const a = c.insert(op::sin, {&x, 1}, results);
  node_id const loop = c.insert(op::loop, {}, results, {}, {arguments, 1});
  c.insert(op::while_, {&x, 1}, {}, {}, arguments);
  c.insert(op::map, {&x, 1}, results, {}, {arguments, 2});
  c.insert(op::call, {&x, 1}, results);
  c.insert(op::host, {}, {});
  c.insert(op::sample, {}, results, {.count = 3});
  c.insert(op::reduce, {}, {}, {.operation = op::yield});
  value_id const later[] = {c->result(loop)};
  c.set_operands(a, later);
  CHECK(print(p) == R"(func @f(%0: f64) {
  %1 = sin %? : f64
  %2 = loop stack ? {
  }
  while {
  } do (%3: f64) {
  }
  %4 = map %0 -> ? {
  } failed (%5: f64) {
  }
  %6 = call @?(%0) : f64
  host pure ""()
  %7 = sample ""[] ""() : f64
  reduce yield
}
)");
}

TEST_CASE("regions nested a hundred thousand deep are printed without recursion") {
  program p;
  function_id const f = p.add("f", {});
  cursor c(p, f, function::body);
  std::vector<type> const none[] = {{}, {}};
  value_id const condition = c.literal(true);
  for (int depth = 0; depth < 100'000; ++depth)
    c.to_end(c->region_at(c.insert(op::if_, {&condition, 1}, {}, {}, none), 0));
  std::string const text = print(p);
  CHECK(text.size() < 100'000 * 3 * (2 * detail::maximum_indentation + 10));
  CHECK(text.ends_with("  } else {\n  }\n}\n"));
}
