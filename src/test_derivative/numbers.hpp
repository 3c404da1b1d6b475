// The differentiable numbers of lists of data as one vector of doubles, and derivatives by finite differences.
#pragma once

#include <overdub/core/floating_point.hpp>
#include <overdub/execute/datum.hpp>
#include <overdub/ir/derivative.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace overdub::oracle {

using vector = std::vector<double>;

template <class T>
void append_numbers(vector& all, datum const& d) {
  if (d.type().rank == 0)
    all.push_back(static_cast<double>(d.as<T>()));
  else
    for (T const x : d.elements<T>()) all.push_back(static_cast<double>(x));
}
inline vector numbers_of(std::vector<datum> const& data) {
  vector all;
  for (datum const& d : data) {
    if (d.type().element == ir::scalar::f64) append_numbers<double>(all, d);
    if (d.type().element == ir::scalar::f32) append_numbers<float>(all, d);
  }
  return all;
}

template <class T>
datum with_numbers(datum const& like, vector const& all, std::size_t& next) {
  if (like.type().rank == 0) return datum(static_cast<T>(all.at(next++)));
  std::vector<T> elements;
  for (i64 i = 0; i < like.size(); ++i) elements.push_back(static_cast<T>(all.at(next++)));
  return datum::of(like.shape(), array<T>::copy_of(elements));
}
/// Data of the same types and shapes with other differentiable numbers.
inline std::vector<datum> with_numbers(std::vector<datum> const& like, vector const& all) {
  std::vector<datum> data;
  std::size_t next = 0;
  for (datum const& d : like) {
    if (d.type().element == ir::scalar::f64)
      data.push_back(with_numbers<double>(d, all, next));
    else if (d.type().element == ir::scalar::f32)
      data.push_back(with_numbers<float>(d, all, next));
    else
      data.push_back(d);
  }
  return data;
}
/// The text of the position of a number: the index of its datum, and its index in the datum.
inline std::string place_of(std::vector<datum> const& data, std::size_t number) {
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (!ir::is_differentiable(data[i].type())) continue;
    auto const size = static_cast<std::size_t>(data[i].size());
    if (number < size)
      return std::to_string(i) + (data[i].type().rank == 0 ? "" : ", element " + std::to_string(number));
    number -= size;
  }
  return "?";
}

/// A derivative by finite differences, and an estimate of its error.
struct estimate {
  double value = std::numeric_limits<double>::quiet_NaN();
  double error = std::numeric_limits<double>::infinity();
};

/// The derivatives of g at 0, by central differences that are extrapolated to the step size 0 (Ridders, Accurate computation of F'(x) and
/// F'(x) F''(x), 1982). Steps whose differences are not finite are ignored.
inline std::vector<estimate> differences(std::function<vector(double)> const& g, double first_step) {
  constexpr std::size_t steps = 12;
  constexpr double shrinks = 1.6;
  std::vector<estimate> all;
  std::vector<std::array<std::array<double, steps>, 2>> rows;
  std::vector<std::size_t> used;
  double h = first_step;
  for (std::size_t step = 0; step < steps; ++step, h /= shrinks) {
    vector const above = g(h), below = g(-h);
    all.resize(above.size());
    rows.resize(above.size());
    used.resize(above.size());
    for (std::size_t k = 0; k < above.size() && k < below.size(); ++k) {
      auto& [before, now] = rows[k];
      now[0] = (above[k] - below[k]) / (2 * h);
      if (!overdub::is_finite(now[0])) {
        used[k] = 0;
        continue;
      }
      double factor = 1;
      for (std::size_t j = 1; j <= used[k]; ++j) {
        factor *= shrinks * shrinks;
        now[j] = (now[j - 1] * factor - before[j - 1]) / (factor - 1);
        double const error = std::max(std::abs(now[j] - now[j - 1]), std::abs(now[j] - before[j - 1]));
        if (error <= all[k].error) all[k] = {now[j], error};
      }
      std::swap(before, now);
      ++used[k];
    }
  }
  return all;
}

} // namespace overdub::oracle
