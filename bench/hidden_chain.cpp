// A loop that carries an array: the filter of a hidden chain, of which one observation changes, followed by slices, against the same by
// hand, and against all of it by hand. What is carried agrees some turns after the change with what it was.
#include "ratio.hpp"

#include <overdub/contexts/incremental.hpp>
#include <overdub/contexts/random.hpp>
#include <overdub/jit/executor.hpp>
#include <overdub/overdub.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

namespace {

namespace od = overdub;
namespace oc = overdub::contexts;
using od::i64;
using numbers = od::array<double>;
using rows = od::array<numbers>;

constexpr std::size_t states = 4, signs = 3;
using vector = std::array<double, states>;

struct chain {
  vector start{0.25, 0.25, 0.25, 0.25};
  std::array<vector, states> moves{
      {{0.7, 0.1, 0.1, 0.1}, {0.1, 0.6, 0.2, 0.1}, {0.2, 0.1, 0.5, 0.2}, {0.1, 0.1, 0.1, 0.7}}};
  std::array<std::array<double, signs>, states> shows{
      {{0.6, 0.2, 0.2}, {0.1, 0.8, 0.1}, {0.2, 0.2, 0.6}, {0.3, 0.3, 0.4}}};
};

struct random_numbers {
  od::random_generator bits{od::random_key(1)};
  i64 below(i64 n) { return static_cast<i64>(bits.uniform() * static_cast<double>(n)); }
};

std::vector<i64> signs_of(i64 length) {
  random_numbers random;
  std::vector<i64> all;
  for (i64 t = 0; t < length; ++t) all.push_back(random.below(signs));
  return all;
}

constexpr auto evidence = od::fn<"evidence">([](auto seen, auto start, auto moves, auto shows) {
  auto const [last, logs] = od::scan(
      [&](auto before, auto o) {
        auto const joint = od::tabulate(od::size(before), [&](auto j) {
          return shows[j][o] * od::sum(od::map([&](auto p, auto row) { return p * row[j]; }, before, moves));
        });
        auto const total = od::sum(joint);
        return std::pair(od::map([&](auto p) { return p / total; }, joint), od::log(total));
      },
      start, seen);
  return od::sum(logs);
});

template <class Rows>
rows rows_of(Rows const& all) {
  std::vector<numbers> made;
  for (auto const& row : all) made.push_back(numbers::copy_of(row));
  return rows::copy_of(made);
}

class filter_by_hand {
public:
  explicit filter_by_hand(std::vector<i64> seen)
      : seen_(std::move(seen)), states_(seen_.size() + 1), logs_(seen_.size()), proposed_(seen_.size()) {
    states_[0] = of_.start;
    for (std::size_t t = 0; t < seen_.size(); ++t) {
      std::tie(states_[t + 1], logs_[t]) = step(states_[t], seen_[t]);
      value_ += logs_[t];
    }
  }
  // Proposes, and takes it where it is said to.
  double set(std::size_t at, i64 sign, bool is_taken) {
    vector now = states_[at];
    double difference = 0;
    std::size_t t = at;
    for (; t < seen_.size(); ++t) {
      auto const [after, log] = step(now, t == at ? sign : seen_[t]);
      proposed_[t] = {now, log};
      difference += log - logs_[t];
      now = after;
      if (now == states_[t + 1]) {
        ++t;
        break;
      }
    }
    if (!is_taken) return value_;
    for (std::size_t k = at; k < t; ++k) std::tie(states_[k], logs_[k]) = proposed_[k];
    if (t == seen_.size()) states_[t] = now;
    seen_[at] = sign;
    return value_ += difference;
  }
  double all() const {
    vector s = of_.start;
    double sum = 0;
    for (i64 const o : seen_) {
      double log;
      std::tie(s, log) = step(s, o);
      sum += log;
    }
    return sum;
  }

private:
  std::pair<vector, double> step(vector const& before, i64 sign) const {
    vector after{};
    double total = 0;
    for (std::size_t j = 0; j < states; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < states; ++k) sum += before[k] * of_.moves[k][j];
      after[j] = of_.shows[j][static_cast<std::size_t>(sign)] * sum;
      total += after[j];
    }
    for (double& p : after) p /= total;
    return {after, std::log(total)};
  }
  chain of_;
  std::vector<i64> seen_;
  std::vector<vector> states_; // before each turn, and at the end
  std::vector<double> logs_;
  std::vector<std::pair<vector, double>> proposed_;
  double value_ = 0;
};

void bench_filter(od::compile_options const& compiled, i64 length) {
  std::vector<i64> const seen = signs_of(length);
  filter_by_hand hand(seen);
  auto const followed = [&](od::compile_options const& o) {
    chain const c;
    return oc::incremental(
        o, evidence, od::array<i64>::copy_of(seen), numbers::copy_of(c.start), rows_of(c.moves),
        rows_of(c.shows));
  };
  auto fast = followed(compiled), slow = followed({});
  auto const move = [&](auto& f, random_numbers& random) {
    f.template set_at<0>(random.below(length), random.below(signs));
    f.propose();
    if (random.below(2) == 0)
      f.commit();
    else
      f.rollback();
    return f.value();
  };
  random_numbers a, b, c;
  for (int k = 0; k < 1000; ++k) move(fast, b), move(slow, c);
  char question[80];
  std::snprintf(
      question, sizeof question, "a hidden chain of %lld turns: what one of them showed changes",
      static_cast<long long>(length));
  bench::compare(
      question,
      bench::way{
          "by hand", 0,
          [&] {
            auto const at = static_cast<std::size_t>(a.below(length));
            i64 const sign = a.below(signs);
            return hand.set(at, sign, a.below(2) == 0);
          }},
      bench::way{"followed, compiled", 1.5, [&] { return move(fast, b); }},
      bench::way{"followed, interpreted", 0, [&] { return move(slow, c); }});
  bench::compare(
      "all of it again", bench::way{"what one showed, followed, compiled", 0, [&] { return move(fast, b); }},
      bench::way{"all, by hand", 0, [&] { return hand.all(); }});
}

} // namespace

int main() {
  od::compile_options compiled;
  compiled.executor = od::jit::compiled();
  compiled.tiers = od::tiers::compile_now;
  for (i64 const length : {1'000, 100'000}) bench_filter(compiled, length);
}
