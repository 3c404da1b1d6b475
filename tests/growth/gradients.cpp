// The growth law for gradients: the work for each number that the function reads does not depend on their count, and is a small
// multiple of the function's.
#include "growth/check_each.hpp"

#include <overdub/execute/interpreter.hpp>
#include <overdub/overdub.hpp>
#include <overdub/reverse/gradient_program.hpp>
#include <overdub/stage/stage.hpp>

#include <cmath>
#include <vector>

namespace {

namespace od = overdub;
using growth::work_of;
using od::i64;
using vec = od::array<double>;
using matrix = od::array<vec>;

// A covariance matrix, row by row.
std::vector<double> covariance(i64 n) {
  std::vector<double> all;
  for (i64 i = 0; i < n; ++i)
    for (i64 j = 0; j < n; ++j)
      all.push_back(std::exp(-0.01 * static_cast<double>((i - j) * (i - j))) + (i == j ? 0.5 : 0));
  return all;
}
vec flat(i64 n) { return vec::copy_of(covariance(n)); }
matrix rows(i64 n) {
  std::vector<double> const all = covariance(n);
  std::vector<vec> made;
  for (i64 i = 0; i < n; ++i)
    made.push_back(vec::copy_of(std::vector<double>(all.begin() + i * n, all.begin() + (i + 1) * n)));
  return matrix::copy_of(made);
}

/// The work of a function of (x, n), and of its gradient by x, for each of the `reads` numbers that it reads.
struct works {
  double value, gradient;
};
template <class F, class X>
works works_of(F const& f, X const& x, i64 n, double reads) {
  od::ir::program const p = od::stage(f, od::signature<X, i64>);
  od::ir::program g = p;
  od::differentiate_entry(g, {true, false}, true, {});
  od::executable const once(p), back(g);
  std::vector<od::datum> const in{od::datum(x), od::datum(n)};
  return {work_of([&] { (void)once.run(in); }) / reads, work_of([&] { (void)back.run(in); }) / reads};
}
/// For few rows and many: the function reads `reads(n)` numbers of n.
template <class F, class Made, class Reads>
void check_gradient(
    F const& f, Made const& made, Reads const& reads, double most, i64 few = 8, i64 many = 64) {
  auto const at = [&](i64 n) { return works_of(f, made(n), n, reads(static_cast<double>(n))); };
  works const small = at(few), large = at(many);
  INFO(
      F::name() << ", blocks for each number: " << small.value << " and " << small.gradient << " of " << few
                << ", " << large.value << " and " << large.gradient << " of " << many);
  CHECK(small.value > 0);
  CHECK(large.value <= 1.1 * small.value);
  CHECK(large.gradient <= 1.1 * small.gradient);
  CHECK(large.gradient <= most * large.value);
}
auto const squared = [](double n) { return n * n; };
auto const cubed = [](double n) { return n * n * n; };

constexpr auto rosenbrock = od::fn<"rosenbrock">([](auto const& x, auto n) {
  return od::loop(n - 1, 0.0, [&](auto i, auto sum) {
    auto const a = x[i], b = x[i + 1];
    return sum + 100.0 * (b - a * a) * (b - a * a) + (1.0 - a) * (1.0 - a);
  });
});

// ---- rows that are read by element

constexpr auto product = od::fn<"product">([](auto const& a, auto n) {
  return od::loop(n, 0.0, [&](auto i, auto all) {
    return od::loop(n, all, [&](auto j, auto row) {
      return od::loop(n, row, [&](auto k, auto sum) { return sum + a[i][k] * a[k][j]; });
    });
  });
});
constexpr auto few_of_each_row = od::fn<"few_of_each_row">([](auto const& a, auto n) {
  return od::loop(n, 0.0, [&](auto t, auto all) {
    return od::loop(n, all, [&](auto i, auto rows) {
      auto const row = a[i];
      return od::loop(i64{3}, rows, [&](auto k, auto sum) { return sum + row[k] * row[t]; });
    });
  });
});

// ---- arrays that loops update

constexpr auto two_loops = od::fn<"two_loops">([](od::scope auto& cx, auto const& x, auto n) {
  auto const all = cx(od::loop, n, od::fill(n * n + 1, 1.0), [&](auto i, auto rows) {
    return cx(od::loop, n, std::move(rows), [&](auto j, auto a) {
      auto const next = a[i * n + j] * x[i] + 0.1;
      return od::update(std::move(a), i * n + j + 1, next);
    });
  });
  return all[n * n];
});
// Sums of the logarithms of the diagonal.
constexpr auto cholesky = od::fn<"cholesky">([](auto const& a, auto n) {
  auto const factor = od::loop(n, a, [&](auto j, auto const& before) {
    auto const s = od::loop(
        j, before[j * n + j], [&](auto k, auto sum) { return sum - before[j * n + k] * before[j * n + k]; });
    auto const d = sqrt(s);
    return od::loop(n - j - 1, od::update(before, j * n + j, d), [&](auto t, auto const& l) {
      auto const i = j + 1 + t;
      auto const v =
          od::loop(j, l[i * n + j], [&](auto k, auto sum) { return sum - l[i * n + k] * l[j * n + k]; });
      return od::update(l, i * n + j, v / d);
    });
  });
  return od::loop(n, 0.0, [&](auto j, auto sum) { return sum + log(factor[j * n + j]); });
});
constexpr auto cholesky_by_rows = od::fn<"cholesky_by_rows">([](od::scope auto& cx, auto const& a, auto n) {
  auto const factor = cx(od::loop, n, od::fill(n, od::fill(n, 0.0)), [&](auto i, auto rows) {
    auto const row = cx(od::loop, i + 1, od::fill(n, 0.0), [&](auto j, auto r) {
      auto const x = od::if_(
          j == i, [&] { return sqrt(a[i][i] - od::dot(r, r)); },
          [&] { return (a[i][j] - od::dot(r, rows[j])) / rows[j][j]; });
      return od::update(std::move(r), j, x);
    });
    return od::update(std::move(rows), i, row);
  });
  return cx(od::loop, n, cx.lift(0.0), [&](auto i, auto sum) { return sum + log(factor[i][i]); });
});

} // namespace

TEST_CASE(
    "the work of the gradient of a loop over an array is linear in the number of elements", "[gradients]") {
  check_gradient(
      rosenbrock, [](i64 n) { return vec::copy_of(std::vector<double>(static_cast<std::size_t>(n), 0.9)); },
      [](double n) { return n; }, 4, 60, 6'000);
}

TEST_CASE(
    "the work of gradients of functions that read elements of rows is linear in the number of elements",
    "[gradients]") {
  check_gradient(product, rows, cubed, 4);
  check_gradient(few_of_each_row, rows, squared, 4);
}

TEST_CASE(
    "the work of gradients of loops that update arrays is linear in the number of reads", "[gradients]") {
  check_gradient(two_loops, flat, squared, 4);
  check_gradient(cholesky, flat, cubed, 4);
  check_gradient(cholesky_by_rows, rows, cubed, 4);
}
