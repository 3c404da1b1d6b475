// An incremental update of one random choice, against an update that is written by hand for its model, with the same generator, proposal
// and acceptance. An update proposes, weighs, accepts or rejects, and commits or rolls back.
#include "ratio.hpp"

#include <overdub/distributions.hpp>
#include <overdub/incremental.hpp>
#include <overdub/jit/executor.hpp>
#include <overdub/overdub.hpp>
#include <overdub/random.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

namespace od = overdub;
namespace dist = overdub::distributions;
using od::i64;

constexpr double log_of_sqrt_two_pi = 0.9189385332046728;

double log_normal(double x, double mean, double sd, double log_sd) {
  double const d = (x - mean) / sd;
  return -0.5 * d * d - log_sd - log_of_sqrt_two_pi;
}

struct random_numbers {
  od::random_generator bits{od::random_key(1)};
  i64 below(i64 n) { return static_cast<i64>(bits.uniform() * static_cast<double>(n)); }
  bool accepts(double weight) { return std::log(bits.uniform()) < weight; }
  double near_zero() { return bits.uniform() - 0.5; }
};

// A step of Metropolis and Hastings: commits the proposed inputs, or rolls them back.
double decide(auto& f, random_numbers& random) {
  f.propose();
  if (random.accepts(f.difference()))
    f.commit();
  else
    f.rollback();
  return f.value();
}

// ---- B1: a mixture of normals with explicit assignments

constexpr i64 points = 10'000, components = 4;

struct mixture_data {
  std::vector<i64> z;
  std::vector<double> x, mu, log_weights;
  double sd = 1;

  mixture_data() : mu{-3, -1, 1, 3}, log_weights(components, std::log(1.0 / components)) {
    random_numbers random;
    for (i64 i = 0; i < points; ++i) {
      z.push_back(random.below(components));
      x.push_back(mu[static_cast<std::size_t>(z.back())] + 4 * random.near_zero());
    }
  }
};

constexpr auto mixture = od::fn<"mixture">([](auto z, auto x, auto mu, auto log_weights, auto sd) {
  auto const terms = od::map(
      [&](auto k, auto y) { return log_weights[k] + dist::log_density(dist::normal(mu[k], sd), y); }, z, x);
  auto const prior = od::map([](auto m) { return dist::log_density(dist::normal(0.0, 10.0), m); }, mu);
  return od::sum(terms) + od::sum(prior);
});

auto followed_mixture(od::compile_options const& o, mixture_data const& d) {
  using numbers = od::array<double>;
  return od::incremental(
      o, mixture, od::array<i64>::copy_of(d.z), numbers::copy_of(d.x), numbers::copy_of(d.mu),
      numbers::copy_of(d.log_weights), d.sd);
}

class mixture_by_hand {
public:
  explicit mixture_by_hand(mixture_data d)
      : d_(std::move(d)), members_(components), place_(points), terms_(points) {
    for (i64 i = 0; i < points; ++i) {
      terms_[at(i)] = term(i, d_.z[at(i)]);
      score_ += terms_[at(i)];
      place_[at(i)] = members_[at(d_.z[at(i)])].size();
      members_[at(d_.z[at(i)])].push_back(i);
    }
    for (double const m : d_.mu) score_ += log_normal(m, 0, 10, std::log(10.0));
  }
  double move_point(random_numbers& random) {
    i64 const i = random.below(points), k = random.below(components);
    double const now = term(i, k), weight = now - terms_[at(i)];
    if (random.accepts(weight)) {
      auto& from = members_[at(d_.z[at(i)])];
      place_[at(from.back())] = place_[at(i)];
      from[place_[at(i)]] = from.back();
      from.pop_back();
      place_[at(i)] = members_[at(k)].size();
      members_[at(k)].push_back(i);
      d_.z[at(i)] = k;
      terms_[at(i)] = now;
      score_ += weight;
    }
    return score_;
  }
  double move_mean(random_numbers& random) {
    i64 const k = random.below(components);
    double const before = d_.mu[at(k)], now = before + 0.1 * random.near_zero();
    double weight = log_normal(now, 0, 10, log_ten_) - log_normal(before, 0, 10, log_ten_);
    auto const& members = members_[at(k)];
    proposed_.resize(members.size());
    for (std::size_t j = 0; j < members.size(); ++j) {
      i64 const i = members[j];
      proposed_[j] = d_.log_weights[at(k)] + log_normal(d_.x[at(i)], now, d_.sd, log_sd_);
      weight += proposed_[j] - terms_[at(i)];
    }
    if (random.accepts(weight)) {
      for (std::size_t j = 0; j < members.size(); ++j) terms_[at(members[j])] = proposed_[j];
      d_.mu[at(k)] = now;
      score_ += weight;
    }
    return score_;
  }
  double score_again() const {
    double sum = 0;
    for (i64 i = 0; i < points; ++i) sum += term(i, d_.z[at(i)]);
    for (double const m : d_.mu) sum += log_normal(m, 0, 10, log_ten_);
    return sum;
  }

private:
  static std::size_t at(i64 i) { return static_cast<std::size_t>(i); }
  double term(i64 i, i64 k) const {
    return d_.log_weights[at(k)] + log_normal(d_.x[at(i)], d_.mu[at(k)], d_.sd, log_sd_);
  }

