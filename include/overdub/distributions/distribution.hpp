// Families of probability distributions: log densities in overdub's operations, samplers, supports, and checks of parameters.
#pragma once

#include <overdub/core/exact_math.hpp>
#include <overdub/core/floating_point.hpp>
#include <overdub/distributions/support.hpp>
#include <overdub/io/number_text.hpp>
#include <overdub/overdub.hpp>
#include <overdub/random.hpp>

#include <concepts>
#include <cstddef>
#include <limits>
#include <ostream>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace overdub::distributions {

/// A parameter of a distribution violates its family's constraint.
struct OVERDUB_EXPORTED parameter_error : error {
  using error::error;
};

/// A parameter of a family: its name and its constraint, one of the types of support.hpp.
template <class Constraint>
struct parameter {
  std::string_view name;
  Constraint constraint{};
};

/// A distribution: a family and its parameters, which may be values of contexts. It is a tree of its parameters: functions, branches, loops
/// and maps accept and return it.
template <class Family, class... P>
struct distributed {
  using family = Family;
  std::tuple<P...> parameters;
};

} // namespace overdub::distributions

namespace overdub {

template <class Family, class... P>
struct tree_traits<distributions::distributed<Family, P...>> {
  using children = std::tuple<P...>;
  template <class... Q>
  static constexpr auto like(std::tuple<Q...>&& q) {
    return distributions::distributed<Family, Q...>{std::move(q)};
  }
  template <class F, class... X>
  static constexpr auto map(F const& f, X&&... x) {
    return like(tree_traits<children>::map(f, std::forward<X>(x).parameters...));
  }
  template <class F>
  static constexpr auto generate(F const& f) {
    return like(tree_traits<children>::generate(f));
  }
  template <std::size_t I, class X>
  static constexpr auto& child(X& x) {
    return std::get<I>(x.parameters);
  }
};

} // namespace overdub

