// Which turns of a map or a loop a change reaches.
#pragma once

#include <overdub/contexts/incremental/slice_writer_operations.hpp>

namespace overdub::contexts::increments {

/// Finds the turns of a map that a change reaches; returns why it is all of them, where it is.
inline std::string_view
slice_writer::find_reached(node_id n, std::vector<reached>& all, std::vector<common_read>& common) {
  function const& f = original();
  region_id const body = f.region_at(n, 0);
  for (value_id const v : captured(n)) {
    change const* const c = change_of(v);
    if (c == nullptr) continue;
    if (c->whole) return "a value that all iterations use changed";
    for (ir::use_id const u : f.uses_of(v)) {
      node_id const user = f[u].user;
      if (!ir::is_within(f, user, body)) continue;
      if (f[user].code == op::length) {
        if (has_new(*c)) return "the length of an array that all iterations read changed";
        continue;
      }
      if (f[user].code != op::at || index_of(u) != f[user].first_operand)
        return "an array whose elements changed is used as a whole";
      value_id const index = f.operand(user, 1);
      if (f.is_literal(index) || !is_inside(f, index, body)) { // the same in all turns
        if (!f.is_literal(index) && change_of(index) != nullptr)
          return "an index that all iterations use changed";
        common.push_back({user, c});
        continue;
      }
      bool const is_nested = f.region_of(index) != body && !shift_from(f.argument(body, 0), index);
      std::string_view const why =
          is_nested ? find_gathered(n, user, *c, all) : add_reached(n, index, *c, all);
      if (!why.empty()) return why;
    }
  }
  // Of two lists it must be known whether one has an iteration of the other. That is not known of a list of rows that read an element.
  auto const is_of_gather = [](reached const& r) {
    return r.is_gathered ||
           (r.from.list != ir::nothing && !is_searchable(r.from) && r.from.keys == layout::none);
  };
  if (all.size() > 1 && std::any_of(all.begin(), all.end(), is_of_gather))
    return "elements that nested maps read at computed indices changed, and others, too";
  for (reached& r : all) // the turns of lists that there are
    if (r.from.list != ir::nothing && (r.step != 0 || r.is_checked())) {
      r.from = shifted(r.from, r.step, old(f.operand(n, 0)));
      r.may_precede = r.may_exceed = false;
    }
  return {};
}

/// Takes elements that all turns read not to be those that changed; returns why all turns run, where that is not to be.
inline std::string_view slice_writer::take_apart(std::vector<common_read> const& all) {
  for (common_read const& each : all)
    if (!is_taken_apart(each.at, *each.of, 2)) return "an element that all iterations use may have changed";
  return {};
}

/// The turns in which this index is one of the places that changed.
inline std::string_view
slice_writer::add_reached(node_id n, value_id index, change const& c, std::vector<reached>& all) {
  auto const shift = shift_from(original().argument(original().region_at(n, 0), 0), index);
  for (piece const& p : c.pieces) {
    if (p.is_new) continue; // no turn that was there before read it
    reached r{.from = p};
    r.from.difference = ir::nothing;
    if (shift) {
      if (p.list != ir::nothing && !turns_.empty()) return "lists of iterations are nested";
      r.of_list = p.list;
      if (p.list != ir::nothing) {
        r.step = *shift;
      } else if (*shift != 0) {
        r.from.index = at_.add(op::sub, p.index, literal(ir::i64, static_cast<std::uint64_t>(*shift)));
        r.from.shift = p.shift - *shift;
        r.asked = index;
        r.known = p.index;
      }
      r.may_precede = *shift > 0;
      for (value_id const v : captured(n))
        if (change_of(v) == &c) {
          auto const behind = turns_behind(n, v);
          r.may_exceed = r.may_exceed || !behind || -*shift > *behind;
        }
      if (p.list != ir::nothing && !is_searchable(p) && (*shift != 0 || r.is_checked()))
        return "elements of an unordered list are used by iterations with other indices";
    } else if (std::string_view const why = find_members(n, index, r); !why.empty()) {
      return why;
    }
    auto const known = std::find_if(all.begin(), all.end(), [&](reached const& other) {
      return other.of_list == r.of_list && other.step == r.step && other.from.source == r.from.source &&
             other.from.place == r.from.place && other.from.shift == r.from.shift &&
             other.from.keys == r.from.keys;
    });
    if (known == all.end()) {
      all.push_back(r);
      continue;
    }
    // The turn is there where one of both is.
    auto const is_sure = [](reached const& one) {
      return !one.is_checked() && one.from.valid == ir::nothing;
    };
    if (is_sure(*known) || is_sure(r)) {
      known->from.valid = ir::nothing;
      known->may_precede = known->may_exceed = false;
      continue;
    }
    value_id& valid = known->from.valid;
    if (valid == ir::nothing || r.from.valid == ir::nothing)
      valid = ir::nothing;
    else if (valid != r.from.valid)
      valid = at_.add(op::logical_or, valid, r.from.valid);
    known->may_precede = known->may_precede || r.may_precede;
    known->may_exceed = known->may_exceed || r.may_exceed;
  }
  return {};
}

/// By how much an index is more than the turn's; nothing where it is something else.
inline std::optional<std::int64_t> slice_writer::shift_from(value_id own, value_id index) const {
  function const& f = original();
  if (index == own) return 0;
  if (!f.is_result(index)) return {};
  node_id const m = f.node_of(index);
  if (f[m].code != op::add && f[m].code != op::sub) return {};
  value_id const a = f.operand(m, 0), b = f.operand(m, 1);
  bool const is_behind = b == own && f.is_literal(a) && f[m].code == op::add;
  if (!is_behind && (a != own || !f.is_literal(b))) return {};
  auto const by = static_cast<std::int64_t>(f.bits_of(is_behind ? a : b));
  if (by < -most_distance || by > most_distance) return {};
  return f[m].code == op::add ? by : -by;
}

/// The turns whose index, which their map computes, is that of a piece.
inline std::string_view slice_writer::find_members(node_id n, value_id index, reached& r) {
  function const& f = original();
  region_id const body = f.region_at(n, 0);
  piece& p = r.from;
  bool const is_known = p.list == ir::nothing || (p.is_sorted && p.source < f.parameters().size());
  if (!is_known || !f.is_result(index) || f[f.node_of(index)].parent != body)
    return "elements are read at a computed index that has no reverse index";
  if (!turns_.empty() || f[n].code != op::map)
    return "elements are read at a computed index, in a loop or in a nested map";
  if (p.valid != ir::nothing)
    return "elements are read at a computed index, and the index that changed is computed, too";
  // An index that is read from an array at the turn is found there.
  node_id const m = f.node_of(index);
  value_id keys = index;
  if (f[m].code == op::at && f[m].operand_count == 2 && f.operand(m, 1) == f.argument(body, 0) &&
      !is_inside(f, f.operand(m, 0), body) && has_length_of_turns(n, f.operand(m, 0)))
    keys = f.operand(m, 0);
  bool const is_one = p.list == ir::nothing;
  p.keys = kept(keys);
  p.key = p.index; // nothing, where there are many
  slice_parameter const members{
      .what = slice_parameter::kind::members,
      .variable = p.keys,
      .input = p.source,
      .place = p.place,
      .shift = p.shift};
  p.list = r.of_list = parameter_for(members, ir::i64.array_of());
  p.is_sorted = false;
  p.index = ir::nothing;
  if (!is_one) return {};
  r.asked = index;
  r.known = p.key;
  return {};
}

/// The turns in which a map inside reads, at an index that it reads, an element of a piece: of all places of the input where that changed.
inline std::string_view
slice_writer::find_gathered(node_id n, node_id read, change const& c, std::vector<reached>& all) {
  static constexpr std::string_view why = "elements are read at a computed index that has no reverse index";
  value_id const index = original().operand(read, 1);
  // Each iteration of the inner map reads: an index of one that does not read need not be that of an element.
  if (original()[read].parent != original().region_of(index)) return why;
  if (!turns_.empty() || original()[n].code != op::map || original()[n].parent != function::body ||
      c.pieces.empty())
    return why;
  piece const& first = c.pieces.front();
  for (piece const& p : c.pieces) {
    bool const is_known = p.list == ir::nothing || p.is_sorted;
    if (!is_known || p.is_new || p.valid != ir::nothing || p.skipped != ir::nothing || p.part != nullptr ||
        p.source != first.source || p.shift != first.shift || p.source >= original().parameters().size())
      return why;
  }
  auto const same = [&](gather const& g) { return g.index == index; };
  auto known = std::find_if(made_.gathers.begin(), made_.gathers.end(), same);
  if (known == made_.gathers.end()) {
    ir::program without_draft = made_.program;
    without_draft.erase(draft_);
    auto made =
        gather_writer::write(without_draft, f_, n, index, [&](value_id v) -> std::optional<std::uint32_t> {
          if (change_of(v) != nullptr) return {};
          return kept(v);
        });
    if (!made) return why;
    made_.gathers.push_back(std::move(*made));
    known = made_.gathers.end() - 1;
  }
  slice_parameter const rows{
      .what = slice_parameter::kind::gathered,
      .variable = static_cast<std::uint32_t>(known - made_.gathers.begin()),
      .input = first.source,
      .shift = first.shift};
  reached r;
  r.from.source = first.source;
  r.from.list = r.of_list = parameter_for(rows, ir::i64.array_of());
  r.is_gathered = true;
  for (reached const& other : all)
    if (other.is_gathered && other.of_list == r.of_list) return {};
  all.push_back(r);
  return {};
}

/// Whether the map has as many turns as an array is long.
inline bool slice_writer::has_length_of_turns(node_id n, value_id v) const {
  function const& f = original();
  value_id const count = f.operand(n, 0);
  if (f.is_result(v) && f[f.node_of(v)].code == op::map && f.operand(f.node_of(v), 0) == count) return true;
  if (!f.is_result(count) || f[f.node_of(count)].code != op::length) return false;
  auto const asked = f.operands_of(f.node_of(count));
  return std::find(asked.begin(), asked.end(), v) != asked.end();
}
/// How many turns more than elements of an array there are, where that is known.
inline std::optional<std::int64_t> slice_writer::turns_behind(node_id n, value_id array) const {
  function const& f = original();
  if (has_length_of_turns(n, array)) return 0;
  value_id const count = f.operand(n, 0);
  if (!f.is_result(count) || (f[f.node_of(count)].code != op::sub && f[f.node_of(count)].code != op::add))
    return {};
  node_id const m = f.node_of(count);
  value_id const of = f.operand(m, 0), by = f.operand(m, 1);
  if (!f.is_literal(by) || !f.is_result(of) || f[f.node_of(of)].code != op::length) return {};
  auto const asked = f.operands_of(f.node_of(of));
  if (std::find(asked.begin(), asked.end(), array) == asked.end()) return {};
  auto const more = static_cast<std::int64_t>(f.bits_of(by));
  return f[m].code == op::add ? more : -more;
}
/// Whether there is a turn that is reached; nothing, where there surely is.
inline value_id slice_writer::in_range(node_id n, reached const& r) {
  value_id const index = r.from.index;
  value_id const begins = r.may_precede ? at_.add(op::ge, index, literal(ir::i64, 0)) : value_id(ir::nothing);
  value_id const ends =
      r.may_exceed ? at_.add(op::lt, index, old(original().operand(n, 0))) : value_id(ir::nothing);
  return both(begins, ends);
}

/// Whether a turn is among those of an earlier one; nothing, where it is not.
inline value_id slice_writer::met_by(reached const& earlier, reached const& later, value_id index) {
  piece const &a = earlier.from, &b = later.from;
  if (a.list == ir::nothing) {
    bool const same_source = a.source == b.source && b.list == ir::nothing;
    // Places of one update are apart, and so is one place shifted by different steps.
    if (same_source &&
        ((a.place != b.place && a.shift == b.shift) || (a.place == b.place && a.shift != b.shift)))
      return ir::nothing;
    return both(at_.add(op::eq, a.index, index), a.valid);
  }
  if (is_searchable(a)) return find_in(a, index).is_there;
  // An index has one value.
  if (a.keys == b.keys && b.list != ir::nothing && a.source == b.source && a.shift == b.shift)
    return ir::nothing;
  value_id const key = at(read(a.keys, {}), index);
  if (a.key != ir::nothing) return at_.add(op::eq, key, a.key);
  return find_in_source(a.source, a.shift, key).is_there;
}

inline bool slice_writer::is_summed(value_id v) const {
  function const& f = original();
  for (ir::use_id const u : f.uses_of(v)) {
    node_id const n = f[u].user;
    if (f[n].code == op::reduce && f[n].attributes.operation == op::add && f[n].operand_count == 2 &&
        f.type_of(v).rank == 1 && f.type_of(v).element_type().is_number())
      return true;
  }
  return false;
}

} // namespace overdub::contexts::increments
