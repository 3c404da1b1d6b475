#include <overdub/implementation/ir/maker.hpp>
#include <overdub/implementation/reverse/captures.hpp>
#include <overdub/implementation/reverse/writer.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace overdub::adjoint {

// ---- selection

writer::values writer::cotangents_of(node_id n) {
  values all;
  for (value_id const v : f().results_of(n))
    all.push_back(activity_.varies(v) ? sums_.take(v) : value_id(ir::nothing));
  return all;
}

void writer::back(node_id n) {
  op const code = f()[n].code;
  if (code == op::add_to) return add_to(n);
  if (code == op::at && type_of(f().result(n)).rank > 0) return data_.row(n);
  values const cotangents = cotangents_of(n);
  bool const has_cotangent =
      std::any_of(cotangents.begin(), cotangents.end(), [](value_id v) { return v != ir::nothing; });
  if (!has_cotangent && !adds(n)) return;
  at_.set_place(f()[n].place);
  for (value_id const v :
       f().operands_of(n)) // operations with regions propagate it to the operations in the regions
    if (f()[n].region_count == 0 && activity_.of(v) == activity_state::hides)
      refuse(
          n,
          "it accepts a function value, or an object of the host, that holds values which depend on the "
          "inputs of the derivative, and reverse mode does not follow these; pass the values as arguments");
  if (f()[n].region_count > 0) sums_.emit_pending(results_of(n));
  if (ir::is_elementwise(code)) {
    if (code == op::select && type_of(f().result(n)).rank > 0) return data_.select_arrays(n, cotangents[0]);
    return data_.elementwise(n, cotangents[0]);
  }
  if (data_.data(n, cotangents.empty() ? value_id(ir::nothing) : cotangents[0])) return;
  switch (code) {
  case op::if_:
    return partials_.applies_to(n) ? partials_.write(n, cotangents) : if_(n, cotangents);
  case op::loop:
  case op::while_:
    return loop(n, cotangents);
  case op::map:
    return map(n, cotangents);
  case op::reduce:
    return reductions_.reduce(n, cotangents);
  case op::accumulate:
    return accumulate(n, cotangents);
  case op::protect:
    return once(n, cotangents, 0);
  case op::call: {
    ir::derivative const& says = p_[f()[n].attributes.callee()].derivative;
    if (says.how == ir::derivative::by::refused)
      refuse(
          n, "@" + std::string(p_.name_of(f()[n].attributes.callee())) +
                 " cannot be differentiated: " + std::string(p_.text(says.why)));
    return call(n, cotangents);
  }
  case op::host:
    refuse(
        n, "the host's function \"" + std::string(p_.text(f()[n].attributes.text())) +
               "\" has no derivative, and its result depends on the inputs of the derivative");
  case op::sample:
    refuse(n, "a random choice has no derivative; observe the choice, and differentiate the log density");
  default:
    refuse(n, "it has no derivative, and its result depends on the inputs of the derivative");
  }
}

// ---- control flow: the adjoint of a loop iterates in the opposite direction, those of branches and maps do not

// Which loop-carried values are useful: a result with a cotangent depends on them (Tapenade's term).
std::vector<std::uint8_t> writer::useful_states(node_id n, values const& cotangents) const {
  ir::region_flow const of(f(), n);
  std::vector<std::uint8_t> useful(of.carried());
  ir::value_set known;
  values open;
  auto const push = [&](value_id v) {
    if (activity_.varies(v) && known.insert(v).second) open.push_back(v);
  };
  auto const push_yield = [&](std::uint32_t i) {
    if (i < of.carried()) useful[i] = activity_.varies(of.argument(i));
    push(of.yielded(i));
  };
  for (std::uint32_t i = 0; i < cotangents.size(); ++i)
    if (cotangents[i] != ir::nothing) push_yield(i);
  ir::walk(f(), of.body(), [&](node_id m) { // contributions to accumulators of enclosing operations
    if (f()[m].code == op::add_to && accumulated_.contains(f().operand(m, 0)))
      for (value_id const v : f().operands_of(m)) push(v);
  });
  while (!open.empty()) {
    value_id const v = open.back();
    open.pop_back();
    if (f().is_argument(v)) {
      node_id const owner = ir::owner_of(f(), v);
      if (auto const i = of.carried_index(v)) {
        if (useful[*i] == 0) push_yield(*i);
        useful[*i] = 1;
      } else if (owner != ir::nothing && ir::is_within(f(), owner, of.body())) {
        for (value_id const operand : f().operands_of(owner)) push(operand);
      }
      continue;
    }
    if (!f().is_result(v) || !ir::is_within(f(), f().node_of(v), of.body())) continue;
    node_id const m = f().node_of(v);
    for (value_id const operand : f().operands_of(m)) push(operand);
    for (region_id const r : f().regions_of(m))
      ir::walk(f(), r, [&](node_id inner) {
        if (f()[inner].code == op::yield || f()[inner].code == op::add_to)
          for (value_id const operand : f().operands_of(inner)) push(operand);
      });
  }
  return useful;
}

