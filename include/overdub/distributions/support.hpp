// Sets: supports of distributions, and the valid arguments of distributions, such as a positive standard deviation. Each has
//
//   phrase                     its description in messages
//   contains(x)                whether x is in the set; in overdub's operations
//
// and sets of scalars
//
//   inside()                   an element of the set
//
// and supports of continuous variables
//
//   constrain(y)               one-to-one from the unconstrained numbers to the interior
//   unconstrain(x)             its inverse
//   log_abs_det_jacobian(y)    log |det dx/dy|
//
// and those of continuous scalars, for `truncated`,
//
//   between(low, high), above(low), below(high)    the closure of the intersection with an interval
//
// Formulas of the transforms: Stan Reference Manual, "Constraint Transforms". All are thread-safe, and O(1) for scalars, O(n) for arrays.
#pragma once

#include <overdub/distributions/log_terms.hpp>
#include <overdub/overdub.hpp>

#include <concepts>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>

namespace overdub::distributions {

/// The finite numbers.
struct reals {
  static constexpr std::string_view phrase = "finite";
  static constexpr double inside() { return 0.0; }
  static constexpr auto contains(auto const& x) { return isfinite(x); }
  static constexpr auto constrain(auto const& y) { return y; }
  static constexpr auto unconstrain(auto const& x) { return x; }
  static constexpr double log_abs_det_jacobian(auto const&) { return 0.0; }
  static constexpr auto between(auto const& low, auto const& high);
  static constexpr auto above(auto const& low);
  static constexpr auto below(auto const& high);
};

/// The finite numbers from `low` on. constrain is low + exp(y).
template <class L>
struct at_least {
  L low;
  static constexpr std::string_view phrase = "finite, and at least the lower bound";
  constexpr auto inside() const { return low; }
  constexpr auto contains(auto const& x) const { return x >= low && x < infinity; }
  constexpr auto constrain(auto const& y) const { return low + exp(y); }
  constexpr auto unconstrain(auto const& x) const { return log(x - low); }
  static constexpr auto log_abs_det_jacobian(auto const& y) { return y; }
  constexpr auto between(auto const& l, auto const& high) const;
  constexpr auto above(auto const& l) const { return distributions::at_least{max(low, l)}; }
  constexpr auto below(auto const& high) const;
};
template <class L>
at_least(L) -> at_least<L>;

/// The finite numbers up to `high`. constrain is high - exp(y).
template <class H>
struct at_most {
  H high;
  static constexpr std::string_view phrase = "finite, and at most the upper bound";
  constexpr auto inside() const { return high; }
  constexpr auto contains(auto const& x) const { return x <= high && x > -infinity; }
  constexpr auto constrain(auto const& y) const { return high - exp(y); }
  constexpr auto unconstrain(auto const& x) const { return log(high - x); }
  static constexpr auto log_abs_det_jacobian(auto const& y) { return y; }
  constexpr auto between(auto const& low, auto const& h) const;
  constexpr auto above(auto const& low) const;
  constexpr auto below(auto const& h) const { return distributions::at_most{min(high, h)}; }
};
template <class H>
at_most(H) -> at_most<H>;

/// The numbers from `low` to `high`. constrain is low + (high - low) logistic(y).
template <class L, class H>
struct interval {
  L low;
  H high;
  static constexpr std::string_view phrase = "between the bounds";
  constexpr auto inside() const { return low; }
  constexpr auto contains(auto const& x) const { return x >= low && x <= high; }
  constexpr auto constrain(auto const& y) const { // min: a rounded result may exceed high
    return min(low + (high - low) * logistic(y), high);
  }
  constexpr auto unconstrain(auto const& x) const { return log(x - low) - log(high - x); }
  constexpr auto log_abs_det_jacobian(auto const& y) const {
    auto const size = abs(y);
    return log(high - low) - size - 2.0 * log1p(exp(-size));
  }
  constexpr auto between(auto const& l, auto const& h) const {
    return distributions::interval{max(low, l), min(high, h)};
  }
  constexpr auto above(auto const& l) const { return distributions::interval{max(low, l), high}; }
  constexpr auto below(auto const& h) const { return distributions::interval{low, min(high, h)}; }
};
template <class L, class H>
interval(L, H) -> interval<L, H>;

constexpr auto reals::between(auto const& low, auto const& high) { return interval{low, high}; }
constexpr auto reals::above(auto const& low) { return at_least{low}; }
constexpr auto reals::below(auto const& high) { return at_most{high}; }
template <class L>
constexpr auto at_least<L>::between(auto const& l, auto const& high) const {
  return interval{max(low, l), high};
}
template <class L>
constexpr auto at_least<L>::below(auto const& high) const {
  return interval{low, high};
}
template <class H>
constexpr auto at_most<H>::between(auto const& low, auto const& h) const {
  return interval{low, min(high, h)};
}
template <class H>
constexpr auto at_most<H>::above(auto const& low) const {
  return interval{low, high};
}

namespace detail {

// The base of (0, inf) and [0, inf).
struct half_line {
  static constexpr double inside() { return 1.0; }
  static constexpr auto constrain(auto const& y) { return exp(y); }
  static constexpr auto unconstrain(auto const& x) { return log(x); }
  static constexpr auto log_abs_det_jacobian(auto const& y) { return y; }
  static constexpr auto between(auto const& low, auto const& high) { return interval{max(low, 0.0), high}; }
  static constexpr auto above(auto const& low) { return at_least{max(low, 0.0)}; }
  static constexpr auto below(auto const& high) { return interval{0.0, high}; }
};
// The base of the intervals from 0 to 1, open, half-open and closed.
struct unit {
  static constexpr double inside() { return 0.5; }
  static constexpr auto constrain(auto const& y) { return logistic(y); }
  static constexpr auto unconstrain(auto const& x) { return log(x) - log1p(-x); }
  static constexpr auto log_abs_det_jacobian(auto const& y) {
    auto const size = abs(y);
    return -size - 2.0 * log1p(exp(-size));
  }
  static constexpr auto between(auto const& low, auto const& high) {
    return interval{max(low, 0.0), min(high, 1.0)};
  }
  static constexpr auto above(auto const& low) { return interval{max(low, 0.0), 1.0}; }
  static constexpr auto below(auto const& high) { return interval{0.0, min(high, 1.0)}; }
};
struct whole {
  static constexpr bool has_integers = true;
};

template <class S>
concept of_integers = S::has_integers;

} // namespace detail

/// The finite numbers above 0.
struct positive_reals : detail::half_line {
  static constexpr std::string_view phrase = "finite, and greater than 0";
  static constexpr auto contains(auto const& x) { return x > 0.0 && x < infinity; }
};

/// The finite numbers from 0 on.
struct nonnegative_reals : detail::half_line {
  static constexpr std::string_view phrase = "finite, and not less than 0";
  static constexpr auto contains(auto const& x) { return x >= 0.0 && x < infinity; }
};

/// The open interval (0, 1).
struct open_unit_interval : detail::unit {
  static constexpr std::string_view phrase = "greater than 0, and less than 1";
  static constexpr auto contains(auto const& x) { return x > 0.0 && x < 1.0; }
};

/// The closed interval [0, 1].
struct unit_interval : detail::unit {
  static constexpr std::string_view phrase = "from 0 to 1";
  static constexpr auto contains(auto const& x) { return x >= 0.0 && x <= 1.0; }
};

/// The half-open interval (0, 1].
struct positive_probability : detail::unit {
  static constexpr std::string_view phrase = "greater than 0, and at most 1";
  static constexpr auto contains(auto const& x) { return x > 0.0 && x <= 1.0; }
};

/// All integers.
struct integers : detail::whole {
  static constexpr std::string_view phrase = "an integer";
  static constexpr i64 inside() { return 0; }
  static constexpr auto contains(auto const& x) { return x == x; }
};

/// 0, 1, 2, ...
struct natural_numbers : detail::whole {
  static constexpr std::string_view phrase = "0 or a positive integer";
  static constexpr i64 inside() { return 0; }
  static constexpr auto contains(auto const& x) { return x >= i64{0}; }
};

/// low, low + 1, ..., high.
template <class L, class H>
struct integer_interval : detail::whole {
  L low;
  H high;
  constexpr integer_interval(L const& l, H const& h) : low(l), high(h) {}
  static constexpr std::string_view phrase = "an integer between the bounds";
  constexpr auto inside() const { return low; }
  constexpr auto contains(auto const& x) const { return x >= low && x <= high; }
};

/// false and true; as integers, 0 and 1.
struct booleans : detail::whole {
  static constexpr std::string_view phrase = "true or false";
  static constexpr i64 inside() { return 0; }
  template <class X>
  static constexpr auto contains(X const& x) {
    if constexpr (std::same_as<plain_t<X>, bool>)
      return x == x;
    else
      return x == i64{0} || x == i64{1};
  }
};

// ---- arrays

namespace detail {

// Whether all elements satisfy a condition; true for an empty array.
template <class A, class F>
constexpr auto all_of(A const& xs, F const& condition) {
  return sum(map([&](auto const& x) { return select(condition(x), i64{0}, i64{1}); }, xs)) == i64{0};
}

} // namespace detail

/// Arrays of finite numbers.
struct real_vectors {
  static constexpr std::string_view phrase = "finite numbers";
  static constexpr auto contains(auto const& xs) {
    return detail::all_of(xs, [](auto const& x) { return isfinite(x); });
  }
  static constexpr auto constrain(auto const& ys) { return ys; }
  static constexpr auto unconstrain(auto const& xs) { return xs; }
  static constexpr double log_abs_det_jacobian(auto const&) { return 0.0; }
};

/// Nonempty arrays of finite numbers.
struct nonempty_real_vectors : real_vectors {
  static constexpr std::string_view phrase = "finite numbers, one at least";
  static constexpr auto contains(auto const& xs) { return size(xs) > i64{0} && real_vectors::contains(xs); }
};

/// Nonempty arrays of finite numbers above 0.
struct positive_vectors {
  static constexpr std::string_view phrase = "finite numbers greater than 0, one at least";
  static constexpr auto contains(auto const& xs) {
    return size(xs) > i64{0} && detail::all_of(xs, [](auto const& x) { return x > 0.0 && x < infinity; });
  }
};

/// Arrays of nonnegative numbers with a positive, finite sum: unnormalised probabilities.
struct weights {
  static constexpr std::string_view phrase = "numbers not less than 0, with a finite sum above 0";
  static constexpr auto contains(auto const& xs) {
    auto const total = sum(xs);
    return total > 0.0 && total < infinity && detail::all_of(xs, [](auto const& x) { return x >= 0.0; });
  }
};

/// Arrays of n positive numbers whose sum is 1, up to 1e-8. The stick-breaking transform maps them to n - 1 unconstrained numbers, which
/// are 0 for equal elements. The Jacobian is that of the first n - 1 elements.
struct simplex {
  static constexpr std::string_view phrase = "numbers greater than 0, whose sum is 1";
  static constexpr auto contains(auto const& xs) {
    return abs(sum(xs) - 1.0) <= 1e-8 && detail::all_of(xs, [](auto const& x) { return x > 0.0; });
  }
  /// From n - 1 to n numbers.
  static constexpr auto constrain(auto const& ys) {
    auto const n = size(ys);
    auto const [rest, broken] = scan(
        [](auto const& left, auto const& at) {
          auto const& [y, i] = at;
          auto const e =
              exp(-abs(y)); // y is the logit of the fraction of the remaining stick that the element takes
          auto const part = select(y < 0.0, e, 1.0) / (1.0 + e), stays = select(y < 0.0, 1.0, e) / (1.0 + e);
          return std::tuple(left * stays, left * part);
        },
        start(ys, 1.0), zip(shifted(ys, n), iota(n)));
    return concat(broken, fill(i64{1}, rest));
  }
  /// From n to n - 1 numbers.
  static constexpr auto unconstrain(auto const& xs) {
    auto const n = size(xs) - i64{1};
    auto const backwards = map([&](auto const& i) { return n - i64{1} - i; }, iota(n));
    auto const [all, left] = scan(
        [](auto const& behind, auto const& x) { return std::tuple(behind + x, log(x) - log(behind)); },
        at(xs, n), gather(xs, backwards));
    return map(
        [](auto const& y, auto const& i) { return y + log(convert<double>(i + i64{1})); },
        gather(left, backwards), backwards);
  }
  static constexpr auto log_abs_det_jacobian(auto const& ys) {
    auto const [rest, terms] = scan(
        [](auto const& left, auto const& y) {
          auto const part = -log1p_exp(-y), stays = -log1p_exp(y);
          return std::tuple(left + stays, left + part + stays);
        },
        start(ys, 0.0), shifted(ys, size(ys)));
    return sum(terms);
  }

private:
  // y - log(n - 1 - i), so that equal elements have y = 0.
  static constexpr auto shifted(auto const& ys, auto const& n) {
    return map([&](auto const& y, auto const& i) { return y - log(convert<double>(n - i)); }, ys, iota(n));
  }
  // Lifts a constant into the contexts of ys, so that the first state of a scan has the type of the later ones.
  static constexpr auto start(auto const& ys, double x) { return sum(slice(ys, i64{0}, i64{0})) + x; }
};

} // namespace overdub::distributions
