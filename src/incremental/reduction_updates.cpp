#include <overdub/implementation/incremental/recomputation.hpp>
#include <overdub/implementation/incremental/reduction_updates.hpp>
#include <overdub/implementation/incremental/update_writer.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace overdub::increments {

/// Why a sum must be recomputed in full. Empty, if it need not be.
std::string_view why_recompute_sum(update_writer& w, node_id n) {
  ir::attributes const& a = w.original()[n].attributes;
  value_id const v = w.original().result(n), array = w.original().operand(n, 0);
  ir::type const t = w.original().type_of(v);
  change const* const c = w.known.change_of(array);
  if (!a.is_started() || !t.is_number()) return "it is a sum of arrays, or has no initial value";
  if (c == nullptr || c->whole) return "all elements may have changed";
  if (w.known.change_of(w.original().operand(n, 1)) != nullptr) return "its initial value changed";
  if (!enclosing_depth(w.original(), v)) return "it is nested in a branch or a loop";
  bool const is_input = w.original().is_argument(array) && w.original().region_of(array) == function::body;
  for (delta const& p : c->deltas)
    if (p.difference == ir::nothing && ((p.list != ir::nothing && !is_input && !p.is_appended) ||
                                        p.nested != nullptr || p.valid != ir::nothing))
      return "the old values of its elements are not saved";
  return {};
}

/// A sum is updated by the difference of its elements. The compensation of a floating-point sum is saved beside it; a commit adds the
/// difference to both.
void update_sum(update_writer& w, node_id n) {
  value_id const v = w.original().result(n), array = w.original().operand(n, 0);
  ir::type const t = w.original().type_of(v);
  change const* const c = w.known.change_of(array);

  value_id by = ir::nothing; // the difference of the sum
  for (delta const& p : c->deltas) {
    value_id difference = p.difference;
    if (p.list != ir::nothing) {
      if (difference == ir::nothing && p.is_appended) difference = p.element;
      if (difference == ir::nothing)
        difference = w.known.differences(array, p, w.code.add(op::length, p.list));
      difference = w.code.build().reduce(op::add, difference, w.code.literal(t, 0));
    } else if (p.is_appended) {
      difference = p.element;
    } else if (difference == ir::nothing) {
      difference = w.code.add(op::sub, p.element, w.code.at(w.known.old_value(array), p.index));
    }
    by = by == ir::nothing ? difference : w.code.add(op::add, by, difference);
  }
  std::uint32_t const number = w.code.saved.value(v);
  std::vector<value_id> const element = w.code.path(w.code.saved[number].depth);
  change& made = w.known.set_change(v);
  made.whole = true;
  w.code.note(n, step::extent::difference);
  w.code.record({.of = v, .value = by, .does = store::action::add});
  value_id const sum = w.code.read(number, element);
  if (!t.is_floating()) {
    made.new_value = w.code.add(op::add, sum, by);
    return;
  }
  made.difference = by;
  (void)w.code.saved.compensation(v);
  made.new_value = w.code.add(op::add, sum, w.code.add(op::add, w.code.read_compensation(v, element), by));
}

/// Why a reduction must be recomputed in full. Empty, if it need not be.
std::string_view why_recompute_reduction(update_writer& w, node_id n) {
  function const& f = w.original();
  if (f[n].attributes.is_in_lanes()) return "it combines in lanes";
  if (f[n].attributes.is_in_order()) return "it combines in order";
  if (f[n].parent != function::body) return "it is nested in a map, a branch or a loop";
  if (is_observed_by_hooks(w.original(), n)) return "hooks observe its operations";
  if (f[n].region_count != 0)
    for (value_id const v : w.known.captured(n))
      if (w.known.change_of(v) != nullptr) return "a value that its function uses changed";
  std::vector<delta> const* all = nullptr;
  for (std::uint32_t k = 0; k < f[n].result_count; ++k) {
    if (f.type_of(f.result(n, k)).rank > 0 || !f.type_of(f.result(n, k)).is_literal())
      return "its elements are not numbers";
    change const* const c = w.known.change_of(f.operand(n, k));
    if (c == nullptr) continue;
    if (c->whole) return "all elements may have changed";
    for (delta const& p : c->deltas) {
      if (p.is_appended) return "elements were appended to its array";
      if (p.list != ir::nothing || p.nested != nullptr) return "a list of elements changed";
    }
    auto const same = [](delta const& a, delta const& b) { return a.index == b.index && a.valid == b.valid; };
    if (all != nullptr && !std::equal(all->begin(), all->end(), c->deltas.begin(), c->deltas.end(), same))
      return "its arrays changed at different indices";
    all = &c->deltas;
  }
  if (all != nullptr && all->size() > input_change::maximum_elements) return "many elements changed";
  return {};
}

