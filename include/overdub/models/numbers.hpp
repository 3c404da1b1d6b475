// The choices of a trace as a row of named numbers, for tables and files of draws.
#pragma once

#include <overdub/core/floating_point.hpp>
#include <overdub/core/library.hpp>
#include <overdub/models/trace.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
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
    std::size_t next = 0;
    for (one_site const& s : sites_) {
      std::span<double> const own = out.subspan(next, count(s));
      next += own.size();
      datum const x = t.values(s.number);
      if (s.type.rank == 0)
        own[0] = number(x);
      else
        execute::with_type(s.type.element, [&]<class T>(T) {
          std::ranges::transform(x.elements<T>(), own.begin(), [](T e) { return static_cast<double>(e); });
        });
      if (s.is_conditional) write_absent(t.presence(s.number), own, absent);
    }
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
  static void write_absent(datum const& made, std::span<double> out, double absent);
  template <class T>
  static T choice(one_site const& s, double x) {
    if constexpr (std::is_integral_v<T>)
      if (!(std::abs(x) <= 0x1p53) || x != std::trunc(x) || (std::is_same_v<T, bool> && x != 0 && x != 1))
        throw model_error(message(
            "overdub: %g stands for a choice \"%s\", and is no such %s", x, s.address.c_str(),
            std::is_same_v<T, bool> ? "bool" : "integer"));
    return static_cast<T>(x);
  }
  static double number(datum const& x);
  void add_names(std::string address, datum::extents const& shape);

  std::vector<one_site> sites_;
  std::vector<std::string> names_;
};

} // namespace overdub::models
