// Common parts of the demo: settings, the clock, the executor, and functions of draws.
#pragma once

#include <overdub/compile/options.hpp>
#include <overdub/inference/draws.hpp>
#include <overdub/inference/summary.hpp>
#include <overdub/report.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace demo {

namespace od = overdub;
namespace inference = overdub::inference;
namespace report = overdub::report;

/// The length of chains, as a fraction of the full length.
struct settings {
  double length = 1;
  std::size_t of(std::size_t transitions) const {
    auto const n = static_cast<std::size_t>(length * static_cast<double>(transitions));
    return n < 20 ? 20 : n;
  }
};

/// The page of the report, and a table of the programs that overdub compiled for it.
struct page {
  report::document document;
  report::table programs{
      .title = "Programs", .heads = {"model", "programs made", "of them for updates", "updates they follow"}};
};

/// Fit a model, print a short result, and add a section to the page.
void fit_schools(settings const& s, page& to);
void fit_eruptions(settings const& s, page& to);
void fit_sleepers(settings const& s, page& to);

/// Options for machine code if overdub::jit is available, or else for the interpreter; and the name of the executor.
od::compile_options programs_run();
std::string how_programs_run();

/// The result of f, and its time in seconds.
template <class F>
auto timed(F const& f) {
  auto const begin = std::chrono::steady_clock::now();
  auto found = f();
  return std::pair(
      std::move(found), std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
}

/// The columns of a table in examples/data; words are numbered from 0 in order of appearance.
std::vector<std::vector<double>> columns_of(std::string const& table);
/// The source text of a model in models.hpp.
std::string source_of(std::string const& model);

/// The diagnostics of draws, in short.
std::string verdict(inference::summary const& s);
/// Whether all draws are equal, to the bit.
bool same_draws(inference::draws const& a, inference::draws const& b);
/// The index of a variable of draws. Throws std::runtime_error if there is none.
std::size_t place_of(inference::draws const& d, std::string const& name);
/// Draws of some of the variables.
inference::draws picked(inference::draws const& from, std::vector<std::string> const& names);
/// Draws of derived variables: f(values, out) computes them for each draw.
template <class F>
inference::draws derived(inference::draws const& from, std::vector<std::string> names, F const& f) {
  inference::draws to(std::move(names), from.chains());
  for (std::size_t c = 0; c < from.chains(); ++c) {
    to.record(c) = from.record(c);
    for (std::size_t i = 0; i < from.size(c); ++i) f(from.values(c, i), to.append(c, from.statistics(c, i)));
  }
  return to;
}

/// The posterior of a curve at x: its median, and a band from 5 to 95 %. f(values, x) is its height.
template <class F>
std::vector<report::series>
curve(inference::draws const& d, std::vector<double> const& x, std::size_t colour, F const& f) {
  report::series line{"median", report::mark::line, x, {}, {}, colour};
  report::series band{"5 % to 95 %", report::mark::band, x, {}, {}, colour};
  std::size_t const step = d.size() / 1000 + 1;
  for (double const at : x) {
    std::vector<double> heights;
    for (std::size_t c = 0; c < d.chains(); ++c)
      for (std::size_t i = 0; i < d.size(c); i += step) heights.push_back(f(d.values(c, i), at));
    std::ranges::sort(heights);
    auto const quantile = [&](double p) {
      return heights[static_cast<std::size_t>(p * static_cast<double>(heights.size() - 1) + 0.5)];
    };
    line.y.push_back(quantile(0.5));
    band.y.push_back(quantile(0.05));
    band.high.push_back(quantile(0.95));
  }
  return {band, line};
}

} // namespace demo
