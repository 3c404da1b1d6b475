#include <overdub/implementation/reverse/residual_saver.hpp>
#include <overdub/implementation/reverse/residuals.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace overdub::adjoint {

// Moves scalar operations of the adjoint into the primal copy if all operands are values of the copy, such as cos(x) in the adjoint of
// sin(x). Their results then are candidates for residuals, and one saved factor may replace several saved operands.
void residual_saver::find_factors(primal_copy& r) {
  // The values that the copy uses or computes; true: it computes the value, or has it as an argument.
  value_map<bool> known;
  auto const uses = [&](node_id n) {
    for (value_id const v : f().operands_of(n)) known.try_emplace(v, false);
  };
  if (r.index != ir::nothing) known.insert_or_assign(r.index, false);
  for (node_id const n : r.nodes(f())) {
    uses(n);
    for (region_id const inside : f().regions_of(n)) ir::walk(f(), inside, uses);
  }
  for (value_id const v : r.arguments) known.insert_or_assign(v, true);
  for (node_id const n : r.nodes(f()))
    for (value_id const v : f().results_of(n)) known.insert_or_assign(v, true);
  std::vector<node_id> found;
  for (node_id n = f()[r.end()].next; n != ir::nothing; n = f()[n].next) {
    if (!ir::is_elementwise(f()[n].code) || type_of(f().result(n)).rank > 0 ||
        !callees_.effects().of(f(), n).can_move())
      continue;
    bool is_of_copy = true, is_made = false;
    for (value_id const v : f().operands_of(n)) {
      auto const at = known.find(v);
      is_of_copy = is_of_copy && (f().is_literal(v) || at != known.end());
      is_made = is_made || (at != known.end() && at->second);
    }
    if (!is_of_copy || !is_made) continue;
    known.insert_or_assign(f().result(n), true);
    found.push_back(n);
  }
  ir::cursor const back = at_;
  clone_map map(activity_);
  for (node_id const n : found) {
    at_.to_before(r.end());
    node_id const moved = at_.clone(at_.id(), n, map);
    if (r.factors == ir::nothing) r.factors = moved;
    at_.substitute(f().result(n), f().result(moved));
    at_.erase(n);
  }
  at_ = back;
}

