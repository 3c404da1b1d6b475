// The math mode is a part of a program: of its equality, its text, and the verifier's checks.
#include "catch.hpp"

#include <overdub/ir/consistent.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/ir/print.hpp>
#include <overdub/ir/verify.hpp>

#include <string>

namespace {

using namespace overdub::ir;

std::string const identity = "func @f(%x: f64) -> f64 {\n  return %x\n}\n";

std::string errors_of(std::string const& text) {
  try {
    (void)parse(text);
  } catch (parse_error const& e) {
    return e.diagnostics.at(0).text;
  }
  return "";
}

} // namespace

TEST_CASE("programs are exact unless their text says otherwise") {
  CHECK(parse(identity).math == math_mode::exact);
  CHECK(parse("math exact\n" + identity).math == math_mode::exact);
  CHECK(parse("math consistent\n" + identity).math == math_mode::consistent);
  CHECK(parse("math fast entry @f\n" + identity).math == math_mode::fast);
  CHECK(parse(identity + "math fast\n").math == math_mode::fast);
}

TEST_CASE("the mode is printed first, unless it is exact") {
  program p = parse(identity);
  CHECK(print(p) == identity);
  p.math = math_mode::fast;
  CHECK(print(p) == "math fast\n\n" + identity);
  p.entry = *p.find("f");
  CHECK(print(p) == "math fast\nentry @f\n\n" + identity);
  CHECK(parse(print(p)) == p);
}

TEST_CASE("programs of different modes are not equal") {
  program const p = parse(identity);
  program q = p;
  q.math = math_mode::consistent;
  CHECK_FALSE(p == q);
  q.math = math_mode::exact;
  CHECK(p == q);
}

TEST_CASE("an unknown mode, and a second one, are errors") {
  CHECK(
      errors_of("math quick\n" + identity) ==
      "expected \"exact\", \"consistent\" or \"fast\", found \"quick\"");
  CHECK(
      errors_of("math fast\nmath fast\n" + identity) ==
      "the program has a mode of its mathematics already, on line 1");
  program p = parse(identity);
  p.math = static_cast<math_mode>(7);
  REQUIRE(faults_of(p).size() == 1);
  CHECK(faults_of(p)[0].text == "the program's math is no mode; set it to exact, consistent or fast");
  CHECK(print(p).starts_with("math ?\n"));
}

TEST_CASE("functions of the consistent mode have the last numbers in the table") {
  CHECK(number_in(math_mode::exact, op::sin) == static_cast<std::uint32_t>(op::sin));
  CHECK(number_in(math_mode::fast, op::sin) == static_cast<std::uint32_t>(op::sin));
  CHECK(number_in(math_mode::consistent, op::sin) == static_cast<std::uint32_t>(op::sin) + op_count);
  CHECK(number_in(math_mode::consistent, op::add) == static_cast<std::uint32_t>(op::add));
  CHECK_FALSE(is_elementary(op::sqrt));
}
