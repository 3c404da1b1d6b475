// Writes two reports with every kind of block into the current folder: fair.html with ordinary draws, and hostile.html with texts and
// numbers that may break a page. browser.py opens them.
#include <overdub/report.hpp>

#include <cmath>
#include <cstdio>
#include <exception>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace {

namespace report = overdub::report;
namespace inference = overdub::inference;

constexpr double nan = std::numeric_limits<double>::quiet_NaN(),
                 infinity = std::numeric_limits<double>::infinity();
constexpr auto hostile_text = "</title></svg><script>document.title='hit'</script><img src=x "
                              "onerror=\"document.title='hit'\">'\"&amp;\x01\xff\\";

// Draws of autoregressive variables with the coefficient `persistence`.
inference::draws draws_of(std::vector<std::string> const& names, std::size_t length, double persistence) {
  inference::draws d(names, 4);
  for (unsigned c = 0; c < 4; ++c) {
    std::mt19937 random(c + 1);
    std::normal_distribution<double> normal;
    std::vector<double> now(names.size());
    for (std::size_t i = 0; i < length; ++i) {
      double const energy = normal(random);
      auto const values = d.append(c, {.log_density = -energy * energy, .energy = energy});
      for (std::size_t v = 0; v < names.size(); ++v) {
        now[v] = persistence * now[v] + std::sqrt(1 - persistence * persistence) * normal(random);
        values[v] = v == 1 ? std::exp(0.6 * now[v] + 1.2) : 3 * now[v] + 4 + static_cast<double>(v);
      }
    }
  }
  return d;
}

report::plot regression(report::share width, unsigned seed, std::string const& title) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  report::series seen{"measured", report::mark::points, {}, {}};
  report::series mean{"posterior mean", report::mark::line, {}, {}};
  report::series sure{"5 % to 95 %", report::mark::band, {}, {}, {}, 1};
  for (double day = 0; day <= 9; ++day) {
    double const line = 250 + (6 + seed % 9) * day;
    seen.x.push_back(day), seen.y.push_back(line + 14 * normal(random));
    mean.x.push_back(day), mean.y.push_back(line);
    sure.x.push_back(day), sure.y.push_back(line - 12 - day), sure.high.push_back(line + 12 + day);
  }
  bool const small = width == report::share::quarter;
  return {
      .title = title,
      .x = small ? "" : "day",
      .y = small ? "" : "reaction time in ms",
      .series = {seen, mean, sure},
      .width = width,
      .y_shown = {220, 410}};
}

report::graph dependence(report::direction where) {
  report::graph g{
      .title = "What a move of one assignment affects",
      .nodes = {{"mu1", "mu[1]"}, {"mu2", "mu[2]"}, {"pi", "pi"}, {"total", "log density", true}},
      .direction = where};
  for (int i = 1; i <= 6; ++i) {
    std::string const n = std::to_string(i);
    bool const moved = i == 3;
    g.nodes.push_back({"z" + n, "z[" + n + "]", moved});
    g.nodes.push_back({"y" + n, "normal(y[" + n + "])", moved});
    for (auto const& from : {"mu1", "mu2", "pi"}) g.edges.push_back({from, "y" + n});
    g.edges.push_back({"z" + n, "y" + n});
    g.edges.push_back({"y" + n, "total"});
  }
  return g;
}

