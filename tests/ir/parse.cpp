// The parser: every program round-trips, errors have locations, and no text crashes it.
#include "property.hpp"
#include "random_text.hpp"

#include <overdub/implementation/ir/parse/spelling.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/ir/verify.hpp>

#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace overdub::ir;

std::vector<diagnostic> errors_of(std::string_view text) {
  try {
    (void)parse(text);
    return {};
  } catch (parse_error const& e) {
    return e.diagnostics;
  }
}

// Each as "line:column: sentence".
std::string errors(std::string_view text) {
  std::string all;
  for (diagnostic const& d : errors_of(text))
    all += std::to_string(d.line) + ':' + std::to_string(d.column) + ": " + d.text + '\n';
  return all;
}

// Parses the body of a function of a number, an integer, a bool and an array, from the second line on.
std::string errors_in(std::string const& body) {
  return errors("func @f(%x: f64, %i: i64, %c: bool, %a: f64[]) {\n" + body + "\nreturn\n}\n");
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string all;
  all.reserve(text.size() * times);
  while (times-- > 0) all += text;
  return all;
}

// Parses an arbitrary text, and the printed program again.
void try_text(std::string_view text) {
  try {
    program const p = parse(text);
    std::string const printed = print(p, {.places = true});
    program const q = parse(printed);
    CHECK(p == q);
    CHECK(print(q, {.places = true}) == printed);
  } catch (parse_error const& e) {
    CHECK(!e.diagnostics.empty());
    CHECK(e.diagnostics.size() <= 21);
  }
}

} // namespace

TEST_CASE("a random program round-trips through its text, with locations") {
  property([] {
    auto const seed = *rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<std::uint64_t>());
    for (bool const odd_names : {false, true}) {
      program const p = random_text(seed, odd_names).make();
      std::string const text = print(p, {.places = true});
      program const q = parse(text);
      RC_ASSERT(p == q);
      RC_ASSERT(print(q, {.places = true}) == text);
      RC_ASSERT(print(parse(print(p))) == print(p));
    }
  });
}

TEST_CASE("the parser returns programs that the verifier accepts") {
  property([] {
    auto const seed = *rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<std::uint64_t>());
    program const p = random_text(seed).make();
    RC_ASSERT(faults_of(p).empty());
    RC_ASSERT(faults_of(parse(print(p))).empty());
  });
}

TEST_CASE("every row of the table of operations is printed and parsed") {
  std::set<op> seen;
  for (std::uint64_t seed = 0; seed < 10'000 && seen.size() < op_count; ++seed) {
    program const p = parse(print(random_text(seed).make()));
    for (function const& f : p.functions)
      for (std::uint32_t i = 0; i < f.node_count(); ++i) seen.insert(f[node_id{i}].code);
  }
  for (std::size_t i = 0; i < op_count; ++i) {
    INFO(name_of(static_cast<op>(i)));
    CHECK(seen.contains(static_cast<op>(i)));
    CHECK(detail::ops_by_name.find(name_of(static_cast<op>(i))) == static_cast<op>(i));
  }
}

TEST_CASE("names are preserved, and numbers are not names") {
  program const p = parse("func @f(%x: f64, %7: f64) -> f64 { %sum = add %x, %7 : f64 return %sum }");
  function const& f = p.functions[0];
  CHECK(p.text(f[f.parameters()[0]].name) == "x");
  CHECK(f[f.parameters()[1]].name == nothing);
  CHECK(print(p) == "func @f(%x: f64, %0: f64) -> f64 {\n  %sum = add %x, %0 : f64\n  return %sum\n}\n");
  CHECK(
      errors("func @f(%0: f64, %00: f64, %12345678901: f64, %7: f64) -> f64 { return %12345678901 }") == "");
}

TEST_CASE("comments, spaces and line ends may separate any two tokens") {
  program const p = parse("func @f(%x: f64) -> f64 {\n  %y = sin %x : f64\n  return %y\n}\n");
  CHECK(p == parse("; a comment\r\nfunc\t@f ( ;\n%x :f64\n)->f64{%y=sin %x:f64 return %y}; the end"));
  CHECK(parse("") == program());
  CHECK(parse("; nothing") == program());
}

