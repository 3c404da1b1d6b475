// Extends a trace by iterations of its outermost maps and loops, whose choices are given or drawn, for particle filters.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/incremental/cells.hpp>
#include <overdub/models/site_constraints.hpp>
#include <overdub/models/trace_structure.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace overdub::models {

/// An extension of traces of a model: new arguments, the trip counts of maps and loops for them, and given choices. Any number of traces
/// may share an extension; reading it is thread-safe.
class trace_extension {
public:
  /// Throws model_error for addresses that the model never samples.
  trace_extension(
      std::shared_ptr<model_core const> of, std::vector<datum> arguments, choice_map const& observed);
  template <class Model>
  trace_extension(Model const& m, choice_map const& observed)
      : trace_extension(m.core(), m.inputs(), observed) {}

  std::shared_ptr<model_core const> const& core() const { return core_; }
  std::vector<datum> const& arguments() const { return arguments_; }
  /// The trip counts, in the order of `model_core::trip_counts`.
  std::span<i64 const> trip_counts() const { return trip_counts_; }
  detail::site_constraints const& given() const { return given_; }

private:
  std::shared_ptr<model_core const> core_;
  std::vector<datum> arguments_;
  std::vector<i64> trip_counts_;
  detail::site_constraints given_;
};

/// The iterations that a proposal appends: the proposed shape of each site, and the appended choices that are observed, or still to
/// be drawn.
class trace_growth {
public:
  bool is_growing() const { return is_growing_; }
  /// By site, with the appended choices.
  std::vector<std::vector<i64>> const& shapes() const { return shapes_; }
  /// Begins to extend sites of these shapes. Throws model_error if a site would have fewer choices, if their number is unknown, and if
  /// rows would have another length.
  void begin(trace_extension const& by, std::vector<std::vector<i64>> const& before);
  /// Checks given choices whose address exists before the extension. A choice that is not made is set, and observed if it appears. Throws
  /// model_error if a choice that is made has another value. O(log n) for each choice; O(choices) for whole sites.
  template <class Trace, class Program>
  void constrain_existing(
      Trace const& t, Program& p, detail::site_constraints const& given, trace_structure& structure) {
    std::vector<i64> at;
    for (auto const& [s, where, x] : given.all()) {
      bool const is_one = where.size() == t.shape(s).size();
      bool const is_old = where.empty() || where[0] < t.shape(s)[0];
      if (is_one && structure.is_conditional(s))
        conditional_constraints_.push_back({s, number_of(shapes_[s], where)});
      if (is_one && is_old) constrain_existing(t, p, s, where, x, structure);
      if (is_one || !is_old) continue;
      for (std::size_t k = 0; k < t.size(s); ++k) {
        t.indices_of(s, k, at);
        if (std::equal(where.begin(), where.end(), at.begin()))
          constrain_existing(t, p, s, at, given.find(s, at), structure);
      }
    }
  }

