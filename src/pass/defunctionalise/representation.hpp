// The representation of a function value with several possible kinds of closures: a tag, the index of its kind, and slots
// for captures. Kinds share slots: the i-th captured f64 of each kind is in the same slot.
#pragma once

#include <overdub/implementation/pass/defunctionalise/flow.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace overdub::pass::detail {

/// The i-th capture of a type.
struct slot {
  type of;
  std::uint32_t i = 0;
  bool operator==(slot const&) const = default;
};

/// The reason why function values cannot be represented as data.
struct no_representation {
  std::string why; // a sentence
  place_id at = nothing;
  std::vector<closure_kind> cycle = {}; // of captures: each kind captures the next, the last one the first
};

/// The representations of a program's function values. A value that is no array has a tag, an i64, if there are several
/// kinds, and its slots. An array of function values is an array of tags, which is always present, and an array for each
/// slot.
class representations {
public:
  static constexpr std::size_t max_slots = 1000;

  explicit representations(function_flow const& flow)
      : flow_(flow), slots_of_kind_(flow.kinds().size()), state_(flow.kinds().size()) {}

  function_flow const& flow() const { return flow_; }

  /// The captures of a closure of this kind, with nested function values represented. Throws no_representation. O(slots),
  /// once.
  std::vector<slot> const& of_kind(std::uint32_t kind) {
    std::vector<slot>& all = slots_of_kind_[kind];
    if (state_[kind] == state::known) return all;
    if (state_[kind] == state::open) refuse_cycle(kind);
    state_[kind] = state::open;
    path_.push_back(kind);
    closure_kind const& k = flow_.kinds()[kind];
    function const& f = flow_.owner()[k.callee];
    std::vector<slot> found;
    for (std::uint32_t i = 0; i < k.captured; ++i)
      for (type const t : types_of(f.type_of(f.argument(function::body, i)), flow_.of_parameter(k.callee, i)))
        found.push_back({t, count_of(found, t)});
    if (found.size() > max_slots)
      refuse(kind, "captures more than a thousand values, those that they captured counted");
    state_[kind] = state::known;
    path_.pop_back();
    return all = std::move(found);
  }
  /// The slots of a value with these possible kinds.
  std::vector<slot> const& of(kind_set const& kinds) {
    if (auto const at = slots_of_set_.find(kinds); at != slots_of_set_.end()) return at->second;
    std::vector<slot> all;
    for (std::uint32_t const kind : kinds)
      for (slot const& s : of_kind(kind))
        if (std::find(all.begin(), all.end(), s) == all.end()) all.push_back(s);
    return slots_of_set_.emplace(kinds, std::move(all)).first->second;
  }

  static bool has_number(kind_set const& kinds, int rank) { return rank > 0 || kinds.size() > 1; }
  /// The types of the parts of a value.
  std::vector<type> types_of(type t, kind_set const& kinds) {
    if (!holds_functions(t)) return {t};
    std::vector<type> all = types_of_elements(kinds, t.rank);
    if (!has_number(kinds, t.rank)) all.erase(all.begin());
    return all;
  }
  /// The types of the parts of an element of an array of this rank; elements always have a tag.
  std::vector<type> types_of_elements(kind_set const& kinds, int rank = 0) {
    std::vector<type> all{ir::i64};
    for (slot const& s : of(kinds)) all.push_back(s.of);
    for (type& each : all) each.rank = static_cast<std::uint8_t>(each.rank + rank) & ir::max_rank;
    return all;
  }

  /// Throws no_representation if values of this type have none.
  void check(type t, kind_set const& kinds) {
    if (!holds_functions(t)) return;
    for (std::uint32_t const kind : kinds)
      for (slot const& s : of_kind(kind)) {
        if (t.rank > 0 && s.of.rank > 0)
          refuse(
              kind,
              "is an element of an array of function values, and captures an array: their sizes may differ");
        if (kinds.size() > 1 && s.of.rank == 0 && !s.of.is_literal())
          refuse(kind, "may be another one, and captures a key or an object of the host");
      }
  }

private:
  enum class state : std::uint8_t { unknown, open, known };

  static std::uint32_t count_of(std::vector<slot> const& all, type t) {
    return static_cast<std::uint32_t>(
        std::count_if(all.begin(), all.end(), [&](slot const& s) { return s.of == t; }));
  }
  [[noreturn]] void refuse_cycle(std::uint32_t kind) const {
    std::vector<closure_kind> cycle;
    for (auto at = std::find(path_.begin(), path_.end(), kind); at != path_.end(); ++at)
      cycle.push_back(flow_.kinds()[*at]);
    refuse(kind, "captures function values that may be such closures again", std::move(cycle));
  }
  [[noreturn]] void
  refuse(std::uint32_t kind, std::string const& why, std::vector<closure_kind> cycle = {}) const {
    closure_kind const& k = flow_.kinds()[kind];
    program const& p = flow_.owner();
    throw no_representation{
        "@" + std::string(p.name_of(k.made_in)) + ": a closure of @" + std::string(p.name_of(k.callee)) +
            " " + why,
        p[k.made_in][k.made_by].place, std::move(cycle)};
  }

  function_flow const& flow_;
  std::vector<std::vector<slot>> slots_of_kind_;
  std::vector<state> state_;
  std::vector<std::uint32_t> path_; // the kinds on the stack of the recursion
  std::map<kind_set, std::vector<slot>> slots_of_set_;
};

} // namespace overdub::pass::detail
