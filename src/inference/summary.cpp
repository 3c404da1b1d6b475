#include <overdub/core/floating_point.hpp>
#include <overdub/implementation/ir/parse/spelling.hpp>
#include <overdub/inference/summary.hpp>
#include <overdub/io/number_text.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace overdub::inference {

namespace summarising {

template <class R, class F>
std::size_t count(R const& range, F const& holds) {
  return static_cast<std::size_t>(std::ranges::count_if(range, holds));
}

inline summary::row row_of(std::string const& name, chain_values const& x) {
  summary::row r{.name = name};
  r.mean = r.sd = r.mcse = r.q5 = r.median = r.q95 = r.rhat = r.ess_bulk = r.ess_tail = diagnosing::none;
  if (x.values.size() == 1) r.mean = r.q5 = r.median = r.q95 = x.values.front();
  if (x.values.size() < 2) return r;
  std::vector<double> sorted = x.values;
  if (std::ranges::any_of(sorted, [](double v) { return overdub::is_nan(v); })) // quantiles are not defined
    std::ranges::fill(sorted, diagnosing::none);
  std::ranges::sort(sorted);
  r.mean = diagnosing::mean(x.values);
  r.sd = diagnosing::standard_deviation(x.values);
  r.mcse = mcse_mean(x);
  r.q5 = diagnosing::quantile_of_sorted(sorted, 0.05);
  r.median = diagnosing::quantile_of_sorted(sorted, 0.5);
  r.q95 = diagnosing::quantile_of_sorted(sorted, 0.95);
  r.rhat = rhat(x);
  r.ess_bulk = ess_bulk(x);
  r.ess_tail = ess_tail(x);
  return r;
}

} // namespace summarising

summary::summary(draws const& of) {
  chain_values const log_density = of.column("lp__");
  rows_.push_back(summarising::row_of("lp__", log_density));
  for (std::string const& name : of.names()) rows_.push_back(summarising::row_of(name, of.column(name)));
  chains_ = log_density.chains;
  length_ = log_density.length();
  for (std::size_t c = 0; c < of.chains(); ++c) {
    lengths_.push_back(of.size(c));
    transition_totals const totals = of.totals(c);
    transitions_ += totals.transitions();
    divergences_ += totals.divergences();
    saturations_ += totals.saturations();
    undefined_ += totals.undefined();
    has_energies_ = has_energies_ || totals.energetic();
    if (undefined_point_.empty()) undefined_point_ = of.record(c).undefined_point;
    ebfmi_.push_back(totals.energy_fraction());
    undefined_fractions_ +=
        overdub::is_nan(ebfmi_.back()) && (totals.energetic() || totals.transitions() == 0);
  }
  if (!has_energies_)
    undefined_fractions_ = 0; // chains without transitions are those of a kernel without energies
}

summary::row const& summary::operator[](std::string_view name) const {
  auto const r = std::ranges::find(rows_, csv_name(name), &row::name);
  if (r == rows_.end()) throw_missing(name);
  return *r;
}

void summary::throw_missing(std::string_view name) const {
  std::string const own = csv_name(name);
  ir::detail::nearest_word nearest(own);
  for (row const& each : rows_) nearest.try_word(each.name);
  bool const has_zero = name.find("[0]") != name.npos;
  throw inference_error(message(
      "overdub: the summary has no variable %.*s: `rows()` lists them%s%s", static_cast<int>(name.size()),
      name.data(), has_zero ? "; the first of an array is [1] here, as in Stan" : "",
      has_zero ? "" : nearest.suggestion().c_str()));
}

std::vector<std::string> summary::warnings() const {
  std::vector<std::string> all;
  auto const text = [](std::size_t n) { return std::to_string(n); };
  if (auto const n = summarising::count(lengths_, [&](std::size_t l) { return l != length_; }); n > 0)
    all.push_back(
        "chains have from " + text(std::ranges::min(lengths_)) + " to " + text(std::ranges::max(lengths_)) +
        " draws: the table is of the first " + text(length_) + " of " + text(chains_) + " of " +
        text(lengths_.size()) + " chains");
  if (undefined_ > 0)
    all.push_back(
        text(undefined_) + " of " + text(transitions_) +
        " transitions met a log density that is NaN, and did not go there: " + undefined_point_);
  if (std::size_t const curved = divergences_ - std::min(divergences_, undefined_); curved > 0)
    all.push_back(
        text(curved) + " of " + text(transitions_) +
        " transitions ended in divergences: the target has places that are too curved for the step size");
  if (saturations_ > 0)
    all.push_back(
        text(saturations_) + " of " + text(transitions_) +
        " transitions doubled as often as max_depth allows: their trajectories were cut short" +
        (saturations_ > transitions_ / 2 ? ", or the gradient is not that of the log density" : ""));
  auto const warn = [&](char const* what, char const* why, auto const& holds) {
    if (auto const n = summarising::count(rows_, [&](row const& r) { return r.sd != 0 && holds(r); }); n > 0)
      all.push_back(what + text(n) + " of " + text(rows_.size()) + " variables: " + why);
  };
  warn("R-hat is over 1.01 for ", "the chains do not agree", [](row const& r) { return r.rhat > 1.01; });
  double const enough = 100 * static_cast<double>(chains_);
  warn("the effective sample size is below 100 a chain for ", "more draws are needed", [&](row const& r) {
    return r.ess_bulk < enough || r.ess_tail < enough;
  });
  warn(
      "R-hat or the effective sample size is not defined for ", "draws are few, or not finite",
      [](row const& r) { return overdub::is_nan(r.rhat) || overdub::is_nan(r.ess_bulk); });
  if (auto const n = summarising::count(ebfmi_, [](double e) { return e < 0.3; }); n > 0)
    all.push_back(
        "E-BFMI is below 0.3 in " + text(n) + " of " + text(ebfmi_.size()) +
        " chains: the tails are not explored");
  if (undefined_fractions_ > 0)
    all.push_back(
        "E-BFMI is not defined in " + text(undefined_fractions_) + " of " + text(ebfmi_.size()) +
        " chains: transitions are few, or thinned in a file, or of one energy");
  return all;
}

std::ostream& operator<<(std::ostream& out, summary const& s) {
  static constexpr std::array<char const*, 9> heads = {"mean", "mcse",  "sd",       "5%",      "50%",
                                                       "95%",  "R-hat", "ESS bulk", "ESS tail"};
  std::size_t width = 0;
  for (summary::row const& r : s.rows()) width = std::max(width, r.name.size());
  out << std::string(width, ' ');
  for (char const* head : heads) out << ' ' << io::right_aligned(head, 10);
  out << '\n';
  for (summary::row const& r : s.rows()) {
    out << r.name << std::string(width - r.name.size(), ' ');
    auto const cell = [&](double v, io::number_form const& form) {
      // The sign of a NaN is unspecified.
      out << ' ' << io::right_aligned(overdub::is_nan(v) ? "nan" : io::number_text(v, form), 10);
    };
    for (double const v : {r.mean, r.mcse, r.sd, r.q5, r.median, r.q95}) cell(v, io::significant(4));
    cell(r.rhat, io::decimals(3));
    for (double const v : {r.ess_bulk, r.ess_tail}) cell(v, io::decimals(0));
    out << '\n';
  }
  for (std::string const& w : s.warnings()) out << w << '\n';
  return out;
}

} // namespace overdub::inference
