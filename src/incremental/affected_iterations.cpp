#include <overdub/implementation/incremental/affected_iterations.hpp>
#include <overdub/implementation/incremental/gather.hpp>
#include <overdub/implementation/incremental/update_code.hpp>
#include <overdub/implementation/incremental/value_changes.hpp>
#include <overdub/implementation/ir/affine.hpp>
#include <overdub/implementation/ir/names_of_values.hpp>
#include <overdub/ir/bounds.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace overdub::increments {

/// Finds the affected iterations of a map or loop.
affected_iterations find_affected(update_code const& code, value_changes const& known, node_id n) {
  function const& f = code.original();
  ir::region_flow const flow = code.flow_of(n);
  region_id const body = flow.body();
  affected_iterations found;
  auto const all_since = [](std::string_view why) { return affected_iterations{why, {}, {}}; };
  for (value_id const v : known.captured(n)) {
    change const* const c = known.change_of(v);
    if (c == nullptr) continue;
    if (c->whole) return all_since("a value that all iterations use changed");
    for (ir::use_id const u : f.uses_of(v)) {
      node_id const user = f[u].user;
      if (!ir::is_within(f, user, body)) continue;
      if (f[user].code == op::length) {
        if (has_appended_elements(*c))
          return all_since("the length of an array that all iterations read changed");
        continue;
      }
      if (f[user].code != op::at || index_of(u) != f[user].first_operand)
        return all_since("an array whose elements changed is used as a whole");
      value_id const index = f.operand(user, 1);
      if (!ir::is_defined_in(f, index, body)) { // the same in all iterations
        if (!f.is_literal(index) && known.change_of(index) != nullptr)
          return all_since("an index that all iterations use changed");
        found.common.push_back({user, c});
        continue;
      }
      bool const is_nested = f.region_of(index) != body && !shift_from(code, flow.index(), index);
      std::string_view const why = is_nested ? add_gathering_rows(code, known, n, user, *c, found.reads)
                                             : add_affected(code, known, n, index, *c, found.reads);
      if (!why.empty()) return all_since(why);
    }
  }
  // Two lists may overlap, so it must be possible to search one for the iterations of the other. Rows that read an element in a nested
  // map cannot be searched.
  auto const is_of_gather = [](affected_read const& r) {
    return r.by == affected_read::finding::gathered_rows ||
           (r.by == affected_read::finding::own_index && r.is_list() && !r.is_searchable() &&
            r.of->found_by.keys == layout::none);
  };
  if (found.reads.size() > 1 && std::any_of(found.reads.begin(), found.reads.end(), is_of_gather))
    return all_since("elements that nested maps read at computed indices changed, and others, too");
  return found;
}

/// Adds the iterations in which this index is that of a changed element.
std::string_view add_affected(
    update_code const& code, value_changes const& known, node_id n, value_id index, change const& c,
    std::vector<affected_read>& all) {
  auto const shift = shift_from(code, code.flow_of(n).index(), index);
  for (delta const& p : c.deltas) {
    if (p.is_appended) continue; // no earlier iteration read it
    affected_read r{.of = &p, .index = index};
    if (p.valid != ir::nothing) r.conditions.push_back(p.valid);
    if (shift) {
      if (p.list != ir::nothing && !code.iterations.empty()) return "lists of iterations are nested";
      r.step = *shift;
      r.may_precede = *shift > 0;
      for (value_id const v : known.captured(n))
        if (known.change_of(v) == &c) {
          auto const difference = trip_count_minus_length(code, n, v);
          r.may_exceed = r.may_exceed || !difference || -*shift > *difference;
        }
      if (p.list != ir::nothing && !is_searchable(p) && (*shift != 0 || r.may_precede || r.may_exceed))
        return "elements of an unordered list are used by iterations with other indices";
    } else if (std::string_view const why = find_by_reverse_index(code, n, r); !why.empty()) {
      return why;
    }
    auto const same = std::find_if(all.begin(), all.end(), [&](affected_read const& other) {
      return are_same_iterations(code, other, r);
    });
    if (same == all.end())
      all.push_back(r);
    else
      merge(*same, r);
  }
  return {};
}

std::string text_of(affected_iterations const& all, ir::names_of_values const& names) {
  if (!all.why.empty()) return "all, since " + std::string(all.why) + "\n";
  std::string text;
  for (affected_read const& r : all.reads) {
    bool const is_many = r.of->list != ir::nothing;
    std::string const elements = is_many ? "elements" : "element",
                      their = is_many ? "their indices" : "its index";
    text += "reads the " + elements + " at " + names[r.index] + ": ";
    switch (r.by) {
    case affected_read::finding::own_index:
      text += their;
      if (r.step != 0) text += (r.step > 0 ? " - " : " + ") + std::to_string(r.step > 0 ? r.step : -r.step);
      break;
    case affected_read::finding::reverse_index:
      text += "the iterations where " + names[r.keys] + " is " + (is_many ? "one of " : "") + their;
      break;
    case affected_read::finding::gathered_rows:
      text += "the iterations that read " + std::string(is_many ? "them" : "it") + " in a nested map";
      break;
    }
    if (r.may_precede) text += ", if not negative";
    if (r.may_exceed) text += ", if below the trip count";
    if (!r.conditions.empty()) text += ", on a condition";
    text += "\n";
  }
  if (!all.common.empty()) text += "all iterations read an element that must be unchanged\n";
  return text;
}

