// Incremental updates after which most dependent values are unchanged, against updates that are written by hand for the function.
#include "ratio.hpp"

#include <overdub/incremental.hpp>
#include <overdub/jit/executor.hpp>
#include <overdub/overdub.hpp>
#include <overdub/random.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace {

namespace od = overdub;
using od::i64;
using numbers = od::array<double>;

struct random_numbers {
  od::random_generator bits{od::random_key(1)};
  i64 below(i64 n) { return static_cast<i64>(bits.uniform() * static_cast<double>(n)); }
  double near_zero() { return bits.uniform() - 0.5; }
};
std::size_t at(i64 i) { return static_cast<std::size_t>(i); }

// ---- a maximum that all terms of a sum use, and that the update does not change

constexpr auto log_sum_exp = od::fn<"log_sum_exp">([](auto x) {
  auto const most = od::reduce(od::max, x);
  return most + od::log(od::sum(od::map([&](auto e) { return od::exp(e - most); }, x)));
});

class log_sum_exp_by_hand { // knows that the maximum is unchanged
public:
  explicit log_sum_exp_by_hand(std::vector<double> const& x)
      : maximum_(*std::max_element(x.begin(), x.end())), terms_(x) {
    for (double& t : terms_) sum_ += t = std::exp(t - maximum_);
  }
  double set(std::size_t i, double x) {
    double const now = std::exp(x - maximum_);
    sum_ += now - terms_[i];
    terms_[i] = now;
    return maximum_ + std::log(sum_);
  }

private:
  double maximum_, sum_ = 0;
  std::vector<double> terms_;
};

void bench_log_sum_exp(od::compile_options const& compiled) {
  constexpr i64 size = 10'000;
  random_numbers a, b, c;
  std::vector<double> x;
  for (i64 i = 0; i < size; ++i) x.push_back(a.near_zero());
  x[0] = 1;
  log_sum_exp_by_hand hand(x);
  auto fast = od::incremental(compiled, log_sum_exp, numbers::copy_of(x));
  auto slow = od::incremental(log_sum_exp, numbers::copy_of(x));
  auto const set = [](auto& f, random_numbers& random) {
    i64 const i = 1 + random.below(size - 1);
    f.template set_at<0>(i, random.near_zero());
    f.commit();
    return f.value();
  };
  bench::compare<bench::allocating::forbidden>(
      "the logarithm of a sum of 10,000 exponentials: a number that is not the highest moves",
      bench::way{
          "by hand", 0,
          [&] {
            i64 const i = 1 + a.below(size - 1);
            return hand.set(at(i), a.near_zero());
          }},
      bench::way{"followed, compiled", 0, [&] { return set(fast, b); }},
      bench::way{"followed, interpreted", 0, [&] { return set(slow, c); }});
}

// ---- many series, each with a recurrence that an update leaves early (early cutoff)

// A change below the maximum has no effect on later iterations.
constexpr auto panel = od::fn<"panel">([](auto rows) {
  return od::sum(od::map(
      [](auto row) {
        return od::loop(od::size(row), 0.0, [&](auto t, auto s) { return od::max(0.9 * s, row[t]); });
      },
      rows));
});

class panel_by_hand {
public:
  explicit panel_by_hand(std::vector<std::vector<double>> x) : x_(std::move(x)) {
    for (auto const& row : x_) {
      std::vector<double>& states = states_.emplace_back(1, 0.0);
      for (double const e : row) states.push_back(std::max(0.9 * states.back(), e));
      sum_ += states.back();
    }
  }
  double set(std::size_t i, std::size_t t, double e) {
    std::vector<double>&row = x_[i], &states = states_[i];
    row[t] = e;
    double const before = states.back();
    for (double s = std::max(0.9 * states[t], e); s != states[t + 1]; s = std::max(0.9 * s, row[t])) {
      states[++t] = s;
      if (t == row.size()) break;
    }
    return sum_ += states.back() - before;
  }

private:
  std::vector<std::vector<double>> x_, states_;
  double sum_ = 0;
};

void bench_panel(od::compile_options const& compiled) {
  constexpr i64 series = 100, steps = 1'000;
  random_numbers a, b, c;
  std::vector<std::vector<double>> x(series);
  std::vector<numbers> rows;
  for (auto& row : x) {
    for (i64 t = 0; t < steps; ++t) row.push_back(a.near_zero());
    rows.push_back(numbers::copy_of(row));
  }
  panel_by_hand hand(x);
  auto const all = od::array<numbers>::copy_of(rows);
  auto fast = od::incremental(compiled, panel, all);
  auto slow = od::incremental(panel, all);
  auto const set = [](auto& f, random_numbers& random) {
    i64 const i = random.below(series), t = random.below(steps);
    f.template set_at<0>(i, t, random.near_zero());
    f.commit();
    return f.value();
  };
  bench::compare(
      "a loop-carried number in one of 100 series of 1,000 steps, with early cutoff",
      bench::way{
          "by hand", 0,
          [&] {
            i64 const i = a.below(series), t = a.below(steps);
            return hand.set(at(i), at(t), a.near_zero());
          }},
      bench::way{"followed, compiled", 0, [&] { return set(fast, b); }},
      bench::way{"followed, interpreted", 0, [&] { return set(slow, c); }},
      bench::way{"all series by hand", 0, [&] {
                   double sum = 0;
                   for (auto const& row : x) {
                     double s = 0;
                     for (double const e : row) s = std::max(0.9 * s, e);
                     sum += s;
                   }
                   return sum;
                 }});
}

} // namespace

int main() {
  od::compile_options const compiled{.executor = od::jit::compiled(), .tiers = od::tiers::compile_now};
  bench_log_sum_exp(compiled);
  bench_panel(compiled);
}
