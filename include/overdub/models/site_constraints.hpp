// Constraints of a run of a model, by site, and converted to the types of their sites.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/models/trace.hpp>
#include <overdub/models/typed_choice.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace overdub::models::detail {

/// A value for a choice, or an array for all choices whose indices begin with these.
struct given_choice {
  std::uint32_t site;
  std::vector<i64> indices;
  datum value;
};

/// Constraints by site.
class site_constraints {
public:
  site_constraints(model_core const& m, choice_map const& all);

  bool has(std::uint32_t s) const { return first_[s] < first_[s + 1]; }
  /// Whether all choices of a site are given by one array.
  bool is_whole(std::uint32_t s) const { return whole_[s] && first_[s] + 1 == first_[s + 1]; }
  std::vector<datum> const& whole() const { return whole_; }
  /// The given value of a choice; nothing, where there is none. O(log n).
  datum find(std::uint32_t s, std::span<i64 const> indices) const;
  /// Sorted by site and indices.
  std::span<given_choice const> all() const { return all_; }

  /// Throws model_error or unmade_error where the trace does not make a given choice.
  void check_all_made(trace const& t) const;
  [[noreturn]] static void throw_unmade(model_core const& m, address const& at);

  /// Throws model_error where the indices or the size of a given value do not fit a site that makes `made[k]` choices along index k.
  static void check_size(model_core const& m, given_choice const& c, std::span<i64 const> made);

private:
  [[noreturn]] static void throw_size(address const& at, bool is_index, i64 given, i64 made);

  model_core const& m_;
  std::vector<given_choice> all_;
  std::vector<std::size_t> first_; // by site: the index of its first element in all_
  std::vector<datum> whole_;       // by site
};

/// The schema of a run whose results make a `trace`.
choice_schema tracing(model_core const& m, role r);
/// The log densities of all choices, by site. Runs the model.
std::vector<datum>
log_densities(model_core const& m, std::span<datum const> arguments, std::span<datum const> values);

} // namespace overdub::models::detail