/// Whether two reads affect the same iterations.
bool are_same_iterations(update_code const& code, affected_read const& a, affected_read const& b) {
  // The value of the function whose reverse index finds the iterations, here or for an operand.
  auto const keys_of = [&](affected_read const& r) {
    if (r.by == affected_read::finding::reverse_index) return r.keys;
    std::uint32_t const number = r.of->found_by.keys;
    return number == layout::none ? value_id(ir::nothing) : code.saved[number].of;
  };
  bool const are_found = keys_of(a) != ir::nothing && keys_of(a) == keys_of(b);
  auto const step_of_list = [](affected_read const& r) { return r.of->list != ir::nothing ? r.step : 0; };
  auto const shift_of = [&](affected_read const& r) { return r.of->shift + step_of_list(r) - r.step; };
  return a.is_list() == b.is_list() && a.of->source == b.of->source && a.of->ordinal == b.of->ordinal &&
         shift_of(a) == shift_of(b) && step_of_list(a) == step_of_list(b) && keys_of(a) == keys_of(b) &&
         (are_found || a.of->list == b.of->list);
}

/// Merges two reads of the same iterations, which are affected where the conditions of either hold.
void merge(affected_read& known, affected_read const& r) {
  auto const is_certain = [](affected_read const& one) {
    return !one.may_precede && !one.may_exceed && one.conditions.empty();
  };
  if (is_certain(known) || is_certain(r)) {
    known.conditions.clear();
    known.may_precede = known.may_exceed = false;
    return;
  }
  if (known.conditions.empty() || r.conditions.empty())
    known.conditions.clear();
  else if (known.conditions.back() != r.conditions.back())
    known.conditions.push_back(r.conditions.back());
  known.may_precede = known.may_precede || r.may_precede;
  known.may_exceed = known.may_exceed || r.may_exceed;
}

/// The index minus the iteration's own index, if that is a literal that is not too large.
std::optional<std::int64_t> shift_from(update_code const& code, value_id own, value_id index) {
  auto const known = [&](value_id v) {
    return v == own ? std::optional(ir::affine::counter()) : std::nullopt;
  };
  auto const found = ir::affine_of(code.original(), index, known);
  if (!found || !found->scale.is_literal(1) || !found->offset.is_literal()) return {};
  std::int64_t const shift = found->offset.literal;
  if (shift < -update_code::maximum_shift || shift > update_code::maximum_shift) return {};
  return shift;
}

/// The iterations in which an index that the map computes is that of a changed element.
std::string_view find_by_reverse_index(update_code const& code, node_id n, affected_read& r) {
  function const& f = code.original();
  ir::region_flow const flow = code.flow_of(n);
  delta const& p = *r.of;
  value_id const index = r.index;
  bool const is_known = p.list == ir::nothing || (p.is_sorted && p.source < f.parameters().size());
  if (!is_known || !f.is_result(index) || f[f.node_of(index)].parent != flow.body())
    return "elements are read at a computed index that has no reverse index";
  if (!code.iterations.empty() || !is_map(f[n].code))
    return "elements are read at a computed index, in a loop or in a nested map";
  if (p.valid != ir::nothing)
    return "elements are read at a computed index, and the index that changed is computed, too";
  r.by = affected_read::finding::reverse_index;
  r.keys = index;
  // If the index is z[i], in iteration i, the reverse index is that of z.
  node_id const m = f.node_of(index);
  if (f[m].code == op::at && f[m].operand_count == 2 && f.operand(m, 1) == flow.index() &&
      !ir::is_defined_in(f, f.operand(m, 0), flow.body()) &&
      ir::is_length_of(f, flow.trip_count(), f.operand(m, 0)))
    r.keys = f.operand(m, 0);
  return {};
}

/// Adds the iterations in which a nested map reads a changed element at a computed index: a reverse index of all reads finds them.
std::string_view add_gathering_rows(
    update_code const& code, value_changes const& known, node_id n, node_id read, change const& c,
    std::vector<affected_read>& all) {
  static constexpr std::string_view why = "elements are read at a computed index that has no reverse index";
  function const& f = code.original();
  value_id const index = f.operand(read, 1);
  // Every iteration of the inner map must read: an index that is not read may be out of range.
  if (f[read].parent != f.region_of(index)) return why;
  if (!code.iterations.empty() || !is_map(f[n].code) || f[n].parent != function::body || c.deltas.empty())
    return why;
  delta const& first = c.deltas.front();
  for (delta const& p : c.deltas) {
    bool const is_known = p.list == ir::nothing || p.is_sorted;
    if (!is_known || p.is_appended || p.valid != ir::nothing || p.skipped != ir::nothing ||
        p.nested != nullptr || p.source != first.source || p.shift != first.shift ||
        p.source >= f.parameters().size())
      return why;
  }
  if (!gather_writer::can_write(code.made.program, code.source, n, index, [&](value_id v) {
        return known.change_of(v) == nullptr;
      }))
    return why;
  auto const is_same = [&](affected_read const& r) {
    return r.by == affected_read::finding::gathered_rows && r.index == index &&
           r.of->source == first.source && r.of->shift == first.shift;
  };
  if (std::none_of(all.begin(), all.end(), is_same))
    all.push_back({.by = affected_read::finding::gathered_rows, .of = &first, .index = index});
  return {};
}

/// The trip count of a map minus the length of an array, if that is a literal.
std::optional<std::int64_t> trip_count_minus_length(update_code const& code, node_id n, value_id array) {
  function const& f = code.original();
  value_id const count = code.flow_of(n).trip_count();
  if (ir::is_length_of(f, count, array)) return 0;
  ir::invariant_number const sum = plus_literal(f, count);
  if (sum.value == ir::nothing || !ir::is_length_of(f, sum.value, array)) return {};
  return sum.literal;
}

} // namespace overdub::increments
