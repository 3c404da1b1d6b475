// A loop-carried array: the forward filter of a hidden Markov model, updated incrementally after a change of one observation, against the
// same update by hand and against the whole filter by hand. Some iterations after the change, the loop-carried values equal the saved ones,
// and the update ends (early cutoff).
#include "ratio.hpp"

#include <overdub/incremental.hpp>
#include <overdub/jit/executor.hpp>
#include <overdub/overdub.hpp>
#include <overdub/random.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

namespace {

namespace od = overdub;
using od::i64;
using numbers = od::array<double>;
using rows = od::array<numbers>;

constexpr std::size_t states = 4, signs = 3;
struct chain {
  std::array<double, states> start{0.25, 0.25, 0.25, 0.25};
  std::array<std::array<double, states>, states> moves{
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

i64 other_than(i64 sign, random_numbers& random) { return (sign + 1 + random.below(signs - 1)) % i64{signs}; }

template <class Rows>
rows rows_of(Rows const& all) {
  std::vector<numbers> made;
  for (auto const& row : all) made.push_back(numbers::copy_of(row));
  return rows::copy_of(made);
}

// A filter of `Known` states, a constant; for 0, of any number of states.
template <std::size_t Known>
class filter_by_hand {
public:
  explicit filter_by_hand(std::vector<i64> seen) : seen_(std::move(seen)), logs_(seen_.size()) {
    for (auto const& row : of_.moves) moves_.insert(moves_.end(), row.begin(), row.end());
    for (auto const& row : of_.shows) shows_.insert(shows_.end(), row.begin(), row.end());
    states_.assign(of_.start.begin(), of_.start.end());
    states_.resize((seen_.size() + 1) * count());
    proposed_ = states_;
    proposed_logs_ = logs_;
    for (std::size_t t = 0; t < seen_.size(); ++t) {
      logs_[t] = step(&states_[t * count()], seen_[t], &states_[(t + 1) * count()]);
      value_ += logs_[t];
    }
  }
  i64 seen(std::size_t at) const { return seen_[at]; }
  // Proposes a sign for an observation, and commits it if `is_taken`.
  double set(std::size_t at, i64 sign, bool is_taken) {
    std::size_t const n = count();
    double difference = 0;
    std::size_t t = at;
    for (bool goes_on = true; goes_on && t < seen_.size(); ++t) {
      double const* const before = t == at ? &states_[t * n] : &proposed_[t * n];
      double* const after = &proposed_[(t + 1) * n];
      proposed_logs_[t] = step(before, t == at ? sign : seen_[t], after);
      difference += proposed_logs_[t] - logs_[t];
      goes_on = !std::equal(after, after + n, &states_[(t + 1) * n]);
    }
    if (!is_taken) return value_;
    std::copy(&proposed_[(at + 1) * n], &proposed_[t * n] + n, &states_[(at + 1) * n]);
    std::copy(&proposed_logs_[at], &proposed_logs_[0] + t, &logs_[at]);
    seen_[at] = sign;
    return value_ += difference;
  }
  double all() {
    std::copy(of_.start.begin(), of_.start.end(), proposed_.begin());
    double sum = 0;
    for (std::size_t t = 0; t < seen_.size(); ++t)
      sum += step(&proposed_[t * count()], seen_[t], &proposed_[(t + 1) * count()]);
    return sum;
  }

private:
  std::size_t count() const { return Known != 0 ? Known : count_; }
  double step(double const* before, i64 sign, double* after) const {
    std::size_t const n = count();
    double total = 0;
    for (std::size_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < n; ++k) sum += before[k] * moves_[k * n + j];
      after[j] = shows_[j * signs + static_cast<std::size_t>(sign)] * sum;
      total += after[j];
    }
    for (std::size_t j = 0; j < n; ++j) after[j] /= total;
    return std::log(total);
  }
  chain of_;
  std::size_t count_ = of_.start.size();
  std::vector<double> moves_, shows_;
  std::vector<i64> seen_;
  std::vector<double> states_, proposed_; // before each iteration, and after the last one
  std::vector<double> logs_, proposed_logs_;
  double value_ = 0;
};

void bench_filter(od::compile_options const& compiled, i64 length) {
  std::vector<i64> const seen = signs_of(length);
  filter_by_hand<0> hand(seen);
  filter_by_hand<states> known(seen);
  auto const followed = [&](od::compile_options const& o) {
    chain const c;
    return od::incremental(
        o, evidence, od::array<i64>::copy_of(seen), numbers::copy_of(c.start), rows_of(c.moves),
        rows_of(c.shows));
  };
  auto fast = followed(compiled), slow = followed({});
  auto const move = [&](auto& f, random_numbers& random) {
    i64 const at = random.below(length);
    f.template set_at<0>(at, other_than(f.template get_at<0>(at), random));
    f.propose();
    if (random.below(2) == 0)
      f.commit();
    else
      f.rollback();
    return f.value();
  };
  auto const by_hand = [&](auto& f, random_numbers& random) {
    auto const at = static_cast<std::size_t>(random.below(length));
    i64 const sign = other_than(f.seen(at), random);
    return f.set(at, sign, random.below(2) == 0);
  };
  random_numbers a, b, c, d;
  for (int k = 0; k < 1000; ++k) move(fast, b), move(slow, c);
  char question[80];
  std::snprintf(
      question, sizeof question, "a hidden Markov model of %lld steps: one observation changes",
      static_cast<long long>(length));
  bench::compare(
      question, bench::way{"by hand, of any number of states", 0, [&] { return by_hand(hand, a); }},
      bench::way{"by hand, of 4 states", 0, [&] { return by_hand(known, d); }},
      bench::way{"followed, compiled", 1.5, [&] { return move(fast, b); }},
      bench::way{"followed, interpreted", 0, [&] { return move(slow, c); }});
  bench::compare(
      "a hundred such changes, against all of it once",
      bench::way{
          "changes, followed, compiled", 0,
          [&] {
            for (int k = 0; k < 99; ++k) move(fast, b);
            return move(fast, b);
          }},
      bench::way{"all, by hand", 0, [&] { return known.all(); }});
}

} // namespace

int main() {
  od::compile_options compiled;
  compiled.executor = od::jit::compiled();
  compiled.tiers = od::tiers::compile_now;
  for (i64 const length : {1'000, 100'000}) bench_filter(compiled, length);
}
