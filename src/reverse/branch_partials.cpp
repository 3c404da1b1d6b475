#include <overdub/implementation/reverse/branch_partials.hpp>
#include <overdub/implementation/reverse/captures.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace overdub::adjoint {

// The values that an iteration of a loop computes from its loop-carried values. O(operations inside).
ir::value_set branch_partials::recurrent_in(primal_copy const& r) const {
  ir::value_set known;
  for (value_id const v : r.arguments) known.insert(v);
  for (node_id const n : r.nodes(f())) {
    bool depends = false;
    auto const look = [&](node_id m) {
      for (value_id const v : f().operands_of(m)) depends = depends || known.contains(v);
    };
    look(n);
    for (region_id const inside : f().regions_of(n)) ir::walk(f(), inside, look);
    if (depends)
      for (value_id const v : f().results_of(n)) known.insert(v);
  }
  return known;
}

// Whether the adjoint of an `if` multiplies by partial derivatives: it is part of a recurrence, has one varied result, a
// number, and computes it from at most two varied numbers by element-wise operations and branches of one type. Branches
// nested in such a branch are treated like it.
bool branch_partials::applies_to(node_id n) const {
  constexpr std::size_t maximum_inputs = 2;
  if (in_partials_) return true;
  auto const varies = [&](value_id v) { return activity_.varies(v); };
  auto const results = f().results_of(n);
  auto const first = std::find_if(results.begin(), results.end(), varies);
  if (first == results.end() || !recurrent_.contains(*first)) return false;
  ir::type const t = type_of(*first);
  auto const has_one_varied = [&](node_id m) {
    auto const all = f().results_of(m);
    return std::all_of(all.begin(), all.end(), [&](value_id v) { return !varies(v) || type_of(v) == t; }) &&
           std::count_if(all.begin(), all.end(), varies) == 1;
  };
  bool is_small = t.rank == 0 && has_one_varied(n);
  auto const look = [&](node_id m) {
    auto const made = f().results_of(m);
    auto const taken = f().operands_of(m);
    if (std::any_of(made.begin(), made.end(), varies))
      is_small = is_small && (ir::is_elementwise(f()[m].code) || ir::selects_region(f()[m].code)) &&
                 has_one_varied(m);
    else if (f()[m].code == op::add_to)
      is_small = is_small && std::none_of(taken.begin(), taken.end(), varies);
  };
  for (region_id const r : f().regions_of(n))
    if (is_small) ir::walk(f(), r, look);
  return is_small && numbers_captured(n, t).size() <= maximum_inputs;
}

// The varied numbers of a type that the regions of an operation capture.
branch_partials::values branch_partials::numbers_captured(node_id n, ir::type t) const {
  values all = varied_captures(f(), activity_, n);
  std::erase_if(all, [&](value_id v) { return type_of(v) != t; });
  return all;
}

// Computes the partial derivatives of a result at the end of a branch: the input cotangents for a result cotangent of 1.
branch_partials::partials
branch_partials::write_partials(region_id r, std::uint32_t result, values const& inputs) {
  partials made;
  node_id const end = f().yield_of(r);
  ir::cursor const back = at_;
  at_.to_end(r);
  sums_.enter();
  sums_.collect(inputs);
  std::vector<node_id> nodes;
  for (node_id const m : f().nodes_of(r))
    if (m != end) nodes.push_back(m);
  value_id const of = f().operand(end, result);
  sums_.add(of, type_of(of) == ir::f32 ? at_.literal(1.0f) : at_.literal(1.0));
  bool const was_inside = std::exchange(in_partials_, true);
  reverse_(nodes);
  in_partials_ = was_inside;
  for (value_id const v : inputs) made.of.push_back(sums_.take(v));
  sums_.leave();
  for (node_id m = f()[end].next; m != ir::nothing; m = f()[m].next)
    made.selects = made.selects || f()[m].code == op::select;
  at_.move(end);
  at_ = back;
  return made;
}

// Replaces an `if` by one that also returns these values of its branches.
node_id branch_partials::with_more_results(node_id n, values const (&more)[2]) {
  ir::cursor const back = at_;
  at_.to_before(n);
  auto const branch = [&](std::uint32_t i) {
    return [&, i] {
      values yields = at_.splice(f().region_at(n, i), {});
      yields.insert(yields.end(), more[i].begin(), more[i].end());
      return yields;
    };
  };
  auto const made = build().if_(f().operand(n, 0), branch(0), branch(1));
  at_.set_place_of(made.node, f()[n].place);
  values in_place;
  for (std::uint32_t i = 0; i < f()[n].result_count; ++i) {
    in_place.push_back(made.results[i]);
    activity_.set(in_place.back(), activity_.of(f().result(n, i)));
    arrays_.replace(f().result(n, i), in_place.back());
  }
  at_.replace(n, in_place);
  at_ = back;
  return made.node;
}

void branch_partials::write(node_id n, values const& cotangents) {
  auto const result = static_cast<std::uint32_t>(
      std::find_if(cotangents.begin(), cotangents.end(), [](value_id v) { return v != ir::nothing; }) -
      cotangents.begin());
  value_id const cotangent = cotangents[result];
  value_id const zero = sums_.zero(type_of(cotangent));
  values const inputs = numbers_captured(n, type_of(cotangent));
  partials const branches[] = {
      write_partials(f().region_at(n, 0), result, inputs),
      write_partials(f().region_at(n, 1), result, inputs)};

  values more[2]; // partial derivatives that differ between the branches
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (branches[0].of[i] != branches[1].of[i])
      for (std::uint32_t k = 0; k < 2; ++k)
        more[k].push_back(branches[k].of[i] == ir::nothing ? zero : branches[k].of[i]);
  if (!in_partials_) note_partials(n, more[0].size());
  std::uint32_t next = f()[n].result_count;
  node_id const made = with_more_results(n, more);

  for (std::size_t i = 0; i < inputs.size(); ++i) {
    value_id const a = branches[0].of[i], b = branches[1].of[i];
    if (a == ir::nothing && b == ir::nothing) continue;
    value_id const partial = a == b ? a : f().result(made, next++);
    value_id part = at_.add(op::mul, cotangent, partial);
    // An input that a branch does not depend on, or does not select, gets 0 even of an infinite cotangent, where 0 * inf
    // would be NaN. A finite cotangent is multiplied without a test, so that the product can be differentiated again.
    bool const may_be_untouched =
        a == ir::nothing || b == ir::nothing || branches[0].selects || branches[1].selects;
    if (may_be_untouched && (in_partials_ || !f().is_literal(cotangent))) {
      value_id const is_infinite = at_.add(op::logical_not, at_.add(op::isfinite, cotangent));
      value_id const hidden = at_.add(op::logical_and, at_.add(op::eq, partial, zero), is_infinite);
      part = at_.add(op::select, hidden, zero, part);
    }
    sums_.add(inputs[i], part);
  }
}

// Notes that a branch computes its partial derivatives in the forward pass.
void branch_partials::note_partials(node_id n, std::size_t count) {
  p_.notes.push_back(
      {std::string(1, '@').append(p_.name_of(of_)) + ": if computes " + std::to_string(count) +
           " partial derivatives in the forward pass",
       f()[n].place});
}

} // namespace overdub::adjoint
