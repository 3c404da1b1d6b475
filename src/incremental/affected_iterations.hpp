// The iterations of a map or loop that a change affects.
#pragma once

#include <overdub/implementation/incremental/changed_lists.hpp>
#include <overdub/implementation/incremental/gather.hpp>
#include <overdub/implementation/incremental/update_writer.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace overdub::increments {

// An affected iteration, or a list of these.
struct affected {
  delta from;
  value_id known_index = ir::nothing;           // of the function: an index that is known in the iteration,
  value_id known_as = ir::nothing;              // and its value in the update program
  bool may_precede = false, may_exceed = false; // the index may be out of the range of iterations
  value_id source_list = ir::nothing;           // the list of changed elements,
  std::int64_t step = 0;    // and the difference of the index they are read at and the iteration's
  bool is_gathered = false; // rows that read changed elements in a nested map
  bool is_checked() const { return may_precede || may_exceed; }
};

/// A read at an index that is the same in all iterations.
struct common_read {
  node_id at;
  change const* of;
};

// Functions that return a text return why all iterations are affected; an empty one, if they are not.

std::string_view
find_affected(update_writer& w, node_id n, std::vector<affected>& all, std::vector<common_read>& common);
std::string_view guard_common_reads(update_writer& w, std::vector<common_read> const& all);
value_id in_range(update_writer& w, node_id n, affected const& r);
value_id is_covered_by(update_writer& w, affected const& earlier, affected const& later, value_id index);

// Parts of these.
std::string_view
add_affected(update_writer& w, node_id n, value_id index, change const& c, std::vector<affected>& all);
std::optional<std::int64_t> shift_from(update_writer const& w, value_id own, value_id index);
std::string_view find_by_reverse_index(update_writer& w, node_id n, value_id index, affected& r);
std::string_view
find_gathering_rows(update_writer& w, node_id n, node_id read, change const& c, std::vector<affected>& all);
bool has_length_of_trip_count(update_writer const& w, node_id n, value_id v);
std::optional<std::int64_t> trip_count_minus_length(update_writer const& w, node_id n, value_id array);

/// Finds the affected iterations of a map or loop. Returns why they are all iterations, if they are.
inline std::string_view
find_affected(update_writer& w, node_id n, std::vector<affected>& all, std::vector<common_read>& common) {
  function const& f = w.original();
  ir::region_flow const flow = w.code.flow_of(n);
  region_id const body = flow.body();
  for (value_id const v : w.known.captured(n)) {
    change const* const c = w.known.change_of(v);
    if (c == nullptr) continue;
    if (c->whole) return "a value that all iterations use changed";
    for (ir::use_id const u : f.uses_of(v)) {
      node_id const user = f[u].user;
      if (!ir::is_within(f, user, body)) continue;
      if (f[user].code == op::length) {
        if (has_appended_elements(*c)) return "the length of an array that all iterations read changed";
        continue;
      }
      if (f[user].code != op::at || index_of(u) != f[user].first_operand)
        return "an array whose elements changed is used as a whole";
      value_id const index = f.operand(user, 1);
      if (!ir::is_defined_in(f, index, body)) { // the same in all iterations
        if (!f.is_literal(index) && w.known.change_of(index) != nullptr)
          return "an index that all iterations use changed";
        common.push_back({user, c});
        continue;
      }
      bool const is_nested = f.region_of(index) != body && !shift_from(w, flow.index(), index);
      std::string_view const why =
          is_nested ? find_gathering_rows(w, n, user, *c, all) : add_affected(w, n, index, *c, all);
      if (!why.empty()) return why;
    }
  }
  // Two lists may overlap, so it must be possible to search one for the iterations of the other. Rows that read an element in a nested
  // map cannot be searched.
  auto const is_of_gather = [](affected const& r) {
    return r.is_gathered ||
           (r.from.list != ir::nothing && !is_searchable(r.from) && r.from.found_by.keys == layout::none);
  };
  if (all.size() > 1 && std::any_of(all.begin(), all.end(), is_of_gather))
    return "elements that nested maps read at computed indices changed, and others, too";
  for (affected& r : all) // only iterations that exist
    if (r.from.list != ir::nothing && (r.step != 0 || r.is_checked())) {
      r.from = shifted(w.code, r.from, r.step, w.known.old_value(flow.trip_count()));
      r.may_precede = r.may_exceed = false;
    }
  return {};
}