  mixture_data d_;
  std::vector<std::vector<i64>> members_;
  std::vector<std::size_t> place_;
  std::vector<double> terms_, proposed_;
  double score_ = 0, log_sd_ = std::log(d_.sd), log_ten_ = std::log(10.0);
};

template <class F>
double move_point(F& f, random_numbers& random) {
  i64 const i = random.below(points), k = random.below(components);
  f.template set_at<0>(i, k);
  return decide(f, random);
}
template <class F>
double move_mean(F& f, random_numbers& random) {
  i64 const k = random.below(components);
  f.template set_at<2>(k, f.template get_at<2>(k) + 0.1 * random.near_zero());
  return decide(f, random);
}

void bench_mixture(od::compile_options const& compiled) {
  mixture_data const data;
  {
    mixture_by_hand hand(data);
    auto fast = followed_mixture(compiled, data), slow = followed_mixture({}, data);
    random_numbers a, b, c;
    for (int k = 0; k < 1000; ++k)
      hand.move_point(a), move_point(fast, b), move_point(slow, c); // compiles the update programs
    bench::compare<bench::allocating::forbidden>(
        "a mixture of 4 normals, 10,000 points: an assignment moves",
        bench::way{"by hand", 0, [&] { return hand.move_point(a); }},
        bench::way{"followed, compiled", 1.15, [&] { return move_point(fast, b); }},
        bench::way{"followed, interpreted", 1.5, [&] { return move_point(slow, c); }});
    bench::compare( // the goal: at least 1,000 times the time of the incremental update
        "all points scored again",
        bench::way{"an assignment, followed", 0, [&] { return move_point(fast, b); }},
        bench::way{"all, by hand", 0, [&] { return hand.score_again(); }});
  }
  mixture_by_hand hand(data);
  auto fast = followed_mixture(compiled, data), slow = followed_mixture({}, data);
  random_numbers a, b, c;
  for (int k = 0; k < 10; ++k) hand.move_mean(a), move_mean(fast, b), move_mean(slow, c);
  bench::compare(
      "a mixture of 4 normals, 10,000 points: a mean moves",
      bench::way{"by hand, over its members", 0, [&] { return hand.move_mean(a); }},
      bench::way{"followed, compiled", 1.2, [&] { return move_mean(fast, b); }},
      bench::way{"followed, interpreted", 0, [&] { return move_mean(slow, c); }});
}

// ---- B2: a state space model, an update of one state

constexpr auto state_space = od::fn<"state_space">([](auto x, auto y, auto phi, auto q, auto r) {
  auto const moves = od::tabulate(
      od::size(x) - 1, [&](auto t) { return dist::log_density(dist::normal(phi * x[t], q), x[t + 1]); });
  auto const seen = od::map([&](auto a, auto b) { return dist::log_density(dist::normal(a, r), b); }, x, y);
  return od::sum(moves) + od::sum(seen) + dist::log_density(dist::normal(0.0, 1.0), x[0]);
});

