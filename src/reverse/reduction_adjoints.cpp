#include <overdub/implementation/reverse/reduction_adjoints.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace overdub::adjoint {

void reduction_adjoints::sum(node_id n, value_id cotangent) {
  value_id const numbers = f().operand(n, 0);
  if (f()[n].attributes.is_started()) sums_.add(f().operand(n, 1), cotangent);
  if (!activity_.varies(numbers)) return;
  sums_.add(numbers, at_.add(op::fill, sums_.size_of(numbers), cotangent));
}

// The cotangent of a maximum goes to the first element that attains it, that of a minimum to the last one, as in the
// reduction tree.
void reduction_adjoints::extreme(node_id n, value_id cotangent) {
  value_id const numbers = f().operand(n, 0), found = f().result(n);
  op const operation = f()[n].attributes.operation;
  bool const takes_first = operation == op::max || operation == op::fmax;
  value_id const initial = f()[n].attributes.is_started() ? f().operand(n, 1) : value_id(ir::nothing);
  bool const initial_varies = initial != ir::nothing && activity_.varies(initial);
  if (!activity_.varies(numbers) && !initial_varies) return;
  value_id const count = sums_.size_of(numbers);
  value_id const at = build().loop(count, {index(-1)}, [&](value_id i, values const& known) {
    value_id is_it = at_.add(op::eq, at_.add(op::at, numbers, i), found);
    if (takes_first) is_it = at_.add(op::logical_and, at_.add(op::lt, known[0], index(0)), is_it);
    return at_.add(op::select, is_it, i, known[0]);
  });
  value_id wanted = at_.add(op::ge, at, index(0));
  if (initial != ir::nothing) {
    value_id is_initial = at_.add(op::eq, initial, found);
    if (takes_first)
      wanted = at_.add(op::logical_and, wanted, at_.add(op::logical_not, is_initial));
    else
      is_initial = at_.add(op::logical_and, is_initial, at_.add(op::logical_not, wanted));
    if (initial_varies)
      sums_.add(initial, at_.add(op::select, is_initial, cotangent, sums_.zero(type_of(cotangent))));
  }
  if (!activity_.varies(numbers)) return;
  sums_.scatter(numbers, [&] {
    build().if_(
        wanted, [&] { sums_.add_at(numbers, std::span<value_id const>(&at, 1), cotangent); }, [] {});
  });
}

// The tree of a reduction of `size` elements: nodes 0, 1, ... are the elements, and step k combines two nodes into node
// size + k. Each level combines neighbours; the last node of an odd level moves up unchanged.
reduction_adjoints::pairs reduction_adjoints::tree_of(value_id size, value_id steps) {
  enum : std::size_t { first, count, last, pair, made };
  // first, last: the first and the last node of the level; count: its length; pair: the next pair; made: the first node of
  // the next level
  values const initial{index(0), size, at_.add(op::sub, size, index(1)), index(0), size};
  auto const all = build().loop(steps, initial, [&](value_id step, values const& state) {
    value_id const one = index(1), two = index(2);
    value_id const smallest = at_.add(op::mul, state[pair], two),
                   next_pair = at_.add(op::add, state[pair], one);
    value_id const greatest = at_.add(op::add, smallest, one);
    value_id const left = at_.add(op::add, state[first], smallest);
    value_id const is_last = at_.add(op::eq, greatest, at_.add(op::sub, state[count], one));
    value_id const right =
        at_.add(op::select, is_last, state[last], at_.add(op::add, state[first], greatest));
    value_id const half = at_.add(op::div, state[count], two);
    value_id const ends = at_.add(op::eq, next_pair, half);
    value_id const is_odd = at_.add(op::ne, at_.add(op::rem, state[count], two), index(0));
    value_id const node = at_.add(op::add, size, step);
    auto const choose = [&](value_id next_argument, value_id otherwise) {
      return at_.add(op::select, ends, next_argument, otherwise);
    };
    return values{
        choose(state[made], state[first]),
        choose(at_.add(op::select, is_odd, at_.add(op::add, half, one), half), state[count]),
        choose(at_.add(op::select, is_odd, state[last], node), state[last]),
        choose(index(0), next_pair),
        choose(at_.add(op::add, node, one), state[made]),
        left,
        right};
  });
  return {all.results[5], all.results[6]};
}

