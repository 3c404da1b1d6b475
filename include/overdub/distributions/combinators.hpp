// Distributions made of others: mixture, truncated, truncated_below, truncated_above.
#pragma once

#include <overdub/distributions/counts.hpp>
#include <overdub/distributions/distribution.hpp>
#include <overdub/random.hpp>

#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace overdub::distributions {
namespace detail {

// The support of a mixture: the components' common support, if it has no parameters; the half-line or the unit interval that contains them
// all; or all real numbers or integers.
template <class S>
inline constexpr bool in_unit = std::is_base_of_v<unit, S>;
template <class S>
inline constexpr bool in_half_line = in_unit<S> || std::is_base_of_v<half_line, S>;
template <class First, class... Rest>
struct common_support {
  using reals_of = std::conditional_t<
      in_unit<First> && (in_unit<Rest> && ...), unit_interval,
      std::conditional_t<in_half_line<First> && (in_half_line<Rest> && ...), nonnegative_reals, reals>>;
  using type = std::conditional_t<
      std::is_empty_v<First> && (std::is_same_v<First, Rest> && ...), First,
      std::conditional_t<of_integers<First>, integers, reals_of>>;
};
template <class... D>
using common_support_t =
    typename common_support<decltype(distributions::support(std::declval<D const&>()))...>::type;

// The intersection of a support with an interval or a half-line.
template <class S>
consteval bool has_bounds() {
  constexpr bool bounded = requires(S const& s) {
    s.between(0.0, 1.0);
    s.above(0.0);
    s.below(1.0);
  };
  static_assert(
      bounded,
      "overdub: truncated takes a distribution of real numbers, whose support has between, above and below");
  return bounded;
}
template <class S>
constexpr auto truncated_between(S const& s, auto const& low, auto const& high) {
  if constexpr (has_bounds<S>())
    return s.between(low, high);
  else
    return reals{};
}
template <class S>
constexpr auto truncated_above_bound(S const& s, auto const& low) {
  if constexpr (has_bounds<S>())
    return s.above(low);
  else
    return reals{};
}
template <class S>
constexpr auto truncated_below_bound(S const& s, auto const& high) {
  if constexpr (has_bounds<S>())
    return s.below(high);
  else
    return reals{};
}

template <class D>
inline constexpr bool has_log_mass = false;
template <class Family, class... P>
inline constexpr bool has_log_mass<distributed<Family, P...>> = requires(P const&... p) {
  Family::log_mass(0.0, 0.0, p...);
  Family::log_survival(0.0, p...);
  Family::log_cumulative(0.0, p...);
};

template <class D>
consteval bool is_truncatable() {
  constexpr bool known = has_log_mass<D>;
  static_assert(
      known,
      "overdub: truncated takes a distribution whose family has log_mass, log_survival, log_cumulative and "
      "draw_between: normal, lognormal, half_normal, cauchy, exponential, uniform, or your own");
  return known;
}

// draw_between, or an error where the interval has no probability.
template <class D>
double draw_between(
    bit_generator auto& g, std::string_view name, D const& d, double log_mass, double low, double high) {
  if (!(log_mass > -infinity))
    throw parameter_error(message(
        "overdub: %.*s: %s has no probability between %g and %g", static_cast<int>(name.size()), name.data(),
        text_of(d).c_str(), low, high));
  return overdub::detail::apply_to(
      [&](auto const&... p) { return D::family::draw_between(g, low, high, p...); }, d.parameters);
}

// The log density given an interval of this probability; NaN where the probability is 0, since the conditional distribution is undefined.
constexpr auto log_density_given(auto const& log_density, auto const& log_mass) {
  return select(log_mass > -infinity, log_density - log_mass, std::numeric_limits<double>::quiet_NaN());
}

} // namespace detail

/// mixture(weights, d...): a mixture distribution, whose components have probabilities proportional to their weights. The weights are a
/// std::tuple or a std::array of numbers, one for each component; the components are distributions of scalars of one type, of any families.
/// The log density is a log-sum-exp over the components: O(their number).
struct mixture_t : distribution<"mixture", mixture_t> {
  template <class W, class... D>
  static constexpr auto make(W const& weights, D const&... d) {
    constexpr bool right = std::tuple_size_v<W> == sizeof...(D) && (a_distribution<D> && ...);
    static_assert(
        right,
        "overdub: mixture takes weights, a std::tuple or std::array, and a distribution for each of them");
    if constexpr (right)
      return overdub::detail::apply_to(
          [&](auto const&... w) {
            auto numbers = std::tuple(detail::as_number<nonnegative_reals>(w)...);
            return distributed<mixture_t, decltype(numbers), D...>{{numbers, d...}};
          },
          weights);
    else
      return overdub::detail::refused{};
  }
  template <class W, class... D>
  static constexpr auto support(W const&, D const&...) {
    return detail::common_support_t<D...>{};
  }
  static constexpr auto valid(auto const& weights, auto const&... d) {
    auto const weighed = overdub::detail::apply_to(
        [](auto const&... w) {
          auto const total = (w + ...);
          return (nonnegative_reals::contains(w) && ...) && total > 0.0 && total < infinity;
        },
        weights);
    return (is_valid(d) && ... && weighed);
  }
  template <class X, class... D>
  static constexpr auto log_density_at(X const& x, auto const& weights, D const&... d) {
    auto const all = std::tuple(distributions::log_density(d, x)...);
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      // A NaN of a component of weight 0 is ignored.
      auto const logs = std::tuple(
          select(std::get<I>(weights) > 0.0 || std::get<I>(all) > -infinity, std::get<I>(all), -infinity)...);
      auto const largest = largest_of(select(std::get<I>(weights) > 0.0, std::get<I>(logs), -infinity)...);
      auto const some = largest > -infinity;
      auto const top = select(some, largest, 0.0);
      // The density of a component of weight 0 may be far larger than the others: it is clamped, and enters the derivative by its weight.
      auto const total = ((std::get<I>(weights) * exp(min(std::get<I>(logs) - top, 700.0))) + ...);
      auto const positive =
          some && total > 0.0; // else x is in the support of no component of a positive weight
      auto const none = select(total >= 0.0, -infinity, std::numeric_limits<double>::quiet_NaN());
      return select(
          positive, top + log(select(positive, total, 1.0)) - log((std::get<I>(weights) + ...)), none);
    }
    (std::index_sequence_for<D...>{});
  }
  template <class... D>
  static auto draw(bit_generator auto& g, auto const& weights, D const&... d) {
    return overdub::detail::apply_to(
        [&](auto const&... w) {
          array<double> const all{static_cast<double>(w)...};
          i64 const chosen = draw_index(g, all.size(), sum(all), [&](i64 i) { return all[i]; });
          using R = std::common_type_t<decltype(distributions::draw(d, g))...>;
          R x{};
          i64 i = 0;
          ((i++ == chosen ? void(x = distributions::draw(d, g)) : void()), ...);
          return x;
        },
        weights);
  }
  template <class... P>
  static void check(auto const& one, distributed<mixture_t, P...> const& m) {
    overdub::detail::apply_to(
        [&](auto const& weights, auto const&... d) {
          overdub::detail::apply_to(
              [&](auto const&... w) {
                int i = 0;
                (one("weight " + std::to_string(i++), nonnegative_reals{}, w), ...);
                one("the sum of the weights", positive_reals{}, (w + ...));
              },
              weights);
          (one("", distributions_of_numbers{}, d), ...);
        },
        m.parameters);
  }

