// Calls functions natively and lifted, with the same arguments.
#pragma once

#include "lift/executors.hpp"

#include <concepts>
#include <random>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace lifted {

// How an argument of a native function is stored, passed, and returned by the lifted one.
template <class T>
struct storage {
  using type = T;
  static T pass(T x) { return x; }
  static void append_written(std::vector<datum>&, T) {}
};
template <class T>
struct storage<T const*> {
  using type = std::vector<T>;
  static T const* pass(std::vector<T> const& x) { return x.data(); }
  static void append_written(std::vector<datum>&, std::vector<T> const&) {}
};
template <class T>
struct storage<T*> {
  using type = std::vector<T>;
  static T* pass(std::vector<T>& x) { return x.data(); }
  static void append_written(std::vector<datum>& results, std::vector<T> const& x) {
    results.push_back(as_datum(x));
  }
};

inline std::mt19937_64& bits() {
  static std::mt19937_64 generator(1);
  return generator;
}
template <class T>
T number(T low, T high) {
  if constexpr (std::floating_point<T>) {
    return std::uniform_real_distribution<T>(low, high)(bits());
  } else if constexpr (sizeof(T) == 1) {
    return static_cast<T>(number<int>(low, high));
  } else
    return std::uniform_int_distribution<T>(low, high)(bits());
}
template <class T>
std::vector<T> numbers(std::size_t n, T low, T high) {
  std::vector<T> all(n);
  for (T& x : all) x = number<T>(low, high);
  return all;
}
inline int size() { return number(0, 12); }
inline std::size_t as_size(int n) { return static_cast<std::size_t>(n); }

// Calls the function natively and lifted with arguments that `make` returns.
template <class R, class... A, class Make>
void same(
    overdub::ir::program const& p, std::string const& name, R (*native)(A...), Make const& make,
    int times = 20) {
  function lifted_function(p, name);
  for (int i = 0; i < times; ++i) {
    std::tuple<typename storage<A>::type...> arguments = make();
    std::apply(
        [&](auto&... x) {
          std::vector<datum> const given{as_datum(x)...};
          std::vector<datum> results;
          if constexpr (std::is_void_v<R>)
            native(storage<A>::pass(x)...);
          else
            results.push_back(as_datum(native(storage<A>::pass(x)...)));
          (storage<A>::append_written(results, x), ...);
          lifted_function.check(given, results, i < 5);
        },
        arguments);
  }
}

inline auto array_and_size(double low = -2, double high = 2) {
  return [=] {
    int const n = size();
    return std::tuple(numbers(as_size(n), low, high), n);
  };
}
inline auto reals(double low, double high) {
  return [=] { return std::tuple(number(low, high)); };
}

} // namespace lifted
