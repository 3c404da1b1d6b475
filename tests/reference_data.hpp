// Tables of tests/data: a line of names, and rows of numbers.
#pragma once

#include <overdub/array/array.hpp>

#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace reference_data {

/// A column of a table, tests/data/name.csv from the project's root. Lines that begin with # are comments. Throws if there is none.
inline overdub::array<double> column(std::string const& table, std::string const& name) {
  std::ifstream file("tests/data/" + table + ".csv");
  if (!file)
    throw std::runtime_error("there is no tests/data/" + table + ".csv here; run this from the project's root");
  std::string line;
  while (std::getline(file, line) && line.starts_with('#')) {
  }
  auto const fields = [](std::string const& text) {
    std::vector<std::string> all;
    std::istringstream in(text);
    for (std::string field; std::getline(in, field, ',');) all.push_back(field);
    return all;
  };
  std::vector<std::string> const names = fields(line);
  std::size_t at = 0;
  while (at < names.size() && names[at] != name) ++at;
  if (at == names.size()) throw std::runtime_error("the table " + table + " has no column " + name);
  std::vector<double> values;
  while (std::getline(file, line)) values.push_back(std::stod(fields(line).at(at)));
  return overdub::array<double>::copy_of(values);
}

} // namespace reference_data