void writer::if_(node_id n, values const& cotangents) {
  // An array that both branches return as a whole gets its cotangent as a whole, too. Cotangents of other arrays are
  // accumulated.
  values given, accumulated;
  std::vector<std::size_t> restored; // numbers of versions
  auto const in_first = used_whole(f(), f().region_at(n, 0));
  auto const in_second = used_whole(f(), f().region_at(n, 1));
  for (value_id const v : varied_captures(f(), activity_, n)) {
    bool const is_whole = in_first.contains(v) && in_second.contains(v);
    if (type_of(v).rank == 0 || is_whole || sums_.is_accumulated(v))
      given.push_back(v);
    else
      accumulated.push_back(v);
  }
  values const sums = sums_.in_accumulators(accumulated, [&] {
    node_id const second = build().open(op::if_, {f().operand(n, 0)}, 2);
    std::vector<primal_copy> primal_copies;
    values parts[2];
    for (std::uint32_t branch = 0; branch < 2; ++branch)
      build().in_region(second, branch, [&] {
        sums_.enter();
        clone_map map(activity_);
        primal_copies.push_back(copy(f().region_at(n, branch), map));
        for (std::uint32_t i = 0; i < cotangents.size(); ++i)
          if (cotangents[i] != ir::nothing)
            sums_.add(f().operand(primal_copies.back().end(), i), cotangents[i]);
        reverse(primal_copies.back().nodes(f()));
        for (value_id const v : given) parts[branch].push_back(sums_.take(v));
        sums_.leave();
        return values{}; // below, the region gets more values
      });
    values with_cotangent, oldest[2];
    for (std::uint32_t const i : arrays_.restore_in_branches(n, primal_copies, oldest))
      restored.push_back(arrays_.add(f().result(n, i)));
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (parts[0][i] == ir::nothing && parts[1][i] == ir::nothing) continue;
      with_cotangent.push_back(given[i]);
      for (std::uint32_t branch = 0; branch < 2; ++branch)
        build().in_region(second, branch, [&] {
          return parts[branch][i] == ir::nothing ? sums_.zeros_like(given[i]) : parts[branch][i];
        });
    }
    for (std::uint32_t branch = 0; branch < 2; ++branch)
      build().in_region(second, branch, [&] { return oldest[branch]; });
    values const all = build().close(second).results;
    (void)residuals_.save(n, second, primal_copies);
    given = std::move(with_cotangent);
    return all;
  });
  for (std::size_t i = 0; i < given.size(); ++i) sums_.add(given[i], sums[i]);
  for (std::size_t i = 0; i < restored.size(); ++i) arrays_.set_before(restored[i], sums[given.size() + i]);
}

