// What an update of one random choice takes, followed by slices, against an update that is written by hand for its model: the same
// generator, proposal and acceptance. An update proposes, weighs, accepts or rejects, and commits or rolls back.
#include "ratio.hpp"

#include <overdub/contexts/distributions.hpp>
#include <overdub/contexts/incremental.hpp>
#include <overdub/contexts/random.hpp>
#include <overdub/jit/executor.hpp>
#include <overdub/overdub.hpp>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

namespace od = overdub;
namespace oc = overdub::contexts;
namespace dist = overdub::distributions;
using od::i64;

constexpr double log_of_sqrt_two_pi = 0.9189385332046728;

double log_normal(double x, double mean, double sd, double log_sd) {
  double const d = (x - mean) / sd;
  return -0.5 * d * d - log_sd - log_of_sqrt_two_pi;
}

struct random_numbers {
  od::random_generator bits{od::random_key(1)};
  i64 below(i64 n) {
    return static_cast<i64>((static_cast<unsigned __int128>(bits()) * static_cast<std::uint64_t>(n)) >> 64);
  }
  bool accepts(double weight) { return std::log(bits.uniform()) < weight; }
  double near_zero() { return bits.uniform() - 0.5; }
};

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
  return oc::incremental(
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
  f.propose();
  double const weight = f.difference();
  if (random.accepts(weight))
    f.commit();
  else
    f.rollback();
  return f.value();
}
template <class F>
double move_mean(F& f, random_numbers& random, mixture_data& d) {
  i64 const k = random.below(components);
  double const now = d.mu[static_cast<std::size_t>(k)] + 0.1 * random.near_zero();
  f.template set_at<2>(k, now);
  f.propose();
  double const weight = f.difference();
  if (random.accepts(weight)) {
    f.commit();
    d.mu[static_cast<std::size_t>(k)] = now;
  } else {
    f.rollback();
  }
  return f.value();
}

void bench_mixture(od::compile_options const& compiled) {
  mixture_data const data;
  {
    mixture_by_hand hand(data);
    auto fast = followed_mixture(compiled, data), slow = followed_mixture({}, data);
    random_numbers a, b, c;
    for (int k = 0; k < 1000; ++k)
      hand.move_point(a), move_point(fast, b), move_point(slow, c); // slices are made once
    bench::compare<bench::allocating::forbidden>(
        "a mixture of 4 normals, 10,000 points: an assignment moves",
        bench::way{"by hand", 0, [&] { return hand.move_point(a); }},
        bench::way{"followed, compiled", 1.15, [&] { return move_point(fast, b); }},
        bench::way{"followed, interpreted", 1.5, [&] { return move_point(slow, c); }});
    bench::compare(
        "the same, and all points scored again", bench::way{"by hand", 0, [&] { return hand.score_again(); }},
        bench::way{"an assignment, followed", 0.001, [&] { return move_point(fast, b); }});
  }
  mixture_by_hand hand(data);
  auto fast = followed_mixture(compiled, data), slow = followed_mixture({}, data);
  random_numbers a, b, c;
  mixture_data mine = data, its = data;
  for (int k = 0; k < 10; ++k) hand.move_mean(a), move_mean(fast, b, mine), move_mean(slow, c, its);
  bench::compare(
      "a mixture of 4 normals, 10,000 points: a mean moves",
      bench::way{"by hand, over its members", 0, [&] { return hand.move_mean(a); }},
      bench::way{"followed, compiled", 1.2, [&] { return move_mean(fast, b, mine); }},
      bench::way{"followed, interpreted", 0, [&] { return move_mean(slow, c, its); }});
}

} // namespace

int main() {
  od::compile_options compiled;
  compiled.executor = od::jit::compiled();
  bench_mixture(compiled);
}
