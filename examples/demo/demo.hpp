// What the parts of the demo share: the settings, the clock, how programs are run, and numbers of draws.
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

/// How long chains are: a part of what the page is made of.
struct settings {
  double length = 1;
  std::size_t of(std::size_t transitions) const {
    auto const n = static_cast<std::size_t>(length * static_cast<double>(transitions));
    return n < 20 ? 20 : n;
  }
};

/// The page, as the fits write it, and a table of what overdub made for them.
struct page {
  report::document document;
  report::table programs{
      .title = "Programs", .heads = {"model", "programs made", "of them for updates", "updates they follow"}};
};

/// Fit a model, say in short what was found, and write a section of the page.
void fit_schools(settings const& s, page& to);
void fit_eruptions(settings const& s, page& to);
void fit_sleepers(settings const& s, page& to);

/// As machine code where overdub::jit is there, and else by the interpreter; and what that is called.
od::compile_options programs_run();
std::string how_programs_run();

/// What f gives, and how many seconds it took.
template <class F>
auto timed(F const& f) {
  auto const begin = std::chrono::steady_clock::now();
  auto found = f();
  return std::pair(
      std::move(found), std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
}

/// The columns of a table of examples/data; words count from 0 in the order in which they come.
std::vector<std::vector<double>> columns_of(std::string const& table);
/// The text of a model in models.hpp, by its name.
std::string source_of(std::string const& model);

/// What there is to say of draws, in short.
std::string verdict(inference::summary const& s);
/// Whether all draws are the same, to the last bit.
bool same_draws(inference::draws const& a, inference::draws const& b);
/// Where a variable stands among those of draws. Throws std::runtime_error where it does not.
std::size_t place_of(inference::draws const& d, std::string const& name);
/// Draws of some of the variables.
inference::draws picked(inference::draws const& from, std::vector<std::string> const& names);
/// Draws of other variables: f(values, out) computes them of each draw.
template <class F>
inference::draws derived(inference::draws const& from, std::vector<std::string> names, F const& f) {
  inference::draws to(std::move(names), from.chains());
  for (std::size_t c = 0; c < from.chains(); ++c) {
    to.record(c) = from.record(c);
    for (std::size_t i = 0; i < from.size(c); ++i) f(from.values(c, i), to.append(c, from.statistics(c, i)));
  }
  return to;
}

/// A curve in all draws, at x: its median, and a band from 5 to 95 %. f(values, x) is its height.
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