namespace overdub::distributions {

template <class D>
inline constexpr bool is_distribution = false;
template <class Family, class... P>
inline constexpr bool is_distribution<distributed<Family, P...>> = true;

/// A distribution of some family.
template <class D>
concept a_distribution = is_distribution<std::remove_cvref_t<D>>;

namespace detail {

// Converts an argument to the type of a parameter or variable: integers to i64 for integers, and all numbers to double for real numbers.
// Bools and arrays are unchanged.
template <class Support, class X>
constexpr auto as_number(X const& x) {
  using P = plain_t<X>;
  constexpr bool is_integer = std::integral<P> && !std::same_as<P, bool>;
  if constexpr (is_integer && !of_integers<Support>) {
    return convert<double>(x);
  } else if constexpr (is_integer && std::same_as<X, P>) {
    return static_cast<i64>(x);
  } else if constexpr (std::floating_point<X>) {
    constexpr bool real = !of_integers<Support>;
    static_assert(
        real, "overdub: a floating-point number is given to a distribution for an integer; convert it");
    return static_cast<double>(x);
  } else
    return x;
}

template <class Family>
inline constexpr std::size_t parameter_count =
    std::tuple_size_v<std::remove_cvref_t<decltype(Family::parameters)>>;

template <class Family, class... P>
consteval bool has_parameters() {
  constexpr bool right = parameter_count<Family> == sizeof...(P);
  static_assert(
      right,
      "overdub: this distribution has another number of parameters; its family's `parameters` name them");
  return right;
}

template <class Family, std::size_t I>
using constraint_t = std::remove_cvref_t<decltype(std::get<I>(Family::parameters).constraint)>;

// Whether the parameters satisfy the family's constraints, in overdub's operations.
template <class Family, class... P>
constexpr auto valid(P const&... p) {
  if constexpr (requires { Family::valid(p...); })
    return Family::valid(p...);
  else {
    auto const each = [&]<std::size_t... I>(std::index_sequence<I...>) {
      return (std::get<I>(Family::parameters).constraint.contains(p) && ...);
    }
    (std::index_sequence_for<P...>{});
    if constexpr (requires { Family::consistent(p...); })
      return each && Family::consistent(p...);
    else
      return each;
  }
}

// Whether neither a number nor an element of an array is NaN.
template <class X>
constexpr auto has_no_nan(X const& x) {
  if constexpr (std::is_arithmetic_v<plain_t<X>>)
    return x == x;
  else
    return all_of(x, [](auto const& each) { return has_no_nan(each); });
}

template <class Support>
concept of_scalars = requires(Support const& s) {
  s.inside();
};

// The body of a family's log density: the family's formula in the support, -infinity outside, and NaN for invalid parameters.
template <class Family>
struct density_body {
  template <scope Scope, class X, class... P>
  constexpr auto operator()(Scope& cx, X const& x, P const&... p) const {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    auto const support = Family::support(p...);
    if constexpr (requires { Family::is_total; }) {
      return at_point(cx, x, p...);
    } else if constexpr (of_scalars<decltype(support)>) {
      auto const inside = support.contains(x);
      auto const usable = valid<Family>(p...) && has_no_nan(x);
      if constexpr (std::same_as<plain_t<X>, bool>)
        return select(usable, at_point(cx, x, p...), nan);
      else
        return select(
            usable, select(inside, at_point(cx, select(inside, x, support.inside()), p...), -infinity), nan);
    } else {
      auto const usable = valid<Family>(p...) && has_no_nan(x), inside = support.contains(x);
      return if_(
          usable && inside, [&] { return at_point(cx, x, p...); },
          [&] { return select(usable, -infinity, nan); });
    }
  }

private:
  template <class Scope, class X, class... P>
  static constexpr auto at_point(Scope& cx, X const& x, P const&... p) {
    if constexpr (requires { Family::log_density_at(x, p...); })
      return Family::log_density_at(x, p...);
    else
      return Family::log_density_at(cx, x, p...);
  }
};

inline std::string text_of(bool x) { return x ? "true" : "false"; }
template <std::integral T>
std::string text_of(T x) {
  return io::number_text(x);
}
inline std::string text_of(double x) {
  if (overdub::is_nan(x)) return "nan"; // its sign is unspecified
  return io::number_text(x, io::significant(6));
}
template <class T>
std::string text_of(array<T> const& xs) {
  std::string text = "[";
  for (i64 i = 0; i < xs.size() && i < 6; ++i) text += (i > 0 ? ", " : "") + text_of(xs[i]);
  return text + (xs.size() > 6 ? ", ...]" : "]");
}
template <class Family, class... P>
std::string text_of(distributed<Family, P...> const& d);
template <class... T>
std::string text_of(std::tuple<T...> const& all) {
  std::string text;
  overdub::detail::apply_to(
      [&](auto const&... x) { ((text += (text.empty() ? "(" : ", ") + text_of(x)), ...); }, all);
  return text + ")";
}

} // namespace detail

/// A family of distributions, the base class (CRTP) of a stateless type. An object of that type makes distributions: normal(0.0, 1.0). The
/// type has
///
///   parameters                            a tuple of parameter<support>{"name"}
///   support(p...)                         the support of a variable: see support.hpp
///   log_density_at(x, p...)               the log density, for an x in the support and valid parameters, in overdub's operations. The
///                                         scope may be its first parameter.
///   draw(generator, p...)                 a random number, for valid plain parameters
///   is_total                              (optional) log_density_at is defined for all x and parameters: -inf where the density is 0, and
///                                         for infinite parameters; NaN for NaN, and for other invalid parameters
///   consistent(p...), relation            (optional) a condition on several parameters, and its text for messages
///
/// For `truncated` it has log_survival(x, p...), log_cumulative(x, p...) and log_mass(low, high, p...), the logarithms of the probabilities
/// of values above x, at most x, and between the bounds; and draw_between(generator, low, high, p...).
template <fixed_string Name, class Family>
struct distribution {
  static constexpr std::string_view name() { return Name.view(); }

  /// log_density(x, p...), a `fn` named "normal.log_density": see distributions::log_density.
  static constexpr fn_t<overdub::detail::joined_names<Name, ".log_density">(), detail::density_body<Family>>
      log_density{};