// Replaces `first` by an operation that also returns residuals: those values of the primal copies that are cheaper to save than to
// recompute. Its adjoint `second` must be complete, since the residuals depend on the values that it uses. Returns the replacement of
// `second`. `second` is `nothing` for an operation that runs its region once.
node_id residual_saver::save(node_id first, node_id second, std::vector<primal_copy>& primal_copies) {
  op const code = f()[first].code;
  bool const is_loop = ir::carries_values(code), is_stacked = ir::repeats_regions(code);
  bool const counts = ir::is_conditional_loop(code); // such a loop saves its trip count
  bool const is_reversed = ir::is_counted_loop(code) && f()[first].attributes.is_reversed();
  ir::cursor const back = at_;
  std::vector<values> saved;
  // For each copy, the residuals that are results of `first` already, with the indices of these results.
  std::vector<std::vector<std::pair<value_id, std::uint32_t>>> returned;
  std::vector<std::vector<shifted_value>> shifted;
  values only_shifted; // next states, which are saved only because they are the states of the next iteration
  bool saves = counts;
  std::vector<std::string> texts, restored;
  if (counts) texts.push_back("its trip count");
  for (primal_copy& r : primal_copies) find_factors(r);
  if (is_loop) arrays_.restore_in_loop(first, primal_copies.front());
  function::node const original = f()[first];
  for (primal_copy& r : primal_copies) {
    residuals const chosen(f(), callees_, r, is_stacked, is_loop, r.versions);
    if (!chosen.is_possible())
      refuse(
          first, "the backward pass needs a value that can be neither saved nor recomputed: it comes from "
                 "outside of the program, or from a call with side effects");
    saved.push_back(chosen.saved());
    for (value_id const v : saved.back()) texts.push_back(described(r, v));
    for (restored_array const& a : r.restored)
      if (a.is_restored) restored.push_back(described(r, r.arguments[a.carried]));
    // If only the initial state of a loop-carried array has another shape, the states cannot be stacked. The next states can, and are saved
    // instead.
    shifted.emplace_back();
    values more;
    std::erase_if(saved.back(), [&](value_id v) {
      if (chosen.is_ragged(v)) r.ragged.push_back(v);
      if (!chosen.is_shifted(v)) return false;
      auto const i = static_cast<std::uint32_t>(
          std::find(r.arguments.begin(), r.arguments.end(), v) - r.arguments.begin());
      value_id const next = f().operand(r.end(), i);
      shifted.back().push_back({v, next, flow(first).initial(i)});
      if (f().region_of(next) == r.in()) more.push_back(next);
      return true;
    });
    for (value_id const v : more)
      if (std::find(saved.back().begin(), saved.back().end(), v) == saved.back().end()) {
        saved.back().push_back(v);
        only_shifted.push_back(v);
      }
    // A value that is a result of the operation needs no second copy.
    returned.emplace_back();
    std::erase_if(saved.back(), [&](value_id v) {
      auto const result = result_equal_to(first, r, v);
      if (result) returned.back().emplace_back(v, *result);
      return result.has_value();
    });
    saves = saves || !saved.back().empty();
  }
  // rebuild() returns the residuals in the order of the copies.
  rebuilt const made = saves ? rebuild(first, primal_copies, saved) : rebuilt{results_of(first), {}, {}};
  std::size_t next = 0;
  if (counts) at_.set_operand(second, 0, made.trip_count);
  for (std::size_t i = 0; i < primal_copies.size(); ++i) {
    auto const take = [&](value_id v, stored_value const& from) {
      value_id stored = from.array;
      for (shifted_value const& s : shifted[i])
        if (s.next == v) at_.substitute(s.value, previous_state(s, stored, second, is_reversed));
      if (std::find(only_shifted.begin(), only_shifted.end(), v) != only_shifted.end()) return;
      if (is_stacked) {
        at_.to_start(primal_copies[i].in());
        value_id const iteration = f().argument(primal_copies[i].in(), 0);
        values operands{stored, iteration};
        if (from.start != ir::nothing)
          operands = {
              stored, at_.add(op::at, from.start, iteration), at_.add(op::at, from.length, iteration)};
        stored = insert(from.start != ir::nothing ? op::slice : op::at, operands, type_of(v));
      }
      at_.substitute(v, stored);
    };
    for (shifted_value const& s : shifted[i])
      if (f().region_of(s.next) != primal_copies[i].in())
        at_.substitute(s.value, previous_state(s, ir::nothing, second, is_reversed));
    for (auto const& [v, result] : returned[i]) take(v, {made.results[result]});
    for (value_id const v : saved[i]) take(v, made.residuals[next++]);
  }
  std::size_t again = 0;
  for (primal_copy const& r : primal_copies) again += sweep(r);
  note_residuals(original, is_stacked, texts, again, restored);
  if (second != ir::nothing &&
      (!primal_copies.front().arguments.empty() || !primal_copies.front().restored.empty()))
    second = without_arguments(second, primal_copies.front());
  at_ = back;
  return second;
}

// Emits the loop-carried value at the start of an iteration: the initial value in the first iteration, and otherwise the saved next state
// of the preceding iteration.
value_id
residual_saver::previous_state(shifted_value const& s, value_id stored, node_id second, bool is_reversed) {
  region_id const r = flow(second).body();
  value_id const iteration = f().argument(r, 0);
  at_.to_start(r);
  value_id const first = is_reversed ? at_.add(op::sub, f().operand(second, 0), index(1)) : index(0);
  value_id const is_first = at_.add(op::eq, iteration, first);
  return build().if_(
      is_first, [&] { return s.initial; },
      [&] {
        if (stored == ir::nothing) return s.next; // loop-invariant: defined outside of the loop
        value_id const before = at_.add(is_reversed ? op::add : op::sub, iteration, index(1));
        return insert(op::at, {stored, before}, type_of(s.value));
      });
}

// The index of the result of `first` that is equal to the value v of its copy, or that stacks v over the iterations.
std::optional<std::uint32_t>
residual_saver::result_equal_to(node_id first, primal_copy const& r, value_id v) const {
  ir::region_flow const of(f(), first);
  std::uint32_t i = 0;
  for (value_id const yielded : f().operands_of(r.end())) {
    if (i >= of.carried() && yielded == v) return of.first_yielded() + i;
    ++i;
  }
  return {};
}

