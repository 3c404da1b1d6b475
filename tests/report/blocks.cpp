// Blocks of reports: figures of draws, series and measurements, text instead of empty figures, and the size of figures, which does not grow
// with the draws.
#include "catch.hpp"

#include <overdub/implementation/report/figure.hpp>
#include <overdub/implementation/report/histogram.hpp>
#include <overdub/report.hpp>

#include <algorithm>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace report = overdub::report;
using overdub::inference::chain_values;
using report::share;

constexpr double nan = std::numeric_limits<double>::quiet_NaN(),
                 infinity = std::numeric_limits<double>::infinity();

bool has(std::string const& html, std::string_view text) { return html.find(text) != std::string::npos; }

std::size_t count(std::string const& html, std::string_view text) {
  std::size_t n = 0;
  for (std::size_t at = html.find(text); at != std::string::npos; at = html.find(text, at + 1)) ++n;
  return n;
}

chain_values normals(std::size_t length, std::size_t chains) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  chain_values draws{{}, chains};
  for (std::size_t i = 0; i < length * chains; ++i) draws.values.push_back(normal(random));
  return draws;
}

template <class F>
std::string message_of(F const& f) {
  try {
    f();
  } catch (report::report_error const& e) {
    return e.what();
  }
  return "nothing was thrown";
}

TEST_CASE("a posterior has its quantiles, its bars and its tails") {
  chain_values draws{{}, 2};
  for (int i = 0; i <= 1000; ++i) draws.values.push_back(i / 100.0);
  std::string const html = report::posterior{"mu", draws}.html();
  CHECK(has(html, "<p>median 5, 5 % to 95 %: 0.50 to 9.50</p>"));
  CHECK(count(html, "class=\"quantile\"") == 2);
  CHECK(count(html, "class=\"median\"") == 1);
  CHECK(count(html, "class=\"c0 bars\"") == 1);
  CHECK(count(html, "class=\"c0 tails\"") == 1);
  CHECK_FALSE(has(html, "left out"));
}

TEST_CASE("a posterior of integers has a bar for each") {
  std::string const html = report::posterior{"n", {{0, 1, 1, 2, 2, 2, 4, 4}, 1}}.html();
  auto const bars = html.substr(html.find("c0 bars"));
  CHECK(count(bars.substr(0, bars.find("/>")), "Z") + count(html.substr(0, html.find("c0 bars")), "Z") == 4);
}

TEST_CASE("draws without a figure are a sentence") {
  auto const posterior = [](chain_values draws) { return report::posterior{"x", std::move(draws)}.html(); };
  CHECK(has(posterior({}), "There are no draws."));
  CHECK(has(posterior({{}, 4}), "There are no draws."));
  CHECK(has(posterior({{2.5, 2.5}, 1}), "All draws are 2.50."));
  CHECK(has(posterior({{2, nan, 2, 2}, 1}), "All finite draws are 2."));
  CHECK(has(posterior({{nan, infinity}, 1}), "None of the draws is finite"));
  for (chain_values const& draws :
       {chain_values{}, chain_values{{nan, -infinity}, 2}, chain_values{{2.5}, 1}})
    CHECK_FALSE(has(posterior(draws), "<svg"));
  CHECK(has(report::trace{"x", {}}.html(), "There are no draws."));
  CHECK(has(report::trace{"x", {{nan, infinity}, 2}}.html(), "None of the draws is finite"));
  CHECK(has(report::plot{.title = "p"}.html(), "There are no points."));
  CHECK(
      has(report::plot{.title = "p", .series = {{"s", report::mark::points, {nan}, {1}}}}.html(),
          "None of the points"));
  CHECK(has(report::bars{.title = "b"}.html(), "There are no measurements."));
  CHECK(has(report::intervals{.title = "i"}.html(), "There are no rows."));
  CHECK(has(report::table{.title = "t", .heads = {"a"}}.html(), "There are no rows."));
}

