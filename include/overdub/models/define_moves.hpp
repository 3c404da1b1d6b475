// The definitions of the transition kernels in moves.hpp, for traces of other types than the two mutable traces, for which the library has
// them.
#pragma once

#include <overdub/core/floating_point.hpp>
#include <overdub/inference/elliptical_slice.hpp>
#include <overdub/inference/streams.hpp>
#include <overdub/models/moves.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace overdub::models {

namespace detail {

// Calls step(key) for each choice of a site that is made and not observed, with its indices in `at`.
template <class Trace, class Step>
void for_each_choice(
    Trace const& t, std::uint32_t s, random_key const& key, std::vector<i64>& at, Step const& step) {
  reject_unless(!t.is_observed(s), t.core().sites()[s], "is observed, and does not move");
  std::size_t const n = t.size(s);
  for (std::size_t k = 0; k < n; ++k) {
    if (t.is_observed(s, k)) continue;
    t.indices_of(s, k, at);
    if (!t.is_made(s, at)) continue;
    step(key.at(static_cast<i64>(k)));
  }
}

} // namespace detail

template <class Trace>
void gibbs::operator()(Trace& t, random_key const& key, move_record& record) {
  std::uint32_t const s = t.core().site_at(address_);
  detail::reject_unless(
      t.core().sites()[s].type.rank == 0 && t.core().sites()[s].is_discrete(), t.core().sites()[s],
      "is not discrete, and has more values than can be tried; move it by random_walk or from_prior");
  std::optional<std::pair<i64, i64>> bounds;
  bool are_same_for_all = false;
  detail::for_each_choice(t, s, key.at(address_), at_, [&](random_key const& own) {
    if (!bounds) are_same_for_all = t.core().is_same_for_all_choices(s, site_query::bounds);
    if (!bounds || !are_same_for_all) bounds = bounds_of(t, s);
    step(t, s, *bounds, own, record);
  });
}

template <class Trace>
std::pair<i64, i64> gibbs::bounds_of(Trace& t, std::uint32_t s) {
  tiered_call& bounds = t.query(s, site_query::bounds, at_);
  bounds.run();
  auto const low = static_cast<i64>(bounds.word(0)), high = static_cast<i64>(bounds.word(1));
  if (static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) >= maximum_values && low <= high)
    throw model_error(message(
        "overdub: the choice \"%s\" has values from %lld to %lld, more than the %lld that gibbs tries one "
        "by one; move it by "
        "from_prior or metropolis",
        t.core().sites()[s].address.c_str(), static_cast<long long>(low), static_cast<long long>(high),
        static_cast<long long>(maximum_values)));
  return {low, high};
}

template <class Trace>
void gibbs::step(
    Trace& t, std::uint32_t s, std::pair<i64, i64> const& bounds, random_key const& key,
    move_record& record) {
  auto const [low, high] = bounds;
  auto const now = static_cast<i64>(t.bits(s, at_));
  // Weights relative to the present score, if that is finite: differences have a smaller rounding error.
  constexpr double never = -std::numeric_limits<double>::infinity();
  bool const is_proper = overdub::is_finite(t.score());
  weights_.clear();
  double maximum = is_proper ? 0 : never;
  for (i64 x = low; x <= high; ++x) {
    double weight = is_proper ? 0 : never;
    if (x != now) {
      t.set_bits(s, at_, static_cast<std::uint64_t>(x));
      weight = t.propose(key);
      if (!is_proper) weight = t.proposed_score();
      bool const has_same_structure = t.keeps_structure();
      t.rollback();
      detail::reject_unless(
          has_same_structure, t.core().sites()[s],
          "decides on which other choices are made, so that its values cannot be compared one by one; move "
          "it by from_prior or metropolis");
      if (overdub::is_nan(weight)) {
        ++record.undefined;
        weight = never;
      }
    }
    weights_.push_back(weight);
    maximum = std::max(maximum, weight);
    if (x == high) break; // ++x might overflow
  }
  if (maximum == never) return; // no value has a positive probability
  double total = 0;
  for (double& w : weights_) total += w = std::exp(w - maximum);
  random_generator g(key);
  double left = g.uniform() * total;
  std::size_t chosen = 0;
  bool tie = false; // the draw is within rounding of a boundary between two values
  for (; chosen + 1 < weights_.size(); ++chosen) {
    left -= weights_[chosen];
    tie = tie || std::abs(left) <= 1e-9 * total;
    if (left < 0) break;
  }
  ++record.proposed;
  ++record.accepted;
  record.ties += tie;
  i64 const next = low + static_cast<i64>(chosen);
  if (next == now) return;
  t.set_bits(s, at_, static_cast<std::uint64_t>(next));
  t.commit();
}

