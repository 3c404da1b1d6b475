// Functions of complex numbers, and of structs of floats, lifted, return what they return natively, by every executor.
#include "lift/sources/complex.hpp"

#include "lift/native.hpp"

#include <overdub/reverse/gradient_program.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

namespace {

using lifted::as_size;
using lifted::bits;
using lifted::number;
using lifted::numbers;
using lifted::size;

overdub::lift_result const& module() {
  static overdub::lift_result const result = overdub::lift_file(OVERDUB_LIFT_COMPLEX);
  return result;
}
template <class Native, class Make>
void same(std::string const& name, Native const& native, Make const& make, int times = 20) {
  lifted::same(module().program, name, native, make, times);
}

// Every pair of complex numbers whose parts are special.
template <class T>
std::vector<T> special_pairs() {
  using limits = std::numeric_limits<T>;
  std::vector<T> const parts{
      T(0),
      -T(0),
      T(1),
      T(-2.5),
      limits::infinity(),
      -limits::infinity(),
      limits::quiet_NaN(),
      limits::max(),
      -limits::max() / 3,
      limits::min(),
      -limits::denorm_min(),
      limits::epsilon() / 2};
  std::vector<T> all;
  for (T const a : parts)
    for (T const b : parts)
      for (T const c : parts)
        for (T const d : parts) all.insert(all.end(), {a, b, c, d});
  return all;
}
// Pairs whose parts have random bits, and so all exponents; every other pair has parts of similar exponents.
template <class T, class Bits>
std::vector<T> random_pairs(int n) {
  constexpr int digits = std::numeric_limits<T>::digits - 1;
  std::vector<T> all;
  for (int i = 0; i < n; ++i) {
    auto const common = static_cast<Bits>(bits()());
    for (int k = 0; k < 4; ++k) {
      auto const one = static_cast<Bits>(bits()());
      Bits const mixed = (common & ~((Bits{16} << digits) - 1)) | (one & ((Bits{16} << digits) - 1));
      T const x = std::bit_cast<T>(i % 2 == 0 ? one : mixed);
      all.push_back(std::isnan(x) ? std::numeric_limits<T>::quiet_NaN() : x);
    }
  }
  return all;
}
template <class T>
auto filled_with(std::vector<T> const& z) {
  return [&] {
    int const n = static_cast<int>(z.size() / 4);
    return std::tuple(z, n, std::vector<T>(2 * as_size(n)));
  };
}

} // namespace

TEST_CASE("every function of complex numbers is lifted") {
  for (overdub::refused_function const& f : module().refused) FAIL_CHECK(text_of(f));
  CHECK(module().natives.empty());
}

TEST_CASE("lifted products and quotients of special complex numbers") {
  auto const z = special_pairs<double>();
  same("products", products, filled_with(z), 1);
  same("quotients", quotients, filled_with(z), 1);
  auto const z_float = special_pairs<float>();
  same("float_products", float_products, filled_with(z_float), 1);
  same("float_quotients", float_quotients, filled_with(z_float), 1);
}
TEST_CASE("lifted products and quotients of random complex numbers") {
  auto const z = random_pairs<double, std::uint64_t>(20'000);
  same("products", products, filled_with(z), 1);
  same("quotients", quotients, filled_with(z), 1);
  auto const z_float = random_pairs<float, std::uint32_t>(20'000);
  same("float_products", float_products, filled_with(z_float), 1);
  same("float_quotients", float_quotients, filled_with(z_float), 1);
}

TEST_CASE("lifted functions of complex numbers") {
  same("sizes", sizes, [] { return std::tuple(numbers(8, -2.0, 2.0), 4, std::vector<double>(12)); });
  same("float_sizes", float_sizes, [] {
    return std::tuple(numbers(8, -2.0f, 2.0f), 4, std::vector<float>(12));
  });
  same("complex_polynomial", complex_polynomial, [] {
    int const n = size();
    return std::tuple(numbers(2 * as_size(n), -2.0, 2.0), n, numbers(2, -1.0, 1.0), std::vector<double>(2));
  });
  same("escape_time", escape_time, [] { return std::tuple(number(-1.5, 0.5), number(-1.0, 1.0)); });
  same("fourier", fourier, [] { return std::tuple(numbers(32, -1.0, 1.0)); });
  same("of_c", of_c, [] { return std::tuple(numbers(4, -1.0, 1.0), std::vector<double>(2)); });
}
TEST_CASE("quotients of complex numbers have derivatives") {
  overdub::ir::program p = module().program;
  p.entry = *p.find("size_of_quotient");
  overdub::differentiate_entry(p, {true, true, true, true}, true);
  auto const gradient = overdub::executable(p).run(std::vector<overdub::datum>{
      overdub::datum(1.0), overdub::datum(-2.0), overdub::datum(0.5), overdub::datum(3.0)});
  double const norm = 0.5 * 0.5 + 3 * 3, value = (1 + 4) / norm; // |a + ib|^2 / |c + id|^2
  REQUIRE(gradient.size() == 5);
  CHECK(gradient[0].as<double>() == Approx(value));
  CHECK(gradient[1].as<double>() == Approx(2 / norm));
  CHECK(gradient[2].as<double>() == Approx(-4 / norm));
  CHECK(gradient[3].as<double>() == Approx(-value * 2 * 0.5 / norm));
  CHECK(gradient[4].as<double>() == Approx(-value * 2 * 3 / norm));
}

TEST_CASE("lifted structs of floats") {
  same("cross_products", cross_products, [] {
    int const n = size();
    return std::tuple(numbers(6 * as_size(n), -2.0f, 2.0f), n, std::vector<float>(as_size(n)));
  });
  same("selected_pairs", selected_pairs, [] {
    int const n = size();
    return std::tuple(numbers(as_size(n), -2.0f, 4.0f), n);
  });
  same(
      "called_with_pair", called_with_pair, [] { return std::tuple(numbers(2, -2.0f, 2.0f), number(0, 5)); });
}
