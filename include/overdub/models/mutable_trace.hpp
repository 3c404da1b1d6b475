// Traces that transition kernels update in place, by proposals that are committed or rolled back. Proposals are evaluated incrementally,
// or, for comparison, by running the model in full.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/incremental/incremental_program.hpp>
#include <overdub/models/observed_choices.hpp>
#include <overdub/models/operations.hpp>
#include <overdub/models/reexecuted_program.hpp>
#include <overdub/models/site_constraints.hpp>
#include <overdub/models/trace_growth.hpp>
#include <overdub/models/trace_structure.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub::models {

/// A trace for transition kernels. A kernel sets choices, computes the weight of the proposal, and commits it or rolls it back. A choice in
/// a branch appears in a proposal that takes the branch, and vanishes in one that does not. A choice that appears, and was not set, is
/// drawn from its distribution. A proposal in which no choice appears does not allocate. The number of choices of a site must not depend on
/// other choices: use `update` and `regenerate` for such models. Not thread-safe. A moved-from trace can only be assigned to or
/// destroyed.
template <class Program>
class mutable_trace : public site_choices<mutable_trace<Program>> {
  static constexpr bool is_incremental = std::is_same_v<Program, incremental_program>;

public:
  /// Copies a trace. Observed choices are fixed. Throws model_error for a model with choices in a map or loop in a branch, and if the
  /// number of a site's choices depends on other choices.
  explicit mutable_trace(trace const& t, choice_map const& observed = {});

  /// Copies the committed state, without the proposal. O(choices and saved values); does not run the model.
  mutable_trace(mutable_trace const& other);
  mutable_trace(mutable_trace&&) noexcept;
  /// Copies the committed state. Reuses memory if both traces are of one model, as an incremental_program does.
  mutable_trace& operator=(mutable_trace const& other);
  mutable_trace& operator=(mutable_trace&& other) noexcept;
  ~mutable_trace();

  model_core const& core() const {
    if (core_ == nullptr) [[unlikely]]
      trace::throw_no_run();
    return *core_;
  }
  models::shared_core const& shared_core() const { return core_; }
  /// The number of the model's arguments.
  std::size_t arguments() const { return site_input_; }
  /// The log density of all choices as committed.
  double score() const { return std::bit_cast<double>(program_.value()); }

  using site_choices<mutable_trace>::size;
  /// The number of choices of a site, and the indices of the choice of a row-major number.
  std::size_t size(std::uint32_t s) const { return models::size_of(shapes_[s]); }
  void indices_of(std::uint32_t s, std::size_t number, std::vector<i64>& out) const {
    models::indices_of(shapes_[s], number, out);
  }
  std::vector<i64> const& shape(std::uint32_t s) const { return shapes_[s]; }

  /// Whether the choice of a row-major number is observed; whether some choices of a site are, and whether all are.
  bool is_observed(std::uint32_t s, std::size_t number) const { return observed_.contains({s, number}); }
  bool has_observed(std::uint32_t s) const { return observed_.has(s); }
  bool is_observed(std::uint32_t s) const { return observed_.has_all(s); }

  /// The observed choices. O(choices).
  choice_map observed() const { return observed_.values_in(*this); }

  /// Whether a choice is made, which depends on other choices if its site is conditional. `presence` is the array of these bools for all
  /// choices of a conditional site; nothing for other sites.
  bool is_made(std::uint32_t s, std::span<i64 const> at) const {
    return !structure_.is_conditional(s) || program_.result_bits(structure_.result(s), at) != 0;
  }
  datum presence(std::uint32_t s) const {
    return structure_.is_conditional(s) ? program_.result(structure_.result(s)) : datum();
  }

  // ---- choices, as committed; unspecified where a choice is not made

  /// The bits of a choice that is a number or a bool.
  std::uint64_t bits(std::uint32_t s, std::span<i64 const> at) const {
    return program_.input_bits(site_input_ + s, at);
  }
  double number(std::uint32_t s, std::span<i64 const> at) const { return std::bit_cast<double>(bits(s, at)); }
  datum values(std::uint32_t s) const { return program_.input(site_input_ + s); }
  datum choice(std::uint32_t s, std::span<i64 const> at) const {
    ir::type const type = core_->sites()[s].type;
    return type.rank > 0 ? part_of(values(s), at) : datum::of_bits(type, bits(s, at));
  }

  /// The log densities of all choices, by site. Runs the model.
  std::vector<datum> log_densities() const;

  // ---- proposals

