// Which choices a trace has, where that depends on other choices: those that a proposal makes appear, and those that vanish.
#pragma once

#include <overdub/contexts/incremental/incremental_program.hpp>
#include <overdub/contexts/models/choice_order.hpp>
#include <overdub/contexts/models/choices.hpp>
#include <overdub/contexts/models/model_core.hpp>

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace overdub::models {
inline namespace OVERDUB_EXECUTE_ABI {

/// A choice by its site, and its number among the site's, row by row.
struct choice_place {
  static constexpr std::size_t all = ~std::size_t{0}; // as a number: those of the site

  std::uint32_t site = 0;
  std::size_t number = 0;

  friend auto operator<=>(choice_place const&, choice_place const&) = default;
};

/// The structure of a trace of a program whose results are the score, and which choices of each conditional site were made.
class trace_structure {
public:
  /// Of traces in which these choices are observed, and of which a choice is changed alone that stands in so many maps and loops. Throws
  /// model_error for a model with maps of choices in branches, or with as many choices as other ones say.
  trace_structure(model_core const& m, choice_map const& observed, std::size_t most_turns)
      : order_(m), number_(m.sites().size(), none) {
    refuse_unknown(m, observed);
    for (std::uint32_t s = 0; s < m.sites().size(); ++s) {
      if (!m.sites()[s].is_conditional) continue;
      if (m.sites()[s].turns > most_turns) refuse_indices(m, s);
      number_[s] = static_cast<std::uint32_t>(conditional_.size());
      conditional_.push_back(s);
    }
  }

  /// Of a choice that stands in too many maps and loops to be changed alone.
  [[noreturn]] static void refuse_indices(model_core const& m, std::uint32_t s) {
    throw model_error(message(
        "overdub: the choice \"%s\" stands in %u maps and loops, and a choice is changed alone in up to %zu; "
        "change all of the site, or run the whole model",
        m.sites()[s].address.c_str(), m.sites()[s].turns, contexts::incremental_program::most_indices));
  }

  /// Whether all traces have the same choices.
  bool is_fixed() const { return conditional_.empty(); }
  bool is_conditional(std::uint32_t s) const { return number_[s] != none; }
  /// The program's result that says which choices of a conditional site were made.
  std::size_t result(std::uint32_t s) const { return number_[s] + 1; }

  /// A choice that a proposal sets: it is not drawn where it appears.
  void set(choice_place const& c) {
    if (is_conditional(c.site)) set_.push_back(c);
    if (!drawn_.empty()) set_since_.push_back(c);
  }
  /// One that was drawn for the proposal, with this log density: it counts as set until it is to be drawn again.
  void was_drawn(choice_place const& c, double log_density) {
    if (is_conditional(c.site)) set_.push_back(c);
    forget_set();
    drawn_.push_back({c, log_density});
  }
  /// What was drawn for a proposal is to be drawn anew for the next one. O(n log n) in what was set.
  void draw_again() {
    forget_set();
    std::vector<choice_place> drawn;
    for (drawn_choice const& d : drawn_) drawn.push_back(d.at);
    sort(drawn);
    std::erase_if(set_, [&](choice_place const& c) { return std::ranges::binary_search(drawn, c); });
    drawn_.clear();
  }
  /// The log density of what was drawn and is there.
  double drawn_density() {
    forget_set();
    double sum = 0;
    for (drawn_choice const& d : drawn_)
      if (!is_conditional(d.at.site) || appears(d.at)) sum += d.log_density;
    return sum;
  }
  /// Whether one that was drawn may depend on a choice, of sites that have these shapes.
  bool precedes_drawn(choice_place const& c, std::vector<std::vector<i64>> const& shapes) {
    forget_set();
    std::vector<i64> at, other;
    indices_of(shapes[c.site], c.number, at);
    return std::ranges::any_of(drawn_, [&](drawn_choice const& d) {
      indices_of(shapes[d.at.site], d.at.number, other);
      return order_.is_before(c.site, at, d.at.site, other);
    });
  }
  /// Finds what the proposal of a program makes appear, and what it makes vanish, of sites that have these shapes and had those. O(what
  /// was computed again).
  template <class Program>
  void find(
      Program const& p, std::vector<std::vector<i64>> const& shapes,
      std::vector<std::vector<i64>> const& before) {
    appeared_.clear(), vanished_.clear();
    for (std::uint32_t const s : conditional_) {
      p.for_each_change(result(s), [&](std::span<i64 const> at, std::uint64_t made) {
        bool const was_there = at.empty() || at[0] < before[s][0];
        if (made == (was_there ? p.result_bits(result(s), at) : 0)) return;
        choice_place const c{s, number_of(shapes[s], at)};
        if (made == 0)
          vanished_.push_back(c);
        else
          appeared_.push_back(c);
      });
    }
    sort(appeared_), sort(vanished_), sort(set_);
    is_same_ = appeared_.empty() && vanished_.empty();
    to_draw_.clear();
    for (choice_place const& c : appeared_)
      if (!std::ranges::binary_search(set_, c) &&
          !std::ranges::binary_search(set_, choice_place{c.site, choice_place::all}))
        to_draw_.push_back(c);
  }
  /// Those that appear, were not set, and wait for no other one: all that are to be drawn before them have been.
  std::vector<choice_place> first_to_draw(std::vector<std::vector<i64>> const& shapes) const {
    std::vector<choice_place> first;
    std::vector<i64> at, other;
    for (choice_place const& c : to_draw_) {
      indices_of(shapes[c.site], c.number, at);
      if (!first.empty()) {
        indices_of(shapes[first[0].site], first[0].number, other);
        if (order_.is_before(first[0].site, other, c.site, at)) continue;
        if (order_.is_before(c.site, at, first[0].site, other)) first.clear();
      }
      first.push_back(c);
    }
    return first;
  }
  /// Whether something appears that was not set; and whether a choice does, set or not.
  bool has_to_draw() const { return !to_draw_.empty(); }
  bool appears(choice_place const& c) const { return std::ranges::binary_search(appeared_, c); }
  std::vector<choice_place> const& vanished() const { return vanished_; }
  choice_order const& order() const { return order_; }
  /// Whether the proposal has the choices that there were.
  bool is_same() const { return is_same_; }
  /// The proposal was committed, or rolled back.
  void forget() {
    appeared_.clear(), to_draw_.clear(), vanished_.clear(), set_.clear(), drawn_.clear(), set_since_.clear();
    is_same_ = true;
  }

private:
  struct drawn_choice {
    choice_place at;
    double log_density;
  };
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  // Models of whose traces a proposal does not tell the choices.
  static void refuse_unknown(model_core const& m, choice_map const& observed) {
    for (site const& s : m.sites())
      if (s.is_counted)
        throw model_error(message(
            "overdub: how many choices \"%s\" are made depends on other choices, so that moves of these "
            "would make them appear or vanish; change such traces by update and regenerate",
            s.address.c_str()));
    for (site const& s : m.sites()) {
      if (s.varies_in_size && !observed.contains(address(s.address, {})))
        throw model_error(message(
            "overdub: the choice \"%s\" is an array in a branch, so that moves of other choices may make it "
            "appear or vanish; change such traces by update and regenerate",
            s.address.c_str()));
      if (!s.is_conditional) continue;
      if (s.is_resized)
        throw model_error(message(
            "overdub: the choice \"%s\" stands in a map or a loop in a branch, so that moves of other "
            "choices "
            "may make all of them appear or vanish; write the branch in the map, or change such traces by "
            "update and regenerate",
            s.address.c_str()));
      if (s.nodes.size() > 1)
        throw model_error(message(
            "overdub: the choice \"%s\" has one address in two branches, and in a third it is not made, so "
            "that its distribution is not known where it appears; give each branch an address of its own",
            s.address.c_str()));
    }
  }
  // Of what was drawn, what was set since.
  void forget_set() {
    if (set_since_.empty()) return;
    sort(set_since_);
    std::erase_if(drawn_, [&](drawn_choice const& d) {
      return std::ranges::binary_search(set_since_, d.at) ||
             std::ranges::binary_search(set_since_, choice_place{d.at.site, choice_place::all});
    });
    set_since_.clear();
  }
  static void sort(std::vector<choice_place>& all) {
    std::ranges::sort(all);
    auto const behind = std::ranges::unique(all);
    all.erase(behind.begin(), behind.end());
  }

  choice_order order_;
  std::vector<std::uint32_t> conditional_; // sites
  std::vector<std::uint32_t> number_;      // by site: its place among those
  std::vector<choice_place> set_, appeared_, to_draw_, vanished_;
  std::vector<drawn_choice> drawn_;
  std::vector<choice_place> set_since_; // something was drawn
  bool is_same_ = true;
};

} // namespace OVERDUB_EXECUTE_ABI
} // namespace overdub::models
