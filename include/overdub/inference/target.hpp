// target: a log density on R^n with its gradient, which samplers accept. The header depends only on overdub's errors.
#pragma once

#include <overdub/core/error.hpp>
#include <overdub/core/library.hpp>

#include <concepts>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace overdub::inference {

/// Thrown if a target cannot be sampled, settings are invalid, or a file of draws cannot be written or read.
struct OVERDUB_EXPORTED inference_error : error {
  using error::error;
};

/// Throws inference_error for a setting that is a converted negative number, or greater than the maximum.
void check_count(
    char const* setting, std::size_t count, std::size_t maximum = std::numeric_limits<std::ptrdiff_t>::max());
void check_threads(unsigned threads);

/// A density on R^n: `t.dimension()` is n, and `t(q, gradient)` returns the logarithm of the density at q, up to a constant, and
/// writes its gradient; both spans have n elements. Samplers reject points where the log density or its gradient is not finite; this is not
/// an error. An exception ends the sampling, and propagates to the caller. One thread at a time calls a target.
template <class T>
concept target = requires(T& t, std::span<double const> q, std::span<double> gradient) {
  { std::as_const(t).dimension() } -> std::convertible_to<std::size_t>;
  { t(q, gradient) } -> std::convertible_to<double>;
};

/// A target that defines the numbers of a draw, for example the parameters on their supports: `t.names()` are the names of the numbers
/// that `t.report(q, out)` writes.
template <class T>
concept reporting_target = target<T> && requires(T& t, std::span<double const> q, std::span<double> out) {
  { std::as_const(t).names() } -> std::convertible_to<std::vector<std::string>>;
  t.report(q, out);
};

/// The names of the numbers of a draw: those of a reporting_target, or q.1, q.2, ...
template <target T>
std::vector<std::string> names_of(T const& t) {
  if constexpr (reporting_target<T>)
    return t.names();
  else {
    std::vector<std::string> names;
    for (std::size_t i = 1; i <= t.dimension(); ++i) names.push_back("q." + std::to_string(i));
    return names;
  }
}

} // namespace overdub::inference
