// The control and array primitives on plain numbers, without a context, each against a hand-written loop over 10,000 elements.
#include "ratio.hpp"

#include <overdub/overdub.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

namespace {

using overdub::array;
using overdub::i64;

constexpr std::size_t n = 10000;

std::vector<double> const numbers = [] {
  std::vector<double> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = 1.0 + 1e-4 * static_cast<double>(i);
  return v;
}();
std::vector<i64> const places = [] {
  std::vector<i64> v(n);
  for (std::size_t i = 0; i < n; ++i) v[i] = static_cast<i64>(i * 7919 % n);
  return v;
}();

array<double> const xs = array<double>::borrow(numbers);
array<i64> const at_places = array<i64>::borrow(places);

// Adds in the order of overdub::sum: in eight lanes.
template <class Get>
double in_lanes(Get const& get) {
  std::array<double, 8> lane{};
  for (std::size_t j = 0; j < 8; ++j) lane[j] = get(j);
  for (std::size_t i = 8; i < n; i += 8)
    for (std::size_t j = 0; j < 8; ++j) lane[j] += get(i + j);
  return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

void loops() {
  bench::compare(
      "loop: a sum of elements",
      bench::way{
          "hand-written", 0,
          [] {
            double s = 0;
            for (std::size_t i = 0; i < n; ++i) s += numbers[i];
            return s;
          }},
      bench::way{"overdub", 1.05, [] {
                   return overdub::loop(overdub::size(xs), 0.0, [](i64 i, double s) { return s + xs[i]; });
                 }});
  bench::compare(
      "loop: two numbers carried",
      bench::way{
          "hand-written", 0,
          [] {
            double s = 0, t = 0;
            for (std::size_t i = 0; i < n; ++i) s += numbers[i], t += s * numbers[i];
            return s + t;
          }},
      bench::way{"overdub", 1.05, [] {
                   auto const [s, t] =
                       overdub::loop(overdub::size(xs), std::tuple{0.0, 0.0}, [](i64 i, auto const& state) {
                         double const s1 = std::get<0>(state) + xs[i];
                         return std::tuple{s1, std::get<1>(state) + s1 * xs[i]};
                       });
                   return s + t;
                 }});
  bench::compare(
      "loop: a gather",
      bench::way{
          "hand-written", 0,
          [] {
            double s = 0;
            for (std::size_t i = 0; i < n; ++i) s += numbers[static_cast<std::size_t>(places[i])];
            return s;
          }},
      bench::way{"overdub", 1.05, [] {
                   return overdub::loop(
                       overdub::size(xs), 0.0, [](i64 i, double s) { return s + xs[at_places[i]]; });
                 }});
  bench::compare(
      "while: steps of 3n + 1",
      bench::way{
          "hand-written", 0,
          [] {
            i64 m = bench::opaque(i64{837799}), steps = 0;
            for (; m != 1; ++steps) m = m % 2 != 0 ? 3 * m + 1 : m / 2;
            return steps;
          }},
      bench::way{"overdub", 1.05, [] {
                   auto const [m, steps] = overdub::while_(
                       std::tuple{bench::opaque(i64{837799}), i64{0}},
                       [](auto const& s) { return std::get<0>(s) != 1; },
                       [](auto const& s) {
                         auto const [k, count] = s;
                         return std::tuple{k % 2 != 0 ? 3 * k + 1 : k / 2, count + 1};
                       });
                   return steps + m - 1;
                 }});
}

void arrays() {
  bench::compare(
      "map",
      bench::way{
          "hand-written", 0,
          [] {
            std::vector<double> out(n);
            for (std::size_t i = 0; i < n; ++i) out[i] = numbers[i] * numbers[i] + 1;
            return out;
          }},
      bench::way{"overdub", 1.05, [] { return overdub::map([](double x) { return x * x + 1; }, xs); }});
  bench::compare(
      "scan",
      bench::way{
          "hand-written", 0,
          [] {
            std::vector<double> out(n);
            double s = 0;
            for (std::size_t i = 0; i < n; ++i) s += numbers[i], out[i] = 2 * s;
            return out;
          }},
      bench::way{
          "overdub", 1.05, [] {
            return overdub::scan([](double s, double x) { return std::tuple{s + x, 2 * (s + x)}; }, 0.0, xs);
          }});
  bench::compare(
      "sum", bench::way{"hand-written", 0, [] { return in_lanes([](std::size_t i) { return numbers[i]; }); }},
      bench::way{"overdub", 1.05, [] { return overdub::sum(xs); }});
  bench::compare(
      "dot",
      bench::way{
          "hand-written", 0, [] { return in_lanes([](std::size_t i) { return numbers[i] * numbers[i]; }); }},
      bench::way{"overdub", 1.05, [] { return overdub::dot(xs, xs); }});
  bench::compare(
      "reduce: the largest",
      bench::way{
          "hand-written", 0,
          [] {
            double m = numbers[0];
            for (std::size_t i = 1; i < n; ++i) m = m < numbers[i] ? numbers[i] : m;
            return m;
          }},
      bench::way{"overdub", 1.05, [] { return overdub::reduce(overdub::max, xs); }});
  bench::compare(
      "iota",
      bench::way{
          "hand-written", 0,
          [] {
            std::vector<i64> out(n);
            for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<i64>(i);
            return out;
          }},
      bench::way{"overdub", 1.05, [] { return overdub::iota(static_cast<i64>(n)); }});
  bench::compare(
      "concat",
      bench::way{
          "hand-written", 0,
          [] {
            std::vector<double> out;
            out.reserve(2 * n);
            out.insert(out.end(), numbers.begin(), numbers.end());
            out.insert(out.end(), numbers.begin(), numbers.end());
            return out;
          }},
      bench::way{"overdub", 1.05, [] { return overdub::concat(xs, xs); }});
  bench::compare(
      "update in a loop: each element from the one before",
      bench::way{
          "hand-written", 0,
          [] {
            std::vector<double> out(numbers);
            for (std::size_t i = 1; i < n; ++i) out[i] = 0.5 * (out[i] + out[i - 1]);
            return out;
          }},
      bench::way{"overdub", 1.05, [] {
                   return overdub::loop(overdub::size(xs) - 1, xs, [](i64 i, array<double> a) {
                     double const x = 0.5 * (a[i + 1] + a[i]);
                     return overdub::update(std::move(a), i + 1, x);
                   });
                 }});
}

} // namespace

int main() {
  loops();
  arrays();
}