TEST_CASE("values that are not finite are left out, and counted") {
  chain_values draws = normals(100, 2);
  draws.values[3] = nan;
  draws.values[7] = -infinity;
  CHECK(has(report::posterior{"x", draws}.html(), "2 of 200 draws are not finite"));
  CHECK(has(report::trace{"x", draws}.html(), "2 of 200 draws are not finite"));
  report::plot const p{.title = "p", .series = {{"s", report::mark::line, {1, 2, nan}, {1, 2, 3}}}};
  CHECK(has(p.html(), "1 of 3 points is not finite"));
  for (auto const& html :
       {report::posterior{"x", draws}.html(), report::trace{"x", draws}.html(), p.html()}) {
    CHECK_FALSE(has(html, "nan"));
    CHECK_FALSE(has(html, "inf"));
  }
}

TEST_CASE("outliers do not hide the rest, and are counted") {
  chain_values draws = normals(2000, 1);
  draws.values[5] = 1e6;
  draws.values[6] = -1e6;
  CHECK(
      has(report::posterior{"x", draws}.html(),
          "2 of 2000 draws are beyond the axis, from -1000000 to 1000000."));
}

TEST_CASE("every draw is counted once in a histogram") {
  for (auto values :
       {normals(1000, 1).values,
        std::vector<double>{0, 1, 1, 5},
        {0.5, 1e300, -1e300},
        {5e-324, 0},
        {1e9, 1e9 + 0.1}}) {
    std::ranges::sort(values);
    auto const h = report::writing::histogram_of(values);
    std::size_t all = h.below + h.above;
    for (std::size_t const n : h.counts) all += n;
    CHECK(all == values.size());
    CHECK(h.counts.size() <= 60);
  }
}

TEST_CASE("a trace has a line for each chain, and a legend") {
  std::string const html = report::trace{"mu", normals(500, 3)}.html();
  CHECK(count(html, " line fine\"") == 3);
  CHECK(count(html, "<span class=\"key") == 3);
  CHECK(has(html, "<title>chain 3</title>"));
  CHECK(has(report::trace{"mu", normals(4, 40)}.html(), "Of 40 chains, the first 16 are drawn."));
}

