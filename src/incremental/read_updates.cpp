#include <overdub/implementation/incremental/changed_lists.hpp>
#include <overdub/implementation/incremental/read_updates.hpp>
#include <overdub/implementation/incremental/update_writer.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace overdub::increments {

void visit_at(update_writer& w, node_id n) {
  change const* const c = w.known.change_of(w.original().operand(n, 0));
  if (c == nullptr || c->whole) return recompute(w, n);
  value_id const v = w.original().result(n);
  value_id const first = w.known.new_value(w.original().operand(n, 1));
  bool const is_one = w.original()[n].operand_count == 2;

  // The read is in the iteration that the delta belongs to: no comparison is needed.
  for (delta const& p : c->deltas) {
    if (p.valid != ir::nothing) continue;
    if (p.list != ir::nothing) {
      auto const own =
          std::find_if(w.code.iterations.begin(), w.code.iterations.end(), [&](iteration const& t) {
            return t.list == p.list && t.index == first;
          });
      if (own == w.code.iterations.end()) continue;
      std::vector<value_id> path{own->position};
      for (std::uint32_t k = 2; k < w.original()[n].operand_count; ++k)
        path.push_back(w.known.new_value(w.original().operand(n, k)));
      return w.known.set_whole(v, w.code.at(p.element, path));
    }
    if (w.code.offset(p.index, first) != 0) continue;
    if (p.nested != nullptr && is_one) {
      change& part = w.known.set_change(v);
      part.deltas = p.nested->deltas;
      return;
    }
    if (p.nested == nullptr && p.element != ir::nothing && is_one) return w.known.set_whole(v, p.element);
  }
  // Otherwise the indices are compared. An unchanged index is never that of an appended element.
  bool const appended =
      std::all_of(c->deltas.begin(), c->deltas.end(), [](delta const& p) { return p.is_appended; });
  if (appended && !w.code.is_new_iteration && has_old_indices(w, n)) return;
  bool const is_apart = std::all_of(c->deltas.begin(), c->deltas.end(), [&](delta const& p) {
    return p.list == ir::nothing && w.code.are_distinct(p.index, first);
  });
  if (is_apart) {
    if (!w.code.is_new_iteration && has_old_indices(w, n)) return;
    std::vector<value_id> indices;
    for (std::uint32_t k = 1; k < w.original()[n].operand_count; ++k)
      indices.push_back(w.known.new_value(w.original().operand(n, k)));
    w.known.set_whole(v, w.code.at(w.known.old_value(w.original().operand(n, 0)), indices));
    return w.code.note(n, step::extent::scalar);
  }
  if (!w.code.is_new_iteration && has_old_indices(w, n) &&
      w.guards.speculates_apart(n, *c, w.original()[n].operand_count))
    return;
  if (has_unsearchable_list(*c) || (!is_one && has_conditional(*c)) || c->appended_input != layout::none)
    return recompute(w, n);
  if (w.original().type_of(v).rank != 0 && !has_only_lists(*c))
    return is_one && (w.code.is_new_iteration || w.code.is_in_loop()) && !has_appended_elements(*c)
               ? select_row(w, n, *c)
               : recompute(w, n);
  std::vector<value_id> indices{first};
  for (std::uint32_t k = 2; k < w.original()[n].operand_count; ++k)
    indices.push_back(w.known.new_value(w.original().operand(n, k)));
  // Appended elements are not in the old array.
  value_id const array = w.known.old_value(w.original().operand(n, 0));
  auto const find = [&](auto const& rest, std::size_t k) -> value_id {
    for (; k < c->deltas.size(); ++k) {
      delta const& p = c->deltas[k];
      bool const is_list = p.list != ir::nothing;
      if (!p.is_appended || (!is_list && w.code.are_distinct(p.index, first))) continue;
      list_position const own =
          is_list ? find_in(w.code, p, first) : list_position{w.code.add(op::eq, first, p.index), {}};
      auto const appended_element = [&] {
        std::vector<value_id> path(indices.begin() + 1, indices.end());
        if (is_list) path.insert(path.begin(), own.position);
        return path.empty() ? p.element : w.code.at(p.element, path);
      };
      return w.code.build().if_(own.is_there, appended_element, [&] { return rest(rest, k + 1); });
    }
    value_id found = w.code.at(array, indices);
    select_element(w, *c, indices, 0, ir::nothing, found);
    return found;
  };
  w.known.set_whole(v, find(find, 0));
  w.code.note(n, step::extent::scalar);
}

