// Digamma and polygamma, with Boost.Math: include it to differentiate lgamma and tgamma.
#pragma once

#include <overdub/call/native.hpp>
#include <overdub/call/special_table.hpp>
#include <overdub/header_only.hpp>

#include <concepts>

namespace overdub {

template <class T>
concept has_special_functions =
    std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, long double>;

template <has_special_functions T>
struct special_functions<T> {
  static constexpr bool provided = true;

  // At their poles (0, -1, -2, ...) and outside of their domains they give NaN, as <cmath> does.
  static T digamma(T x);
  static T polygamma(int n, T x);
};

template <std::integral T>
struct special_functions<T> : special_functions<double> {};

namespace detail {
inline bool const special_is_there =
    (special = {
         .digamma_f64 = [](double x) { return native::digamma(x); },
         .digamma_f32 = [](float x) { return native::digamma(x); },
         .polygamma_f64 = [](std::int64_t n, double x) { return native::polygamma(n, x); },
         .polygamma_f32 = [](std::int64_t n, float x) { return native::polygamma(n, x); }},
     true);
} // namespace detail

} // namespace overdub

#if OVERDUB_HEADER_ONLY
#include <overdub/special.ipp>
#endif
