// Incremental updates that recompute much of the function or all of it: sparse products, a number that all elements use, statistics of
// cells; against hand-written updates, and against a run of the function.
#include "ratio.hpp"

#include <overdub/compile/compile.hpp>
#include <overdub/incremental.hpp>
#include <overdub/jit/executor.hpp>
#include <overdub/overdub.hpp>
#include <overdub/random.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

namespace {

namespace od = overdub;
using od::i64;
using numbers = od::array<double>;
using indices = od::array<i64>;

struct random_numbers {
  od::random_generator bits{od::random_key(1)};
  i64 below(i64 n) { return static_cast<i64>(bits.uniform() * static_cast<double>(n)); }
  double near_zero() { return bits.uniform() - 0.5; }
};
std::size_t at(i64 i) { return static_cast<std::size_t>(i); }

// ---- a sparse logistic regression: 10,000 rows, 100,000 elements, 1,000 coefficients

constexpr auto logistic = od::fn<"logistic">([](auto w, auto start, auto col, auto val, auto label) {
  return od::sum(od::tabulate(od::size(label), [&](auto i) {
    auto const from = start[i];
    auto const z =
        od::sum(od::tabulate(start[i + 1] - from, [&](auto k) { return val[from + k] * w[col[from + k]]; }));
    return label[i] * z - od::log1p(od::exp(z));
  }));
});

class logistic_by_hand { // has the rows of each coefficient, and the sum of each row
public:
  logistic_by_hand(
      std::vector<double> const& w, std::vector<i64> const& start, std::vector<i64> const& col,
      std::vector<double> const& val, std::vector<double> const& label)
      : w_(w), label_(label), z_(label.size()), term_(label.size()), rows_(w.size()) {
    for (std::size_t i = 0; i < label.size(); ++i) {
      for (auto k = at(start[i]); k < at(start[i + 1]); ++k) {
        z_[i] += val[k] * w[at(col[k])];
        rows_[at(col[k])].emplace_back(i, val[k]);
      }
      term_[i] = label[i] * z_[i] - std::log1p(std::exp(z_[i]));
      sum_ += term_[i];
    }
  }
  double set(std::size_t j, double x) {
    double const by = std::exchange(w_[j], x);
    for (auto const& [i, v] : rows_[j]) {
      z_[i] += v * (x - by);
      double const term = label_[i] * z_[i] - std::log1p(std::exp(z_[i]));
      sum_ += term - std::exchange(term_[i], term);
    }
    return sum_;
  }

private:
  std::vector<double> w_, label_, z_, term_;
  std::vector<std::vector<std::pair<std::size_t, double>>> rows_;
  double sum_ = 0;
};

void bench_sparse(od::compile_options const& compiled) {
  constexpr i64 rows = 10'000, columns = 1'000;
  random_numbers r, a, b;
  std::vector<double> w, val, label;
  std::vector<i64> start{0}, col;
  for (i64 j = 0; j < columns; ++j) w.push_back(r.near_zero());
  for (i64 i = 0; i < rows; ++i) {
    for (i64 k = r.below(21); k > 0; --k) {
      col.push_back(r.below(columns));
      val.push_back(r.near_zero());
    }
    start.push_back(static_cast<i64>(col.size()));
    label.push_back(r.near_zero() < 0 ? 0 : 1);
  }
  logistic_by_hand hand(w, start, col, val, label);
  auto f = od::incremental(compiled, logistic, w, start, col, val, label);
  auto const run = od::compile(
      od::compose(), logistic, od::signature<numbers, indices, indices, numbers, numbers>, compiled);
  auto const W = numbers::copy_of(w), V = numbers::copy_of(val), L = numbers::copy_of(label);
  auto const S = indices::copy_of(start), C = indices::copy_of(col);
  bench::compare(
      "a coefficient of a sparse logistic regression of 10,000 rows and 100,000 elements moves",
      bench::way{
          "by hand", 0,
          [&] {
            i64 const j = a.below(columns);
            return hand.set(at(j), a.near_zero());
          }},
      bench::way{
          "followed, compiled", 0,
          [&] {
            i64 const j = b.below(columns);
            f.set_at<0>(j, b.near_zero());
            f.commit();
            return f.value();
          }},
      bench::way{"all of it, compiled", 0, [&] { return run(W, S, C, V, L); }});
}

// ---- a number that all elements use

constexpr auto deviations = od::fn<"deviations">(
    [](auto x, auto c) { return od::sum(od::map([&](auto e) { return (e - c) * (e - c); }, x)); });

void bench_deviations(od::compile_options const& compiled) {
  random_numbers r, a, b;
  std::vector<double> x;
  for (i64 i = 0; i < 10'000; ++i) x.push_back(r.near_zero());
  auto f = od::incremental(compiled, deviations, x, 0.5);
  auto const X = numbers::copy_of(x);
  auto const run = od::compile(od::compose(), deviations, od::signature<numbers, double>, compiled);
  f.set_at<0>(5, 0.25); // from here on elements are saved
  f.commit();
  bench::compare(
      "the number that 10,000 squares of differences are of moves",
      bench::way{"a run", 0, [&] { return run(X, a.near_zero()); }}, bench::way{"an update", 0, [&] {
                                                                                  f.set<1>(b.near_zero());
                                                                                  f.commit();
                                                                                  return f.value();
                                                                                }});
}

// ---- the statistics of 1,000 cells

constexpr auto sheet = od::fn<"sheet">([](auto x, auto rate) {
  auto const n = od::convert<double>(od::size(x));
  auto const mean = od::sum(x) / n;
  auto const variance = od::sum(od::map([&](auto e) { return (e - mean) * (e - mean); }, x)) / (n - 1.0);
  auto const most = od::reduce(od::max, x);
  auto const chain = od::loop(od::size(x), 0.0 * rate, [&](auto i, auto s) { return 0.5 * s + x[i]; });
  return mean + variance + most + chain + (most - mean) * (1.0 + rate);
});

void bench_sheet(od::compile_options const& compiled) {
  random_numbers r, a, b, c;
  std::vector<double> x;
  for (i64 i = 0; i < 1'000; ++i) x.push_back(r.near_zero());
  auto fast = od::incremental(compiled, sheet, x, 0.19);
  auto slow = od::incremental(sheet, x, 0.19);
  auto const set = [](auto& f, random_numbers& random) {
    i64 const i = random.below(1'000);
    f.template set_at<0>(i, random.near_zero());
    f.commit();
    return f.value();
  };
  bench::compare(
      "one of 1,000 cells of a sheet moves",
      bench::way{
          "all of it, called plainly", 0,
          [&] {
            x[at(a.below(1'000))] = a.near_zero();
            return sheet(numbers::borrow(x), 0.19);
          }},
      bench::way{"followed, compiled", 0, [&] { return set(fast, b); }},
      bench::way{"followed, interpreted", 0, [&] { return set(slow, c); }});
}

} // namespace

int main() {
  od::compile_options const compiled{.executor = od::jit::compiled(), .tiers = od::tiers::compile_now};
  bench_sparse(compiled);
  bench_deviations(compiled);
  bench_sheet(compiled);
}