  /// Sets an input of a program; appends rows if the new value extends an array.
  template <class Program>
  static void extend_input(Program& p, std::uint32_t input, datum const& x) {
    datum now;
    p.as_proposed([&] { now = p.input(input); });
    if (x.type().rank == 0 || std::ranges::equal(now.shape(), x.shape()))
      p.set_differing(input, now, x);
    else if (!begins_with(x, now))
      p.set(input, x);
    else
      for (i64 row = now.shape()[0]; row < x.shape()[0]; ++row) p.append(input, part_of(x, {&row, 1}));
  }
  /// Appends the rows of a site to an input of a program: given values, and 0 for choices that will be drawn. Throws model_error if a
  /// choice that will be drawn is an array.
  template <class Program>
  void extend_site(
      model_core const& m, Program& p, std::uint32_t input, std::uint32_t s, std::vector<i64> const& before,
      detail::site_constraints const& given, trace_structure& structure) {
    std::vector<i64> const& shape = shapes_[s];
    site const& of = m.sites()[s];
    check_size(shape, of.type);
    std::size_t in_row = 1;
    for (std::size_t k = 1; k < shape.size(); ++k) in_row *= static_cast<std::size_t>(shape[k]);
    std::vector<i64> at;
    for (i64 row = before[0]; row < shape[0]; ++row) {
      std::size_t const first = static_cast<std::size_t>(row) * in_row;
      if (shape.size() > 1) p.append(input, zeros(of.type, std::span(shape).subspan(1)));
      for (std::size_t number = first; number < first + in_row; ++number) {
        indices_of(shape, number, at);
        datum const x = given.find(s, at);
        choice_index const c{s, number};
        if (x) {
          observed_.push_back(c);
          structure.set(c);
        } else if (of.type.rank > 0) {
          reject_array(m, s, at);
        } else {
          pending_.push_back(c);
        }
        if (shape.size() == 1)
          p.append(input, x ? x : datum::of_bits(of.type, 0));
        else if (x)
          p.set_at(input, at, x.bits());
      }
    }
  }

  /// Records that a kernel set the choice, so that it is not drawn.
  void was_set(std::uint32_t s, std::size_t number);
  /// The given choices that are appended, or that exist and are not made.
  std::vector<choice_index> const& observed() const { return observed_; }
  bool is_observed(std::uint32_t s, std::size_t number) const {
    return std::ranges::find(observed_, choice_index{s, number}) != observed_.end();
  }
  /// All given choices of conditional sites.
  std::vector<choice_index> const& conditional_constraints() const { return conditional_constraints_; }

  /// Sorts the choices to be drawn in the order in which the model makes them.
  void sort(trace_structure const& structure);
  /// The next choice to be drawn; nullptr after the last. `advance` skips it, after it was drawn or if it is not made.
  choice_index const* next() const { return next_ < pending_.size() ? &pending_[next_] : nullptr; }
  void advance() { ++next_; }
  /// Starts again with the first choice to be drawn.
  void restart() { next_ = 0; }
  void clear();

private:
  // Throws size_error for an array that exceeds the address space.
  static void check_size(std::vector<i64> const& shape, ir::type t);
  bool is_before(
      trace_structure const& structure, choice_index const& a, choice_index const& b, std::vector<i64>& of_a,
      std::vector<i64>& of_b) const;
  template <class Trace, class Program>
  void constrain_existing(
      Trace const& t, Program& p, std::uint32_t s, std::vector<i64> const& at, datum const& x,
      trace_structure& structure) {
    auto const input = static_cast<std::uint32_t>(t.arguments()) + s;
    if (!t.is_made(s, at)) {
      if (x.type().rank > 0) reject_array(t.core(), s, at);
      if (at.empty())
        p.set(input, x);
      else
        p.set_at(input, at, x.bits());
      choice_index const c{s, number_of(shapes_[s], at)};
      structure.set(c);
      observed_.push_back(c);
    } else if (datum const is = t.choice(s, at); !(x == is)) {
      throw model_error(message(
          "overdub: %.80s is given as %.80s to a trace that grows, and it is %.80s: set what changes "
          "besides",
          text_of(address(t.core().sites()[s].address, at)).c_str(), overdub::text_of(x).c_str(),
          overdub::text_of(is).c_str()));
    }
  }
  [[noreturn]] static void reject_array(model_core const& m, std::uint32_t s, std::vector<i64> const& at);
  // Whether an array has another one as its first rows.
  static bool begins_with(datum const& x, datum const& beginning);
  static datum zeros(ir::type t, std::span<i64 const> shape);
  [[noreturn]] static void reject(model_core const& m, std::uint32_t s, char const* why);

  bool is_growing_ = false;
  std::vector<std::vector<i64>> shapes_; // by site; valid while is_growing_
  std::vector<choice_index> observed_, conditional_constraints_, pending_;
  std::size_t next_ = 0; // in pending_
};

} // namespace overdub::models