TEST_CASE("with a file name, operations without a location have that of the text") {
  std::string_view const text =
      "func @f(%x: f64) -> f64 {\n  %0 = sin %x : f64 at \"g\":7\n\n  return %0\n}\n";
  program const p = parse(text, {.file = "f.od"});
  CHECK(p == parse(text));
  CHECK(
      print(p, {.places = true}) == "func @f(%x: f64) -> f64 at \"f.od\":1:6 {\n  %0 = sin %x : f64 at "
                                    "\"g\":7\n  return %0 at \"f.od\":4:3\n}\n");
}

TEST_CASE("functions may be called before their definition, and recursively") {
  program const p = parse(R"(
func @even(%n: i64) -> bool { %m = sub %n, 1 : i64  %r = call @odd(%m) : bool  return %r }
func @odd(%n: i64) -> bool { %m = sub %n, 1 : i64  %r = call @even(%m) : bool  return %r }
entry @odd)");
  CHECK(faults_of(p).empty());
  CHECK(p.entry == function_id{1});
  CHECK(p.name_of(function_id{0}) == "even");
  CHECK(
      errors("func @f() { %x = call @g(1) : f64 return }\nfunc @g(%x: f64) -> f64 { return %x }") ==
      "1:18: call: operand 1 is i64, and must be f64\n");
  CHECK(
      errors("func @f() { %x = call @g(1.0) : i64 return }\nfunc @g(%x: f64) -> f64 { return %x }") ==
      "1:31: call: returns f64, and i64 is declared\n");
  CHECK(
      errors("func @norm() { call @nrom() return }\nentry @norn") ==
      "1:16: there is no function @nrom; did you mean @norm?\n"
      "2:7: there is no function @norn; did you mean @norm?\n");
}

TEST_CASE("an error has what was found, what was expected, and the location") {
  CHECK(errors("func @f(%x: }") == "1:13: expected a type, found \"}\"\n");
  CHECK(errors("func @f(%x: f65) {}") == "1:13: expected a type, found \"f65\"; did you mean f64?\n");
  CHECK(errors("fun @f") == "1:1: expected \"func\", \"entry\" or \"math\", found \"fun\"\n");
  CHECK(errors("func f") == "1:6: expected the name of a function, as in @norm, found \"f\"\n");
  CHECK(errors("func") == "1:5: expected the name of a function, as in @norm, found the end of the text\n");
  CHECK(
      errors("func @2() { return }") ==
      "1:6: the name of a function begins with a letter; others are quoted: @\"2\"\n");
  CHECK(errors_in("%y = snh %x : f64") == "2:6: there is no operation \"snh\"; did you mean sinh?\n");
  CHECK(errors_in("%y = sin") == "2:9: expected a value, found the end of the line\n");
  CHECK(
      errors_in("%y = add %x,\n%z = sin %x : f64") == "2:13: expected a value, found the end of the line\n");
  CHECK(
      errors_in("%y = sin %x") ==
      "2:12: expected \":\" and the types of the results, found the end of the line\n");
  CHECK(errors_in("%y sin %x : f64") == "2:4: expected \"=\", found \"sin\"\n");
  CHECK(
      errors_in("%y = add %x %x : f64") ==
      "2:13: expected \":\" and the types of the results, found \"%x\"\n");
  CHECK(errors_in("%1x = sin %x : f64") == "2:1: expected a name, found \"%1x\"\n");
  CHECK(errors_in("%y = reduce ad %a : f64") == "2:13: there is no operation \"ad\"; did you mean add?\n");
  CHECK(errors_in("host pur \"f\"()").starts_with("2:6: there is no effect \"pur\"; write pure, "));
  CHECK(errors_in(std::string("%y = \0", 6)) == "2:6: expected an operation, found \"\\x00\"\n");
  CHECK(errors_in("\xff") == "2:1: expected an operation or \"}\", found \"\\xff\"\n");
}