TEST_CASE("figures do not grow with the draws") {
  for (std::size_t const length : {10000u, 100000u}) {
    chain_values const draws = normals(length, 4);
    CHECK(report::trace{"x", draws}.html().size() < 40'000);
    CHECK(report::posterior{"x", draws}.html().size() < 10'000);
    report::plot const p{
        .title = "p",
        .series = {
            {"points", report::mark::points, draws.values, draws.values},
            {"line", report::mark::line, draws.values, draws.values}}};
    CHECK(p.html().size() < 70'000);
    CHECK(has(p.html(), "2000 of " + std::to_string(4 * length) + " points are drawn."));
  }
  CHECK(report::trace{"x", normals(2, 5000)}.html().size() < 40'000);
}

TEST_CASE("a thinned line keeps its ends and its extremes") {
  std::vector<report::writing::point> points;
  for (int i = 0; i < 1000; ++i) points.push_back({static_cast<double>(i), i == 617 ? 50.0 : i % 7 * 0.1});
  auto const kept = report::writing::thinned(points, 100);
  CHECK(kept.size() <= 100);
  CHECK(std::ranges::any_of(kept, [](auto p) { return p.x == 617; }));
  CHECK(std::ranges::is_sorted(kept, {}, &report::writing::point::x));
  CHECK(report::writing::thinned(points, 1000).size() == 1000);
}

TEST_CASE("a plot has points, a line and a band") {
  report::plot const p{
      .title = "fit",
      .x = "day",
      .y = "ms",
      .series = {
          {"seen", report::mark::points, {0, 1, 2}, {5, 6, 7}},
          {"mean", report::mark::line, {0, 2}, {5, 7}},
          {"sure", report::mark::band, {0, 2}, {4, 6}, {6, 8}, 1}}};
  std::string const html = p.html();
  CHECK(html.find("c1 band") < html.find("c1 line"));
  CHECK(html.find("c1 line") < html.find("c0 dots"));
  CHECK(count(html, "<span class=\"key") == 3);
  CHECK(has(html, ">day</text>"));
  CHECK(has(html, ">ms</text>"));
}

TEST_CASE("bars have their ratio to the first one") {
  std::string const html =
      report::bars{
          .title = "times",
          .unit = "µs",
          .ways = {"full", "incremental"},
          .rows = {{"one", {120, 4}}, {"all", {100, 130}}, {"odd", {nan, -1}}}}
          .html();
  CHECK(has(html, ">4 µs   30 times less</text>"));
  CHECK(has(html, ">130 µs   1.3 times more</text>"));
  CHECK(has(html, ">not defined µs</text>"));
  CHECK(has(html, ">-1 µs</text>"));
  CHECK(count(html, "<rect") == 6);
}

TEST_CASE("intervals have a line, a dot, and a ring for the observation") {
  std::string const html =
      report::intervals{.title = "effects", .rows = {{"A", 1, 2, 3, 5}, {"B", 0, 1, 2}, {"C", nan, 1, 2}}}
          .html();
  CHECK(count(html, "c0 span") == 2);
  CHECK(count(html, "middle-dot") == 2);
  CHECK(count(html, "<rect class=\"c1 ring\"") == 1);
  CHECK(count(html, ">not defined</text>") == 1);
}

TEST_CASE("a column of numbers is right-aligned") {
  std::string const html =
      report::table{.title = "t", .heads = {"a", "b"}, .rows = {{"x", "-1.5"}, {"2", "not defined"}}}.html();
  CHECK(has(html, "<th>a</th><th class=\"number\">b</th>"));
  CHECK(has(html, "<td>x</td><td class=\"number\">-1.5</td>"));
}

TEST_CASE("a listing keeps lines and spaces") {
  std::string const html = report::listing{.title = "t", .text = "f(x) {\n  x < 1\n}"}.html();
  CHECK(has(html, "<pre>f(x) {\n  x &lt; 1\n}\n</pre>"));
}

TEST_CASE("long tables and lists are truncated, with a note") {
  report::table t{.title = "t", .heads = {"a"}};
  t.rows.assign(501, {"x"});
  CHECK(count(t.html(), "<td>") == 500);
  CHECK(has(t.html(), "Of 501 rows, the first 500 are shown."));
}

TEST_CASE("diagnostics are the summary's rows and warnings") {
  overdub::inference::draws d({"mu"}, 2);
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  for (std::size_t c = 0; c < 2; ++c)
    for (int i = 0; i < 1000; ++i) {
      double const energy = normal(random);
      d.append(c, {.log_density = -energy, .energy = energy}, std::vector<double>{normal(random)});
    }
  std::string const well = report::diagnostics{"found", overdub::inference::summary(d)}.html();
  CHECK(has(well, "<td>mu</td>"));
  CHECK(
      has(well, "No warnings: no divergences in 2000 transitions; R-hat, effective sample sizes and E-BFMI "
                "are within"));
  d.append(0, {.divergent = true}, std::vector<double>{0.0});
  d.append(1, {}, std::vector<double>{0.0});
  std::string const warned = report::diagnostics{"found", overdub::inference::summary(d)}.html();
  CHECK(has(warned, "1 of 2002 transitions ended in divergences"));
  CHECK_FALSE(has(warned, "No warnings"));
  overdub::inference::draws moved({"mu"}, 2); // draws of moves, which have no energies
  for (std::size_t c = 0; c < 2; ++c)
    for (int i = 0; i < 1000; ++i)
      moved.append(c, {.log_density = normal(random)}, std::vector<double>{normal(random)});
  CHECK(
      has(report::diagnostics{"found", overdub::inference::summary(moved)}.html(),
          "No warnings (2000 transitions): R-hat and effective sample sizes are within"));
}

TEST_CASE("inconsistent blocks are rejected with a diagnostic") {
  using report::mark;
  CHECK(message_of([] {
          return report::plot{.title = "p", .series = {{"s", mark::line, {1, 2}, {1}}}}.html();
        }) == "overdub: the series \"s\" of the plot \"p\" has 2 x and 1 y: each point has both");
  CHECK(
      message_of([] {
        return report::plot{.title = "p", .series = {{"s", mark::band, {1}, {1}}}}.html();
      }) == "overdub: the band \"s\" of the plot \"p\" has 1 numbers y, where it begins, and 0 high, where "
            "it ends");
  CHECK(message_of([] {
          return report::table{"t", {"a", "b"}, {{"1", "2"}, {"1"}}}.html();
        }) == "overdub: row 2 of the table \"t\" has 1 cells below 2 heads");
  CHECK(message_of([] {
          return report::bars{"b", "s", {"x"}, {{"r", {1, 2}}}}.html();
        }) == "overdub: the row \"r\" of the bars \"b\" has 2 values for 1 ways");
}

} // namespace
