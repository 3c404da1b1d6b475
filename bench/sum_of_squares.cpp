// map and reduce in compositions of contexts: the sum of squares of 10,000 numbers against two hand-written functions. The naive one is one
// loop. The equivalent one does what `map` and `reduce` do: it stores the squares in an array, and sums the array in eight lanes.
#include "ratio.hpp"

#include <overdub/contexts/forward.hpp>

#include <array>
#include <cstddef>
#include <malloc.h>
#include <memory>
#include <span>

namespace {

struct noop : overdub::context {};
using overdub::contexts::forward;

inline constexpr auto sum_of_squares = overdub::fn<"sum_of_squares">([](auto const& x) {
  return overdub::reduce(overdub::add, overdub::map([](auto v) { return v * v; }, x));
});

struct dual {
  double value, tangent;
  friend dual operator+(dual a, dual b) { return {a.value + b.value, a.tangent + b.tangent}; }
  friend dual operator*(dual a, dual b) {
    return {a.value * b.value, a.tangent * b.value + a.value * b.tangent};
  }
};

double naive(std::span<double const> x) {
  double sum = 0;
  for (double v : x) sum = sum + v * v;
  return sum;
}
dual naive(std::span<double const> x, std::span<double const> dx) {
  dual sum{0, 0};
  for (std::size_t i = 0; i < x.size(); ++i) {
    dual const v{x[i], dx[i]};
    sum = sum + v * v;
  }
  return sum;
}

// Sums in eight lanes and adds the lanes in the order of overdub::reduce; the size is a multiple of eight.
double sum_in_lanes(double const* y, std::size_t n) {
  std::array<double, 8> lane{};
  for (std::size_t j = 0; j < 8; ++j) lane[j] = y[j];
  for (std::size_t i = 8; i < n; i += 8)
    for (std::size_t j = 0; j < 8; ++j) lane[j] += y[i + j];
  return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}
double in_lanes(std::span<double const> x) {
  std::unique_ptr<double[]> const squares(new double[x.size()]);
  for (std::size_t i = 0; i < x.size(); ++i) squares[i] = x[i] * x[i];
  return sum_in_lanes(squares.get(), x.size());
}
dual in_lanes(std::span<double const> x, std::span<double const> dx) {
  std::unique_ptr<double[]> const squares(new double[x.size()]), tangents(new double[x.size()]);
  for (std::size_t i = 0; i < x.size(); ++i) {
    dual const v{x[i], dx[i]}, square = v * v;
    squares[i] = square.value;
    tangents[i] = square.tangent;
  }
  return {sum_in_lanes(squares.get(), x.size()), sum_in_lanes(tangents.get(), x.size())};
}

} // namespace

int main() {
  constexpr std::size_t n = 10'000;
  static double numbers[n], directions[n];
  for (std::size_t i = 0; i < n; ++i) numbers[i] = 1.0 + 1e-4 * static_cast<double>(i), directions[i] = 1.0;
  auto const x = overdub::array<double>::borrow(numbers), dx = overdub::array<double>::borrow(directions);
  auto const size = bench::opaque(n);
  std::span<double const> const xs{numbers, size}, dxs{directions, size};
  noop none;
  forward derivative;

  // The optimiser must assume that the elements change between calls.
  auto anew = [](auto f) {
    return [f] {
      bench::forget_memory();
      return f();
    };
  };
  auto run = [&](auto&& context) { return overdub::run(context, sum_of_squares, overdub::tag(x, dx)); };
  auto compare = [&](char const* values, char const* derivatives) {
    bench::compare(
        values, //
        bench::way{"by hand, naive", 0, anew([&] { return naive(xs); })},
        bench::way{"called plainly", 1.05, anew([&] { return sum_of_squares(x); })},
        bench::way{"under a no-op", 1.05, anew([&] { return overdub::run(none, sum_of_squares, x); })},
        bench::way{"by hand, the same meaning", 0, anew([&] { return in_lanes(xs); })});
    bench::compare(
        derivatives, //
        bench::way{"by hand, naive", 0, anew([&] { return naive(xs, dxs); })},
        bench::way{"under forward", 1.05, anew([&] { return run(derivative); })},
        bench::way{
            "under no-op, then forward", 1.05, anew([&] { return run(overdub::compose(none, derivative)); })},
        bench::way{
            "under forward, then no-op", 1.05, anew([&] { return run(overdub::compose(derivative, none)); })},
        bench::way{"by hand, the same meaning", 0, anew([&] { return in_lanes(xs, dxs); })});
  };
  // glibc returns the memory of the two arrays to the system in each call, unless the trim threshold is higher or other blocks follow
  // them in the heap.
  compare("sum of 10,000 squares", "its derivative along a direction");
  mallopt(M_TRIM_THRESHOLD, 1 << 24);
  compare(
      "sum of 10,000 squares, in a heap that stays",
      "its derivative along a direction, in a heap that stays");
}
