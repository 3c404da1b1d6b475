// precision: finds the operations of a program that lose digits in single precision.
#pragma once

#include <overdub/call/keep_loaded.hpp>
#include <overdub/core/exact_math.hpp>
#include <overdub/core/floating_point.hpp>
#include <overdub/io/number_text.hpp>
#include <overdub/overdub.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <exception>
#include <limits>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub::contexts {

// Converts an operand of an operation on doubles to float, except bools and integer operands such as the exponent of ldexp.
template <class F, class X>
constexpr auto narrowed(X const& x) {
  using T = plain_t<X>;
  constexpr bool index = std::derived_from<kind_of<F>, kind::indexed> && std::integral<T>;
  if constexpr (std::same_as<T, bool> || std::same_as<T, float> || index)
    return x;
  else
    return convert<float>(x);
}

/// Computes in single precision: each operation on doubles rounds its operands to floats, and computes with floats. Results are stored as
/// doubles, which represent floats exactly. Numbers that are not operands of an operation are not rounded.
struct single_precision : context {
  static constexpr std::string_view name = "single";

  template <elementwise F, class... X>
  requires(std::same_as<plain_t<X>, double> || ...) auto overdub(F const& f, X... x) const {
    return widened(f(narrowed<F>(x)...));
  }
  template <class X>
  requires std::integral<plain_t<X>>
  auto overdub(convert_t<double> f, X x) const { return f(convert<float>(x)); }

private:
  template <class X>
  static auto widened(X const& x) {
    if constexpr (std::same_as<plain_t<X>, float>)
      return convert<double>(x);
    else
      return x;
  }
};

/// Reports the operations on doubles that lose accuracy in single precision: each is computed a second time, with its operands rounded to
/// floats, and the results are compared. The propagation of a loss is not tracked: for that, compare the results of runs with and without
/// single_precision.
struct precision : context {
  /// The losses of an operation in the body of a function. A loss is |single - double| / max(|single|, |double|): 1 for bools that differ,
  /// and infinite if one of the two results is not finite.
  struct row {
    std::string_view function, operation; // "" outside of functions
    long calls = 0;
    long losses = 0;                  // greater than the tolerance
    double worst = 0;                 // the greatest loss
    double in_double = 0;             // the result in double precision at the greatest loss
    double in_single = 0;             // the result in single precision at the greatest loss
    std::array<double, 3> operands{}; // the operands at the greatest loss, followed by zeros
  };
  double tolerance = 1e-5;

  precision() = default;
  explicit precision(double tolerated) : tolerance(tolerated) {}

  /// The operations that lost more than the tolerance, the greatest loss first.
  std::vector<row> losses() const {
    std::vector<row> all;
    for (auto const& [place, r] : rows_)
      if (r.losses > 0) all.push_back(r);
    std::ranges::sort(all, [](row const& a, row const& b) {
      return std::tie(b.worst, a.function, a.operation) < std::tie(a.worst, b.function, b.operation);
    });
    return all;
  }
  friend std::ostream& operator<<(std::ostream& out, precision const& p) {
    using io::left_aligned, io::right_aligned, io::number_text;
    auto const line = [&](std::string where, std::string calls, std::string losses, std::string worst,
                          std::string in_double, std::string const& in_single) {
      out << left_aligned(std::move(where), 24) << ' ' << right_aligned(std::move(calls), 9) << ' '
          << right_aligned(std::move(losses), 9) << ' ' << right_aligned(std::move(worst), 9) << "  "
          << left_aligned(std::move(in_double), 14) << ' ' << in_single << '\n';
    };
    line("where", "calls", "losses", "worst", "double", "single");
    for (row const& r : p.losses())
      line(
          std::string(r.function).append(": ").append(r.operation), number_text(r.calls),
          number_text(r.losses), number_text(r.worst, io::scientific(1)),
          number_text(r.in_double, io::significant(8)), number_text(r.in_single, io::significant(8)));
    return out;
  }

  void before(function auto f, auto const&...) { running_.push_back(detail::kept_name(f)); }
  void after(function auto, auto const&, auto const&...) { running_.pop_back(); }
  void failed(function auto, std::exception_ptr const&, auto const&...) { running_.pop_back(); }

  template <elementwise F, class R, class... X>
  requires((std::same_as<X, double> || ...) || std::same_as<F, convert_t<double>>) //
      void after(F const& f, R const& result, X const&... x) {
    if constexpr (std::same_as<R, double>)
      compare(
          detail::kept_name(f), result, static_cast<double>(static_cast<float>(f(narrowed<F>(x)...))), x...);
    else
      compare(
          detail::kept_name(f), static_cast<double>(result), static_cast<double>(f(narrowed<F>(x)...)), x...);
  }
  precision fork() const {
    precision one(tolerance);
    one.running_ = running_;
    return one;
  }
  void join(precision&& other) {
    for (auto const& [place, r] : other.rows_) {
      row& mine = rows_.try_emplace(place, r.function, r.operation).first->second;
      row const before = mine;
      if (r.worst > before.worst) mine = r;
      mine.calls = before.calls + r.calls;
      mine.losses = before.losses + r.losses;
    }
  }

private:
  static double loss_of(double a, double b) {
    if (a == b || (overdub::is_nan(a) && overdub::is_nan(b))) return 0;
    double const loss = std::abs(a - b) / std::max(std::abs(a), std::abs(b));
    return overdub::is_finite(loss) ? loss : std::numeric_limits<double>::infinity();
  }
  void compare(std::string_view operation, double in_double, double in_single, auto const&... x) {
    std::string_view const function = running_.empty() ? std::string_view() : running_.back();
    row& r = rows_.try_emplace({function, operation}, function, operation).first->second;
    ++r.calls;
    double const loss = loss_of(in_double, in_single);
    r.losses += loss > tolerance;
    if (!(loss > r.worst)) return;
    r.worst = loss;
    r.in_double = in_double;
    r.in_single = in_single;
    std::size_t i = 0;
    ((r.operands[i++] = static_cast<double>(x)), ...);
  }

  std::map<std::pair<std::string_view, std::string_view>, row> rows_;
  std::vector<std::string_view> running_;
};

} // namespace overdub::contexts