private:
  static constexpr auto largest_of(auto const& x) { return x; }
  static constexpr auto largest_of(auto const& x, auto const&... rest) { return max(x, largest_of(rest...)); }
};
inline constexpr mixture_t mixture{};

/// truncated(d, low, high): d conditioned on the interval between finite bounds low < high, for normal, lognormal, half_normal, cauchy,
/// exponential, uniform, and families with the functions that `distribution` lists.
struct truncated_t : distribution<"truncated", truncated_t> {
  static constexpr std::tuple parameters{
      parameter<distributions_of_numbers>{"distribution"}, parameter<reals>{"low"}, parameter<reals>{"high"}};
  static constexpr auto consistent(auto const&, auto const& low, auto const& high) { return low < high; }
  static constexpr std::string_view relation = "low must be less than high";
  static constexpr auto support(auto const& d, auto const& low, auto const& high) {
    return detail::truncated_between(distributions::support(d), low, high);
  }
  template <class D>
  static constexpr auto log_mass(D const& d, auto const& low, auto const& high) {
    if constexpr (detail::is_truncatable<D>())
      return overdub::detail::apply_to(
          [&](auto const&... p) { return D::family::log_mass(low, high, p...); }, d.parameters);
    else
      return 0.0;
  }
  static constexpr auto log_density_at(auto const& x, auto const& d, auto const& low, auto const& high) {
    return detail::log_density_given(distributions::log_density(d, x), log_mass(d, low, high));
  }
  static double draw(bit_generator auto& g, auto const& d, double low, double high) {
    return detail::draw_between(g, name(), d, log_mass(d, low, high), low, high);
  }
};
inline constexpr truncated_t truncated{};

/// truncated_below(d, low): d conditioned on values of at least low.
struct truncated_below_t : distribution<"truncated_below", truncated_below_t> {
  static constexpr std::tuple parameters{
      parameter<distributions_of_numbers>{"distribution"}, parameter<reals>{"low"}};
  static constexpr auto support(auto const& d, auto const& low) {
    return detail::truncated_above_bound(distributions::support(d), low);
  }
  template <class D>
  static constexpr auto log_mass(D const& d, auto const& low) {
    if constexpr (detail::is_truncatable<D>())
      return overdub::detail::apply_to(
          [&](auto const&... p) { return D::family::log_survival(low, p...); }, d.parameters);
    else
      return 0.0;
  }
  static constexpr auto log_density_at(auto const& x, auto const& d, auto const& low) {
    return detail::log_density_given(distributions::log_density(d, x), log_mass(d, low));
  }
  static double draw(bit_generator auto& g, auto const& d, double low) {
    return detail::draw_between(g, name(), d, log_mass(d, low), low, infinity);
  }
};
inline constexpr truncated_below_t truncated_below{};

/// truncated_above(d, high): d conditioned on values of at most high.
struct truncated_above_t : distribution<"truncated_above", truncated_above_t> {
  static constexpr std::tuple parameters{
      parameter<distributions_of_numbers>{"distribution"}, parameter<reals>{"high"}};
  static constexpr auto support(auto const& d, auto const& high) {
    return detail::truncated_below_bound(distributions::support(d), high);
  }
  template <class D>
  static constexpr auto log_mass(D const& d, auto const& high) {
    if constexpr (detail::is_truncatable<D>())
      return overdub::detail::apply_to(
          [&](auto const&... p) { return D::family::log_cumulative(high, p...); }, d.parameters);
    else
      return 0.0;
  }
  static constexpr auto log_density_at(auto const& x, auto const& d, auto const& high) {
    return detail::log_density_given(distributions::log_density(d, x), log_mass(d, high));
  }
  static double draw(bit_generator auto& g, auto const& d, double high) {
    return detail::draw_between(g, name(), d, log_mass(d, high), -infinity, high);
  }
};
inline constexpr truncated_above_t truncated_above{};

} // namespace overdub::distributions
