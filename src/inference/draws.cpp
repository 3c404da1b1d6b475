#include <overdub/inference/draws.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace overdub::inference {

std::array<double, 7> columns_of(sampler_statistics const& s) {
  return {
      s.log_density,
      s.accept_statistic,
      s.step_size,
      static_cast<double>(s.tree_depth),
      static_cast<double>(s.leapfrog_steps),
      s.divergent ? 1.0 : 0.0,
      s.energy};
}

std::string csv_name(std::string_view name) {
  std::string const whole(name);
  std::size_t i = name.find('[');
  if (i == std::string_view::npos || i == 0) return whole;
  std::string mapped(name.substr(0, i));
  while (i < name.size()) {
    if (name[i] != '[') return whole;
    do {
      ++i; // [ or a comma
      while (i < name.size() && name[i] == ' ') ++i;
      std::size_t const first = i;
      while (i < name.size() && name[i] >= '0' && name[i] <= '9') ++i;
      if (i == first || i == name.size()) return whole;
      mapped.append(".").append(name.substr(first, i - first));
    } while (name[i] == ',');
    if (name[i] != ']') return whole;
    ++i;
  }
  return mapped;
}

std::vector<std::string> checked_names(std::vector<std::string> names) {
  for (std::string& name : names) {
    name = csv_name(name);
    if (name.empty()) throw inference_error(message("overdub: a variable has no name: give it one"));
    if (std::string const text = detail::as_utf8(name); text != name)
      throw inference_error(message(
          "overdub: the name of the variable \"%.100s\" is no UTF-8: other programs could not read it",
          text.c_str()));
    if (name.front() == ' ' || name.back() == ' ' || std::ranges::any_of(name, [](char c) {
          return c == ',' || c == '"' || c == '#' || static_cast<unsigned char>(c) < ' ' || c == 127;
        }))
      throw inference_error(message(
          "overdub: the variable \"%.100s\" could not be read from a file of draws: a name has no comma, "
          "quote, # or control character, and no space at its ends",
          name.c_str()));
    if (std::ranges::find(sampler_columns, name) != sampler_columns.end())
      throw inference_error(message(
          "overdub: the variable %s has the name of one of the sampler's columns: give it another",
          name.c_str()));
  }
  std::vector<std::string_view> sorted(names.begin(), names.end());
  std::ranges::sort(sorted);
  if (auto const twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
    throw inference_error(message(
        "overdub: two variables are called %.100s: give each a name of its own",
        std::string(*twice).c_str()));
  return names;
}

void transition_totals::add(sampler_statistics const& s, bool is_next) {
  ++transitions_;
  divergences_ += s.divergent;
  saturations_ += s.saturated;
  undefined_ += s.undefined;
  energetic_ = energetic_ || s.energy != 0;
  if (!is_next) return;
  if (energies_ > 0) steps_ += (s.energy - last_) * (s.energy - last_);
  last_ = s.energy;
  ++energies_;
  double const before = s.energy - mean_; // Welford's recurrence
  mean_ += before / static_cast<double>(energies_);
  squares_ += before * (s.energy - mean_);
}

draws::draws(std::vector<std::string> names, std::size_t chains)
    : names_(checked_names(std::move(names))), chains_((check_count("chains", chains), chains)) {
  for (std::size_t c = 0; c < chains; ++c) chains_[c].record.id = c + 1;
}

std::size_t draws::size() const {
  std::size_t all = 0;
  for (one_chain const& c : chains_) all += c.statistics.size();
  return all;
}

std::span<double> draws::append(std::size_t chain, sampler_statistics const& statistics) {
  one_chain& c = chains_[chain];
  std::size_t const offset = c.statistics.size() * variables();
  c.values.resize(offset + variables());
  c.statistics.push_back(statistics);
  return {c.values.data() + offset, variables()};
}

void draws::append(std::size_t chain, sampler_statistics const& statistics, std::span<double const> values) {
  if (values.size() != variables())
    throw inference_error(
        message("overdub: a draw of %zu numbers for %zu variables", values.size(), variables()));
  std::ranges::copy(values, append(chain, statistics).begin());
}

template <class F>
chain_values draws::collect(F const& value) const {
  std::vector<std::size_t> lengths;
  for (one_chain const& c : chains_) lengths.push_back(c.statistics.size());
  std::ranges::sort(lengths, std::greater<>());
  std::size_t length = 0, maximum = 0;
  for (std::size_t k = 0; k < lengths.size(); ++k)
    if (lengths[k] * (k + 1) > maximum) {
      maximum = lengths[k] * (k + 1);
      length = lengths[k];
    }
  chain_values result;
  if (length == 0) return result;
  result.values.reserve(maximum);
  for (std::size_t c = 0; c < chains(); ++c) {
    if (size(c) < length) continue;
    ++result.chains;
    for (std::size_t i = 0; i < length; ++i) result.values.push_back(value(c, i));
  }
  return result;
}

chain_values draws::column(std::string_view name) const {
  auto const own = std::ranges::find(names_, csv_name(name));
  if (own != names_.end()) {
    auto const v = static_cast<std::size_t>(own - names_.begin());
    return collect([&](std::size_t c, std::size_t i) { return values(c, i)[v]; });
  }
  auto const sampler = std::ranges::find(sampler_columns, name);
  if (sampler == sampler_columns.end())
    throw inference_error(message(
        "overdub: the draws have no variable %.*s: `names()` lists theirs", static_cast<int>(name.size()),
        name.data()));
  auto const v = static_cast<std::size_t>(sampler - sampler_columns.begin());
  return collect([&](std::size_t c, std::size_t i) { return columns_of(statistics(c, i))[v]; });
}

transition_totals draws::totals(std::size_t chain) const {
  one_chain const& c = chains_[chain];
  if (c.record.totals.transitions() > 0) return c.record.totals;
  transition_totals of_draws;
  for (sampler_statistics const& s : c.statistics) of_draws.add(s);
  return of_draws;
}

std::size_t draws::divergences() const {
  std::size_t count = 0;
  for (std::size_t c = 0; c < chains(); ++c) count += totals(c).divergences();
  return count;
}

} // namespace overdub::inference