  /// The distribution of these parameters: numbers, arrays, and values of contexts. They are not checked here: see `check`.
  template <class... P>
  constexpr auto operator()(P const&... p) const {
    if constexpr (requires { Family::make(p...); })
      return Family::make(p...);
    else if constexpr (detail::has_parameters<Family, P...>())
      return of_numbers(std::index_sequence_for<P...>{}, p...);
    else
      return overdub::detail::refused{};
  }

private:
  template <std::size_t... I, class... P>
  static constexpr auto of_numbers(std::index_sequence<I...>, P const&... p) {
    return distributed<Family, decltype(detail::as_number<detail::constraint_t<Family, I>>(p))...>{
        {detail::as_number<detail::constraint_t<Family, I>>(p)...}};
  }
};

/// The support of a distribution: one of the types of support.hpp.
template <a_distribution D>
constexpr auto support(D const& d) {
  return overdub::detail::apply_to([](auto const&... p) { return D::family::support(p...); }, d.parameters);
}

/// Whether the parameters satisfy the family's constraints, in overdub's operations.
template <a_distribution D>
constexpr auto is_valid(D const& d) {
  return overdub::detail::apply_to(
      [](auto const&... p) { return detail::valid<typename D::family>(p...); }, d.parameters);
}

/// The constraint of a parameter that is a distribution.
struct distributions_of_numbers {
  static constexpr std::string_view phrase = "a distribution with parameters that its family allows";
  static constexpr auto contains(auto const& d) { return is_valid(d); }
};

namespace detail {
// Whether a plain number, or each element of an array, is finite. Under -ffast-math, compilers assume finite numbers and fold the
// comparisons of `contains`.
template <class X>
bool all_finite(X const& x) {
  if constexpr (std::is_arithmetic_v<X>)
    return native::isfinite(x);
  else {
    bool all = true;
    if constexpr (requires { x.begin(); })
      for (auto const& each : x) all = all && detail::all_finite(each);
    return all;
  }
}

[[noreturn]] inline void reject(std::string_view family, std::string const& what) {
  throw parameter_error(
      message("overdub: %.*s: %s", static_cast<int>(family.size()), family.data(), what.c_str()));
}
[[noreturn]] inline void reject_parameter(
    std::string_view family, std::string_view called, std::string const& value, std::string_view phrase) {
  reject(family, std::string(called) + " is " + value + ", and must be " + std::string(phrase));
}
[[noreturn]] inline void
reject_parameters(std::string_view family, std::string_view relation, std::string const& given) {
  reject(family, std::string(relation) + "; it is " + given);
}
} // namespace detail

/// log_density(d, x): the normalised log density of d at x, or the log probability where d is discrete. It is a call of "name.log_density",
/// with x and the parameters as arguments, and contexts intercept the operations in it. Outside of the support it is -infinity, and
/// constant. It is NaN where x or an element of x is NaN, and where a parameter is invalid; for an infinite parameter of a normal or a
/// cauchy distribution it is -infinity or NaN. A standard deviation of a normal distribution below 1e-308 counts as 0. The derivatives by x
/// and by the parameters that are not integers are finite in the support.
template <a_distribution D, class X>
constexpr auto log_density(D const& d, X const& x) {
  using Support = decltype(support(d));
  return overdub::detail::apply_to(
      [&](auto const&... p) { return D::family::log_density(detail::as_number<Support>(x), p...); },
      d.parameters);
}

/// Throws parameter_error for an invalid parameter, with the family, the parameter and its value. The parameters are plain numbers. O(their
/// size).
template <a_distribution D>
void check(D const& d) {
  using Family = typename D::family;
  auto const one = [&](std::string_view called, auto const& constraint, auto const& p) {
    if constexpr (a_distribution<decltype(p)>)
      check(p);
    else if (!constraint.contains(p) || (overdub::detail::assumes_finite_numbers && !detail::all_finite(p)))
      detail::reject_parameter(Family::name(), called, detail::text_of(p), constraint.phrase);
  };
  if constexpr (requires { Family::check(one, d); })
    Family::check(one, d);
  else {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (one(std::get<I>(Family::parameters).name, std::get<I>(Family::parameters).constraint,
           std::get<I>(d.parameters)),
       ...);
    }
    (std::make_index_sequence<detail::parameter_count<Family>>{});
    if constexpr (requires { Family::relation; })
      if (!is_valid(d)) detail::reject_parameters(Family::name(), Family::relation, detail::text_of(d));
  }
}

namespace detail {

template <class Family, class... P>
std::string text_of(distributed<Family, P...> const& d) {
  std::string text(Family::name());
  text += '(';
  bool first = true;
  overdub::detail::apply_to(
      [&](auto const&... p) { ((text += (std::exchange(first, false) ? "" : ", ") + text_of(p)), ...); },
      d.parameters);
  return text + ")";
}

} // namespace detail

/// Writes a distribution of plain numbers: normal(0, 1).
template <class Family, class... P>
requires requires(P const&... p) { (detail::text_of(p), ...); }
std::ostream& operator<<(std::ostream& out, distributed<Family, P...> const& d) {
  return out << detail::text_of(d);
}

/// draw(d, generator): a random number, or array, with the distribution d, always in its support. Throws what `check` throws. The generator
/// is any uniform random bit generator; by a random_generator the draws are the same on every machine, up to the rounding of logarithms and
/// exponentials. draw(d, key) is the first draw of a key's stream.
template <a_distribution D>
auto draw(D const& d, bit_generator auto& g) {
  check(d);
  return overdub::detail::apply_to([&](auto const&... p) { return D::family::draw(g, p...); }, d.parameters);
}
template <a_distribution D>
auto draw(D const& d, random_key const& key) {
  random_generator g(key);
  return draw(d, g);
}

} // namespace overdub::distributions