class state_space_by_hand {
public:
  explicit state_space_by_hand(std::vector<double> y)
      : x_(y), y_(std::move(y)), moves_(y_.size()), seen_(y_.size()) {
    for (std::size_t t = 0; t < x_.size(); ++t) {
      seen_[t] = log_normal(y_[t], x_[t], r_, log_r_);
      moves_[t] = move(t, t == 0 ? 0 : x_[t - 1], x_[t]);
      score_ += seen_[t] + moves_[t];
    }
  }
  double move_state(random_numbers& random) {
    auto const t = static_cast<std::size_t>(random.below(static_cast<i64>(x_.size())));
    double const now = x_[t] + random.near_zero();
    double const seen = log_normal(y_[t], now, r_, log_r_), here = move(t, t == 0 ? 0 : x_[t - 1], now);
    double weight = seen - seen_[t] + (here - moves_[t]), next = 0;
    if (t + 1 < x_.size()) {
      next = move(t + 1, now, x_[t + 1]);
      weight += next - moves_[t + 1];
    }
    if (random.accepts(weight)) {
      x_[t] = now;
      seen_[t] = seen;
      moves_[t] = here;
      if (t + 1 < x_.size()) moves_[t + 1] = next;
      score_ += weight;
    }
    return score_;
  }

  // `count` states at once, no two of them neighbours; the series is longer than `count`.
  double move_states(random_numbers& random, std::size_t count) {
    auto const first = static_cast<std::size_t>(random.below(static_cast<i64>(x_.size())));
    moved_.resize(count);
    double weight = 0;
    for (std::size_t k = 0; k < count; ++k) {
      moved_state& m = moved_[k];
      m.t = (first + stride * k) % x_.size();
      m.now = x_[m.t] + 0.1 * random.near_zero();
      m.seen = log_normal(y_[m.t], m.now, r_, log_r_);
      m.here = move(m.t, m.t == 0 ? 0 : x_[m.t - 1], m.now);
      weight += m.seen - seen_[m.t] + (m.here - moves_[m.t]);
      if (m.t + 1 == x_.size()) continue;
      m.next = move(m.t + 1, m.now, x_[m.t + 1]);
      weight += m.next - moves_[m.t + 1];
    }
    if (!random.accepts(weight)) return score_;
    for (moved_state const& m : moved_) {
      x_[m.t] = m.now;
      seen_[m.t] = m.seen;
      moves_[m.t] = m.here;
      if (m.t + 1 < x_.size()) moves_[m.t + 1] = m.next;
    }
    return score_ += weight;
  }
  static constexpr std::size_t stride = 97;

  double append(double x, double y) {
    std::size_t const t = x_.size();
    x_.push_back(x);
    y_.push_back(y);
    seen_.push_back(log_normal(y, x, r_, log_r_));
    moves_.push_back(move(t, x_[t - 1], x));
    return score_ += seen_.back() + moves_.back();
  }

private:
  // The log density of the step to state t, or of the first state.
  double move(std::size_t t, double from, double to) const {
    return t == 0 ? log_normal(to, 0, 1, 0) : log_normal(to, phi_ * from, q_, log_q_);
  }
  struct moved_state {
    std::size_t t;
    double now, seen, here, next;
  };
  double phi_ = 0.9, q_ = 0.5, r_ = 0.7, log_q_ = std::log(0.5), log_r_ = std::log(0.7);
  std::vector<double> x_, y_, moves_, seen_;
  std::vector<moved_state> moved_;
  double score_ = 0;
};

std::vector<double> series(i64 length) {
  random_numbers random;
  std::vector<double> all;
  double x = 0;
  for (i64 t = 0; t < length; ++t) {
    x = 0.9 * x + random.near_zero();
    all.push_back(x + random.near_zero());
  }
  return all;
}

auto followed_states(od::compile_options const& o, std::vector<double> const& y) {
  using numbers = od::array<double>;
  return od::incremental(o, state_space, numbers::copy_of(y), numbers::copy_of(y), 0.9, 0.5, 0.7);
}

template <class F>
double move_state(F& f, i64 length, random_numbers& random) {
  i64 const t = random.below(length);
  f.template set_at<0>(t, f.template get_at<0>(t) + random.near_zero());
  return decide(f, random);
}

