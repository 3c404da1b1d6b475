// Elements that operations read of arrays of which some changed: whether they are those, and what they are now.
#pragma once

#include <overdub/contexts/incremental/slice_writer_assumptions.hpp>

namespace overdub::contexts::increments {

/// An element of an array of which some changed.
inline void slice_writer::visit_at(node_id n) {
  change const* const c = change_of(original().operand(n, 0));
  if (c == nullptr || c->whole) return run_again(n);
  value_id const v = original().result(n);
  value_id const first = now(original().operand(n, 1));
  bool const is_one = original()[n].operand_count == 2;

  // In the turn that the piece is about.
  for (piece const& p : c->pieces) {
    if (p.valid != ir::nothing) continue;
    if (p.list != ir::nothing) {
      auto const own = std::find_if(
          turns_.begin(), turns_.end(), [&](turn const& t) { return t.list == p.list && t.index == first; });
      if (own == turns_.end()) continue;
      std::vector<value_id> path{own->position};
      for (std::uint32_t k = 2; k < original()[n].operand_count; ++k)
        path.push_back(now(original().operand(n, k)));
      return set_whole(v, at(p.element, path));
    }
    if (distance(p.index, first) != 0) continue;
    if (p.part != nullptr && is_one) {
      change& part = set_change(v);
      part.pieces = p.part->pieces;
      return;
    }
    if (p.part == nullptr && p.element != ir::nothing && is_one) return set_whole(v, p.element);
  }
  // Elsewhere: it is one of the elements that changed, or none. An index that was there before is not that of one that came.
  bool const came = std::all_of(c->pieces.begin(), c->pieces.end(), [](piece const& p) { return p.is_new; });
  if (came && !is_new_turn_ && has_old_indices(n)) return;
  bool const is_apart = std::all_of(c->pieces.begin(), c->pieces.end(), [&](piece const& p) {
    return p.list == ir::nothing && are_apart(p.index, first);
  });
  if (is_apart) {
    if (!is_new_turn_ && has_old_indices(n)) return;
    std::vector<value_id> indices;
    for (std::uint32_t k = 1; k < original()[n].operand_count; ++k)
      indices.push_back(now(original().operand(n, k)));
    set_whole(v, at(old(original().operand(n, 0)), indices));
    return note(n, step::extent::scalar);
  }
  if (!is_new_turn_ && has_old_indices(n) && is_taken_apart(n, *c, original()[n].operand_count)) return;
  if (has_unsearchable(*c) || (!is_one && may_be_missing(*c)) || c->appended != layout::none)
    return run_again(n);
  if (original().type_of(v).rank != 0 && !has_lists_alone(*c))
    return is_one && (is_new_turn_ || is_in_loop()) && !has_new(*c) ? choose_row(n, *c) : run_again(n);
  std::vector<value_id> indices{first};
  for (std::uint32_t k = 2; k < original()[n].operand_count; ++k)
    indices.push_back(now(original().operand(n, k)));
  // What is new is not where the others were.
  std::vector<node_id> choices;
  region_id const here = at_.region();
  value_id const array = old(original().operand(n, 0));
  for (piece const& p : c->pieces) {
    bool const is_list = p.list != ir::nothing;
    if (!p.is_new || (!is_list && are_apart(p.index, first))) continue;
    place_in_list const own =
        is_list ? find_in(p, first) : place_in_list{at_.add(op::eq, first, p.index), {}};
    std::vector<ir::type> const no_arguments[2];
    choices.push_back(
        at_.insert(op::if_, std::array{own.is_there}, std::array{original().type_of(v)}, {}, no_arguments));
    at_.to_end(written().region_at(choices.back(), 0));
    std::vector<value_id> path(indices.begin() + 1, indices.end());
    if (is_list) path.insert(path.begin(), own.position);
    at_.yield(std::array{path.empty() ? p.element : at(p.element, path)});
    at_.to_end(written().region_at(choices.back(), 1));
  }
  value_id found = at(array, indices);
  choose_element(*c, indices, 0, ir::nothing, found);
  for (; !choices.empty(); choices.pop_back()) {
    at_.yield(std::array{found});
    found = written().result(choices.back());
    at_.to_end(choices.size() > 1 ? written().region_at(choices[choices.size() - 2], 1) : here);
  }
  set_whole(v, found);
  note(n, step::extent::scalar);
}

/// A row of an array of rows of which some changed, where nothing of a turn is kept: it is told by its elements, where they are.
inline void slice_writer::choose_row(node_id n, change const& c) {
  value_id const v = original().result(n), index = now(original().operand(n, 1));
  value_id row = at(old(original().operand(n, 0)), index);
  std::vector<piece> parts;
  for (piece const& p : c.pieces) {
    if (p.list == ir::nothing && are_apart(p.index, index)) continue;
    bool const is_list = p.list != ir::nothing;
    place_in_list const own = is_list ? find_in(p, index) : place_in_list{equals(index, p.index), {}};
    value_id const is_there = both(p.valid, own.is_there);
    if (p.part != nullptr) {
      for (piece const& q : p.part->pieces) {
        parts.push_back(q);
        parts.back().valid = both(is_there, q.valid);
      }
      continue;
    }
    if (is_there == ir::nothing) {
      row = p.element;
      continue;
    }
    region_id const here = at_.region();
    std::vector<ir::type> const no_arguments[2];
    node_id const choice =
        at_.insert(op::if_, std::array{is_there}, std::array{type_of(row)}, {}, no_arguments);
    at_.to_end(written().region_at(choice, 0));
    at_.yield(std::array{is_list ? at(p.element, own.position) : p.element});
    at_.to_end(written().region_at(choice, 1));
    at_.yield(std::array{row});
    at_.to_end(here);
    row = written().result(choice);
  }
  if (parts.empty()) return set_whole(v, row);
  set_change(v).pieces = std::move(parts);
  old_[index_of(v)] = row; // which is forgotten with the change
}

/// Whether an element is read at the indices where it was read before.
inline bool slice_writer::has_old_indices(node_id n) const {
  for (std::uint32_t k = 1; k < original()[n].operand_count; ++k) {
    value_id const v = original().operand(n, k);
    if (!original().is_literal(v) && change_of(v) != nullptr) return false;
  }
  return true;
}

/// The element at these indices is the one of a piece, where they are the piece's.
inline void slice_writer::choose_element(
    change const& c, std::vector<value_id> const& indices, std::size_t k, value_id where, value_id& found) {
  for (piece const& p : c.pieces) {
    if (p.is_new) continue;
    std::vector<value_id> const rest(indices.begin() + static_cast<std::ptrdiff_t>(k + 1), indices.end());
    if (p.list != ir::nothing) {
      place_in_list const own = find_in(p, indices[k]);
      bool const is_never_empty = p.is_sorted && p.skipped == ir::nothing;
      if (is_never_empty && type_of(found).rank == 0) {
        std::vector<value_id> path{at_.add(op::select, own.is_there, own.position, literal(ir::i64, 0))};
        path.insert(path.end(), rest.begin(), rest.end());
        found = at_.add(op::select, both(both(where, p.valid), own.is_there), at(p.element, path), found);
        continue;
      }
      region_id const here = at_.region();
      std::vector<ir::type> const no_arguments[2];
      node_id const choice = at_.insert(
          op::if_, std::array{both(both(where, p.valid), own.is_there)}, std::array{type_of(found)}, {},
          no_arguments);
      at_.to_end(written().region_at(choice, 0));
      std::vector<value_id> path{own.position};
      path.insert(path.end(), rest.begin(), rest.end());
      at_.yield(std::array{at(p.element, path)});
      at_.to_end(written().region_at(choice, 1));
      at_.yield(std::array{found});
      at_.to_end(here);
      found = written().result(choice);
      continue;
    }
    if (are_apart(p.index, indices[k])) continue;
    value_id const is_there = both(both(where, p.valid), equals(indices[k], p.index));
    if (p.part != nullptr) {
      choose_element(*p.part, indices, k + 1, is_there, found);
      continue;
    }
    value_id const element = rest.empty() ? p.element : at(p.element, rest);
    found = is_there == ir::nothing ? element : at_.add(op::select, is_there, element, found);
  }
}
inline bool slice_writer::may_be_missing(change const& c) {
  return std::any_of(c.pieces.begin(), c.pieces.end(), [](piece const& p) { return p.valid != ir::nothing; });
}
inline bool slice_writer::has_new(change const& c) {
  return std::any_of(c.pieces.begin(), c.pieces.end(), [](piece const& p) { return p.is_new; });
}
inline bool slice_writer::has_unsearchable(change const& c) {
  return std::any_of(c.pieces.begin(), c.pieces.end(), [](piece const& p) {
    return (p.list != ir::nothing && !is_searchable(p)) || (p.part != nullptr && has_unsearchable(*p.part));
  });
}
inline bool slice_writer::has_lists_alone(change const& c) {
  return std::all_of(c.pieces.begin(), c.pieces.end(), [](piece const& p) { return p.list != ir::nothing; });
}

inline value_id slice_writer::equals(value_id a, value_id b) {
  return a == b ? value_id(ir::nothing) : at_.add(op::eq, a, b);
}
/// By how much an index is more than another one, where both are the same value and a literal.
inline std::optional<std::int64_t> slice_writer::distance(value_id from, value_id to) const {
  auto const parts_of = [&](value_id v) {
    std::int64_t more = 0;
    while (!written().is_literal(v) && written().is_result(v)) {
      node_id const n = written().node_of(v);
      op const code = written()[n].code;
      if ((code != op::add && code != op::sub) || !written().is_literal(written().operand(n, 1)) ||
          type_of(v) != ir::i64)
        break;
      auto const by = static_cast<std::int64_t>(written().bits_of(written().operand(n, 1)));
      if (by < -most_distance || by > most_distance) break;
      more += code == op::add ? by : -by;
      v = written().operand(n, 0);
    }
    return std::pair(v, more);
  };
  auto const [a, behind_a] = parts_of(from);
  auto const [b, behind_b] = parts_of(to);
  if (a == b) return behind_b - behind_a;
  if (!written().is_literal(a) || !written().is_literal(b)) return {};
  return static_cast<std::int64_t>(written().bits_of(b) - written().bits_of(a)) + behind_b - behind_a;
}
/// Whether two indices surely are not the same: one is more than the other, or of a turn behind it.
inline bool slice_writer::are_apart(value_id a, value_id b) const {
  if (distance(a, b).value_or(0) != 0) return true;
  return std::any_of(turns_.begin(), turns_.end(), [&](turn const& t) {
    if (t.behind == ir::nothing) return false;
    auto const before = distance(a, t.behind), after = distance(t.index, b);
    return before && after && *before + *after >= 0;
  });
}
/// Of two conditions, of which one that does not exist holds.
inline value_id slice_writer::both(value_id a, value_id b) {
  if (a == ir::nothing) return b;
  return b == ir::nothing ? a : at_.add(op::logical_and, a, b);
}

} // namespace overdub::contexts::increments