report::document fair() {
  report::document page(
      "Three models, fitted",
      "Every number below was drawn by this program; pictures are of the same draws as the tables.");
  inference::draws const d = draws_of({"mu", "tau", "theta.1"}, 2500, 0.4);
  report::section schools("Eight schools");
  schools
      .say("What does coaching do to the results of a test? Eight schools measured it, each with an error of "
           "its own.")
      .add(report::diagnostics{"What was found", inference::summary(d)});
  for (auto const* name : {"mu", "tau"})
    schools.add(report::posterior{std::string(name) + ", distribution", d.column(name)})
        .add(report::trace{std::string(name) + ", chains", d.column(name)});
  report::intervals effects{.title = "Effects of the schools", .x = "points"};
  char school = 'A';
  for (double const effect : {28, 8, -3, 7, -1, 1, 18, 12}) {
    double const pulled = 8 + 0.35 * (effect - 8);
    effects.rows.push_back({std::string("school ") + school++, pulled - 10, pulled, pulled + 11, effect});
  }
  schools.add(effects);
  report::posterior counts{"Schools above the mean", {{}, 1}};
  std::mt19937 random(7);
  std::binomial_distribution<int> binomial(8, 0.55);
  for (int i = 0; i < 4000; ++i) counts.draws.values.push_back(binomial(random));
  schools.add(counts);

  report::section mixture("Old Faithful, a mixture");
  mixture.add(report::bars{
      .title = "Time of one update",
      .unit = "µs",
      .ways = {"full re-execution", "incremental"},
      .rows = {
          {"one assignment moves", {182, 1.7}}, {"a mean moves", {182, 61}}, {"all change", {182, 203}}}});
  mixture.add(dependence(report::direction::right));
  mixture.add(
      report::listing{"What ran", "%96 = map: one iteration\n%124 = reduce: updated by the difference\n"});

  report::section sleep("Sleep, a hierarchical regression");
  sleep.add(regression(report::share::half, 3, "Subject 308"));
  sleep.add(regression(report::share::half, 8, "Subject 309"));
  for (unsigned i = 0; i < 4; ++i)
    sleep.add(regression(report::share::quarter, i, "Subject " + std::to_string(330 + i)));
  sleep.add(report::table{
      .title = "Subjects",
      .heads = {"subject", "intercept", "slope"},
      .rows = {{"308", "253.7", "19.7"}, {"309", "211.0", "-1.8"}}});
  return page.add(schools).add(mixture).add(sleep);
}

report::document hostile() {
  report::document page(hostile_text, hostile_text);
  report::section texts(hostile_text);
  texts.say(hostile_text)
      .add(report::table{hostile_text, {hostile_text, "n"}, {{hostile_text, "1"}, {"", "nan"}}, hostile_text})
      .add(report::listing{hostile_text, hostile_text})
      .add(report::intervals{
          hostile_text, hostile_text, {{hostile_text, 1, 2, 3, 2.5}, {"none", nan, 1, infinity}}})
      .add(report::bars{
          hostile_text, hostile_text, {hostile_text, "b"}, {{hostile_text, {1, nan}}, {"r", {-1, infinity}}}})
      .add(report::plot{
          .title = hostile_text,
          .x = hostile_text,
          .y = hostile_text,
          .series =
              {{hostile_text, report::mark::points, {1, 2, nan, 4}, {1, infinity, 3, 1e300}},
               {"line", report::mark::line, {1, 2, 3}, {-1e300, nan, 1e300}}}})
      .add(report::graph{
          .title = hostile_text,
          .nodes = {{hostile_text, hostile_text, true}, {"\\N\\G", "\\N\\G"}, {"<b>", "{a|b}"}, {"", ""}},
          .edges = {{hostile_text, "\\N\\G"}, {"\\N\\G", "<b>"}, {"", ""}, {"", ""}}})
      .add(dependence(report::direction::down));

  report::section numbers("Numbers");
  std::vector<double> far(4000, 0.0), large;
  std::mt19937 random(1);
  std::cauchy_distribution<double> cauchy;
  for (double& x : far) x = cauchy(random);
  far[3] = nan;
  far[4] = -infinity;
  for (int i = 0; i < 200; ++i) large.push_back(1e9 + 1e-3 * i);
  using values = inference::chain_values;
  for (auto const& [name, v] :
       {std::pair{"none", values{{}, 0}}, std::pair{"no draws", values{{}, 4}},
        std::pair{"one", values{{1.5}, 1}}, std::pair{"constant", values{std::vector<double>(100, 2.5), 4}},
        std::pair{"nothing finite", values{{nan, infinity, nan, -infinity}, 2}},
        std::pair{"two values", values{{0, 1, 1, 0}, 2}}, std::pair{"far", values{far, 4}},
        std::pair{"large and near", values{large, 2}},
        std::pair{"extreme", values{{-1e308, 1e300, -1e300, 5e-324}, 1}},
        std::pair{"tiny", values{{5e-324, 1e-323, 0, 5e-324}, 1}}})
    numbers.add(report::posterior{name, v}).add(report::trace{name, v});
  return page.add(texts).add(numbers);
}

} // namespace

int main() {
  try {
    fair().write("fair.html");
    hostile().write("hostile.html");
  } catch (std::exception const& e) {
    std::printf("%s\n", e.what());
    return 1;
  }
}