// Emits an append to a growing array, as std::vector does it: `used` elements of `all` are in use, and its capacity doubles when it is
// full. Returns the array, its number of elements in use, and the number of appended elements. Amortised O(appended elements).
residual_saver::values residual_saver::append(value_id all, value_id used, value_id more) {
  ir::type const t = type_of(all);
  value_id const count = at_.add(op::length, more);
  value_id const now_used = at_.add(op::add, used, count);
  value_id const room = at_.add(op::length, all);
  value_id const is_full = at_.add(op::gt, now_used, room);
  value_id const grown = build().if_(
      is_full,
      [&] {
        value_id const new_room = at_.add(op::max, room, count);
        return at_.add(op::concat, all, at_.add(op::fill, new_room, zero(t.element_type())));
      },
      [&] { return all; });
  value_id const written = build().loop(count, {grown}, [&](value_id i, values const& array) {
    value_id const element = at_.add(op::at, more, i);
    return at_.add(op::update, array[0], at_.add(op::add, used, i), element);
  });
  return {written, now_used, count};
}

// Replaces an operation by one that also returns residuals.
residual_saver::rebuilt residual_saver::rebuild(
    node_id first, std::vector<primal_copy> const& primal_copies, std::vector<values> const& saved) {
  function::node const old = f()[first];
  bool const counts = ir::is_conditional_loop(old.code);
  std::uint32_t const carried = flow(first).carried();
  auto const is_ragged = [&](std::size_t k, value_id v) {
    return std::find(primal_copies[k].ragged.begin(), primal_copies[k].ragged.end(), v) !=
           primal_copies[k].ragged.end();
  };

  ir::cursor const back = at_;
  at_.to_before(first);
  values operands;
  for (value_id const v : f().operands_of(first)) operands.push_back(v);
  // Additional loop-carried values: the iteration count of a while; the elements of ragged residuals, and their number.
  values more;
  if (counts) more.push_back(index(0));
  for (std::size_t k = 0; k < saved.size(); ++k)
    for (value_id const v : saved[k])
      if (is_ragged(k, v)) {
        more.push_back(at_.add(op::fill, index(0), zero(type_of(v).element_type())));
        more.push_back(index(0));
      }
  operands.insert(operands.end(), more.begin(), more.end());
  std::vector<ir::type> arguments;
  for (value_id const v : f().arguments_of(flow(first).body())) arguments.push_back(type_of(v));
  for (value_id const v : more) arguments.push_back(type_of(v));
  node_id const made = build().open(old.code, operands, old.region_count, arguments, old.attributes);
  at_.set_place_of(made, old.place);

  auto const write_region = [&](region_id from, region_id to) {
    std::size_t const k = static_cast<std::size_t>(
        std::find_if(
            primal_copies.begin(), primal_copies.end(),
            [&](primal_copy const& r) { return r.of() == from; }) -
        primal_copies.begin());
    clone_map map(activity_);
    for (std::uint32_t j = 0; j < f().arguments_of(from).size(); ++j)
      map.insert_or_assign(f().argument(from, j), f().argument(to, j));
    if (k == primal_copies.size()) return at_.clone_contents(at_.id(), from, map);
    primal_copy const& r = primal_copies[k];
    if (r.index != ir::nothing) map.insert_or_assign(r.index, f().argument(to, 0));
    for (std::uint32_t j = 0; j < r.arguments.size(); ++j)
      map.insert_or_assign(r.arguments[j], flow(made).argument(j));
    std::vector<node_id> factors;
    for (node_id const n : r.nodes(f())) {
      node_id const copied = at_.clone(at_.id(), n, map);
      if (n == r.factors || !factors.empty()) factors.push_back(copied);
    }
    values yields, next;
    for (value_id const v : f().operands_of(r.end())) yields.push_back(map.of(v));
    std::uint32_t argument = carried; // the next additional loop-carried value
    if (counts) next.push_back(at_.add(op::add, flow(made).argument(argument++), index(1)));
    for (std::size_t other = 0; other < saved.size(); ++other)
      for (value_id const v : saved[other]) {
        if (other != k) {
          yields.push_back(placeholder_of(type_of(v))); // the residuals of the other branch
        } else if (is_ragged(k, v)) {
          value_id const all = flow(made).argument(argument++), used = flow(made).argument(argument++);
          values const longer = append(all, used, map.of(v));
          next.insert(next.end(), longer.begin(), longer.begin() + 2);
          yields.push_back(used);
          yields.push_back(longer[2]);
        } else {
          yields.push_back(map.of(v));
        }
      }
    yields.insert(yields.begin() + carried, next.begin(), next.end());
    at_.yield(yields);
    erase_unused(factors);
  };
  for (std::uint32_t i = 0; i < old.region_count; ++i)
    build().in_region(made, i, [&] { write_region(f().region_at(first, i), at_.region()); });
  values const results = build().close(made).results;
  at_ = back;

  rebuilt rewritten;
  std::uint32_t of_more = carried, next = carried + static_cast<std::uint32_t>(more.size());
  for (std::uint32_t i = 0; i < old.result_count; ++i)
    rewritten.results.push_back(results[i < carried ? i : next++]);
  if (counts) rewritten.trip_count = results[of_more++];
  for (std::size_t k = 0; k < saved.size(); ++k)
    for (value_id const v : saved[k]) {
      if (is_ragged(k, v)) {
        rewritten.residuals.push_back({results[of_more], results[next], results[next + 1]});
        of_more += 2;
        next += 2;
      } else {
        rewritten.residuals.push_back({results[next++]});
      }
    }
  for (std::uint32_t i = 0; i < old.result_count; ++i) {
    activity_.set(rewritten.results[i], activity_.of(f().result(first, i)));
    arrays_.replace(f().result(first, i), rewritten.results[i]);
  }
  at_.replace(first, rewritten.results);
  return rewritten;
}

