// The structure of a trace: which choices of conditional sites are made. A proposal makes some appear, and others vanish.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/incremental/incremental_program.hpp>
#include <overdub/models/choice_order.hpp>
#include <overdub/models/choices.hpp>
#include <overdub/models/model_core.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace overdub::models {

/// A choice, by its site and its row-major number in the site.
struct choice_index {
  static constexpr std::size_t all = ~std::size_t{0}; // as a number: all choices of the site

  std::uint32_t site = 0;
  std::size_t number = 0;

  friend auto operator<=>(choice_index const&, choice_index const&) = default;
};

/// The changes of the structure by a proposal. The program's results are the score, and of each conditional site the bools of its presence.
class trace_structure {
public:
  /// Throws model_error for a model with choices in a map or loop in a branch; where the number of a site's choices depends on other
  /// choices; and for a conditional site of more than `maximum_indices` indices.
  trace_structure(model_core const& m, choice_map const& observed, std::size_t maximum_indices);

  trace_structure(trace_structure const& other);
  trace_structure(trace_structure&& other) noexcept;
  trace_structure& operator=(trace_structure const& other);
  trace_structure& operator=(trace_structure&& other) noexcept;
  ~trace_structure();

  /// Rejects a choice of more indices than an incremental program can update alone.
  [[noreturn]] static void reject_indices(model_core const& m, std::uint32_t s);

  /// Whether all traces have the same choices.
  bool is_fixed() const { return conditional_.empty(); }
  bool is_conditional(std::uint32_t s) const { return number_[s] != none; }
  /// The program's result that is the presence of a conditional site.
  std::size_t result(std::uint32_t s) const { return number_[s] + 1; }

  /// The proposal sets a choice: it is not drawn if it appears.
  void set(choice_index const& c);
  /// A choice was drawn with this log density. It counts as set until `discard_draws`.
  void was_drawn(choice_index const& c, double log_density);
  /// All drawn choices are to be drawn again. O(n log n) in the choices that were set.
  void discard_draws();
  /// The sum of the log densities of drawn choices that the proposal makes.
  double drawn_density();
  /// Whether a drawn choice may depend on c. `shapes` are the sites' shapes.
  bool precedes_drawn(choice_index const& c, std::vector<std::vector<i64>> const& shapes);
  /// Finds the choices that appear and vanish in a program's proposal. `shapes` are the proposed shapes of the sites, `before` the
  /// committed ones. O(recomputed elements).
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
          add_vanished(c);
        else
          add_appeared(c);
      });
    }
    find_to_draw();
  }
  /// The choices to be drawn that depend on no other choice to be drawn.
  std::vector<choice_index> first_to_draw(std::vector<std::vector<i64>> const& shapes) const;
  /// Whether a choice appears that was not set; and whether c appears.
  bool has_to_draw() const { return !to_draw_.empty(); }
  bool appears(choice_index const& c) const;
  std::vector<choice_index> const& vanished() const { return vanished_; }
  choice_order const& order() const { return order_; }
  /// Whether no choice appears or vanishes.
  bool is_same() const { return is_same_; }
  /// Discards the state of the proposal, after a commit or a rollback.
  void clear();

private:
  struct drawn_choice {
    choice_index at;
    double log_density;
  };
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  // Rejects models whose structure is more than the presence of single choices.
  static void reject_unsupported(model_core const& m, choice_map const& observed);
  // Removes choices from drawn_ that were set after they were drawn.
  void drop_overwritten_draws();
  static void sort(std::vector<choice_index>& all);
  void add_vanished(choice_index const& c);
  void add_appeared(choice_index const& c);
  // Finds the choices to be drawn: those that appear, and were not set.
  void find_to_draw();

  choice_order order_;
  std::vector<std::uint32_t> conditional_; // sites
  std::vector<std::uint32_t> number_;      // by site: its index in conditional_
  std::vector<choice_index> set_, appeared_, to_draw_, vanished_;
  std::vector<drawn_choice> drawn_;
  std::vector<choice_index> set_after_draw_;
  bool is_same_ = true;
};

} // namespace overdub::models