void bench_state_space(od::compile_options const& compiled, i64 length) {
  std::vector<double> const y = series(length);
  state_space_by_hand hand(y);
  auto fast = followed_states(compiled, y), slow = followed_states({}, y);
  random_numbers a, b, c;
  for (int k = 0; k < 1000; ++k) hand.move_state(a), move_state(fast, length, b), move_state(slow, length, c);
  char question[64];
  std::snprintf(
      question, sizeof question, "a state space of %lld states: one moves", static_cast<long long>(length));
  bench::compare<bench::allocating::forbidden>(
      question, bench::way{"by hand", 0, [&] { return hand.move_state(a); }},
      bench::way{"followed, compiled", 1.15, [&] { return move_state(fast, length, b); }},
      bench::way{"followed, interpreted", 1.5, [&] { return move_state(slow, length, c); }});
}

// A hundred states at once: the affected iterations are a list.
template <class F>
double move_states(F& f, i64 length, random_numbers& random) {
  i64 const first = random.below(length);
  for (i64 k = 0; k < 100; ++k) {
    i64 const t = (first + static_cast<i64>(state_space_by_hand::stride) * k) % length;
    f.template set_at<0>(t, f.template get_at<0>(t) + 0.1 * random.near_zero());
  }
  return decide(f, random);
}
void bench_list(od::compile_options const& compiled) {
  constexpr i64 length = 10'000;
  std::vector<double> const y = series(length);
  state_space_by_hand hand(y);
  auto fast = followed_states(compiled, y), slow = followed_states({}, y);
  random_numbers a, b, c;
  for (int k = 0; k < 100; ++k)
    hand.move_states(a, 100), move_states(fast, length, b), move_states(slow, length, c);
  bench::compare<bench::allocating::forbidden>(
      "a state space of 10,000 states: a hundred of them move at once",
      bench::way{"by hand", 0, [&] { return hand.move_states(a, 100); }},
      bench::way{"followed, compiled", 0, [&] { return move_states(fast, length, b); }},
      bench::way{"followed, interpreted", 0, [&] { return move_states(slow, length, c); }});
}

// Appends a state and its observation.
void bench_append(od::compile_options const& compiled) {
  constexpr i64 length = 10'000;
  std::vector<double> const y = series(length);
  state_space_by_hand hand(y);
  auto moved = followed_states(compiled, y), fast = followed_states(compiled, y),
       slow = followed_states({}, y);
  auto const append = [](auto& f, random_numbers& random) {
    f.template append<0>(random.near_zero());
    f.template append<1>(random.near_zero());
    f.commit();
    return f.value();
  };
  random_numbers a, b, c, d;
  bench::compare(
      "a state space: one state more",
      bench::way{"one of 10,000 moves, followed, compiled", 0, [&] { return move_state(moved, length, a); }},
      bench::way{"one more, followed, compiled", 2, [&] { return append(fast, b); }},
      bench::way{"one more, followed, interpreted", 0, [&] { return append(slow, c); }},
      bench::way{"one more, by hand", 0, [&] {
                   double const x = d.near_zero(); // arguments have no fixed order of evaluation
                   return hand.append(x, d.near_zero());
                 }});
}

// ---- a reduction other than a sum

constexpr auto highest = od::fn<"highest">([](auto x) { return od::reduce(od::max, x); });

class highest_by_hand { // the same segment tree; the number of elements is a power of two
public:
  explicit highest_by_hand(std::vector<double> const& x) : size_(x.size()), tree_(size_) {
    tree_.insert(tree_.end(), x.begin(), x.end());
    for (std::size_t k = size_ - 1; k > 0; --k) tree_[k] = std::max(tree_[2 * k], tree_[2 * k + 1]);
  }
  double set(std::size_t i, double x) {
    std::size_t k = i + size_;
    tree_[k] = x;
    while ((k /= 2) > 0) tree_[k] = std::max(tree_[2 * k], tree_[2 * k + 1]);
    return tree_[1];
  }

private:
  std::size_t size_;
  std::vector<double> tree_;
};

void bench_highest(od::compile_options const& compiled) {
  constexpr i64 size = 1 << 14;
  std::vector<double> const x = series(size);
  highest_by_hand hand(x);
  auto fast = od::incremental(compiled, highest, od::array<double>::copy_of(x));
  random_numbers a, b;
  bench::compare(
      "the largest of 16,384 numbers, of which one moves",
      bench::way{
          "by hand", 0,
          [&] {
            auto const i = static_cast<std::size_t>(a.below(size));
            return hand.set(i, a.near_zero());
          }},
      bench::way{"followed, compiled", 0, [&] {
                   i64 const i = b.below(size);
                   fast.set_at<0>(i, b.near_zero());
                   fast.commit();
                   return fast.value();
                 }});
}