// Of `loop` and `while`. The adjoint loop carries the cotangents of the loop-carried values, and the sums of the cotangents
// of captured numbers.
void writer::loop(node_id n, values const& cotangents) {
  bool const checkpointed = checkpoints_.is_checkpointed(n);
  if (checkpointed && checkpoints_.replaces_elements(n)) n = checkpoints_.in_blocks(n);
  bool const counted = ir::is_counted(f()[n].code);
  std::uint32_t const carried = flow(n).carried();
  std::vector<std::uint8_t> const useful = useful_states(n, cotangents);
  values initial; // `residuals_.save` replaces this operation
  for (std::uint32_t i = 0; i < carried; ++i) initial.push_back(flow(n).initial(i));
  values summed, accumulated, by_index;
  for (value_id const v : varied_captures(f(), activity_, n))
    if (type_of(v).rank == 0)
      summed.push_back(v);
    else if (!sums_.has_accumulator(v) && counted && is_read_at_index(n, v))
      by_index.push_back(v);
    else if (!sums_.is_accumulated(v))
      accumulated.push_back(v);

  std::vector<std::uint32_t> updated; // loop-carried arrays that are updated in place
  if (!checkpointed)
    for (std::uint32_t i = 0; i < carried; ++i)
      if (update_chains(f()).carries(n, i)) updated.push_back(i);
  std::vector<std::size_t> restored; // numbers of versions
  values const sums = sums_.in_accumulators(accumulated, [&] {
    // `residuals_.save` sets the trip count of a while.
    value_id const trip_count = counted ? f().operand(n, 0) : index(0);
    values backward; // the initial loop-carried values of the adjoint loop
    for (std::uint32_t i = 0; i < carried; ++i)
      if (useful[i] != 0)
        backward.push_back(cotangents[i] != ir::nothing ? cotangents[i] : sums_.zeros_like(f().result(n, i)));
    for (value_id const v : summed) {
      value_id const sum = sums_.take(v);
      backward.push_back(sum == ir::nothing ? sums_.zero(type_of(v)) : sum);
    }
    for (std::uint32_t const i : updated) backward.push_back(f().result(n, i));
    auto const first_primal = static_cast<std::ptrdiff_t>(backward.size());
    checkpointer::checkpoints saved;
    std::vector<ir::type> primal; // of arguments that stand for the primal loop-carried values
    if (checkpointed) {
      saved = checkpoints_.first_checkpoint(n, initial);
      for (value_id const v : {saved.used, saved.iterations}) backward.push_back(v);
      backward.insert(backward.end(), saved.states.begin(), saved.states.end());
    } else
      for (value_id const v : initial) primal.push_back(type_of(v));

    std::vector<primal_copy> primal_copies;
    auto const write_body = [&](value_id iteration, values const& arguments) {
      sums_.enter();
      values stand_ins(arguments.begin() + first_primal, arguments.end());
      if (checkpointed) {
        saved.used = stand_ins[0];
        saved.iterations = stand_ins[1];
        saved.states.assign(stand_ins.begin() + 2, stand_ins.end());
        stand_ins = checkpoints_.restore(saved, iteration);
      }
      primal_copy& r = primal_copies.emplace_back(copy_iteration(n, iteration, stand_ins));

      std::size_t next = 0;
      values states;
      for (std::uint32_t i = 0; i < carried; ++i)
        states.push_back(useful[i] != 0 ? arguments[next++] : value_id(ir::nothing));
      for (value_id const v : summed) sums_.set(v, arguments[next++]);
      for (std::uint32_t const i : updated) r.restored.push_back({.carried = i, .newest = arguments[next++]});
      for (value_id const v : by_index) sums_.sum_elements_of(v);
      auto const yielded = [&](std::uint32_t i) { return f().operand(r.end(), i); };
      for (std::uint32_t i = 0; i < carried; ++i)
        if (states[i] != ir::nothing) sums_.add(yielded(i), states[i]);
      for (std::uint32_t i = carried; i < cotangents.size(); ++i)
        if (cotangents[i] != ir::nothing && activity_.varies(yielded(i)))
          sums_.add(yielded(i), sums_.element(cotangents[i], iteration));
      partials_.in_iteration(r, [&] { reverse(r.nodes(f())); });

      values yields;
      for (std::uint32_t i = 0; i < carried; ++i) {
        if (useful[i] == 0) continue;
        value_id const sum = sums_.take(stand_ins[i]);
        yields.push_back(sum == ir::nothing ? sums_.zeros_like(stand_ins[i]) : sum);
      }
      for (value_id const v : summed) yields.push_back(sums_.take(v));
      for (restored_array const& a : r.restored) yields.push_back(a.newest);
      if (checkpointed) {
        for (value_id const v : {saved.used, saved.iterations}) yields.push_back(v);
        yields.insert(yields.end(), saved.states.begin(), saved.states.end());
      }
      for (value_id const v : by_index) {
        value_id const sum = sums_.take_element(v);
        yields.push_back(sum == ir::nothing ? sums_.zero_element(v, iteration) : sum);
      }
      sums_.leave();
      return yields;
    };
    node_id second = build().loop(trip_count, backward, write_body, opposite_of(n), primal).node;
    if (checkpointed)
      note_residuals(f()[n], false, {"its loop-carried values, in some iterations"}, sweep(primal_copies[0]));
    else {
      std::vector<std::size_t> numbers;
      for (std::uint32_t const i : updated) numbers.push_back(arrays_.add(f().result(n, i)));
      second = residuals_.save(n, second, primal_copies);
      for (std::size_t i = 0; i < updated.size(); ++i)
        if (primal_copies[0].restored[i].is_restored) restored.push_back(numbers[i]);
    }
    return results_of(second);
  });

  std::size_t next = 0;
  std::vector<std::pair<value_id, value_id>> carried_in;
  for (std::uint32_t i = 0; i < carried; ++i)
    if (useful[i] != 0) carried_in.emplace_back(initial[i], sums[next++]);
  for (value_id const v : summed)
    sums_.set(v, sums[next++]); // first, since one of them may also be an initial value
  for (auto const& [v, cotangent] : carried_in) sums_.add(v, cotangent);
  for (std::size_t const number : restored) arrays_.set_before(number, sums[next++]);
  if (checkpointed) next += 2 + carried;
  for (value_id const v : by_index) sums_.add(v, sums[next++]);
}

