// One function computes the sine and the cosine of a number, with the bits of both.
#include "catch.hpp"

#include <overdub/execute/interpreter.hpp>
#include <overdub/ir/parse.hpp>
#include <overdub/jit/jit.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <tuple>
#include <vector>

namespace {

using namespace overdub;

// All bit patterns, and numbers in the ranges that libraries distinguish.
template <class T, class Bits>
std::vector<T> numbers(std::size_t count) {
  std::mt19937_64 random(1);
  std::vector<T> all{
      T(0),
      -T(0),
      std::numeric_limits<T>::infinity(),
      -std::numeric_limits<T>::infinity(),
      std::numeric_limits<T>::denorm_min(),
      std::numeric_limits<T>::max()};
  for (T const scale : {T(0.1), T(1), T(3), T(100), T(1e6), T(1e30)})
    for (std::size_t i = 0; i < count; ++i)
      all.push_back(std::uniform_real_distribution<T>(-scale, scale)(random));
  for (std::size_t i = 0; i < count; ++i) all.push_back(std::bit_cast<T>(static_cast<Bits>(random())));
  return all;
}
std::string of_type(std::string text, std::string const& type) {
  for (std::size_t at = 0; (at = text.find("TYPE", at)) != std::string::npos;) text.replace(at, 4, type);
  return text;
}
template <class T, class Bits>
void have_equal_bits(char const* type) {
  ir::program const p = ir::parse(of_type(
      R"(
entry @f
func @f(%x: TYPE[]) -> (TYPE[], TYPE[]) {
  %n = length %x : i64
  %sines, %cosines = map %n (%i: i64) -> (TYPE, TYPE) {
    %e = at %x, %i : TYPE
    %s = sin %e : TYPE
    %c = cos %e : TYPE
    yield %s, %c
  }
  return %sines, %cosines
})",
      type));
  auto const xs = numbers<T, Bits>(5'000);
  using pair = std::pair<array<T>, array<T>>;
  auto const expected = executable(p).call<pair>(xs);
  for (int level : {0, 2}) {
    auto const found = jit::compile(p, {}, {.optimisation = level}).call<pair>(xs);
    std::size_t different = 0;
    auto const compare = [&](T a, T b) {
      different += std::bit_cast<Bits>(a) != std::bit_cast<Bits>(b) && !(std::isnan(a) && std::isnan(b));
    };
    for (std::size_t i = 0; i < xs.size(); ++i) {
      auto const at = static_cast<i64>(i);
      compare(expected.first[at], found.first[at]);
      compare(expected.second[at], found.second[at]);
    }
    INFO("level " << level);
    CHECK(different == 0);
  }
}

} // namespace

TEST_CASE("the function has the bits of a sine and of a cosine") {
  have_equal_bits<double, std::uint64_t>("f64");
  have_equal_bits<float, std::uint32_t>("f32");
}

TEST_CASE("pairs of sines and cosines are merged in either order, in branches, and in loops with checks") {
  ir::program const p = ir::parse(R"(
entry @f
func @f(%x: f64, %y: f64, %a: f64[], %n: i64) -> f64 {
  %c = cos %x : f64
  %s = sin %x : f64
  %s1 = sin %y : f64
  %s2 = sin %y : f64
  %c1 = cos %y : f64
  %positive = gt %x, 0.0 : bool
  %b = if %positive -> f64 {
    %u = cos %s : f64
    yield %u
  } else {
    %v = sin %s : f64
    %w = cos %s : f64
    %d = sub %v, %w : f64
    yield %d
  }
  %l = loop %n (%i: i64, %t: f64 = %b) -> f64 {
    %e = at %a, %i : f64
    %se = sin %e : f64
    %ce = cos %e : f64
    %m = mul %se, %t : f64
    %o = add %m, %ce : f64
    yield %o
  }
  %k = sub %c, %s : f64
  %q = mul %s1, 3.0 : f64
  %r = sub %s2, %q : f64
  %z = mul %r, %c1 : f64
  %sum = add %k, %z : f64
  %all = add %sum, %l : f64
  return %all
})");
  std::vector<double> const a{0.25, 1.5, -2.5, 40.0};
  for (int level = 0; level <= 3; ++level) {
    executable const compiled = jit::compile(p, {}, {.optimisation = level});
    for (double const x : {-1.25, 0.75, 9.0})
      CHECK(compiled.call<double>(x, 2.0, a, i64{4}) == executable(p).call<double>(x, 2.0, a, i64{4}));
    CHECK_THROWS_AS(compiled.call<double>(1.0, 2.0, a, i64{5}), index_error);
  }
}

TEST_CASE("the interpreter has one instruction for both, wherever the second one is") {
  ir::program const p = ir::parse(R"(
entry @f
func @f(%x: f64, %n: i64) -> (f64, f64[], f64[], f64) {
  %end, %all, %cosines = loop %n (%i: i64, %a: f64 = %x) -> f64 stack (f64, f64) {
    %c = cos %a : f64
    %t = mul %a, 0.5 : f64
    %s = sin %a : f64
    %u = add %t, %s : f64
    %positive = gt %u, 0.0 : bool
    %d = if %positive -> f64 { %k = sin %t : f64 %l = cos %t : f64 %m = add %k, %l : f64 yield %m } else { yield %c }
    %e = add %d, %u : f64
    yield %e, %a, %c
  }
  %unused = cos %end : f64
  %last = sin %end : f64
  return %end, %all, %cosines, %last
})");
  auto const [end, all, cosines, last] =
      executable(p).call<std::tuple<double, array<double>, array<double>, double>>(0.3, 20);
  double a = 0.3;
  for (i64 i = 0; i < 20; ++i) {
    CHECK(all[i] == a);
    CHECK(cosines[i] == std::cos(a));
    double const t = a * 0.5, u = t + std::sin(a);
    a = (u > 0 ? std::sin(t) + std::cos(t) : std::cos(a)) + u;
  }
  CHECK(end == a);
  CHECK(last == std::sin(a));
}