bool residual_saver::has_signature(function_id of, ir::signature const& s) const {
  std::vector<ir::type> parameters;
  for (value_id const v : p_[of].parameters()) parameters.push_back(p_[of].type_of(v));
  return parameters == s.parameters && p_[of].results == s.results;
}

// A value of this type that is never read: a branch yields it for each residual of the other branch.
value_id residual_saver::placeholder_of(ir::type t) {
  if (t.rank > 0) return insert(op::array, {}, t);
  if (!t.is_function()) return zero(t);
  ir::signature const s = p_.signature_of(t);
  std::string name("nothing");
  name += std::to_string(t.index);
  std::optional<function_id> known = p_.find(name);
  while (known && !has_signature(*known, s)) known = p_.find(name += '\'');
  if (!known) {
    known = p_.add(name, s.parameters);
    p_[*known].results = s.results;
    ir::cursor in(p_, *known, function::body);
    std::swap(in, at_);
    values results;
    for (ir::type const r : s.results) results.push_back(placeholder_of(r));
    at_.yield(results);
    std::swap(in, at_);
  }
  return f().result(
      at_.insert(op::closure, {}, std::span<ir::type const>(&t, 1), ir::attributes::of(*known)));
}

// Removes unused loop-carried values from an adjoint loop: arrays that array_restorer reserved and does not restore.
node_id residual_saver::without_arguments(node_id second, primal_copy const& r) {
  region_id const from = flow(second).body();
  std::uint32_t const carried = flow(second).carried();
  std::vector<std::uint8_t> is_dropped(f()[second].result_count);
  for (restored_array const& a : r.restored)
    if (!a.is_restored) is_dropped[*flow(second).carried_index(a.newest)] = 1;
  values initial;
  for (std::uint32_t i = 0; i < carried; ++i)
    if (is_dropped[i] == 0) initial.push_back(flow(second).initial(i));
  auto const write_body = [&](value_id iteration, values const& arguments) {
    values in_place{iteration}, yields;
    std::size_t next = 0;
    for (std::uint32_t i = 0; i < carried; ++i)
      in_place.push_back(is_dropped[i] == 0 ? arguments[next++] : flow(second).initial(i));
    values const all = at_.splice(from, in_place);
    for (std::size_t i = 0; i < all.size(); ++i)
      if (is_dropped[i] == 0) yields.push_back(all[i]);
    return yields;
  };
  at_.to_before(second);
  auto const made = build().loop(f().operand(second, 0), initial, write_body, f()[second].attributes);
  values replaced;
  std::size_t next = 0;
  for (std::uint32_t i = 0; i < is_dropped.size(); ++i)
    replaced.push_back(is_dropped[i] == 0 ? made.results[next++] : f().result(second, i));
  at_.replace(second, replaced);
  return made.node;
}

// The type of a value, and the operation that computes it, for reports of residuals.
std::string residual_saver::described(primal_copy const& r, value_id v) const {
  std::string text = ir::text_of(p_, type_of(v));
  if (std::find(r.arguments.begin(), r.arguments.end(), v) != r.arguments.end())
    return text + " (loop-carried)";
  if (f().is_result(v)) text.append(" of ").append(ir::name_of(f()[f().node_of(v)].code));
  return text;
}

} // namespace overdub::adjoint
