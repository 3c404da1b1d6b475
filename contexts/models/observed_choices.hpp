// Which choices of a trace are observed, and do not move.
#pragma once

#include <overdub/contexts/models/site_constraints.hpp>
#include <overdub/contexts/models/trace_structure.hpp>
#include <overdub/header_only.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace overdub::models {
inline namespace OVERDUB_EXECUTE_ABI {

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
  /// They, with the values that they have in a trace. O(choices).
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

  /// Adds what is observed in a trace. Throws model_error for choices that the trace does not make, or has with another value.
  void add(trace const& t, choice_map const& observed);

  // ---- traces that grow

  /// Makes room for choices that come, of sites of which there will be so many; what may fail of `observe`.
  void reserve(std::vector<std::vector<i64>> const& shapes, std::vector<choice_index> const& coming);
  /// Forgets the room, where there are only so many.
  void release_room(std::vector<std::vector<i64>> const& shapes);
  /// One for which there is room.
  void observe(choice_index const& c, bool is_observed) { of_[c.site][c.number] = is_observed; }

private:
  static void reject_unmade(trace const& t, std::uint32_t s, std::size_t first, std::size_t count);
  // A value that the trace does not have. Of many choices some may not be made, or observed by an address of their own.
  static void
  reject_other_value(trace const& t, choice_map const& observed, address const& at, datum const& x);

  std::vector<std::vector<bool>> of_; // by site and choice; empty where none is
};

/// Throws model_error where a trace does not make what is observed, or has it with another value.
inline void check_observed(trace const& t, choice_map const& observed) {
  observed_choices(t.core().sites().size()).add(t, observed);
}

} // namespace OVERDUB_EXECUTE_ABI
} // namespace overdub::models

#if OVERDUB_HEADER_ONLY
#include <overdub/contexts/models/observed_choices.ipp>
#endif