// The reduction's combination of two elements.
reduction_adjoints::values reduction_adjoints::combined(node_id n, values const& left, values const& right) {
  if (f()[n].region_count == 0) {
    value_id const operands[] = {left[0], right[0]};
    ir::type const t = type_of(left[0]);
    node_id const made = at_.insert(f()[n].attributes.operation, operands, std::span<ir::type const>(&t, 1));
    return {varying(f().result(made), activity_.varies(f().result(n)))};
  }
  region_id const body = f().region_at(n, 0);
  clone_map map(activity_);
  auto const size = static_cast<std::uint32_t>(left.size());
  for (std::uint32_t i = 0; i < size; ++i) {
    map.stand_in(f().argument(body, i), left[i]);
    map.stand_in(f().argument(body, size + i), right[i]);
  }
  primal_copy const r = copy(body, map);
  values all;
  for (value_id const v : f().operands_of(r.end())) all.push_back(v);
  at_.erase(r.end());
  return all;
}

void reduction_adjoints::reduce(node_id n, values const& cotangents) {
  ir::attributes const says = f()[n].attributes;
  auto const size = f()[n].result_count;
  if (says.operation == op::add && f()[n].region_count == 0 && type_of(f().operand(n, 0)).rank == 1)
    return sum(n, cotangents[0]);
  bool const is_extreme = says.operation == op::min || says.operation == op::max ||
                          says.operation == op::fmin || says.operation == op::fmax;
  if (is_extreme && !says.is_in_order() && f()[n].region_count == 0 && type_of(f().operand(n, 0)).rank == 1)
    return extreme(n, cotangents[0]);
  bool is_of_numbers = true;
  for (std::uint32_t i = 0; i < size; ++i)
    is_of_numbers = is_of_numbers && type_of(f().operand(n, i)).rank == 1;
  if (says.is_in_lanes() || says.is_in_order() || !is_of_numbers)
    refuse(
        n, "only a reduction of numbers, in the order of a tree, has a derivative; this one is of rows, or "
           "combines in lanes or in order");
  node_id const before = f()[at_.region()].last;
  std::vector<bool> varies;
  values arrays, elements, initial;
  for (std::uint32_t i = 0; i < size; ++i) {
    arrays.push_back(f().operand(n, i));
    varies.push_back(activity_.varies(f().result(n, i)));
    if (says.is_started()) initial.push_back(f().operand(n, size + i));
  }
  // The nodes of the tree: the elements, then the inner nodes.
  value_id const count = sums_.size_of(arrays[0]);
  value_id const steps = at_.add(op::max, at_.add(op::sub, count, index(1)), index(0));
  pairs const tree = tree_of(count, steps);
  values leaves;
  for (std::uint32_t i = 0; i < size; ++i) {
    ir::type const t = type_of(arrays[i]);
    value_id const made = at_.add(op::fill, steps, sums_.zero(t.element_type()));
    leaves.push_back(varying(at_.add(op::concat, arrays[i], made), varies[i]));
  }
  auto const filled = build().loop(steps, leaves, [&](value_id step, values const& all) {
    value_id const l = at_.add(op::at, tree.left, step), m = at_.add(op::at, tree.right, step);
    value_id const node = at_.add(op::add, count, step);
    values left, right, yields;
    for (std::uint32_t i = 0; i < size; ++i) {
      value_id const nodes = varying(all[i], varies[i]);
      left.push_back(varying(at_.add(op::at, nodes, l), varies[i]));
      right.push_back(varying(at_.add(op::at, nodes, m), varies[i]));
    }
    values const both = combined(n, left, right);
    for (std::uint32_t i = 0; i < size; ++i)
      yields.push_back(varying(at_.add(op::update, all[i], node, both[i]), varies[i]));
    return yields;
  });
  for (std::uint32_t i = 0; i < size; ++i) (void)varying(filled.results[i], varies[i]);
  value_id const root = at_.add(op::sub, at_.add(op::add, count, steps), index(1));
  values made;
  auto const at_root = [&] {
    values all;
    for (std::uint32_t i = 0; i < size; ++i)
      all.push_back(varying(at_.add(op::at, filled.results[i], root), varies[i]));
    return all;
  };
  if (says.is_started()) { // the initial values are the first element; without elements, the result
    value_id const is_empty = at_.add(op::eq, count, index(0));
    auto const started = build().if_(
        is_empty, [&] { return initial; }, [&] { return combined(n, initial, at_root()); });
    made = started.results;
    for (std::uint32_t i = 0; i < size; ++i) (void)varying(made[i], varies[i]);
  } else {
    made = at_root();
  }
  std::vector<node_id> nodes;
  for (node_id m = before == ir::nothing ? f()[at_.region()].first : f()[before].next; m != ir::nothing;
       m = f()[m].next)
    nodes.push_back(m);
  for (std::uint32_t i = 0; i < size; ++i)
    if (cotangents[i] != ir::nothing) sums_.add(made[i], cotangents[i]);
  reverse_(nodes);
}

} // namespace overdub::adjoint