template <class Trace>
void random_walk::operator()(Trace& t, random_key const& key, move_record& record) {
  std::uint32_t const s = t.core().site_at(address_);
  detail::reject_unless(
      t.core().sites()[s].type == ir::f64, t.core().sites()[s],
      t.core().sites()[s].type.rank > 0
          ? "is an array, and random_walk moves numbers; move it by no_u_turn or metropolis"
          : "is no f64, which random_walk moves; move it by gibbs or from_prior");
  move_record own;
  detail::for_each_choice(t, s, key.at(address_), at_, [&](random_key const& k) {
    random_generator g(k);
    double const x = t.number(s, at_) + sd_ * inference::drawing::normal(g);
    t.set_bits(s, at_, std::bit_cast<std::uint64_t>(x));
    if (detail::accepts(t.propose(k), t.score(), g, own))
      t.commit();
    else
      t.rollback();
  });
  moved_ = own.proposed > 0;
  acceptance_ = own.acceptance();
  record += own;
}

template <class Trace>
void from_prior::operator()(Trace& t, random_key const& key, move_record& record) {
  std::uint32_t const s = t.core().site_at(address_);
  detail::reject_unless(
      t.core().sites()[s].type.rank == 0, t.core().sites()[s],
      "is an array, which from_prior does not draw anew");
  detail::for_each_choice(t, s, key.at(address_), at_, [&](random_key const& own) {
    tiered_call& draw = t.query(s, site_query::draw, at_);
    {
      model_core::drawing const now(own.at("draw"));
      draw.run();
    }
    double const forward = std::bit_cast<double>(draw.word(1)), reverse = std::bit_cast<double>(draw.word(2));
    t.set_bits(s, at_, draw.word(0));
    random_generator g(own.at("accept"));
    if (detail::accepts(t.propose(own) - (forward - reverse), t.score(), g, record))
      t.commit();
    else
      t.rollback();
  });
}

template <class Trace>
void elliptical_slice::operator()(Trace& t, random_key const& key, move_record& record) {
  std::uint32_t const s = t.core().site_at(address_);
  reject_loops(t.core(), s);
  std::size_t const n = t.size(s);
  detail::reject_unless(!t.is_observed(s), t.core().sites()[s], "is observed, and does not move");
  all_.resize(n), moved_.clear(), x_.clear(), mean_.clear(), sd_.clear();
  for (std::size_t k = 0; k < n; ++k) {
    t.indices_of(s, k, at_);
    all_[k] = t.number(s, at_);
    if (t.is_observed(s, k) || !t.is_made(s, at_)) continue;
    tiered_call& moments = t.query(s, site_query::moments, at_);
    moments.run();
    moved_.push_back(k);
    x_.push_back(all_[k]);
    mean_.push_back(std::bit_cast<double>(moments.word(0)));
    sd_.push_back(std::bit_cast<double>(moments.word(1)));
  }
  if (x_.empty()) return;
  random_generator g(key.at(address_));
  auto const draw = [&](std::span<double> out, random_generator& from) {
    for (std::size_t k = 0; k < out.size(); ++k)
      out[k] = mean_[k] + sd_[k] * inference::drawing::normal(from);
  };
  auto const log_likelihood = [&](std::span<double const> x) {
    double prior = 0;
    for (std::size_t k = 0; k < x.size(); ++k) {
      double const z = (x[k] - mean_[k]) / sd_[k];
      prior -= 0.5 * z * z;
    }
    set(t, s, x);
    double const score = t.score() + t.propose(key);
    bool const has_same_structure = t.keeps_structure();
    t.rollback();
    detail::reject_unless(
        has_same_structure, t.core().sites()[s],
        "decides on which other choices are made; move it by random_walk or from_prior");
    return score - prior;
  };
  auto const made = inference::elliptical_slice(std::span<double>(x_), mean_, draw, log_likelihood, g);
  record.proposed += static_cast<std::uint64_t>(made.evaluations - 1);
  ++record.accepted;
  set(t, s, x_);
  t.commit();
}

template <class Trace>
void elliptical_slice::set(Trace& t, std::uint32_t s, std::span<double const> x) {
  for (std::size_t k = 0; k < x.size(); ++k) all_[moved_[k]] = x[k];
  if (t.shape(s).empty())
    t.set_bits(s, {}, std::bit_cast<std::uint64_t>(all_[0]));
  else
    t.set_all(s, datum::of(t.shape(s), array<double>::copy_of(all_)));
}

} // namespace overdub::models