// ---- a deterministic recurrence: recomputed from the change to the end, and with early cutoff

constexpr auto carry = od::fn<"carry">(
    [](auto u) { return od::loop(od::size(u), 0.0 * u[0], [&](auto t, auto s) { return s + u[t]; }); });
// A change below the maximum has no effect on later iterations.
constexpr auto peaks = od::fn<"peaks">([](auto u) {
  return od::loop(od::size(u), 0.0 * u[0], [&](auto t, auto s) { return max(0.9 * s, u[t]); });
});

template <bool IsPeak>
class carry_by_hand {
public:
  explicit carry_by_hand(std::vector<double> u)
      : u_(std::move(u)), states_(u_.size() + 1), proposed_(u_.size() + 1) {
    for (std::size_t t = 0; t < u_.size(); ++t) states_[t + 1] = next(states_[t], u_[t]);
  }
  double set(std::size_t at, double u) {
    double s = next(states_[at], u);
    std::size_t t = at + 1;
    for (; t < u_.size() && !(IsPeak && s == states_[t]); ++t) {
      proposed_[t] = s;
      s = next(s, u_[t]);
    }
    if (t == u_.size()) proposed_[t++] = s;
    for (std::size_t k = at + 1; k < t; ++k) states_[k] = proposed_[k];
    u_[at] = u;
    return states_.back();
  }

private:
  static double next(double s, double u) { return IsPeak ? std::max(0.9 * s, u) : s + u; }
  std::vector<double> u_, states_, proposed_;
};

