// Digamma and polygamma, with Boost.Math: include it to differentiate lgamma and tgamma.
#pragma once

#include <overdub/call/native.hpp>
#include <overdub/call/special_table.hpp>
#include <overdub/core/library.hpp>

#include <concepts>

namespace overdub {

template <class T>
concept has_special_functions =
    std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, long double>;

namespace detail {
// At their poles (0, -1, -2, ...) and outside of their domains they are NaN, as the functions of <cmath> are.
float special_digamma(float x);
double special_digamma(double x);
long double special_digamma(long double x);
float special_polygamma(int n, float x);
double special_polygamma(int n, double x);
long double special_polygamma(int n, long double x);
} // namespace detail

template <has_special_functions T>
struct special_functions<T> {
  static constexpr bool provided = true;

  static T digamma(T x) { return detail::special_digamma(x); }
  static T polygamma(int n, T x) { return detail::special_polygamma(n, x); }
};

template <std::integral T>
struct special_functions<T> : special_functions<double> {};

namespace detail {
OVERDUB_HIDDEN inline bool const special_is_there =
    (special = {
         .digamma_f64 = [](double x) { return native::digamma(x); },
         .digamma_f32 = [](float x) { return native::digamma(x); },
         .polygamma_f64 = [](std::int64_t n, double x) { return native::polygamma(n, x); },
         .polygamma_f32 = [](std::int64_t n, float x) { return native::polygamma(n, x); }},
     true);
} // namespace detail

} // namespace overdub
