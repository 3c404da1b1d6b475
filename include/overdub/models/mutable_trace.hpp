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

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub::models {

// What a mutable trace does not accept. Each throws model_error, or argument_error for a type.
namespace rejections {
[[noreturn]] void argument_number(model_core const& m, std::uint32_t k, std::uint32_t arguments);
[[noreturn]] void argument_type(model_core const& m, std::uint32_t k, ir::type wanted, ir::type given);
// Argument k decides how many choices the site has.
[[noreturn]] void counting(model_core const& m, std::uint32_t k, std::uint32_t site);
[[noreturn]] void observed(model_core const& m, std::uint32_t site);
[[noreturn]] void commit();
// A choice appears, and has no value.
[[noreturn]] void
appearing(model_core const& m, std::vector<std::vector<i64>> const& shapes, choice_index const& choice);
} // namespace rejections

/// A trace for transition kernels. A kernel sets choices, computes the weight of the proposal, and commits it or rolls it back. A choice in
/// a branch appears in a proposal that takes the branch, and vanishes in one that does not. A choice that appears, and was not set, is
/// drawn from its distribution. A proposal in which no choice appears does not allocate. The number of choices of a site must not depend on
/// other choices: use `update` and `regenerate` for such models. Not thread-safe. A moved-from trace can be assigned to; other uses throw.
template <class Program>
class mutable_trace {
  static constexpr bool is_incremental = std::is_same_v<Program, incremental_program>;

public:
  /// Copies a trace. Observed choices are fixed. Throws model_error for a model with choices in a map or loop in a branch, and if the
  /// number of a site's choices depends on other choices.
  explicit mutable_trace(trace const& t, choice_map const& observed = {})
      : core_((static_cast<void>(t.core()), t.shared_core())),
        site_input_(static_cast<std::uint32_t>(t.arguments().size())),
        structure_(*core_, observed, is_incremental ? incremental_program::most_indices : ~std::size_t{0}),
        program_(program_of(t)), calls_(query_count * core_->sites().size()),
        observed_(core_->sites().size()) {
    for (std::uint32_t s = 0; s < core_->sites().size(); ++s) {
      site const& of = core_->sites()[s];
      datum::extents const& shape = t.values()[s].shape();
      shapes_.emplace_back(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(of.index_count));
    }
    observed_.add(t, observed);
  }

  /// Copies the committed state, without the proposal. O(choices and saved values); does not run the model.
  mutable_trace(mutable_trace const& other)
      : core_(other.core_), site_input_(other.site_input_), structure_(other.structure_),
        program_(other.program_), calls_(other.calls_.size()), shapes_(other.shapes_),
        observed_(other.observed_) {
    structure_.clear();
  }
  mutable_trace(mutable_trace&&) = default;
  /// Copies the committed state. Reuses memory if both traces are of one model, as an incremental_program does.
  mutable_trace& operator=(mutable_trace const& other) {
    if (core_ != other.core_) return *this = mutable_trace(other);
    auto shapes = other.shapes_;
    auto observed = other.observed_;
    program_ = other.program_;
    rollback();
    shapes_ = std::move(shapes);
    observed_ = std::move(observed);
    return *this;
  }
  mutable_trace& operator=(mutable_trace&&) = default;
  ~mutable_trace() = default;

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

  /// A choice, or all choices of a site. Throws model_error if none is made, and type_error if it is not a T. O(log n + elements).
  template <class T>
  T get(address const& at) const {
    std::uint32_t const s = core().site_at(at.site);
    if (!has_choices(s, at.indices)) trace::throw_none(*core_, at, shapes_[s]);
    if (at.indices.size() != shapes_[s].size() || core_->sites()[s].type.rank > 0)
      return detail::choice_as<T>(at, part_of(values(s), at.indices));
    return detail::choice_as<T>(at, datum::of_bits(core_->sites()[s].type, bits(s, at.indices)));
  }

  // ---- proposals

  /// Sets choices by address: single ones, or all of a site. Throws model_error if the model has no choice at an address, or if one is
  /// observed. O(log n) for each address; `set_bits` needs no lookup.
  void set(choice_map const& changes) {
    detail::site_constraints const given(core(), changes);
    for (detail::given_choice const& c : given.all()) {
      detail::site_constraints::check_size(*core_, c, proposed_shapes()[c.site]);
      if (c.indices.size() == shapes_[c.site].size() && c.value.type().rank == 0)
        set_bits(c.site, c.indices, c.value.bits());
      else if (c.indices.empty())
        set_all(c.site, c.value);
      else
        throw model_error(message(
            "overdub: %.80s is a part of a site, and more than a number; set all of the site",
            text_of(address(core_->sites()[c.site].address, c.indices)).c_str()));
    }
  }
  /// Sets the k-th leaf of the model's arguments. If an array has the extents of the present one, only the elements that differ are
  /// updated. Throws model_error for an argument on which the number of choices depends, and argument_error if the type differs.
  /// O(elements).
  void set_argument(std::uint32_t k, datum const& x) {
    check_argument(k);
    datum now;
    program_.as_proposed([&] { now = program_.input(k); });
    if (x.type() != now.type()) rejections::argument_type(*core_, k, now.type(), x.type());
    bool const is_resized = !std::ranges::equal(now.shape(), x.shape());
    affected_counts const& counts = core_->model().arguments[k];
    if (is_resized && counts.size) rejections::counting(*core_, k, *counts.size);
    if (counts.value && !(now == x)) rejections::counting(*core_, k, *counts.value);
    if (!structure_.is_fixed()) proposal_.is_current = false;
    program_.set_differing(k, now, x);
  }
  /// Sets an element of an array argument. Throws model_error for more than three axes, argument_error and index_error. O(1).
  void set_argument_at(std::uint32_t k, std::initializer_list<i64> indices, datum const& x) {
    check_argument(k);
    ir::function const& f = core_->program()[core_->program().entry];
    ir::type const t = f.type_of(f.parameters()[k]);
    ir::type number = t;
    number.rank = 0;
    if (x.type() != number) rejections::argument_type(*core_, k, number, x.type());
    std::span<i64 const> const path(indices.begin(), indices.size());
    if (path.size() != t.rank || path.size() > incremental_program::most_indices)
      throw model_error(message(
          "overdub: argument %u of the model @%s has %d axes, and an element was set by %zu indices; "
          "elements of up to "
          "three axes are set alone",
          k, core_->name().c_str(), static_cast<int>(t.rank), path.size()));
    for (std::size_t axis = 0; axis < path.size(); ++axis)
      if (i64 const n = program_.proposed_extent(k, axis); path[axis] < 0 || path[axis] >= n)
        throw index_error(message(
            "overdub: argument %u of the model @%s has %lld elements along this axis, and none at %lld", k,
            core_->name().c_str(), static_cast<long long>(n), static_cast<long long>(path[axis])));
    if (core_->model().arguments[k].value)
      rejections::counting(*core_, k, *core_->model().arguments[k].value);
    if (!structure_.is_fixed()) proposal_.is_current = false;
    program_.set_at(k, path, x.bits());
  }
  /// Sets a choice. Throws model_error if it is observed, and, in an incremental trace, if it has more than three indices.
  void set_bits(std::uint32_t s, std::span<i64 const> at, std::uint64_t bits) {
    if (observed_.has(s) && is_observed(s, number_of(proposed_shapes()[s], at))) [[unlikely]]
      rejections::observed(*core_, s);
    if (growth_.is_growing()) [[unlikely]] {
      if (growth_.is_observed(s, number_of(proposed_shapes()[s], at))) rejections::observed(*core_, s);
      growth_.was_set(s, number_of(proposed_shapes()[s], at));
    }
    set_bits_unchecked(s, at, bits);
  }
  /// Sets all choices of a site; observed ones must keep their values. Throws model_error if all are observed.
  void set_all(std::uint32_t s, datum const& x) {
    if (is_observed(s)) rejections::observed(*core_, s);
    if (growth_.is_growing()) [[unlikely]]
      growth_.was_set(s, choice_index::all);
    if (!has_fixed_structure()) set_in_structure(s, choice_index::all);
    program_.set(site_input_ + s, x);
  }
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
  void extend(trace_extension const& by) {
    or_rollback([&] {
      if (by.core() != core_)
        throw model_error(message(
            "overdub: a trace of the model @%s is extended by @%s; it grows by arguments of its own function "
            "and options",
            core().name().c_str(), by.core()->name().c_str()));
      if (growth_.is_growing())
        throw model_error(message(
            "overdub: a trace of the model @%s grows twice in one proposal: commit it, or roll it back, "
            "before",
            core_->name().c_str()));
      growth_.begin(by, shapes_);
      growth_.constrain_existing(*this, program_, by.given(), structure_);
      proposal_.is_current = false;
      for (std::uint32_t k = 0; k < site_input_; ++k)
        trace_growth::extend_input(program_, k, by.arguments()[k]);
      for (std::uint32_t s = 0; s < shapes_.size(); ++s) {
        if (growth_.shapes()[s] == shapes_[s]) continue;
        if (is_incremental && shapes_[s].size() > incremental_program::most_indices)
          trace_structure::reject_indices(*core_, s);
        growth_.extend_site(*core_, program_, site_input_ + s, s, shapes_[s], by.given(), structure_);
      }
    });
  }
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
  bool is_proposed(std::uint32_t s, std::span<i64 const> at) const {
    choice_index const c{s, number_of(shapes_[s], at)};
    return is_made(s, at) ? !std::ranges::binary_search(structure_.vanished(), c) : structure_.appears(c);
  }
  /// Calls f(), during which `bits`, `number`, `values` and `get` read proposed choices. `get` still requires that the choice is made in
  /// the committed trace.
  template <class F>
  void as_proposed(F const& f) {
    program_.as_proposed(f);
  }
  /// The log density of the proposal.
  double proposed_score() const { return std::bit_cast<double>(program_.proposed()); }
  void commit() {
    if (!proposal_.may_commit) [[unlikely]]
      rejections::commit();
    if (!proposal_.is_current) propose();
    if (proposal_.has_no_density) {
      rollback();
      throw model_error(message(
          "overdub: the changes make an observed choice vanish, or one appear that cannot be drawn: the "
          "proposal has no density, and is rolled back"));
    }
    or_rollback([&] {
      if (growth_.is_growing()) observed_.reserve(growth_.shapes(), growth_.observed());
      program_.commit();
    });
    if (has_fixed_structure()) [[likely]]
      return;
    if (growth_.is_growing()) end_growth();
    structure_.clear();
  }
  void rollback() {
    program_.rollback();
    if (has_fixed_structure()) [[likely]]
      return; // no choice was drawn or appended
    structure_.clear();
    if (growth_.is_growing()) [[unlikely]]
      observed_.release_room(shapes_);
    growth_.clear();
    proposal_.is_current = true;
    proposal_.has_no_density = false;
  }

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
  trace as_trace() const {
    std::vector<datum> arguments, values;
    for (std::uint32_t k = 0; k < site_input_; ++k) arguments.push_back(program_.input(k));
    for (std::uint32_t s = 0; s < core().sites().size(); ++s)
      values.push_back(program_.input(site_input_ + s));
    choice_schema s = core_->all_in(role::given);
    s.results = s.values = s.presence = true;
    return trace(core_, arguments, core_->run(s, arguments, values));
  }

  /// A call of the program of a query about a choice, with the present arguments and choices bound.
  tiered_call& query(std::uint32_t s, site_query q, std::span<i64 const> at) {
    tiered_call& call = query_call(s, q);
    std::uint32_t next = 0;
    for (; next < site_input_ + shapes_.size(); ++next) program_.pass_input(call, next, next);
    for (i64 const i : at) call.set(next++, static_cast<std::uint64_t>(i));
    return call;
  }

  Program const& program() const { return program_; }

private:
  // Whether no proposal can add or remove choices.
  bool has_fixed_structure() const { return structure_.is_fixed() && !growth_.is_growing(); }
  // Whether the trace has choices of the site whose indices begin with these.
  bool has_choices(std::uint32_t s, std::vector<i64> const& indices) const {
    if (indices.size() > shapes_[s].size()) return false;
    for (std::size_t k = 0; k < indices.size(); ++k)
      if (indices[k] < 0 || indices[k] >= shapes_[s][k]) return false;
    return indices.size() < shapes_[s].size() || is_made(s, indices);
  }
  void check_argument(std::uint32_t k) const {
    if (k >= site_input_ || core_ == nullptr) rejections::argument_number(core(), k, site_input_);
  }
  template <class F>
  void or_rollback(F const& f) {
    try {
      f();
    } catch (...) {
      rollback();
      throw;
    }
  }
  void set_bits_unchecked(std::uint32_t s, std::span<i64 const> at, std::uint64_t bits) {
    if (!has_fixed_structure()) set_in_structure(s, number_of(proposed_shapes()[s], at));
    set_in_program(s, at, bits);
  }
  void set_in_program(std::uint32_t s, std::span<i64 const> at, std::uint64_t bits) {
    if (at.empty())
      program_.set(site_input_ + s, datum::of_bits(core_->sites()[s].type, bits));
    else if constexpr (is_incremental)
      if (at.size() == 1)
        program_.set_at(site_input_ + s, at[0], bits);
      else if (at.size() <= Program::most_indices)
        program_.set_at(site_input_ + s, at, bits);
      else
        trace_structure::reject_indices(*core_, s);
    else
      program_.set_at(site_input_ + s, at, bits);
  }
  void set_in_structure(std::uint32_t s, std::size_t number) {
    structure_.set({s, number});
    proposal_.is_current = false;
  }

  // ---- proposals

  double propose(random_key const* key) {
    if (has_fixed_structure()) [[likely]] {
      or_rollback([&] { program_.propose(); });
      return program_.difference();
    }
    double weight = 0;
    or_rollback([&] { weight = propose_structure(key); });
    proposal_.is_current = true;
    return weight;
  }
  tiered_call& query_call(std::uint32_t s, site_query q) {
    auto& call = calls_[query_count * s + static_cast<std::size_t>(q)];
    if (call == nullptr) call = std::make_unique<tiered_call>(core_->code_of(s, q));
    return *call;
  }
  // Draws the choices that appear, in the order of the program: a choice may depend on earlier ones, and determine which later ones appear.
  double propose_structure(random_key const* key) {
    double vanished_density = 0;
    proposal_.has_no_density = true;
    if (key != nullptr) structure_.discard_draws(), growth_.restart();
    if (growth_.is_growing() && !draw_appended(key)) return std::numeric_limits<double>::quiet_NaN();
    for (;;) {
      program_.propose();
      structure_.find(program_, proposed_shapes(), shapes_);
      if (!structure_.has_to_draw()) break;
      auto const first = structure_.first_to_draw(proposed_shapes());
      if (key == nullptr) rejections::appearing(*core_, proposed_shapes(), first[0]);
      if (growth_.is_growing())
        for (choice_index const& c : first) reject_late_appearance(c);
      if (!draw(first, growth_.is_growing() ? *key : key->at("appearing")))
        return std::numeric_limits<double>::quiet_NaN();
    }
    if (growth_.is_growing()) reject_unmade_observations();
    double const drawn_density = structure_.drawn_density();
    for (choice_index const& c : structure_.vanished())
      if (is_observed(c.site, c.number)) return -std::numeric_limits<double>::infinity();
    if (!structure_.vanished().empty() && !growth_.is_growing())
      program_.as_committed([&] {
        for (choice_index const& c : structure_.vanished()) {
          indices_of(c.site, c.number, at_);
          tiered_call& density = query(c.site, site_query::density, at_);
          density.run();
          vanished_density += std::bit_cast<double>(density.word(0));
        }
      });
    proposal_.has_no_density = false;
    return program_.difference() - drawn_density + vanished_density;
  }
  // Draws the appended choices in the order of the program.
  bool draw_appended(random_key const* key) {
    growth_.sort(structure_);
    for (choice_index const* c = growth_.next(); c != nullptr; growth_.advance(), c = growth_.next()) {
      if (structure_.is_conditional(c->site) && !is_made_in_proposal(*c)) continue;
      if (key == nullptr) rejections::appearing(*core_, proposed_shapes(), *c);
      if (!draw({c, 1}, *key)) return false;
    }
    return true;
  }
  bool is_made_in_proposal(choice_index const& c) {
    bool made = false;
    program_.as_proposed([&] {
      models::indices_of(proposed_shapes()[c.site], c.number, at_);
      tiered_call& call = query(c.site, site_query::is_made, at_);
      call.run();
      made = call.word(0) != 0;
    });
    return made;
  }
  // Draws choices given all proposed ones. Returns false if a parameter of a distribution violates its constraint.
  bool draw(std::span<choice_index const> all, random_key const& key) {
    drawn_.clear(), densities_.clear();
    for (choice_index const& c : all)
      (void)query_call(c.site, site_query::draw); // compile all programs first: that may throw
    try {
      program_.as_proposed([&] {
        model_core::drawing const now(key);
        for (choice_index const& c : all) {
          models::indices_of(proposed_shapes()[c.site], c.number, at_);
          tiered_call& draw = query(c.site, site_query::draw, at_);
          draw.run();
          drawn_.push_back(draw.word(0));
          densities_.push_back(std::bit_cast<double>(draw.word(1)));
        }
      });
    } catch (model_error const&) { // a parameter is outside of its constraint
      return false;
    }
    for (std::size_t k = 0; k < all.size(); ++k) {
      models::indices_of(proposed_shapes()[all[k].site], all[k].number, at_);
      set_in_program(all[k].site, at_, drawn_[k]);
      structure_.was_drawn(all[k], densities_[k]);
    }
    return true;
  }
  // ---- growth

  std::vector<std::vector<i64>> const& proposed_shapes() const {
    return growth_.is_growing() ? growth_.shapes() : shapes_;
  }
  // Throws model_error if a choice appears that precedes a choice that was drawn already, which may depend on it.
  void reject_late_appearance(choice_index const& c) {
    if (!structure_.precedes_drawn(c, proposed_shapes())) return;
    models::indices_of(proposed_shapes()[c.site], c.number, at_);
    throw model_error(message(
        "overdub: while a trace grows the choice %.80s appears, on which appended choices may depend: commit "
        "first what makes it appear, or change the trace by update",
        text_of(address(core_->sites()[c.site].address, at_)).c_str()));
  }
  void reject_unmade_observations() {
    for (choice_index const& c : growth_.conditional_constraints()) {
      models::indices_of(proposed_shapes()[c.site], c.number, at_);
      bool const was_there = at_.empty() || at_[0] < shapes_[c.site][0];
      bool const vanishes = std::ranges::binary_search(structure_.vanished(), c);
      if (structure_.appears(c) || (was_there && is_made(c.site, at_) && !vanishes)) continue;
      detail::site_constraints::throw_unmade(*core_, address(core_->sites()[c.site].address, at_));
    }
  }
  void end_growth() {
    shapes_ = growth_.shapes();
    for (choice_index const& c : growth_.observed()) {
      indices_of(c.site, c.number, at_);
      observed_.observe(c, is_made(c.site, at_));
    }
    growth_.clear();
  }

  static Program program_of(trace const& t) {
    std::vector<datum> inputs = t.arguments();
    inputs.insert(inputs.end(), t.values().begin(), t.values().end());
    if constexpr (is_incremental)
      return Program(t.core().update_programs(), inputs);
    else
      return Program(t.core().code_of_score(), inputs);
  }

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

extern template class mutable_trace<incremental_program>;
extern template class mutable_trace<reexecuted_program>;

} // namespace overdub::models