TEST_CASE("values are defined once, before their use, and visible at their uses") {
  CHECK(
      errors_in("%y = sin %z : f64") == "2:10: %z is not defined; values are defined before they are used\n");
  CHECK(
      errors_in("%y = sin %y : f64") == "2:10: %y is not defined; values are defined before they are used\n");
  CHECK(errors_in("%x = sin %x : f64") == "2:1: %x is defined already, on line 1\n");
  CHECK(errors("func @f(%x: f64, %x: f64) { return }") == "1:18: %x is defined already, on line 1\n");
  CHECK(
      errors_in("%y = if %c -> f64 { yield %y } else { yield %x }") ==
      "2:27: %y is used inside the operation that defines it; it is available after it\n");
  CHECK(
      errors_in("if %c { %y = sin %x : f64 yield } else { %z = sin %y : f64 yield }") ==
      "2:51: %y belongs to a region that has ended; let the region yield it\n");
  CHECK(
      errors("func @f() { return }\nfunc @f() { return }") ==
      "2:6: there is a function @f already, on line 1\n");
  CHECK(
      errors("entry @f entry @f func @f() { return }") ==
      "1:16: the program has an entry already, on line 1\n");
}

TEST_CASE("types must be those of the operations") {
  CHECK(errors_in("%y = add %x, %i : f64") == "2:6: add: operand 2 is i64, and must be f64 like operand 1\n");
  CHECK(errors_in("%y = add %x, %x : i64") == "2:17: add: returns f64, and i64 is declared\n");
  CHECK(errors_in("%y, %z = add %x, %x : f64") == "2:21: add: 2 results named, and 1 type declared\n");
  CHECK(errors_in("add %x, %x : f64") == "2:12: add: 0 results named, and 1 type declared\n");
  CHECK(errors_in("%y = add %x, 1 : f64") == "2:6: add: operand 2 is i64, and must be f64 like operand 1\n");
  CHECK(errors_in("%y = at %a, %i, %i : f64") == "2:6: at: 2 indices into an array of rank 1\n");
  CHECK(
      errors_in("%y = if %x -> f64 { yield %x } else { yield %x }") ==
      "2:6: if: operand 1 is f64, and must be bool\n");
  CHECK(
      errors_in("%y = if %c -> f64 { yield %i } else { yield }") ==
      "2:27: the region yields i64 here, and must yield f64\n"
      "2:39: the region yields 0 values, and must yield 1, f64\n");
  CHECK(errors_in("map %i (%j: f64) { yield }") == "2:8: the region takes f64, and must take i64\n");
  CHECK(
      errors_in("%y = loop %i (%j: i64, %s: f64 = %i) -> f64 { yield 0.0 }") ==
      "2:14: the region takes (i64, f64), and must take (i64, i64)\n"
      "2:38: loop: the loop-carried types are i64, and f64 is declared; what each iteration yields is "
      "declared after "
      "\"stack\"\n");
  CHECK(
      errors_in("while (%z: f64 = %x) -> f64 { yield %c } do (%u: i64) { yield %z }") ==
      "2:22: while: 0 results named, and 1 type declared\n");
  CHECK(
      errors_in("%w = while (%z: f64 = %x) -> f64 { yield %c } do (%u: i64) { yield %x }") ==
      "2:50: the region takes i64, and must take f64\n");
  CHECK(
      errors_in("%y = reduce %a from 0.0, 1.0 (%l: f64, %r: f64) -> f64 { yield %l }") ==
      "2:16: reduce: 1 array and 2 initial values; each array has one\n");
  CHECK(
      errors_in("%y = accumulate (%acc: acc f64[] = %x) -> f64[] { yield }") ==
      "2:36: accumulate: starts as an array, and is given f64\n");
  CHECK(
      errors("func @f() -> f64 { return 1 }") ==
      "1:27: the function returns i64 here, and must return f64\n");
  CHECK(errors_in("%y = array : " + repeated("(", 10) + "f64[]" + repeated(")", 10) + "[]") == "");
  CHECK(errors_in("%y = array : f64" + repeated("[]", 127)) == "");
  CHECK(errors_in("%y = array : f64" + repeated("[]", 128)).ends_with(repeated("[]", 127) + "\n"));
  CHECK(errors_in("%y = array : acc f64") == "2:14: an accumulator is of an array, as in acc f64[]\n");
}

