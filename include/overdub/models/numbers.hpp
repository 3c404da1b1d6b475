// The choices of a trace as a row of named numbers, for tables and files of draws.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/models/trace.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace overdub::models {

/// The layout of a row of numbers: all choices of some sites, in the order of the program, each site in row-major order. Names are Stan's,
/// whose indices count from 1: theta[1], theta[2]; school/theta[1] is school.theta[1]. Bools are 0 and 1. A choice that was not made is
/// NaN.
class number_row {
public:
  /// Has the sites that are selected as a whole. Throws model_error for a site whose number of choices or elements varies between traces.
  number_row(trace const& like, selection const& of);

  std::size_t size() const { return names_.size(); }
  std::vector<std::string> const& names() const { return names_; }

  /// Writes the numbers of a trace or of a mutable trace, whose sites have the shapes of `like`. An integer over 2^53 is rounded to the
  /// nearest double.
  template <class Trace>
  void write(
      Trace const& t, std::span<double> out, double absent = std::numeric_limits<double>::quiet_NaN()) const {
    for (one_site const& s : sites_)
      out = write_site(s, t.values(s.number), s.is_conditional ? t.presence(s.number) : datum(), out, absent);
  }
  std::vector<double> of(trace const& t) const;
  /// The choices of a row. Throws model_error where the number of an integer or bool choice is none.
  choice_map choices(std::span<double const> row) const;

private:
  struct one_site {
    std::uint32_t number;
    std::string address;
    ir::type type;
    datum::extents shape;
    bool is_conditional;
  };
  static std::size_t count(one_site const& s);
  // Writes the numbers of a site, and returns the rest of the row.
  static std::span<double>
  write_site(one_site const& s, datum const& x, datum const& made, std::span<double> out, double absent);
  void add_names(std::string address, datum::extents const& shape);

  std::vector<one_site> sites_;
  std::vector<std::string> names_;
};

} // namespace overdub::models