void writer::map(node_id n, values const& cotangents) {
  values summed, accumulated, by_index;
  for (value_id const v : varied_captures(f(), activity_, n))
    if (type_of(v).rank == 0)
      summed.push_back(v);
    else if (!sums_.has_accumulator(v) && is_read_at_index(n, v))
      by_index.push_back(v);
    else if (!sums_.is_accumulated(v))
      accumulated.push_back(v);

  values added; // values that get contributions
  std::vector<std::uint8_t> is_summed;
  values const parts = sums_.in_accumulators(accumulated, [&] {
    std::vector<primal_copy> primal_copies;
    auto const made = build().map(f().operand(n, 0), [&](value_id iteration) {
      sums_.enter();
      primal_copy& r = primal_copies.emplace_back(copy_iteration(n, iteration, {}));
      for (value_id const v : by_index) sums_.sum_elements_of(v);
      for (std::uint32_t i = 0; i < cotangents.size(); ++i) {
        value_id const yielded = f().operand(r.end(), i);
        if (cotangents[i] == ir::nothing || !activity_.varies(yielded)) continue;
        sums_.add(yielded, sums_.element(cotangents[i], iteration));
      }
      reverse(r.nodes(f()));
      values yields;
      for (value_id const v : summed)
        if (value_id const sum = sums_.take(v); sum != ir::nothing) {
          added.push_back(v);
          is_summed.push_back(1);
          yields.push_back(sum);
        }
      for (value_id const v : by_index)
        if (value_id const sum = sums_.take_element(v); sum != ir::nothing) {
          added.push_back(v);
          is_summed.push_back(0);
          yields.push_back(sum);
        }
      sums_.leave();
      return yields;
    });
    (void)residuals_.save(n, made.node, primal_copies);
    return made.results;
  });
  for (std::size_t i = 0; i < added.size(); ++i)
    sums_.add(added[i], is_summed[i] != 0 ? sums_.sum_of(parts[i]) : parts[i]);
  // A fill that was only read element by element may be unused now.
  for (value_id const cotangent : cotangents)
    if (cotangent != ir::nothing && ir::maker_of(f(), cotangent, op::fill) != ir::nothing)
      unused_.push_back(f().node_of(cotangent));
}

// Whether a map reads an array only at the index of the iteration, and all of it: each element's cotangent comes from one
// iteration.
bool writer::is_read_at_index(node_id n, value_id array) const {
  region_id const body = flow(n).body();
  value_id const i = f().argument(body, 0);
  for (ir::use_id const u : f().uses_of(array)) {
    node_id const user = f()[u].user;
    if (!ir::is_within(f(), user, body)) continue;
    bool const reads = f()[user].code == op::at && f().operand(user, 0) == array;
    if (reads && f()[user].operand_count == 2 && f().operand(user, 1) == i && f()[user].parent == body)
      continue;
    if (f()[user].code == op::length) continue;
    return false;
  }
  return ir::is_length_of(f(), flow(n).trip_count(), array);
}