TEST_CASE("numbers must be in range, and strings must end") {
  CHECK(
      errors_in("%y = add 9223372036854775808, 1 : i64") ==
      "2:10: the number \"9223372036854775808\" is out of the range of i64\n");
  CHECK(errors_in("%y = add -9223372036854775808, 9223372036854775807 : i64") == "");
  CHECK(errors_in("%y = add 1e999, 1.0 : f64") == "2:10: the number \"1e999\" is out of the range of f64\n");
  CHECK(
      errors_in("%y = add 1e39f32, 1.0f32 : f32") ==
      "2:10: the number \"1e39\" is out of the range of f32\n");
  for (char const* const wrong : {"1.5f", "0x10", "1e", "-x", "-nan", "1.2.3"}) {
    INFO(wrong);
    CHECK(
        errors_in("%y = sin " + std::string(wrong) + " : f64") ==
        "2:10: expected a number, found \"" + std::string(wrong) + "\"\n");
  }
  for (char const* const wrong :
       {"nan(0x1)", "nan(1)", "nan(0x7ff0000000000000)", "nan(0x7ff8000000000001)f32", "nan("})
    CHECK(errors_in("%y = sin " + std::string(wrong) + " : f64")
              .starts_with("2:10: expected the bits of a NaN, as in "));
  CHECK(errors_in("assert %c, \"abc").starts_with("2:12: the text in quotes does not end on its line"));
  CHECK(errors_in("assert %c, \"a\\qc\"").starts_with("2:14: a text in quotes has the escapes "));
  CHECK(errors_in("assert %c, \"\\x1\"").starts_with("2:13: a text in quotes has the escapes "));
}

TEST_CASE("blocks must end correctly") {
  CHECK(
      errors("func @f() {\n  %y = sin 1.0 : f64\n}") ==
      "3:1: a function ends with return; write it before the \"}\"\n");
  CHECK(
      errors_in("if %c { } else { yield }") == "2:9: a region ends with yield; write it before the \"}\"\n");
  CHECK(
      errors_in("if %c { return } else { yield }") ==
      "2:9: a region ends with yield; return ends a function\n");
  CHECK(errors("func @f() { yield }") == "1:13: a function ends with return, and not with yield\n");
  CHECK(
      errors("func @f() {\n  return\n  %y = sin 1.0 : f64\n}") ==
      "3:8: expected \"}\" after the end of the block, found \"sin\"\n");
  CHECK(errors_in("if %c { yield }") == "2:16: expected \"else\", found the end of the line\n");
  CHECK(
      errors("func @f() {\n  return\n\nfunc @g() { return }") ==
      "4:1: expected \"}\" for the block that begins on line 1, found \"func\"\n");
  CHECK(
      errors("func @f() {\n  return\n}\n}\nfunc @g() { return }") ==
      "4:1: expected \"func\", \"entry\" or \"math\", found \"}\"\n");
}