  /// Sets choices by address: single ones, or all of a site. Throws model_error if the model has no choice at an address, or if one is
  /// observed. O(log n) for each address; `set_bits` needs no lookup.
  void set(choice_map const& changes);
  /// Sets the k-th leaf of the model's arguments. If an array has the extents of the present one, only the elements that differ are
  /// updated. Throws model_error for an argument on which the number of choices depends, and argument_error if the type differs.
  /// O(elements).
  void set_argument(std::uint32_t k, datum const& x);
  /// Sets an element of an array argument. Throws model_error for more than three axes, argument_error and index_error. O(1).
  void set_argument_at(std::uint32_t k, std::initializer_list<i64> indices, datum const& x);
  /// Sets a choice. Throws model_error if it is observed, and, in an incremental trace, if it has more than three indices.
  void set_bits(std::uint32_t s, std::span<i64 const> at, std::uint64_t bits);
  /// Sets all choices of a site; observed ones must keep their values. Throws model_error if all are observed.
  void set_all(std::uint32_t s, datum const& x);
  /// Proposes the arguments of another model of the same function. A larger number or a longer array may increase the trip counts of
  /// outermost maps and loops, and so append choices. Appended choices in `observed` are observed from the commit on; others must be `set`,
  /// or are drawn by `propose`. The proposed trace and its weight are those of `update` with the same key; the weight is -infinity if an
  /// observed choice vanishes. Throws model_error if a site would have fewer choices; if their number depends on more than the arguments;
  /// if `observed` has another value of an existing choice; and if an appended choice is an array that `observed` does not have. `propose`
  /// throws model_error if a choice with existing indices appears, on which appended choices may depend. An exception discards the
  /// proposal. O(appended choices + elements of array arguments).
  template <class Model>
  void extend(Model const& m, choice_map const& observed = {}) {
    or_rollback([&] { extend(trace_extension(m, observed)); });
  }
  /// Proposes an extension that many traces share.
  void extend(trace_extension const& by);
  /// Evaluates the proposal, and returns its weight: the log ratio of the proposed and the committed density, minus the log density of
  /// choices that appear and are drawn, plus that of choices that vanish, which the reverse proposal draws. It is the Metropolis-Hastings
  /// ratio of `regenerate`. If the proposal is evaluated again, these choices are drawn again with a key, and kept without a key. The
  /// weight is -infinity if an observed choice vanishes, and NaN if a choice that appears cannot be drawn. Throws the exceptions of the
  /// model, and then discards the proposal.
  double propose(random_key const& key) { return propose(&key); }
  /// Evaluates a proposal in which no choice appears. Throws model_error if a choice appears.
  double propose() { return propose(nullptr); }
  /// Whether no choice appears or vanishes in the proposal.
  bool keeps_structure() const { return structure_.is_same() && !growth_.is_growing(); }
  /// The log ratio of the proposed and the committed density, without terms for choices that are drawn or vanish.
  double proposed_difference() const { return program_.difference(); }
  /// The choices that vanish in the proposal; and whether the proposal makes a choice.
  std::vector<choice_index> const& vanished() const { return structure_.vanished(); }
  bool is_proposed(std::uint32_t s, std::span<i64 const> at) const;
  /// Calls f(), during which `bits`, `number`, `values` and `get` read proposed choices. `get` still requires that the choice is made in
  /// the committed trace.
  template <class F>
  void as_proposed(F const& f) {
    program_.as_proposed(f);
  }
  /// The log density of the proposal.
  double proposed_score() const { return std::bit_cast<double>(program_.proposed()); }
  void commit();
  void rollback();

  /// Calls f, which makes a proposal, and returns its result. A commit in f throws model_error.
  template <class F>
  auto without_commits(F const& f) {
    struct proposing {
      bool& may_commit;
      explicit proposing(bool& may) : may_commit(may) { may_commit = false; }
      proposing(proposing const&) = delete;
      ~proposing() { may_commit = true; }
    } const now(proposal_.may_commit);
    return f();
  }

  /// The committed trace. Runs the model once.
  trace as_trace() const;

  /// A call of the program of a query about a choice, with the present arguments and choices bound.
  tiered_call& query(std::uint32_t s, site_query q, std::span<i64 const> at);

  Program const& program() const { return program_; }

private:
  // Whether no proposal can add or remove choices.
  bool has_fixed_structure() const { return structure_.is_fixed() && !growth_.is_growing(); }
  void check_argument(std::uint32_t k) const;
  template <class F>
  void or_rollback(F const& f) {
    try {
      f();
    } catch (...) {
      rollback();
      throw;
    }
  }
  void set_bits_unchecked(std::uint32_t s, std::span<i64 const> at, std::uint64_t bits);
  void set_in_program(std::uint32_t s, std::span<i64 const> at, std::uint64_t bits);
  void set_in_structure(std::uint32_t s, std::size_t number);

  // ---- proposals

  double propose(random_key const* key);
  tiered_call& query_call(std::uint32_t s, site_query q);
  // Draws the choices that appear, in the order of the program: a choice may depend on earlier ones, and determine which later ones appear.
  double propose_structure(random_key const* key);
  // Draws the appended choices in the order of the program.
  bool draw_appended(random_key const* key);
  bool is_made_in_proposal(choice_index const& c);
  // Draws choices given all proposed ones. Returns false if a parameter of a distribution violates its constraint.
  bool draw(std::span<choice_index const> all, random_key const& key);
  std::vector<std::vector<i64>> const& proposed_shapes() const {
    return growth_.is_growing() ? growth_.shapes() : shapes_;
  }
  // Throws model_error if a choice appears that precedes a choice that was drawn already, which may depend on it.
  void reject_late_appearance(choice_index const& c);
  void reject_unmade_observations();
  void end_growth();

  static Program program_of(trace const& t);

  static constexpr std::size_t query_count = 5; // enumerators of site_query

  models::shared_core core_;
  std::uint32_t site_input_; // the program's input for the first site
  trace_structure structure_;
  Program program_;
  std::vector<std::unique_ptr<tiered_call>> calls_; // by site and query
  std::vector<std::vector<i64>> shapes_;            // by site
  observed_choices observed_;
  trace_growth growth_;
  struct {
    bool is_current = true;      // all choices that appear in it were drawn
    bool has_no_density = false; // an observed choice vanishes, or a choice that appears cannot be drawn
    bool may_commit = true;      // false in `without_commits`
  } proposal_;
  std::vector<i64> at_;
  std::vector<std::uint64_t> drawn_;
  std::vector<double> densities_; // log densities of drawn_
};

/// An incremental trace: a proposal recomputes only the values that its changes affect.
using followed_trace = mutable_trace<incremental_program>;
/// A trace whose proposals run the whole model.
using reexecuted_trace = mutable_trace<reexecuted_program>;

extern template class site_choices<followed_trace>;
extern template class site_choices<reexecuted_trace>;
extern template class mutable_trace<incremental_program>;
extern template class mutable_trace<reexecuted_program>;

} // namespace overdub::models