/// Guards that elements which all iterations read did not change. Returns why all iterations are recomputed, if a guard cannot be
/// emitted.
inline std::string_view guard_common_reads(update_writer& w, std::vector<common_read> const& all) {
  for (common_read const& each : all)
    if (!w.guards.speculates_apart(each.at, *each.of, 2))
      return "an element that all iterations use may have changed";
  return {};
}

/// The iterations in which this index is that of a changed element.
inline std::string_view
add_affected(update_writer& w, node_id n, value_id index, change const& c, std::vector<affected>& all) {
  auto const shift = shift_from(w, w.code.flow_of(n).index(), index);
  for (delta const& p : c.deltas) {
    if (p.is_appended) continue; // no earlier iteration read it
    affected r{.from = p};
    r.from.difference = ir::nothing;
    if (shift) {
      if (p.list != ir::nothing && !w.code.iterations.empty()) return "lists of iterations are nested";
      r.source_list = p.list;
      if (p.list != ir::nothing) {
        r.step = *shift;
      } else if (*shift != 0) {
        r.from.index =
            w.code.add(op::sub, p.index, w.code.literal(ir::i64, static_cast<std::uint64_t>(*shift)));
        r.from.shift = p.shift - *shift;
        r.known_index = index;
        r.known_as = p.index;
      }
      r.may_precede = *shift > 0;
      for (value_id const v : w.known.captured(n))
        if (w.known.change_of(v) == &c) {
          auto const difference = trip_count_minus_length(w, n, v);
          r.may_exceed = r.may_exceed || !difference || -*shift > *difference;
        }
      if (p.list != ir::nothing && !is_searchable(p) && (*shift != 0 || r.is_checked()))
        return "elements of an unordered list are used by iterations with other indices";
    } else if (std::string_view const why = find_by_reverse_index(w, n, index, r); !why.empty()) {
      return why;
    }
    auto const known = std::find_if(all.begin(), all.end(), [&](affected const& other) {
      return other.source_list == r.source_list && other.step == r.step &&
             other.from.source == r.from.source && other.from.ordinal == r.from.ordinal &&
             other.from.shift == r.from.shift && other.from.found_by.keys == r.from.found_by.keys;
    });
    if (known == all.end()) {
      all.push_back(r);
      continue;
    }
    // The iteration is affected where either condition holds.
    auto const is_certain = [](affected const& one) {
      return !one.is_checked() && one.from.valid == ir::nothing;
    };
    if (is_certain(*known) || is_certain(r)) {
      known->from.valid = ir::nothing;
      known->may_precede = known->may_exceed = false;
      continue;
    }
    value_id& valid = known->from.valid;
    if (valid == ir::nothing || r.from.valid == ir::nothing)
      valid = ir::nothing;
    else if (valid != r.from.valid)
      valid = w.code.add(op::logical_or, valid, r.from.valid);
    known->may_precede = known->may_precede || r.may_precede;
    known->may_exceed = known->may_exceed || r.may_exceed;
  }
  return {};
}

/// The index minus the iteration's own index, if that is a literal.
inline std::optional<std::int64_t> shift_from(update_writer const& w, value_id own, value_id index) {
  function const& f = w.original();
  if (index == own) return 0;
  if (!f.is_result(index)) return {};
  node_id const m = f.node_of(index);
  if (f[m].code != op::add && f[m].code != op::sub) return {};
  value_id const a = f.operand(m, 0), b = f.operand(m, 1);
  bool const is_commuted = b == own && f.is_literal(a) && f[m].code == op::add;
  if (!is_commuted && (a != own || !f.is_literal(b))) return {};
  auto const by = static_cast<std::int64_t>(f.bits_of(is_commuted ? a : b));
  if (by < -update_code::maximum_shift || by > update_code::maximum_shift) return {};
  return f[m].code == op::add ? by : -by;
}

