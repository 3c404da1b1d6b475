// Which choices a trace has, where that depends on other choices: those that a proposal makes appear, and those that vanish.
#pragma once

#include <overdub/contexts/incremental/incremental_program.hpp>
#include <overdub/contexts/models/choice_order.hpp>
#include <overdub/contexts/models/choices.hpp>
#include <overdub/contexts/models/model_core.hpp>
#include <overdub/header_only.hpp>

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
struct choice_index {
  static constexpr std::size_t all = ~std::size_t{0}; // as a number: those of the site

  std::uint32_t site = 0;
  std::size_t number = 0;

  friend auto operator<=>(choice_index const&, choice_index const&) = default;
};

/// The structure of a trace of a program whose results are the score, and which choices of each conditional site were made.
class trace_structure {
public:
  /// Of traces in which these choices are observed, and of which a choice is changed alone that stands in so many maps and loops. Throws
  /// model_error for a model with maps of choices in branches, or with as many choices as other ones say.
  trace_structure(model_core const& m, choice_map const& observed, std::size_t maximum_indices);

  /// Of a choice that stands in too many maps and loops to be changed alone.
  [[noreturn]] static void reject_indices(model_core const& m, std::uint32_t s);

  /// Whether all traces have the same choices.
  bool is_fixed() const { return conditional_.empty(); }
  bool is_conditional(std::uint32_t s) const { return number_[s] != none; }
  /// The program's result that says which choices of a conditional site were made.
  std::size_t result(std::uint32_t s) const { return number_[s] + 1; }

  /// A choice that a proposal sets: it is not drawn where it appears.
  void set(choice_index const& c);
  /// One that was drawn for the proposal, with this log density: it counts as set until it is to be drawn again.
  void was_drawn(choice_index const& c, double log_density);
  /// What was drawn for a proposal is to be drawn anew for the next one. O(n log n) in what was set.
  void discard_draws();
  /// The log density of what was drawn and is there.
  double drawn_density();
  /// Whether one that was drawn may depend on a choice, of sites that have these shapes.
  bool precedes_drawn(choice_index const& c, std::vector<std::vector<i64>> const& shapes);
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
        choice_index const c{s, number_of(shapes[s], at)};
        if (made == 0)
          vanished_.push_back(c);
        else
          appeared_.push_back(c);
      });
    }
    sort(appeared_), sort(vanished_), sort(set_);
    is_same_ = appeared_.empty() && vanished_.empty();
    to_draw_.clear();
    for (choice_index const& c : appeared_)
      if (!std::ranges::binary_search(set_, c) &&
          !std::ranges::binary_search(set_, choice_index{c.site, choice_index::all}))
        to_draw_.push_back(c);
  }
  /// Those that appear, were not set, and wait for no other one: all that are to be drawn before them have been.
  std::vector<choice_index> first_to_draw(std::vector<std::vector<i64>> const& shapes) const;
  /// Whether something appears that was not set; and whether a choice does, set or not.
  bool has_to_draw() const { return !to_draw_.empty(); }
  bool appears(choice_index const& c) const { return std::ranges::binary_search(appeared_, c); }
  std::vector<choice_index> const& vanished() const { return vanished_; }
  choice_order const& order() const { return order_; }
  /// Whether the proposal has the choices that there were.
  bool is_same() const { return is_same_; }
  /// The proposal was committed, or rolled back.
  void clear();

private:
  struct drawn_choice {
    choice_index at;
    double log_density;
  };
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  // Models of whose traces a proposal does not tell the choices.
  static void reject_unsupported(model_core const& m, choice_map const& observed);
  // Of what was drawn, what was set since.
  void drop_overwritten_draws();
  static void sort(std::vector<choice_index>& all);

  choice_order order_;
  std::vector<std::uint32_t> conditional_; // sites
  std::vector<std::uint32_t> number_;      // by site: its place among those
  std::vector<choice_index> set_, appeared_, to_draw_, vanished_;
  std::vector<drawn_choice> drawn_;
  std::vector<choice_index> set_after_draw_; // something was drawn
  bool is_same_ = true;
};

} // namespace OVERDUB_EXECUTE_ABI
} // namespace overdub::models

#if OVERDUB_HEADER_ONLY
#include <overdub/contexts/models/trace_structure.ipp>
#endif
