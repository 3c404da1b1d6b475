#include "demo.hpp"

#if DEMO_JIT
#include <overdub/jit/executor.hpp>
#endif

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace demo {
namespace {

std::ifstream opened(std::string const& path) {
  std::ifstream file(std::string(DEMO_EXAMPLES) + '/' + path);
  if (!file)
    throw std::runtime_error("the file " + std::string(DEMO_EXAMPLES) + '/' + path + " is not there");
  return file;
}

} // namespace

od::compile_options programs_run() {
#if DEMO_JIT
  return {.executor = od::jit::compiled(), .tiers = od::tiers::compile_now};
#else
  return {};
#endif
}
std::string how_programs_run() { return DEMO_JIT ? "machine code, by LLVM" : "overdub's interpreter"; }

std::vector<std::vector<double>> columns_of(std::string const& table) {
  std::ifstream file = opened("data/" + table + ".csv");
  std::vector<std::vector<double>> columns;
  std::map<std::string, double> words;
  bool heads = true;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#') || std::exchange(heads, false)) continue;
    std::istringstream cells(line);
    std::size_t c = 0;
    for (std::string cell; std::getline(cells, cell, ','); ++c) {
      if (c == columns.size()) columns.emplace_back();
      char* end = nullptr;
      double const x = std::strtod(cell.c_str(), &end);
      columns[c].push_back(
          *end == 0 ? x : words.emplace(cell, static_cast<double>(words.size())).first->second);
    }
  }
  return columns;
}

std::string source_of(std::string const& model) {
  std::ifstream file = opened("demo/models.hpp");
  std::string const all(std::istreambuf_iterator<char>(file), {});
  std::size_t const begin = all.find("inline constexpr auto " + model + " ");
  return all.substr(begin, all.find("\n});\n", begin) + 4 - begin);
}

std::string verdict(inference::summary const& s) {
  double rhat = 0, ess = INFINITY;
  for (auto const& row : s.rows()) {
    rhat = std::max(rhat, row.rhat);
    ess = std::min({ess, row.ess_bulk, row.ess_tail});
  }
  char text[160];
  std::snprintf(text, sizeof text, "R-hats up to %.3f, effective draws %.0f or more; ", rhat, ess);
  std::size_t const n = s.warnings().size();
  return text + (n == 0 ? "no warnings" : report::counted(n, "warning") + ", which the page has");
}

std::size_t place_of(inference::draws const& d, std::string const& name) {
  auto const found = std::ranges::find(d.names(), inference::csv_name(name));
  if (found == d.names().end()) throw std::runtime_error("there are no draws of " + name);
  return static_cast<std::size_t>(found - d.names().begin());
}

inference::draws picked(inference::draws const& from, std::vector<std::string> const& names) {
  std::vector<std::size_t> places;
  for (std::string const& name : names) places.push_back(place_of(from, name));
  return derived(from, names, [&](auto values, auto out) {
    for (std::size_t k = 0; k < places.size(); ++k) out[k] = values[places[k]];
  });
}

bool same_draws(inference::draws const& a, inference::draws const& b) {
  if (a.names() != b.names() || a.chains() != b.chains()) return false;
  for (std::size_t c = 0; c < a.chains(); ++c) {
    if (a.size(c) != b.size(c)) return false;
    for (std::size_t i = 0; i < a.size(c); ++i)
      if (!std::ranges::equal(a.values(c, i), b.values(c, i))) return false;
  }
  return true;
}

} // namespace demo