/// Recomputes the inner nodes above the changed elements. Returns the new results.
values update_path(update_writer& w, node_id n) {
  function const& f = w.original();
  std::uint32_t const arrays = f[n].result_count;
  std::vector<value_id> trees, root;
  std::size_t delta_count = 0;
  for (std::uint32_t k = 0; k < arrays; ++k) {
    trees.push_back(w.code.read(w.code.saved.tree(f.result(n, k)), {}));
    if (change const* const c = w.known.change_of(w.original().operand(n, k))) delta_count = c->deltas.size();
  }
  value_id const size = w.code.add(op::length, w.known.old_value(w.original().operand(n, 0)));
  value_id const top = w.code.add(op::sub, w.code.add(op::length, trees[0]), w.code.literal(ir::i64, 1));
  for (value_id const t : trees) root.push_back(w.code.at(t, top));
  value_map const outer_values = captured_values(w, n);
  std::vector<tree_path> all;
  auto const record = [&](std::uint32_t k, value_id position, value_id now) {
    w.code.record(
        {.of = w.original().result(n, k), .value = now, .path = {position}, .what = variable::role::tree});
  };
  for (std::size_t p = 0; p < delta_count; ++p) {
    tree_path const made = emit_path(w, n, p, size, trees, all, outer_values);
    for (std::uint32_t k = 0; k < arrays; ++k) record(k, made.positions, made.values[k]);
    root = made.root;
    all.push_back(made);
  }
  for (std::uint32_t k = 0; delta_count > 0 && k < arrays; ++k) record(k, top, root[k]);
  if (w.original()[n].attributes.is_started())
    root = combined_with_initial_values(w, n, size, root, outer_values);
  w.code.note(n, step::extent::path);
  return root;
}

/// The initial values combined with the root; the initial values, where there are no elements.
std::vector<value_id> combined_with_initial_values(
    update_writer& w, node_id n, value_id size, std::vector<value_id> const& root,
    value_map const& outer_values) {
  std::uint32_t const arrays = w.original()[n].result_count;
  values initial;
  for (std::uint32_t k = 0; k < arrays; ++k)
    initial.push_back(w.known.new_value(w.original().operand(n, arrays + k)));
  return w.code.build()
      .if_(
          w.code.add(op::gt, size, w.code.literal(ir::i64, 0)),
          [&] { return combine(w, n, initial, root, outer_values); }, [&] { return initial; })
      .results;
}

/// The path from a changed element to the root. Where no element changed, the path from element 0, which changes no value.
tree_path emit_path(
    update_writer& w, node_id n, std::size_t delta_index, value_id size, std::vector<value_id> const& trees,
    std::vector<tree_path> const& earlier, value_map const& outer_values) {
  std::uint32_t const arrays = w.original()[n].result_count;
  value_id const zero = w.code.literal(ir::i64, 0), one = w.code.literal(ir::i64, 1);
  // Leaves and inner nodes, with the changes of earlier paths.
  auto const leaf = [&](std::uint32_t k, value_id index) {
    value_id found = w.code.at(trees[k], index);
    for (tree_path const& e : earlier)
      found = w.code.add(op::select, w.code.add(op::eq, index, e.index), e.leaves[k], found);
    return found;
  };
  auto const element = [&](std::uint32_t k, value_id position, value_id index, value_id level) {
    value_id found = w.code.at(trees[k], position);
    for (tree_path const& e : earlier) {
      value_id const passed = w.code.add(op::shift_right, e.index, level);
      value_id const here = w.code.at(e.values[k], level);
      found = w.code.add(op::select, w.code.add(op::eq, index, passed), here, found);
    }
    return found;
  };
  tree_path made;
  std::vector<value_id>& leaves = made.leaves;
  leaves.assign(arrays, ir::nothing);
  for (std::uint32_t k = 0; k < arrays; ++k) {
    change const* const c = w.known.change_of(w.original().operand(n, k));
    if (c == nullptr) continue;
    delta const p = c->deltas[delta_index];
    made.index = p.valid == ir::nothing ? p.index : w.code.add(op::select, p.valid, p.index, zero);
    leaves[k] = p.element;
    if (p.valid != ir::nothing) leaves[k] = w.code.add(op::select, p.valid, p.element, leaf(k, made.index));
  }
  for (std::uint32_t k = 0; k < arrays; ++k)
    if (leaves[k] == ir::nothing) leaves[k] = leaf(k, made.index);

  // Loop-carried: the level, the position where it begins, its width, the index in it, and the values.
  values operands{zero, zero, size, made.index};
  operands.insert(operands.end(), leaves.begin(), leaves.end());
  auto const path = w.code.build().while_(
      operands, [&](values const& s) { return w.code.add(op::gt, s[2], one); },
      [&](values const& s) {
        value_id const level = s[0], base = s[1], width = s[2], index = s[3];
        values const own(s.begin() + 4, s.end());
        value_id const neighbour = w.code.add(op::bit_xor, index, one);
        auto const combined = [&] {
          values others;
          for (std::uint32_t k = 0; k < arrays; ++k)
            others.push_back(element(k, w.code.add(op::add, base, neighbour), neighbour, level));
          return w.code.build().if_(
              w.code.add(op::lt, index, neighbour), [&] { return combine(w, n, own, others, outer_values); },
              [&] { return combine(w, n, others, own, outer_values); });
        };
        values const above =
            w.code.build().if_(w.code.add(op::lt, neighbour, width), combined, [&] { return own; }).results;
        values yielded{
            w.code.add(op::add, level, one), w.code.add(op::add, base, width),
            w.code.add(op::shift_right, w.code.add(op::add, width, one), one),
            w.code.add(op::shift_right, index, one)};
        yielded.insert(yielded.end(), above.begin(), above.end());
        yielded.push_back(w.code.add(op::add, base, index));
        yielded.insert(yielded.end(), own.begin(), own.end());
        return yielded;
      });
  for (std::uint32_t k = 0; k < arrays; ++k) {
    made.root.push_back(path.results[4 + k]);
    made.values.push_back(path.results[5 + arrays + k]);
  }
  made.positions = path.results[4 + arrays];
  return made;
}