/// A row of an array of which some rows changed, in code that saves nothing. The changes of its elements are conditional on the row.
void select_row(update_writer& w, node_id n, change const& c) {
  value_id const v = w.original().result(n), index = w.known.new_value(w.original().operand(n, 1));
  value_id row = w.code.at(w.known.old_value(w.original().operand(n, 0)), index);
  std::vector<delta> parts;
  for (delta const& p : c.deltas) {
    if (p.list == ir::nothing && w.code.are_distinct(p.index, index)) continue;
    bool const is_list = p.list != ir::nothing;
    list_position const own =
        is_list ? find_in(w.code, p, index) : list_position{w.code.equals(index, p.index), {}};
    value_id const is_there = w.code.both(p.valid, own.is_there);
    if (p.nested != nullptr) {
      for (delta const& q : p.nested->deltas) {
        parts.push_back(q);
        parts.back().valid = w.code.both(is_there, q.valid);
      }
      continue;
    }
    if (is_there == ir::nothing) {
      row = p.element;
      continue;
    }
    row = w.code.build().if_(
        is_there, [&] { return is_list ? w.code.at(p.element, own.position) : p.element; },
        [&] { return row; });
  }
  if (parts.empty()) return w.known.set_whole(v, row);
  w.known.set_change(v).deltas = std::move(parts);
  w.known.set_old(v, row);
}

/// Replaces `found` by a changed element if the indices are equal.
void select_element(
    update_writer& w, change const& c, std::vector<value_id> const& indices, std::size_t k, value_id where,
    value_id& found) {
  for (delta const& p : c.deltas) {
    if (p.is_appended) continue;
    std::vector<value_id> const inner_indices(
        indices.begin() + static_cast<std::ptrdiff_t>(k + 1), indices.end());
    if (p.list != ir::nothing) {
      list_position const own = find_in(w.code, p, indices[k]);
      bool const is_never_empty = p.is_sorted && p.skipped == ir::nothing;
      if (is_never_empty && w.code.type_of(found).rank == 0) {
        std::vector<value_id> path{
            w.code.add(op::select, own.is_there, own.position, w.code.literal(ir::i64, 0))};
        path.insert(path.end(), inner_indices.begin(), inner_indices.end());
        found = w.code.add(
            op::select, w.code.both(w.code.both(where, p.valid), own.is_there), w.code.at(p.element, path),
            found);
        continue;
      }
      auto const changed_element = [&] {
        std::vector<value_id> path{own.position};
        path.insert(path.end(), inner_indices.begin(), inner_indices.end());
        return w.code.at(p.element, path);
      };
      value_id const is_there = w.code.both(w.code.both(where, p.valid), own.is_there);
      found = w.code.build().if_(is_there, changed_element, [&] { return found; });
      continue;
    }
    if (w.code.are_distinct(p.index, indices[k])) continue;
    value_id const is_there = w.code.both(w.code.both(where, p.valid), w.code.equals(indices[k], p.index));
    if (p.nested != nullptr) {
      select_element(w, *p.nested, indices, k + 1, is_there, found);
      continue;
    }
    value_id const element = inner_indices.empty() ? p.element : w.code.at(p.element, inner_indices);
    found = is_there == ir::nothing ? element : w.code.add(op::select, is_there, element, found);
  }
}

/// Whether the indices of a read are unchanged.
bool has_old_indices(update_writer const& w, node_id n) {
  for (std::uint32_t k = 1; k < w.original()[n].operand_count; ++k) {
    value_id const v = w.original().operand(n, k);
    if (!w.original().is_literal(v) && w.known.change_of(v) != nullptr) return false;
  }
  return true;
}

} // namespace overdub::increments
