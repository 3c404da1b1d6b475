// Text and numbers of reports: escaping, and the digits of numbers.
#include "catch.hpp"
#include "property.hpp"

#include <overdub/call/utf8.hpp>
#include <overdub/implementation/report/scale.hpp>
#include <overdub/report/text.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace overdub::report;

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST_CASE("characters with a meaning in HTML are escaped") {
  CHECK(
      escaped("<a href=\"x\" class='y'>&amp;</a>") ==
      "&lt;a href=&quot;x&quot; class=&#39;y&#39;&gt;&amp;amp;&lt;/a&gt;");
  CHECK(escaped("µ ≤ 3, 漢字, 🙂") == "µ ≤ 3, 漢字, 🙂");
}

TEST_CASE("control characters become spaces, and invalid UTF-8 the replacement character") {
  CHECK(escaped(std::string("a\0b\x1b\x7f\tc\n", 8)) == "a b   c ");
  CHECK(escaped("\xC2\x85") == " ");
  CHECK(
      escaped("a\xff"
              "b") == "a\uFFFDb");
  CHECK(escaped("\xC0\xAF<") == "\uFFFD&lt;"); // an overlong form of /
  CHECK(escaped("\xED\xA0\x80") == "\uFFFD");  // half of a surrogate pair
  CHECK(escaped("\xE2\x82") == "\uFFFD");      // truncated
  CHECK(escaped("\xE2\x82<") == "\uFFFD&lt;"); // truncated, and the next character is escaped
  CHECK(escaped("\uFFFD") == "\uFFFD");
}

TEST_CASE("escaped and shortened text of any bytes is UTF-8 without control characters") {
  property([] {
    auto const drawn = *rc::gen::container<std::vector<char>>(rc::gen::arbitrary<char>());
    std::string const bytes(drawn.begin(), drawn.end());
    for (std::string const& text : {escaped(bytes), escaped(shortened(bytes, 5))}) {
      RC_ASSERT(overdub::detail::as_utf8(text) == text);
      overdub::detail::for_each_character(text, [](std::uint32_t point, std::string_view) {
        RC_ASSERT(!overdub::detail::is_control(point));
      });
    }
  });
}

TEST_CASE("a text is shortened between characters") {
  CHECK(length("añ🙂") == 3);
  CHECK(shortened("añ🙂", 3) == "añ🙂");
  CHECK(shortened("añ🙂", 2) == "a…");
  CHECK(shortened("\xff\xff\xff", 2) == "\uFFFD…");
}

TEST_CASE("numbers are rounded to few digits") {
  CHECK(number(0) == "0");
  CHECK(number(-0.0) == "0");
  CHECK(number(1.0 / 3) == "0.333");
  CHECK(number(-12.3456) == "-12.3");
  CHECK(number(1234.5678) == "1235");
  CHECK(number(123456) == "123456");
  CHECK(number(12345678) == "1.23e7");
  CHECK(number(0.00012345) == "0.000123");
  CHECK(number(0.000012345) == "1.23e-5");
  CHECK(number(1.7976931348623157e308) == "1.80e308");
  CHECK(number(5e-324) == "4.94e-324");
  CHECK(number(infinity) == "∞");
  CHECK(number(-infinity) == "-∞");
  CHECK(number(std::numeric_limits<double>::quiet_NaN()) == "not defined");
}

TEST_CASE("number_beside rounds to a hundredth of the spread") {
  CHECK(number_beside(253.6789, 12.0) == "253.7");
  CHECK(number_beside(253.6789, 1200.0) == "254");
  CHECK(number_beside(-0.004, 1.3) == "0.00");
  CHECK(number_beside(1e9 + 0.123, 0.05) == "1.0000000001230e9");
  CHECK(number_beside(2, 0.7) == "2");
  CHECK(number_beside(1.23456, 0) == "1.23");
  CHECK(number_beside(1.23456, infinity) == "1.23");
}

TEST_CASE("a count has its noun in the right number") {
  CHECK(counted(0, "draw") == "0 draws");
  CHECK(counted(1, "draw") == "1 draw");
  CHECK(counted(4000, "draw") == "4000 draws");
}

TEST_CASE("ticks are round numbers in the interval, with distinct labels") {
  scale const tens({-3, 41}, 0, 100);
  CHECK(tens.ticks(5) == std::vector<double>{0, 10, 20, 30, 40});
  CHECK(tens.label(10, 5) == "10");
  scale const parts({0, 1}, 0, 100);
  CHECK(parts.label(parts.ticks(5)[1], 5) == "0.2");
  for (interval const shown : std::vector<interval>{
           {0, 1},
           {-1e300, 1e300},
           {0, 5e-324},
           {3, 3},
           {0, 0},
           {1e9, 1e9 + 0.2},
           {-1e-200, 1e-200},
           {1e300, 1e300},
           {}}) {
    CAPTURE(shown.low, shown.high);
    scale const s(shown, 0, 100);
    auto const ticks = s.ticks(5);
    REQUIRE(ticks.size() >= 2);
    REQUIRE(ticks.size() <= 12);
    for (std::size_t i = 0; i < ticks.size(); ++i) {
      CHECK(s(ticks[i]) >= 0);
      CHECK(s(ticks[i]) <= 100);
      if (i > 0) CHECK(s.label(ticks[i - 1], 5) != s.label(ticks[i], 5));
    }
  }
}

TEST_CASE("numbers beyond an axis are clamped to its ends") {
  scale const s({0, 10}, 100, 200);
  CHECK(s(5) == 150);
  CHECK(s(-1) == 100);
  CHECK(s(1e300) == 200);
}

} // namespace