/// Applies the reduction's function to two elements.
std::vector<value_id> combine(
    update_writer& w, node_id n, std::vector<value_id> const& left, std::vector<value_id> const& right,
    value_map const& outer_values) {
  if (w.original()[n].region_count == 0)
    return {w.code.add(w.original()[n].attributes.operation, left[0], right[0])};
  region_id const body = w.original().region_at(n, 0);
  auto const arrays = static_cast<std::uint32_t>(left.size());
  value_map here = outer_values;
  for (std::uint32_t k = 0; k < arrays; ++k) {
    here.insert_or_assign(w.original().argument(body, k), left[k]);
    here.insert_or_assign(w.original().argument(body, arrays + k), right[k]);
  }
  copy_region(w, body, here);
  std::vector<value_id> new_values;
  for (value_id const v : w.original().operands_of(w.original().yield_of(body)))
    new_values.push_back(mapped(w, here, v));
  return new_values;
}

/// Rebuilds the saved trees: O(elements). An update program visits the reduction once, here, so it saves none later.
void rebuild_saved_trees(update_writer& w, node_id n) {
  std::uint32_t const arrays = w.original()[n].result_count;
  if (w.code.saved.all().tree_of(w.original().result(n)) == layout::none) return;
  value_map const outer_values = captured_values(w, n);
  value_id const zero = w.code.literal(ir::i64, 0), one = w.code.literal(ir::i64, 1);
  value_id const size = w.code.add(op::length, w.known.new_value(w.original().operand(n, 0)));
  auto const half_of = [&](value_id width) {
    return w.code.add(op::shift_right, w.code.add(op::add, width, one), one);
  };
  auto const nodes = w.code.build().while_(
      {size, one}, [&](values const& s) { return w.code.add(op::gt, s[0], one); },
      [&](values const& s) {
        return values{half_of(s[0]), w.code.add(op::add, s[1], s[0])};
      });
  value_id const inner_nodes = w.code.add(op::sub, nodes.results[1], size);

  values operands{zero, size};
  for (std::uint32_t k = 0; k < arrays; ++k) {
    value_id const array = w.known.new_value(w.original().operand(n, k));
    ir::type const t = w.code.type_of(array);
    node_id const room = w.code.cursor.insert(
        op::fill, std::array{inner_nodes, w.code.literal(t.element_type(), 0)}, std::array{t});
    operands.push_back(w.code.add(op::concat, array, w.written().result(room)));
  }
  auto const levels = w.code.build().while_(
      operands, [&](values const& s) { return w.code.add(op::gt, s[1], one); },
      [&](values const& s) {
        value_id const base = s[0], wide = s[1], half = half_of(wide), next = w.code.add(op::add, base, wide);
        auto const pairs = w.code.build().loop(half, {s.begin() + 2, s.end()}, [&](value_id i, values trees) {
          value_id const first = w.code.add(op::add, i, i), second = w.code.add(op::add, first, one);
          auto const elements_at = [&](value_id index) {
            values all;
            for (value_id const tree : trees)
              all.push_back(w.code.at(tree, w.code.add(op::add, base, index)));
            return all;
          };
          values const left = elements_at(first);
          auto const above = w.code.build().if_(
              w.code.add(op::lt, second, wide),
              [&] {
                values const right = elements_at(second);
                return combine(w, n, left, right, outer_values);
              },
              [&] { return left; });
          for (std::uint32_t k = 0; k < arrays; ++k)
            trees[k] = w.code.add(op::update, trees[k], w.code.add(op::add, next, i), above.results[k]);
          return trees;
        });
        values yielded{next, half};
        yielded.insert(yielded.end(), pairs.results.begin(), pairs.results.end());
        return yielded;
      });
  for (std::uint32_t k = 0; k < arrays; ++k)
    w.code.record(
        {.of = w.original().result(n, k), .value = levels.results[2 + k], .what = variable::role::tree});
}

} // namespace overdub::increments
