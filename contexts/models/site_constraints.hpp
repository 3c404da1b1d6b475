// Constraints of a run of a model, by site and with the types of their sites.
#pragma once

#include <overdub/contexts/models/trace.hpp>
#include <overdub/contexts/models/typed_choice.hpp>
#include <overdub/header_only.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace overdub::models::detail {
inline namespace OVERDUB_EXECUTE_ABI {

/// A value for a choice of a site, or for all behind some indices, as an array.
struct given_choice {
  std::uint32_t site;
  std::vector<i64> indices;
  datum value;
};

/// Constraints, by site and with the types of their sites.
class site_constraints {
public:
  site_constraints(model_core const& m, choice_map const& all);

  bool has(std::uint32_t s) const { return first_[s] < first_[s + 1]; }
  /// All choices of a site, where they were given as one and none besides.
  bool is_whole(std::uint32_t s) const { return whole_[s] && first_[s] + 1 == first_[s + 1]; }
  std::vector<datum> const& whole() const { return whole_; }
  /// What is given for a choice; nothing, where nothing is. O(log n).
  datum find(std::uint32_t s, std::span<i64 const> indices) const;
  /// By site, and then by indices.
  std::span<given_choice const> all() const { return all_; }

  /// Throws where a choice was given that a run did not make.
  void check_all_made(trace const& t) const;
  [[noreturn]] static void throw_unmade(model_core const& m, address const& at);

  /// Throws where what is given is for none of a site's choices, of which there are so many along each index, or the values are others in
  /// number.
  static void check_size(model_core const& m, given_choice const& c, std::span<i64 const> made);

private:
  [[noreturn]] static void throw_size(address const& at, bool is_index, i64 given, i64 made);

  model_core const& m_;
  std::vector<given_choice> all_;
  std::vector<std::size_t> first_; // by site: the first of its own in all
  std::vector<datum> whole_;       // by site
};

OVERDUB_DECL choice_schema tracing(model_core const& m, role r);

} // namespace OVERDUB_EXECUTE_ABI
} // namespace overdub::models::detail

#if OVERDUB_HEADER_ONLY
#include <overdub/contexts/models/site_constraints.ipp>
#endif
