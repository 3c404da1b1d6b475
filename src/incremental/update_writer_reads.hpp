// Reads of elements of arrays of which some elements changed.
#pragma once

#include <overdub/implementation/incremental/update_writer.hpp>

namespace overdub::increments {

inline void update_writer::visit_at(node_id n) {
  change const* const c = known_.change_of(original().operand(n, 0));
  if (c == nullptr || c->whole) return recompute(n);
  value_id const v = original().result(n);
  value_id const first = known_.new_value(original().operand(n, 1));
  bool const is_one = original()[n].operand_count == 2;

  // The read is in the iteration that the delta belongs to: no comparison is needed.
  for (delta const& p : c->deltas) {
    if (p.valid != ir::nothing) continue;
    if (p.list != ir::nothing) {
      auto const own = std::find_if(iterations_.begin(), iterations_.end(), [&](iteration const& t) {
        return t.list == p.list && t.index == first;
      });
      if (own == iterations_.end()) continue;
      std::vector<value_id> path{own->position};
      for (std::uint32_t k = 2; k < original()[n].operand_count; ++k)
        path.push_back(known_.new_value(original().operand(n, k)));
      return known_.set_whole(v, at(p.element, path));
    }
    if (offset(p.index, first) != 0) continue;
    if (p.nested != nullptr && is_one) {
      change& part = known_.set_change(v);
      part.deltas = p.nested->deltas;
      return;
    }
    if (p.nested == nullptr && p.element != ir::nothing && is_one) return known_.set_whole(v, p.element);
  }
  // Otherwise the indices are compared. An unchanged index is never that of an appended element.
  bool const appended =
      std::all_of(c->deltas.begin(), c->deltas.end(), [](delta const& p) { return p.is_appended; });
  if (appended && !is_new_iteration_ && has_old_indices(n)) return;
  bool const is_apart = std::all_of(c->deltas.begin(), c->deltas.end(), [&](delta const& p) {
    return p.list == ir::nothing && are_distinct(p.index, first);
  });
  if (is_apart) {
    if (!is_new_iteration_ && has_old_indices(n)) return;
    std::vector<value_id> indices;
    for (std::uint32_t k = 1; k < original()[n].operand_count; ++k)
      indices.push_back(known_.new_value(original().operand(n, k)));
    known_.set_whole(v, at(known_.old_value(original().operand(n, 0)), indices));
    return note(n, step::extent::scalar);
  }
  if (!is_new_iteration_ && has_old_indices(n) &&
      guards_.speculates_apart(n, *c, original()[n].operand_count))
    return;
  if (has_unsearchable_list(*c) || (!is_one && has_conditional(*c)) || c->appended_input != layout::none)
    return recompute(n);
  if (original().type_of(v).rank != 0 && !has_only_lists(*c))
    return is_one && (is_new_iteration_ || is_in_loop()) && !has_appended_elements(*c) ? select_row(n, *c)
                                                                                       : recompute(n);
  std::vector<value_id> indices{first};
  for (std::uint32_t k = 2; k < original()[n].operand_count; ++k)
    indices.push_back(known_.new_value(original().operand(n, k)));
  // Appended elements are not in the old array.
  value_id const array = known_.old_value(original().operand(n, 0));
  auto const find = [&](auto const& rest, std::size_t k) -> value_id {
    for (; k < c->deltas.size(); ++k) {
      delta const& p = c->deltas[k];
      bool const is_list = p.list != ir::nothing;
      if (!p.is_appended || (!is_list && are_distinct(p.index, first))) continue;
      changed_lists::list_position const own =
          is_list ? lists_.find_in(p, first)
                  : changed_lists::list_position{at_.add(op::eq, first, p.index), {}};
      auto const appended_element = [&] {
        std::vector<value_id> path(indices.begin() + 1, indices.end());
        if (is_list) path.insert(path.begin(), own.position);
        return path.empty() ? p.element : at(p.element, path);
      };
      return build().if_(own.is_there, appended_element, [&] { return rest(rest, k + 1); });
    }
    value_id found = at(array, indices);
    select_element(*c, indices, 0, ir::nothing, found);
    return found;
  };
  known_.set_whole(v, find(find, 0));
  note(n, step::extent::scalar);
}

/// A row of an array of which some rows changed, in code that saves nothing. The changes of its elements are conditional on the row.
inline void update_writer::select_row(node_id n, change const& c) {
  value_id const v = original().result(n), index = known_.new_value(original().operand(n, 1));
  value_id row = at(known_.old_value(original().operand(n, 0)), index);
  std::vector<delta> parts;
  for (delta const& p : c.deltas) {
    if (p.list == ir::nothing && are_distinct(p.index, index)) continue;
    bool const is_list = p.list != ir::nothing;
    changed_lists::list_position const own =
        is_list ? lists_.find_in(p, index) : changed_lists::list_position{equals(index, p.index), {}};
    value_id const is_there = both(p.valid, own.is_there);
    if (p.nested != nullptr) {
      for (delta const& q : p.nested->deltas) {
        parts.push_back(q);
        parts.back().valid = both(is_there, q.valid);
      }
      continue;
    }
    if (is_there == ir::nothing) {
      row = p.element;
      continue;
    }
    row = build().if_(
        is_there, [&] { return is_list ? at(p.element, own.position) : p.element; }, [&] { return row; });
  }
  if (parts.empty()) return known_.set_whole(v, row);
  known_.set_change(v).deltas = std::move(parts);
  known_.set_old(v, row);
}

/// Replaces `found` by a changed element if the indices are equal.
inline void update_writer::select_element(
    change const& c, std::vector<value_id> const& indices, std::size_t k, value_id where, value_id& found) {
  for (delta const& p : c.deltas) {
    if (p.is_appended) continue;
    std::vector<value_id> const inner_indices(
        indices.begin() + static_cast<std::ptrdiff_t>(k + 1), indices.end());
    if (p.list != ir::nothing) {
      changed_lists::list_position const own = lists_.find_in(p, indices[k]);
      bool const is_never_empty = p.is_sorted && p.skipped == ir::nothing;
      if (is_never_empty && type_of(found).rank == 0) {
        std::vector<value_id> path{at_.add(op::select, own.is_there, own.position, literal(ir::i64, 0))};
        path.insert(path.end(), inner_indices.begin(), inner_indices.end());
        found = at_.add(op::select, both(both(where, p.valid), own.is_there), at(p.element, path), found);
        continue;
      }
      auto const changed_element = [&] {
        std::vector<value_id> path{own.position};
        path.insert(path.end(), inner_indices.begin(), inner_indices.end());
        return at(p.element, path);
      };
      value_id const is_there = both(both(where, p.valid), own.is_there);
      found = build().if_(is_there, changed_element, [&] { return found; });
      continue;
    }
    if (are_distinct(p.index, indices[k])) continue;
    value_id const is_there = both(both(where, p.valid), equals(indices[k], p.index));
    if (p.nested != nullptr) {
      select_element(*p.nested, indices, k + 1, is_there, found);
      continue;
    }
    value_id const element = inner_indices.empty() ? p.element : at(p.element, inner_indices);
    found = is_there == ir::nothing ? element : at_.add(op::select, is_there, element, found);
  }
}

/// Whether the indices of a read are unchanged.
inline bool update_writer::has_old_indices(node_id n) const {
  for (std::uint32_t k = 1; k < original()[n].operand_count; ++k) {
    value_id const v = original().operand(n, k);
    if (!original().is_literal(v) && known_.change_of(v) != nullptr) return false;
  }
  return true;
}

} // namespace overdub::increments