TEST_CASE("independent errors are all reported, in the order of the text, and each error once") {
  CHECK(
      errors(R"(entry @nothing
func @f(%x: f64, %y: i64) -> f64 {
  %a = ad %x, %x : f64
  %b = add %a, %x : i64
  %c = add %b, %x : f64
  %d = if %zz -> f64 {
    %q = sin %x : f65
    yield %q
  } else {
    yield %zz
  }
  %m = map %y (%i: bad) -> f64 {
    %k = nonsense
    yield %k
  }
  %n = call @h(%d) : f64[]
  %o = length %m : i64
  return %o
}
func @g(() {
  nonsense
}
func @h(%x: f64) -> f64 {
  call @g()
  return %x
}
)") == "1:7: there is no function @nothing\n"
       "3:8: there is no operation \"ad\"; did you mean add?\n"
       "5:8: add: operand 2 is f64, and must be i64 like operand 1\n"
       "6:11: %zz is not defined; values are defined before they are used\n"
       "7:19: expected a type, found \"f65\"; did you mean f64?\n"
       "12:20: expected a type, found \"bad\"\n"
       "16:20: call: returns f64, and f64[] is declared\n"
       "18:10: the function returns i64 here, and must return f64\n"
       "20:9: expected the name of an argument, found \"(\"\n");
}

TEST_CASE("an error at the end of a block is reported without a second one about the end") {
  CHECK(errors("func @f() -> f64 { %x = sin : f64 return %x }") == "1:29: expected a value, found \":\"\n");
  CHECK(errors("func @f() -> f64 {\n  return %\n}") == "2:10: expected a name, found \"%\"\n");
  CHECK(
      errors_in("if %c { yield ) } else { yield ) }") ==
      "2:15: expected \"}\" after the end of the block, found \")\"\n"
      "2:32: expected \"}\" after the end of the block, found \")\"\n");
}

TEST_CASE("the parser stops after twenty errors, and reports that") {
  std::vector<diagnostic> const found =
      errors_of("func @f() {\n" + repeated("nonsense\n", 1000) + "return\n}\n");
  REQUIRE(found.size() == 21);
  CHECK(found[19].line == 21);
  CHECK(found[20].text == "there may be more errors: the first 20 are reported; mend them first");
}

TEST_CASE("what() is the first error, with its line and column") {
  try {
    (void)parse("func @f() {\n  nonsense\n}");
    FAIL();
  } catch (parse_error const& e) {
    CHECK(std::string_view(e.what()) == "overdub: 2:3: there is no operation \"nonsense\"");
  }
}

TEST_CASE("the nesting of blocks and types is limited, and exceeding the limit is an error") {
  auto const nested = [](std::size_t depth) {
    return "func @f() {\n" + repeated("if true {\n", depth) + repeated("yield } else { yield }\n", depth) +
           "return }";
  };
  CHECK(errors(nested(max_nesting - 1)) == "");
  CHECK(errors(nested(max_nesting)).starts_with("401:9: blocks are nested more than 400 deep; "));
  CHECK(errors_of(nested(1'000'000)).size() <= 21);
  CHECK(errors_of("func @f() " + repeated("{", 1'000'000)).size() <= 21);
  CHECK(errors_of("func @f(%x: " + repeated("(", 100'000)).size() == 1);
  CHECK(errors_of("func @f(%x: " + repeated("fn(", 100'000)).size() == 1);
  CHECK(errors_of("func @f(%x: " + repeated("acc ", 100'000)).size() == 1);
  CHECK(errors("func @f(%x: " + repeated("fn(", 99) + repeated(") -> ()", 99) + ") { return }") == "");
}

TEST_CASE("long tokens are quoted in part, and long texts are parsed in linear time") {
  std::string const digits = repeated("7", 1'000'000);
  CHECK(
      errors_in("%y = neg " + digits + " : i64") ==
      "2:10: the number \"" + digits.substr(0, 40) + "\"... is out of the range of i64\n");
  CHECK(errors_in("%y = neg 0." + digits + " : f64") == "");
  CHECK(errors_in("%y = neg %" + digits + " : f64").size() < 300);
  CHECK(errors_in("%y = " + repeated("s", 1'000'000) + " %x : f64").size() < 300);
  CHECK(errors("func @" + repeated("f", 1'000'000)).size() < 300);
  // many entries in each lookup table: names, functions, types of functions, locations
  std::string many = "func @f() {\n";
  for (int i = 0; i < 20'000; ++i) {
    std::string const n = std::to_string(i);
    many += "  %a" + n + " = array : (fn(opaque \"o" + n + "\") -> ())[]\n  call @g" + n + "()\n";
  }
  many += "  return at " + repeated("\"f\":1, ", 50'000) + "\"f\":1\n}\n";
  for (int i = 0; i < 20'000; ++i) many += "func @g" + std::to_string(i) + "() { return }\n";
  CHECK(errors(many) == "");
  std::string types = "func @f() {\n";
  for (int i = 0; i < 70'000; ++i)
    types += "  %" + std::to_string(i) + " = array : opaque \"" + std::to_string(i) + "\"[]\n";
  CHECK(
      errors(types + "return }")
          .starts_with("65538:20: a program has more than 65536 types of functions, or of opaque objects\n"));
}

TEST_CASE("a truncated or changed text is rejected, or round-trips") {
  std::mt19937_64 random(1);
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    std::string const text = print(random_text(seed).make(), {.places = true});
    for (std::size_t length = 0; length < text.size(); length += 1 + random() % 100)
      try_text(std::string_view(text).substr(0, length));
    for (int i = 0; i < 60; ++i) {
      std::string changed = text;
      for (std::uint64_t n = random() % 4 + 1; n-- > 0 && !changed.empty();) {
        std::size_t const at = random() % changed.size();
        switch (random() % 4) {
        case 0:
          changed[at] = static_cast<char>(random());
          break;
        case 1:
          changed.erase(at, random() % 20);
          break;
        case 2:
          changed.insert(at, changed, random() % changed.size(), random() % 20);
          break;
        default:
          changed[at] = "{}()[]%@\"\\;:=,.-0 \n"[random() % 19];
        }
      }
      try_text(changed);
    }
  }
}
