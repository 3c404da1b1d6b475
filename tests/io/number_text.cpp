// Numbers are written and read as in the "C" locale, and reading a written number returns its bits.
#include "catch.hpp"
#include "property.hpp"

#include <overdub/io/number_text.hpp>

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>

namespace {

using namespace overdub::io;

template <class T>
bool same_bits(T a, T b) {
  return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

// The result of parse_by_strtod, and that of std::from_chars.
template <class T>
void check_as_from_chars(std::string const& text) {
  INFO(text);
  T mine = 7, theirs = 7;
  char const *const first = text.data(), *const last = first + text.size();
  auto const a = reading::parse_by_strtod(first, last, mine);
  auto const b = std::from_chars(first, last, theirs);
  CHECK(a.ec == b.ec);
  CHECK(a.ptr - first == b.ptr - first);
  if (a.ec == std::errc()) CHECK(same_bits(mine, theirs));
}

} // namespace

TEST_CASE("parse_by_strtod parses the same prefix to the same number as std::from_chars") {
  for (char const* const text :
       {"",
        "-",
        "+1",
        " 1",
        "1 ",
        "1",
        "-1",
        "1.5",
        "1,5",
        "1.000,5",
        ".5",
        "-.5e3",
        "5.",
        "5.e1",
        ".",
        "-.",
        "e5",
        "1e",
        "1e+",
        "1e-x",
        "1E5",
        "1e+05",
        "0x10",
        "0x1p3",
        "-0",
        "-0.0",
        "1e308",
        "1.7976931348623157e308",
        "1e400",
        "-1e400",
        "1e-400",
        "-1e-400",
        "0e-999",
        "0.000e999",
        "5e-324",
        "2e-324",
        "2.2250738585072011e-308",
        "4.9e-324",
        "3e38",
        "4e38",
        "1e-45",
        "1e-46",
        "nan",
        "NaN",
        "-nan",
        "nan(",
        "nan()",
        "nan(a1_)",
        "nan(a-)",
        "nanx",
        "inf",
        "-inf",
        "Inf",
        "INFINITY",
        "infinit",
        "infx",
        "1.2.3",
        "12345678901234567890123456789",
        "0.1",
        "1e1000000000000"}) {
    check_as_from_chars<double>(text);
    check_as_from_chars<float>(text);
  }
}

TEST_CASE("parse_by_strtod parses random texts as std::from_chars does") {
  property([] {
    auto const text =
        *rc::gen::container<std::string>(rc::gen::elementOf(std::string("0123456789.-+eE,infa 5555")));
    check_as_from_chars<double>(text);
    check_as_from_chars<float>(text);
  });
}

TEST_CASE("reading a written floating-point number returns its bits") {
  property([] {
    double const x = any<double>();
    double read = 7;
    RC_ASSERT((parse_whole(number_text(x), read) && same_bits(x, read)));
    float const y = any<float>();
    float small = 7;
    RC_ASSERT((parse_whole(number_text(y), small) && same_bits(y, small)));
  });
}

TEST_CASE("number formats are those of printf") {
  property([] {
    double const x = any<double>();
    int const n = *rc::gen::inRange(0, 20);
    char text[500];
    std::snprintf(text, sizeof text, "%.*g", n, x);
    RC_ASSERT(number_text(x, significant(n)) == text);
    std::snprintf(text, sizeof text, "%.*f", n, x);
    RC_ASSERT(number_text(x, decimals(n)) == text);
    std::snprintf(text, sizeof text, "%.*e", n, x);
    RC_ASSERT(number_text(x, scientific(n)) == text);
  });
}

TEST_CASE("a number out of range is read as an infinity or a zero, and reported") {
  auto const reads = [](std::string const& text) {
    double x = 7;
    auto const result = parse_number(text.data(), text.data() + text.size(), x);
    CHECK(result.ec == std::errc::result_out_of_range);
    CHECK(result.ptr == text.data() + text.size());
    return x;
  };
  CHECK(reads("1e400") == std::numeric_limits<double>::infinity());
  CHECK(reads("-1e400") == -std::numeric_limits<double>::infinity());
  CHECK(same_bits(reads("-1e-400"), -0.0));
  int i = 7;
  CHECK_FALSE(parse_whole("99999999999", i));
  CHECK_FALSE(parse_whole("1 ", i));
  CHECK((parse_whole("-12", i) && i == -12));
}

TEST_CASE("cells are aligned, and never truncated") {
  CHECK(right_aligned("ab", 4) == "  ab");
  CHECK(left_aligned("ab", 4) == "ab  ");
  CHECK((right_aligned("abcde", 4) == "abcde" && left_aligned("abcde", 4) == "abcde"));
  CHECK(number_text(255u, 16) == "ff");
}

TEST_CASE("more digits than the buffer has are rejected") {
  CHECK(number_text(1.0, decimals(99)) == "1." + std::string(99, '0'));
  CHECK_THROWS_AS(number_text(1e300, decimals(1000)), std::length_error);
}
