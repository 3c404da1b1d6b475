// Traces whose choices are changed one at a time: by what a change reaches alone, or, to compare, by running all again.
#pragma once

#include <overdub/contexts/incremental/incremental_program.hpp>
#include <overdub/contexts/models/operations.hpp>
#include <overdub/contexts/models/reexecuted_program.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub::models {
inline namespace OVERDUB_EXECUTE_ABI {

/// A trace for moves: choices are set, the proposal's weight is asked for, and it is committed or rolled back. Steps of a chain of a
/// million moves allocate nothing. For models whose choices do not stand in branches; for others, `update` and `regenerate` make traces
/// anew. One thread uses one at a time.
template <class Program>
class changing_trace {
  static constexpr bool is_followed = std::is_same_v<Program, contexts::incremental_program>;

public:
  /// Of a trace in which these choices are observed: they stay as they are. Throws model_error for a model with choices in branches, or with
  /// as many as other choices say.
  explicit changing_trace(trace const& t, choice_map const& observed = {})
      : core_(t.shared_core()), first_(static_cast<std::uint32_t>(t.arguments().size())),
        program_(program_of(t)) {
    for (std::uint32_t s = 0; s < core_->sites().size(); ++s) {
      site const& of = core_->sites()[s];
      datum::extents const& shape = t.values()[s].shape();
      shapes_.emplace_back(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(of.turns));
    }
    fix(observed);
  }

  model_core const& core() const { return *core_; }
  /// The logarithm of the density of all choices, without what was not committed.
  double score() const { return std::bit_cast<double>(program_.value()); }

  /// How many choices a site has, and the indices of one of them, counted row by row.
  std::size_t size(std::uint32_t s) const {
    std::size_t n = 1;
    for (i64 const extent : shapes_[s]) n *= static_cast<std::size_t>(extent);
    return n;
  }
  void indices_of(std::uint32_t s, std::size_t number, std::vector<i64>& out) const {
    std::vector<i64> const& shape = shapes_[s];
    out.resize(shape.size());
    for (std::size_t k = shape.size(); k-- > 0;) {
      auto const extent = static_cast<std::size_t>(shape[k]);
      out[k] = static_cast<i64>(number % extent);
      number /= extent;
    }
  }
  std::vector<i64> const& shape(std::uint32_t s) const { return shapes_[s]; }

  /// Whether a choice is observed, by its number; whether all choices of a site are.
  bool is_observed(std::uint32_t s, std::size_t number) const {
    return !observed_[s].empty() && observed_[s][number];
  }
  bool is_observed(std::uint32_t s) const {
    return !observed_[s].empty() && std::ranges::find(observed_[s], false) == observed_[s].end();
  }

  // ---- choices, as they are

  /// The bits of a choice that is a number or a truth.
  std::uint64_t bits(std::uint32_t s, std::span<i64 const> at) const {
    return program_.input_bits(first_ + s, at);
  }
  double number(std::uint32_t s, std::span<i64 const> at) const { return std::bit_cast<double>(bits(s, at)); }
  datum values(std::uint32_t s) const { return program_.input(first_ + s); }

  // ---- changes

  /// A choice. Throws model_error where it is observed, and where it has more than three indices, and the trace is followed.
  void set_bits(std::uint32_t s, std::span<i64 const> at, std::uint64_t bits) {
    if (!observed_[s].empty() && observed_[s][number_of(s, at)]) [[unlikely]]
      refuse_observed(s);
    if (at.empty())
      program_.set(first_ + s, datum::of_bits(core_->sites()[s].type, bits));
    else if constexpr (is_followed)
      if (at.size() == 1)
        program_.set_at(first_ + s, at[0], bits);
      else if (at.size() <= Program::most_indices)
        program_.set_at(first_ + s, at, bits);
      else
        throw model_error(message(
            "overdub: the choice \"%s\" stands in %zu maps and loops, and a choice is changed alone in up to "
            "%zu; change all of the site, or run the whole model",
            core_->sites()[s].address.c_str(), at.size(), Program::most_indices));
    else
      program_.set_at(first_ + s, at, bits);
  }
  /// All choices of a site. Observed ones are to be as they are. Throws model_error where all are observed.
  void set_all(std::uint32_t s, datum const& x) {
    if (is_observed(s)) refuse_observed(s);
    program_.set(first_ + s, x);
  }
  /// The logarithm of the ratio of the densities with the changes and without them. Throws what the model throws; then the changes are
  /// forgotten.
  double propose() {
    or_rollback([&] { program_.propose(); });
    return program_.difference();
  }
  /// The logarithm of the density with the changes that were proposed.
  double proposed_score() const { return std::bit_cast<double>(program_.proposed()); }
  void commit() {
    or_rollback([&] { program_.commit(); });
  }
  void rollback() { program_.rollback(); }

  /// The trace as it is.
  trace as_trace() const {
    std::vector<datum> arguments, values;
    for (std::uint32_t k = 0; k < first_; ++k) arguments.push_back(program_.input(k));
    for (std::uint32_t s = 0; s < core_->sites().size(); ++s) values.push_back(program_.input(first_ + s));
    choice_schema s = core_->all_in(role::given);
    s.results = s.values = s.presence = true;
    return trace(core_, arguments, core_->run(s, arguments, values));
  }

  /// The program of a choice, with all as it is, ready to be run.
  bound_call& about(std::uint32_t s, site_question q, std::span<i64 const> at) {
    auto& call = calls_[3 * s + static_cast<std::size_t>(q)];
    if (call == nullptr) call = std::make_unique<bound_call>(core_->code_of(s, q));
    std::uint32_t next = 0;
    for (; next < first_ + shapes_.size(); ++next) program_.pass_input(*call, next, next);
    for (i64 const i : at) call->set(next++, static_cast<std::uint64_t>(i));
    return *call;
  }

  Program const& program() const { return program_; }

private:
  template <class F>
  void or_rollback(F const& f) {
    try {
      f();
    } catch (...) {
      program_.rollback();
      throw;
    }
  }
  std::size_t number_of(std::uint32_t s, std::span<i64 const> at) const {
    std::size_t number = 0;
    for (std::size_t k = 0; k < at.size(); ++k)
      number = number * static_cast<std::size_t>(shapes_[s][k]) + static_cast<std::size_t>(at[k]);
    return number;
  }
  void fix(choice_map const& observed) {
    observed_.resize(shapes_.size());
    for (auto const& [at, x] : observed) {
      std::uint32_t const s = core_->site_at(at.site);
      observed_[s].resize(size(s));
      std::size_t below = size(s); // choices behind so many indices
      for (std::size_t k = 0; k < at.indices.size() && k < shapes_[s].size(); ++k)
        below /= static_cast<std::size_t>(shapes_[s][k]);
      std::size_t const first = number_of(s, at.indices) * below;
      std::fill_n(observed_[s].begin() + static_cast<std::ptrdiff_t>(first), below, true);
    }
  }
  [[noreturn]] void refuse_observed(std::uint32_t s) const {
    throw model_error(message(
        "overdub: the choice \"%s\" is observed, and does not move", core_->sites()[s].address.c_str()));
  }
  Program program_of(trace const& t) {
    for (site const& s : t.core().sites())
      if (s.is_counted)
        throw model_error(message(
            "overdub: how many choices \"%s\" are made depends on other choices, so that moves of these "
            "would make them appear or vanish; change such traces by update and regenerate",
            s.address.c_str()));
    for (site const& s : t.core().sites())
      if (s.is_conditional)
        throw model_error(message(
            "overdub: the choice \"%s\" stands in a branch, so that moves of other choices may make it "
            "appear "
            "or vanish; change such traces by update and regenerate",
            s.address.c_str()));
    std::vector<datum> inputs = t.arguments();
    inputs.insert(inputs.end(), t.values().begin(), t.values().end());
    calls_.resize(3 * t.core().sites().size());
    if constexpr (is_followed)
      return Program(t.core().slices(), inputs);
    else
      return Program(t.core().code_of_score(), inputs);
  }

  shared_core core_;
  std::uint32_t first_; // the input of the first site
  std::vector<std::unique_ptr<bound_call>> calls_;
  Program program_;
  std::vector<std::vector<i64>> shapes_;    // by site
  std::vector<std::vector<bool>> observed_; // by site and choice; empty where none is
};

/// What a change does not reach is not computed again.
using followed_trace = changing_trace<contexts::incremental_program>;
/// Each proposal runs the whole model.
using reexecuted_trace = changing_trace<reexecuted_program>;

} // namespace OVERDUB_EXECUTE_ABI
} // namespace overdub::models
