// Reductions. Sums are updated by the difference of their elements, with compensation (TwoSum). Others are updated along a path of a
// segment tree, from the changed element to the root.
#pragma once

#include <overdub/incremental/update_writer_iterations.hpp>

namespace overdub::increments {

inline void update_writer::visit_reduction(node_id n) {
  if (original()[n].attributes.operation == op::add && original()[n].operand_count <= 2) return visit_sum(n);
  if (std::string_view const why = why_recompute_reduction(n); !why.empty()) return recompute(n, why);
  update_path(n);
}

/// A sum is updated by the difference of its elements. The compensation of a floating-point sum is saved beside it; a commit adds the
/// difference to both.
inline void update_writer::visit_sum(node_id n) {
  ir::attributes const& a = original()[n].attributes;
  value_id const v = original().result(n), array = original().operand(n, 0);
  ir::type const t = original().type_of(v);
  change const* const c = change_of(array);
  if (!a.is_started() || !t.is_number())
    return recompute(n, "it is a sum of arrays, or has no initial value");
  if (c == nullptr || c->whole) return recompute(n, "all elements may have changed");
  if (change_of(original().operand(n, 1)) != nullptr) return recompute(n, "its initial value changed");
  if (!enclosing_depth(v)) return recompute(n, "it is nested in a branch or a loop");
  bool const is_input = original().is_argument(array) && original().region_of(array) == function::body;
  for (delta const& p : c->deltas)
    if (p.difference == ir::nothing && ((p.list != ir::nothing && !is_input && !p.is_appended) ||
                                        p.nested != nullptr || p.valid != ir::nothing))
      return recompute(n, "the old values of its elements are not saved");

  value_id by = ir::nothing; // the difference of the sum
  for (delta const& p : c->deltas) {
    value_id difference = p.difference;
    if (p.list != ir::nothing) {
      if (difference == ir::nothing && p.is_appended) difference = p.element;
      if (difference == ir::nothing) difference = differences(array, p, at_.add(op::length, p.list));
      value_id const operands[] = {difference, literal(t, 0)};
      ir::attributes addition = ir::attributes::of(op::add);
      addition.flags = ir::attributes::started;
      difference = written().result(at_.insert(op::reduce, operands, std::array{t}, addition));
    } else if (p.is_appended) {
      difference = p.element;
    } else if (difference == ir::nothing) {
      difference = at_.add(op::sub, p.element, at(old_value(array), p.index));
    }
    by = by == ir::nothing ? difference : at_.add(op::add, by, difference);
  }
  std::uint32_t const number = save(v);
  std::vector<value_id> const element = path(layout_[number].depth);
  change& made = set_change(v);
  made.whole = true;
  note(n, step::extent::difference);
  stores_.push_back({.variable = number, .path = element, .value = by, .does = store::action::add});
  value_id const sum = read(number, element);
  if (!t.is_floating()) {
    made.new_value = at_.add(op::add, sum, by);
    return;
  }
  made.difference = by;
  made.new_value = at_.add(op::add, sum, at_.add(op::add, read(compensation(v), element), by));
}

// ---- segment trees

// A reduction combines its elements in a balanced tree: neighbours are combined in pairs, level by level; an element without a neighbour
// goes up unchanged. All nodes are saved in one array: the elements, then each level, and last the root. Without elements a zero stands
// for the root.

/// Why a reduction must be recomputed in full. Empty, if it need not be.
inline std::string_view update_writer::why_recompute_reduction(node_id n) {
  function const& f = original();
  if (f[n].attributes.is_in_lanes()) return "it combines in lanes";
  if (f[n].parent != function::body) return "it is nested in a map, a branch or a loop";
  if (is_observed_by_hooks(n)) return "hooks observe its operations";
  if (f[n].region_count != 0)
    for (value_id const v : captured(n))
      if (change_of(v) != nullptr) return "a value that its function uses changed";
  std::vector<delta> const* all = nullptr;
  for (std::uint32_t k = 0; k < f[n].result_count; ++k) {
    if (f.type_of(f.result(n, k)).rank > 0 || !f.type_of(f.result(n, k)).is_literal())
      return "its elements are not numbers";
    change const* const c = change_of(f.operand(n, k));
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

/// Recomputes the inner nodes above the changed elements.
inline void update_writer::update_path(node_id n) {
  function const& f = original();
  std::uint32_t const arrays = f[n].result_count;
  std::vector<value_id> trees, root;
  std::vector<std::uint32_t> variables;
  std::size_t delta_count = 0;
  for (std::uint32_t k = 0; k < arrays; ++k) {
    variables.push_back(saved_tree(f.result(n, k)));
    trees.push_back(read(variables.back(), {}));
    if (change const* const c = change_of(original().operand(n, k))) delta_count = c->deltas.size();
  }
  value_id const size = at_.add(op::length, old_value(original().operand(n, 0)));
  value_id const top = at_.add(op::sub, at_.add(op::length, trees[0]), literal(ir::i64, 1));
  for (value_id const t : trees) root.push_back(at(t, top));
  value_map const outer_values = captured_values(n);
  std::vector<tree_path> all;
  for (std::size_t p = 0; p < delta_count; ++p) {
    tree_path const made = emit_path(n, p, size, trees, all, outer_values);
    for (std::uint32_t k = 0; k < arrays; ++k)
      stores_.push_back({variables[k], {made.positions}, made.values[k]});
    root = made.root;
    all.push_back(made);
  }
  for (std::uint32_t k = 0; delta_count > 0 && k < arrays; ++k)
    stores_.push_back({variables[k], {top}, root[k]});
  if (original()[n].attributes.is_started()) root = combined_with_initial_values(n, size, root, outer_values);
  note(n, step::extent::path);
  for (std::uint32_t k = 0; k < arrays; ++k) set_or_guard_unchanged(n, original().result(n, k), root[k]);
}

/// The initial values combined with the root; the initial values, where there are no elements.
inline std::vector<value_id> update_writer::combined_with_initial_values(
    node_id n, value_id size, std::vector<value_id> const& root, value_map const& outer_values) {
  std::uint32_t const arrays = original()[n].result_count;
  std::vector<value_id> initial;
  std::vector<ir::type> types;
  for (std::uint32_t k = 0; k < arrays; ++k) {
    initial.push_back(new_value(original().operand(n, arrays + k)));
    types.push_back(type_of(root[k]));
  }
  region_id const here = at_.region();
  std::vector<ir::type> const no_arguments[2];
  node_id const choice =
      at_.insert(op::if_, std::array{at_.add(op::gt, size, literal(ir::i64, 0))}, types, {}, no_arguments);
  at_.to_end(written().region_at(choice, 0));
  at_.yield(combine(n, initial, root, outer_values));
  at_.to_end(written().region_at(choice, 1));
  at_.yield(initial);
  at_.to_end(here);
  std::vector<value_id> new_values;
  for (std::uint32_t k = 0; k < arrays; ++k) new_values.push_back(written().result(choice, k));
  return new_values;
}

/// The path from a changed element to the root. Where no element changed, the path from element 0, which changes no value.
inline update_writer::tree_path update_writer::emit_path(
    node_id n, std::size_t delta_index, value_id size, std::vector<value_id> const& trees,
    std::vector<tree_path> const& earlier, value_map const& outer_values) {
  std::uint32_t const arrays = original()[n].result_count;
  value_id const zero = literal(ir::i64, 0), one = literal(ir::i64, 1);
  // Leaves and inner nodes, with the changes of earlier paths.
  auto const leaf = [&](std::uint32_t k, value_id index) {
    value_id found = at(trees[k], index);
    for (tree_path const& e : earlier)
      found = at_.add(op::select, at_.add(op::eq, index, e.index), e.leaves[k], found);
    return found;
  };
  auto const element = [&](std::uint32_t k, value_id position, value_id index, value_id level) {
    value_id found = at(trees[k], position);
    for (tree_path const& e : earlier) {
      value_id const passed = at_.add(op::shift_right, e.index, level);
      found = at_.add(op::select, at_.add(op::eq, index, passed), at(e.values[k], level), found);
    }
    return found;
  };
  tree_path made;
  std::vector<value_id>& leaves = made.leaves;
  leaves.assign(arrays, ir::nothing);
  for (std::uint32_t k = 0; k < arrays; ++k) {
    change const* const c = change_of(original().operand(n, k));
    if (c == nullptr) continue;
    delta const p = c->deltas[delta_index];
    made.index = p.valid == ir::nothing ? p.index : at_.add(op::select, p.valid, p.index, zero);
    leaves[k] = p.element;
    if (p.valid != ir::nothing) leaves[k] = at_.add(op::select, p.valid, p.element, leaf(k, made.index));
  }
  for (std::uint32_t k = 0; k < arrays; ++k)
    if (leaves[k] == ir::nothing) leaves[k] = leaf(k, made.index);

  // Loop-carried: the level, the position where it begins, its width, the index in it, and the values.
  std::vector<value_id> operands{zero, zero, size, made.index};
  operands.insert(operands.end(), leaves.begin(), leaves.end());
  std::vector<ir::type> types;
  for (value_id const v : operands) types.push_back(type_of(v));
  region_id const here = at_.region();
  std::vector<std::vector<ir::type>> const arguments{types, types};
  node_id const loop = at_.insert(op::while_, operands, std::span<ir::type const>(), {}, arguments);
  region_id const test = written().region_at(loop, 0), body = written().region_at(loop, 1);
  at_.to_end(test);
  at_.yield(std::array{at_.add(op::gt, written().argument(test, 2), one)});
  at_.to_end(body);
  auto const argument = [&](std::uint32_t i) { return written().argument(body, i); };
  value_id const level = argument(0), base = argument(1), width = argument(2), index = argument(3);
  std::vector<value_id> own;
  for (std::uint32_t k = 0; k < arrays; ++k) own.push_back(argument(4 + k));
  std::vector<ir::type> const element_types(types.begin() + 4, types.end());
  std::vector<ir::type> const no_arguments[2];
  auto const choose = [&](value_id condition, auto const& yes, auto const& no) {
    region_id const outside = at_.region();
    node_id const choice = at_.insert(op::if_, std::array{condition}, element_types, {}, no_arguments);
    at_.to_end(written().region_at(choice, 0));
    at_.yield(yes());
    at_.to_end(written().region_at(choice, 1));
    at_.yield(no());
    at_.to_end(outside);
    std::vector<value_id> new_values;
    for (std::uint32_t k = 0; k < arrays; ++k) new_values.push_back(written().result(choice, k));
    return new_values;
  };
  value_id const neighbour = at_.add(op::bit_xor, index, one);
  std::vector<value_id> const above = choose(
      at_.add(op::lt, neighbour, width),
      [&] {
        std::vector<value_id> others;
        for (std::uint32_t k = 0; k < arrays; ++k)
          others.push_back(element(k, at_.add(op::add, base, neighbour), neighbour, level));
        return choose(
            at_.add(op::lt, index, neighbour), [&] { return combine(n, own, others, outer_values); },
            [&] { return combine(n, others, own, outer_values); });
      },
      [&] { return own; });
  std::vector<value_id> yielded{
      at_.add(op::add, level, one), at_.add(op::add, base, width),
      at_.add(op::shift_right, at_.add(op::add, width, one), one), at_.add(op::shift_right, index, one)};
  yielded.insert(yielded.end(), above.begin(), above.end());
  yielded.push_back(at_.add(op::add, base, index));
  yielded.insert(yielded.end(), own.begin(), own.end());
  for (std::size_t k = types.size(); k < yielded.size(); ++k) types.push_back(type_of(yielded[k]).array_of());
  at_.yield(yielded);
  at_.set_results(loop, types);
  at_.to_end(here);
  for (std::uint32_t k = 0; k < arrays; ++k) {
    made.root.push_back(written().result(loop, 4 + k));
    made.values.push_back(written().result(loop, 5 + arrays + k));
  }
  made.positions = written().result(loop, 4 + arrays);
  return made;
}

/// Applies the reduction's function to two elements.
inline std::vector<value_id> update_writer::combine(
    node_id n, std::vector<value_id> const& left, std::vector<value_id> const& right,
    value_map const& outer_values) {
  if (original()[n].region_count == 0)
    return {at_.add(original()[n].attributes.operation, left[0], right[0])};
  region_id const body = original().region_at(n, 0);
  auto const arrays = static_cast<std::uint32_t>(left.size());
  value_map here = outer_values;
  for (std::uint32_t k = 0; k < arrays; ++k) {
    here.insert_or_assign(original().argument(body, k), left[k]);
    here.insert_or_assign(original().argument(body, arrays + k), right[k]);
  }
  std::vector<saved_value> nothing_kept;
  copy_region(body, here, nothing_kept);
  std::vector<value_id> new_values;
  node_id const last = original()[body].last;
  for (std::uint32_t k = 0; k < arrays; ++k) new_values.push_back(mapped(here, original().operand(last, k)));
  return new_values;
}

/// Rebuilds the saved trees: O(elements).
inline void update_writer::store_saved_trees(node_id n) {
  std::uint32_t const arrays = original()[n].result_count;
  if (layout_.tree_of(original().result(n)) == layout::none) return;
  value_map const outer_values = captured_values(n);
  value_id const zero = literal(ir::i64, 0), one = literal(ir::i64, 1);
  value_id const size = at_.add(op::length, new_value(original().operand(n, 0)));
  // The number of nodes.
  region_id const here = at_.region();
  std::vector<ir::type> const numbers{ir::i64, ir::i64};
  std::vector<std::vector<ir::type>> const of_numbers{numbers, numbers};
  node_id const count = at_.insert(op::while_, std::array{size, one}, numbers, {}, of_numbers);
  at_.to_end(written().region_at(count, 0));
  at_.yield(std::array{at_.add(op::gt, written().argument(written().region_at(count, 0), 0), one)});
  region_id const counting = written().region_at(count, 1);
  at_.to_end(counting);
  auto const half_of = [&](value_id width) {
    return at_.add(op::shift_right, at_.add(op::add, width, one), one);
  };
  value_id const width = written().argument(counting, 0);
  at_.yield(std::array{half_of(width), at_.add(op::add, written().argument(counting, 1), width)});
  at_.to_end(here);
  value_id const inner_nodes = at_.add(op::sub, written().result(count, 1), size);

  std::vector<value_id> operands{zero, size};
  for (std::uint32_t k = 0; k < arrays; ++k) {
    value_id const array = new_value(original().operand(n, k));
    ir::type const t = type_of(array);
    node_id const room =
        at_.insert(op::fill, std::array{inner_nodes, literal(t.element_type(), 0)}, std::array{t});
    operands.push_back(at_.add(op::concat, array, written().result(room)));
  }
  std::vector<ir::type> types;
  for (value_id const v : operands) types.push_back(type_of(v));
  std::vector<std::vector<ir::type>> const arguments{types, types};
  node_id const levels = at_.insert(op::while_, operands, types, {}, arguments);
  region_id const test = written().region_at(levels, 0), body = written().region_at(levels, 1);
  at_.to_end(test);
  at_.yield(std::array{at_.add(op::gt, written().argument(test, 1), one)});
  at_.to_end(body);
  value_id const base = written().argument(body, 0), wide = written().argument(body, 1);
  value_id const half = half_of(wide), next = at_.add(op::add, base, wide);
  std::vector<value_id> arrays_and_count{half};
  std::vector<ir::type> array_types(types.begin() + 2, types.end()), body_types{ir::i64};
  for (std::uint32_t k = 0; k < arrays; ++k) arrays_and_count.push_back(written().argument(body, 2 + k));
  body_types.insert(body_types.end(), array_types.begin(), array_types.end());
  node_id const pairs = at_.insert(op::loop, arrays_and_count, array_types, {}, std::array{body_types});
  region_id const each = written().region_at(pairs, 0);
  at_.to_end(each);
  value_id const i = written().argument(each, 0), first = at_.add(op::add, i, i);
  value_id const second = at_.add(op::add, first, one);
  std::vector<value_id> left;
  std::vector<ir::type> element_types;
  for (std::uint32_t k = 0; k < arrays; ++k) {
    left.push_back(at(written().argument(each, 1 + k), at_.add(op::add, base, first)));
    element_types.push_back(type_of(left.back()));
  }
  std::vector<ir::type> const no_arguments[2];
  node_id const choice =
      at_.insert(op::if_, std::array{at_.add(op::lt, second, wide)}, element_types, {}, no_arguments);
  at_.to_end(written().region_at(choice, 0));
  std::vector<value_id> right;
  for (std::uint32_t k = 0; k < arrays; ++k)
    right.push_back(at(written().argument(each, 1 + k), at_.add(op::add, base, second)));
  at_.yield(combine(n, left, right, outer_values));
  at_.to_end(written().region_at(choice, 1));
  at_.yield(left);
  at_.to_end(each);
  std::vector<value_id> written_back;
  for (std::uint32_t k = 0; k < arrays; ++k)
    written_back.push_back(at_.add(
        op::update, written().argument(each, 1 + k), at_.add(op::add, next, i), written().result(choice, k)));
  at_.yield(written_back);
  at_.to_end(body);
  std::vector<value_id> yielded{next, half};
  for (std::uint32_t k = 0; k < arrays; ++k) yielded.push_back(written().result(pairs, k));
  at_.yield(yielded);
  at_.to_end(here);
  for (std::uint32_t k = 0; k < arrays; ++k)
    stores_.push_back({layout_.tree_of(original().result(n, k)), {}, written().result(levels, 2 + k)});
}

/// The saved tree of a reduction. It is saved from now on.
inline std::uint32_t update_writer::saved_tree(value_id v) {
  if (std::uint32_t const number = layout_.tree_of(v); number != layout::none) return number;
  must_restart_ = must_restart_ || visited_[index_of(v)] != 0;
  return layout_.add({.of = v, .type = original().type_of(v).array_of(), .what = variable::role::tree});
}

} // namespace overdub::increments
