// The observed choices of a trace, which no kernel updates.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/models/site_constraints.hpp>
#include <overdub/models/trace_structure.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace overdub::models {

/// The observed choices of a trace, by site and number.
class observed_choices {
public:
  explicit observed_choices(std::size_t sites) : of_(sites) {}

  bool contains(choice_index const& c) const {
    return c.number < of_[c.site].size() && of_[c.site][c.number];
  }
  /// Whether some choices of a site are, and whether all are.
  bool has(std::uint32_t s) const { return !of_[s].empty(); }
  bool has_all(std::uint32_t s) const { return has(s) && std::ranges::find(of_[s], false) == of_[s].end(); }
  /// The observed choices with their values in a trace. O(choices).
  template <class Trace>
  choice_map values_in(Trace const& t) const {
    choice_map all;
    std::vector<i64> at;
    for (std::uint32_t s = 0; s < of_.size(); ++s) {
      if (!has(s)) continue;
      datum const of_site = t.values(s);
      for (std::size_t k = 0; k < of_[s].size(); ++k) {
        if (!of_[s][k]) continue;
        t.indices_of(s, k, at);
        all.set(t.core().sites()[s].address, at, part_of(of_site, at));
      }
    }
    return all;
  }

  /// Adds observations. Throws model_error for choices that the trace does not make, or makes with another value.
  void add(trace const& t, choice_map const& observed);

  // ---- traces that grow

  /// Reserves memory for appended choices, for sites of these new shapes: `observe` does not fail then.
  void reserve(std::vector<std::vector<i64>> const& shapes, std::vector<choice_index> const& coming);
  /// Undoes `reserve`: the sites have these shapes again.
  void release_room(std::vector<std::vector<i64>> const& shapes);
  /// Of a choice whose memory is reserved.
  void observe(choice_index const& c, bool is_observed) { of_[c.site][c.number] = is_observed; }

private:
  static void reject_unmade(trace const& t, std::uint32_t s, std::size_t first, std::size_t count);
  // Rejects an observation whose value differs from the trace's. Of an array, elements may be absent, or have an observation of their own:
  // these are not compared.
  static void
  reject_other_value(trace const& t, choice_map const& observed, address const& at, datum const& x);

  std::vector<std::vector<bool>> of_; // by site and number; empty where the site has none
};

/// Throws model_error where a trace does not make what is observed, or has it with another value.
inline void check_observed(trace const& t, choice_map const& observed) {
  observed_choices(t.core().sites().size()).add(t, observed);
}

} // namespace overdub::models