template <bool IsPeak>
void bench_loop_carried(od::compile_options const& compiled, char const* question, double goal) {
  constexpr i64 length = 10'000;
  std::vector<double> const u = series(length);
  carry_by_hand<IsPeak> hand(u);
  auto fast = [&] {
    if constexpr (IsPeak)
      return od::incremental(compiled, peaks, od::array<double>::copy_of(u));
    else
      return od::incremental(compiled, carry, od::array<double>::copy_of(u));
  }();
  random_numbers a, b;
  bench::compare(
      question, bench::way{"by hand", 0, [&] { return hand.set(5'000, a.near_zero()); }},
      bench::way{"followed, compiled", goal, [&] {
                   fast.template set_at<0>(5'000, b.near_zero());
                   fast.commit();
                   return fast.value();
                 }});
}

// ---- B3: a regression in groups

constexpr i64 groups = 100, in_group = 100;

constexpr auto regression =
    od::fn<"regression">([](auto x, auto y, auto a, auto b, auto mu, auto tau, auto s) {
      auto const seen = od::map(
          [&](auto xs, auto ys, auto effect) {
            return od::sum(od::map(
                [&](auto xi, auto yi) { return dist::log_density(dist::normal(effect + b * xi, s), yi); }, xs,
                ys));
          },
          x, y, a);
      auto const prior =
          od::map([&](auto effect) { return dist::log_density(dist::normal(mu, tau), effect); }, a);
      return od::sum(seen) + od::sum(prior);
    });

struct regression_data {
  std::vector<std::vector<double>> x, y;
  std::vector<double> a;
  double b = 0.5, mu = 0, tau = 1, s = 0.5;

  regression_data() {
    random_numbers random;
    for (i64 j = 0; j < groups; ++j) {
      a.push_back(2 * random.near_zero());
      x.emplace_back();
      y.emplace_back();
      for (i64 i = 0; i < in_group; ++i) {
        x.back().push_back(4 * random.near_zero());
        y.back().push_back(a.back() + b * x.back().back() + random.near_zero());
      }
    }
  }
};

class regression_by_hand {
public:
  explicit regression_by_hand(regression_data d)
      : d_(std::move(d)), sums_(d_.a.size()), priors_(d_.a.size()) {
    for (std::size_t j = 0; j < sums_.size(); ++j) {
      sums_[j] = group(j, d_.a[j], d_.b);
      priors_[j] = log_normal(d_.a[j], d_.mu, d_.tau, log_tau_);
    }
  }
  double move_effect(random_numbers& random) {
    auto const j = static_cast<std::size_t>(random.below(groups));
    double const now = d_.a[j] + random.near_zero(), sum = group(j, now, d_.b);
    double const prior = log_normal(now, d_.mu, d_.tau, log_tau_);
    double const weight = sum - sums_[j] + (prior - priors_[j]);
    if (random.accepts(weight)) {
      d_.a[j] = now;
      sums_[j] = sum;
      priors_[j] = prior;
      score_ += weight;
    }
    return score_;
  }
  double move_mean(random_numbers& random) {
    double const now = d_.mu + 0.2 * random.near_zero();
    double weight = 0;
    for (std::size_t j = 0; j < priors_.size(); ++j) {
      proposed_[j] = log_normal(d_.a[j], now, d_.tau, log_tau_);
      weight += proposed_[j] - priors_[j];
    }
    if (random.accepts(weight)) {
      d_.mu = now;
      priors_ = proposed_;
      score_ += weight;
    }
    return score_;
  }
  // Recomputes the whole density.
  double move_slope(random_numbers& random) {
    double const now = d_.b + 0.01 * random.near_zero();
    double weight = 0;
    for (std::size_t j = 0; j < sums_.size(); ++j) {
      proposed_[j] = group(j, d_.a[j], now);
      weight += proposed_[j] - sums_[j];
    }
    if (random.accepts(weight)) {
      d_.b = now;
      sums_ = proposed_;
      score_ += weight;
    }
    return score_;
  }

private:
  double group(std::size_t j, double effect, double b) const {
    double sum = 0;
    for (std::size_t i = 0; i < d_.x[j].size(); ++i)
      sum += log_normal(d_.y[j][i], effect + b * d_.x[j][i], d_.s, log_s_);
    return sum;
  }
  regression_data d_;
  double log_s_ = std::log(d_.s), log_tau_ = std::log(d_.tau), score_ = 0;
  std::vector<double> sums_, priors_, proposed_ = std::vector<double>(groups);
};

void bench_regression(od::compile_options const& compiled) {
  using numbers = od::array<double>;
  regression_data const d;
  auto const rows = [](std::vector<std::vector<double>> const& of) {
    std::vector<numbers> all;
    for (auto const& row : of) all.push_back(numbers::copy_of(row));
    return od::array<numbers>::copy_of(all);
  };
  auto const followed = [&] {
    return od::incremental(
        compiled, regression, rows(d.x), rows(d.y), numbers::copy_of(d.a), d.b, d.mu, d.tau, d.s);
  };
  regression_by_hand hand(d);
  auto fast = followed();
  random_numbers a, b;
  auto const move_effect = [&] {
    i64 const j = b.below(groups);
    fast.set_at<2>(j, fast.get_at<2>(j) + b.near_zero());
    return decide(fast, b);
  };
  auto const move_mean = [&] {
    fast.set<4>(fast.get<4>() + 0.2 * b.near_zero());
    return decide(fast, b);
  };
  auto const move_slope = [&] {
    fast.set<3>(fast.get<3>() + 0.01 * b.near_zero());
    return decide(fast, b);
  };
  for (int k = 0; k < 100; ++k) move_effect(), move_mean(), move_slope();
  bench::compare(
      "a regression in 100 groups of 100: a group's effect moves",
      bench::way{"by hand", 0, [&] { return hand.move_effect(a); }},
      bench::way{"followed, compiled", 1.3, move_effect});
  bench::compare(
      "the mean of the effects moves", bench::way{"by hand", 0, [&] { return hand.move_mean(a); }},
      bench::way{"followed, compiled", 1.3, move_mean});
  bench::compare(
      "the slope moves", bench::way{"all is scored again by hand", 0, [&] { return hand.move_slope(a); }},
      bench::way{"followed, compiled", 1.05, move_slope});
}

} // namespace

int main() {
  od::compile_options compiled;
  compiled.executor = od::jit::compiled();
  compiled.tiers = od::tiers::compile_now;
  bench_mixture(compiled);
  for (i64 const length : {100, 10'000, 1'000'000}) bench_state_space(compiled, length);
  bench_list(compiled);
  bench_append(compiled);
  bench_highest(compiled);
  bench_loop_carried<false>(compiled, "a loop-carried number of 10,000 iterations, from the middle on", 1.2);
  bench_loop_carried<true>(compiled, "a loop-carried number, with early cutoff after some iterations", 1.5);
  bench_regression(compiled);
}