/// The iterations in which an index that the map computes is that of a changed element: a reverse index finds them.
inline std::string_view find_by_reverse_index(update_writer& w, node_id n, value_id index, affected& r) {
  function const& f = w.original();
  ir::region_flow const flow = w.code.flow_of(n);
  delta& p = r.from;
  bool const is_known = p.list == ir::nothing || (p.is_sorted && p.source < f.parameters().size());
  if (!is_known || !f.is_result(index) || f[f.node_of(index)].parent != flow.body())
    return "elements are read at a computed index that has no reverse index";
  if (!w.code.iterations.empty() || !is_map(f[n].code))
    return "elements are read at a computed index, in a loop or in a nested map";
  if (p.valid != ir::nothing)
    return "elements are read at a computed index, and the index that changed is computed, too";
  // If the index is z[i], in iteration i, the reverse index is that of z.
  node_id const m = f.node_of(index);
  value_id keys = index;
  if (f[m].code == op::at && f[m].operand_count == 2 && f.operand(m, 1) == flow.index() &&
      !ir::is_defined_in(f, f.operand(m, 0), flow.body()) && has_length_of_trip_count(w, n, f.operand(m, 0)))
    keys = f.operand(m, 0);
  bool const is_one = p.list == ir::nothing;
  p.found_by.keys = w.known.save(keys);
  p.found_by.key = p.index; // nothing for a list
  update_parameter const members{
      .what = update_parameter::kind::matching_iterations,
      .variable = p.found_by.keys,
      .input = p.source,
      .ordinal = p.ordinal,
      .shift = p.shift};
  p.list = r.source_list = w.code.parameter_for(members, ir::i64.array_of());
  p.is_sorted = false;
  p.index = ir::nothing;
  if (!is_one) return {};
  r.known_index = index;
  r.known_as = p.found_by.key;
  return {};
}

/// The iterations in which a nested map reads a changed element at a computed index: a reverse index of all reads finds them.
inline std::string_view
find_gathering_rows(update_writer& w, node_id n, node_id read, change const& c, std::vector<affected>& all) {
  static constexpr std::string_view why = "elements are read at a computed index that has no reverse index";
  value_id const index = w.original().operand(read, 1);
  // Every iteration of the inner map must read: an index that is not read may be out of range.
  if (w.original()[read].parent != w.original().region_of(index)) return why;
  if (!w.code.iterations.empty() || !is_map(w.original()[n].code) ||
      w.original()[n].parent != function::body || c.deltas.empty())
    return why;
  delta const& first = c.deltas.front();
  for (delta const& p : c.deltas) {
    bool const is_known = p.list == ir::nothing || p.is_sorted;
    if (!is_known || p.is_appended || p.valid != ir::nothing || p.skipped != ir::nothing ||
        p.nested != nullptr || p.source != first.source || p.shift != first.shift ||
        p.source >= w.original().parameters().size())
      return why;
  }
  auto const same = [&](gather const& g) { return g.index == index; };
  auto known = std::find_if(w.code.made.gathers.begin(), w.code.made.gathers.end(), same);
  if (known == w.code.made.gathers.end()) {
    ir::program without_draft = w.code.made.program;
    without_draft.erase(w.code.draft);
    auto made = gather_writer::write(
        without_draft, w.code.source, n, index, [&](value_id v) -> std::optional<std::uint32_t> {
          if (w.known.change_of(v) != nullptr) return {};
          return w.known.save(v);
        });
    if (!made) return why;
    w.code.made.gathers.push_back(std::move(*made));
    known = w.code.made.gathers.end() - 1;
  }
  update_parameter const rows{
      .what = update_parameter::kind::gathered_rows,
      .variable = static_cast<std::uint32_t>(known - w.code.made.gathers.begin()),
      .input = first.source,
      .shift = first.shift};
  affected r;
  r.from.source = first.source;
  r.from.list = r.source_list = w.code.parameter_for(rows, ir::i64.array_of());
  r.is_gathered = true;
  for (affected const& other : all)
    if (other.is_gathered && other.source_list == r.source_list) return {};
  all.push_back(r);
  return {};
}