// The adjoint of a region that runs once: its code is copied into the enclosing region, from the result `first` on.
void writer::once(node_id n, values const& cotangents, std::uint32_t first) {
  clone_map map(activity_);
  std::vector<primal_copy> primal_copies{copy(flow(n).body(), map)};
  for (std::uint32_t i = first; i < cotangents.size(); ++i)
    if (cotangents[i] != ir::nothing)
      sums_.add(f().operand(primal_copies[0].end(), i - first), cotangents[i]);
  reverse(primal_copies[0].nodes(f()));
  sums_.emit_pending();
  (void)residuals_.save(n, ir::nothing, primal_copies);
}

void writer::accumulate(node_id n, values const& cotangents) {
  std::uint32_t const arrays = flow(n).first_yielded();
  for (std::uint32_t i = 0; i < arrays; ++i) {
    if (cotangents[i] == ir::nothing) continue;
    sums_.add(f().operand(n, i), cotangents[i]);
    accumulated_.insert_or_assign(f().argument(flow(n).body(), i), cotangents[i]);
  }
  once(n, cotangents, arrays);
}

void writer::add_to(node_id n) {
  auto const of = accumulated_.find(f().operand(n, 0));
  std::uint32_t const last = f()[n].operand_count - 1;
  value_id const part = f().operand(n, last);
  if (of == accumulated_.end() || !activity_.varies(part)) return;
  values read{of->second};
  for (std::uint32_t i = 1; i < last; ++i) read.push_back(f().operand(n, i));
  sums_.add(part, insert(op::at, read, type_of(part)));
}

// Whether the regions of an operation add to an accumulator whose array has a cotangent.
bool writer::adds(node_id n) const {
  bool does = false;
  for (region_id const r : f().regions_of(n))
    ir::walk(f(), r, [&](node_id m) {
      does = does || (f()[m].code == op::add_to && accumulated_.contains(f().operand(m, 0)) &&
                      activity_.varies(f().operand(m, f()[m].operand_count - 1)));
    });
  return does;
}

// ---- calls

// Replaces a call by one of the forward function, and returns the residuals.
writer::values writer::call_with_residuals(node_id n, call_gradient const& g) {
  values saved;
  if (g.forward == ir::nothing) return saved;
  function::node const old = f()[n];
  values operands, in_place;
  for (value_id const v : f().operands_of(n)) operands.push_back(v);
  std::vector<ir::type> results;
  for (value_id const v : f().results_of(n)) results.push_back(type_of(v));
  results.insert(results.end(), g.saved.begin(), g.saved.end());
  ir::cursor const back = at_;
  at_.to_before(n);
  node_id const made = at_.insert(op::call, operands, results, ir::attributes::of(g.forward));
  at_.set_place_of(made, old.place);
  at_ = back;
  for (std::uint32_t i = 0; i < results.size(); ++i)
    (i < old.result_count ? in_place : saved).push_back(f().result(made, i));
  for (std::uint32_t i = 0; i < old.result_count; ++i)
    activity_.set(in_place[i], activity_.of(f().result(n, i)));
  at_.replace(n, in_place);
  return saved;
}

void writer::call(node_id n, values const& cotangents) {
  gradient_request wanted;
  values arguments, inputs;
  std::vector<ir::type> results;
  for (value_id const v : f().operands_of(n)) {
    arguments.push_back(v);
    wanted.inputs.push_back(activity_.varies(v));
    if (!activity_.varies(v)) continue;
    inputs.push_back(v);
    results.push_back(type_of(v));
  }
  for (value_id const cotangent : cotangents) wanted.results.push_back(cotangent != ir::nothing);

  call_gradient const g = of_callee_(f()[n].attributes.callee(), wanted);
  values operands;
  for (std::uint32_t const i : g.arguments) operands.push_back(arguments[i]);
  if (g.takes_results)
    for (value_id const v : f().results_of(n)) operands.push_back(v);
  for (value_id const v : call_with_residuals(n, g)) operands.push_back(v);
  for (value_id const cotangent : cotangents)
    if (cotangent != ir::nothing) operands.push_back(cotangent);
  node_id const made = g.backward == ir::nothing
                           ? at_.insert(op::apply, operands, results)
                           : at_.insert(op::call, operands, results, ir::attributes::of(g.backward));
  for (std::uint32_t i = 0; i < inputs.size(); ++i) sums_.add(inputs[i], f().result(made, i));
}

} // namespace overdub::adjoint