/// Whether the trip count of the map is the length of an array.
inline bool has_length_of_trip_count(update_writer const& w, node_id n, value_id v) {
  function const& f = w.original();
  value_id const count = w.code.flow_of(n).trip_count();
  if (f.is_result(v) && is_map(f[f.node_of(v)].code) && w.code.flow_of(f.node_of(v)).trip_count() == count)
    return true;
  if (!f.is_result(count) || f[f.node_of(count)].code != op::length) return false;
  auto const arrays = f.operands_of(f.node_of(count));
  return std::find(arrays.begin(), arrays.end(), v) != arrays.end();
}

/// The trip count of a map minus the length of an array, if that is a literal.
inline std::optional<std::int64_t>
trip_count_minus_length(update_writer const& w, node_id n, value_id array) {
  function const& f = w.original();
  if (has_length_of_trip_count(w, n, array)) return 0;
  value_id const count = w.code.flow_of(n).trip_count();
  if (!f.is_result(count) || (f[f.node_of(count)].code != op::sub && f[f.node_of(count)].code != op::add))
    return {};
  node_id const m = f.node_of(count);
  value_id const of = f.operand(m, 0), by = f.operand(m, 1);
  if (!f.is_literal(by) || !f.is_result(of) || f[f.node_of(of)].code != op::length) return {};
  auto const arrays = f.operands_of(f.node_of(of));
  if (std::find(arrays.begin(), arrays.end(), array) == arrays.end()) return {};
  auto const more = static_cast<std::int64_t>(f.bits_of(by));
  return f[m].code == op::add ? more : -more;
}

/// The condition that an affected iteration exists. Nothing, if it always exists.
inline value_id in_range(update_writer& w, node_id n, affected const& r) {
  value_id const index = r.from.index;
  value_id const begins =
      r.may_precede ? w.code.add(op::ge, index, w.code.literal(ir::i64, 0)) : value_id(ir::nothing);
  value_id const ends = r.may_exceed
                            ? w.code.add(op::lt, index, w.known.old_value(w.code.flow_of(n).trip_count()))
                            : value_id(ir::nothing);
  return w.code.both(begins, ends);
}

/// The condition that an iteration was emitted before. Nothing, if it cannot have been.
inline value_id
is_covered_by(update_writer& w, affected const& earlier, affected const& later, value_id index) {
  delta const &a = earlier.from, &b = later.from;
  if (a.list == ir::nothing) {
    bool const same_source = a.source == b.source && b.list == ir::nothing;
    // Deltas of one source are at different indices.
    if (same_source &&
        ((a.ordinal != b.ordinal && a.shift == b.shift) || (a.ordinal == b.ordinal && a.shift != b.shift)))
      return ir::nothing;
    return w.code.both(w.code.add(op::eq, a.index, index), a.valid);
  }
  if (is_searchable(a)) return find_in(w.code, a, index).is_there;
  // An iteration has one value of an index.
  if (a.found_by.keys == b.found_by.keys && b.list != ir::nothing && a.source == b.source &&
      a.shift == b.shift)
    return ir::nothing;
  value_id const key = w.code.at(w.code.read(a.found_by.keys, {}), index);
  if (a.found_by.key != ir::nothing) return w.code.add(op::eq, key, a.found_by.key);
  return find_in_source(w.code, a.source, a.shift, key).is_there;
}

} // namespace overdub::increments
