// The evaluator: calls of functions and of the host; and, in symbolic contexts, staging of functions.
#pragma once

#include <overdub/stage/evaluator_copy.hpp>
#include <overdub/stage/evaluator_functions.hpp>
#include <overdub/stage/program_native.hpp>
#include <overdub/stage/transform.hpp>

#include <algorithm>
#include <cstdint>

namespace overdub::detail {

// ---- functions

// The stack of the innermost context.
template <class S>
constexpr auto const& innermost_of(S const& contexts) {
  if constexpr (S::depth == 1)
    return contexts;
  else
    return innermost_of(contexts.rest());
}

template <class S>
auto evaluator<S>::run(ir::function_id id, std::vector<any> const& arguments) -> std::vector<any> {
  std::vector<slot> slots;
  for (any const& a : arguments) slots.push_back({a, nullptr, {}});
  std::vector<any> results;
  for (slot& s : intercepts_functions_ ? called(id, std::move(slots)) : run_slots(id, std::move(slots)))
    results.push_back(leaf(s));
  return results;
}
template <class S>
void evaluator<S>::check_math() const {
  if constexpr (symbolic) {
    if (recorder_().program.math != program_.math)
      throw evaluation_error(message("overdub: evaluate: the program that is staged has other mathematics "
                                     "than the one that is evaluated; "
                                     "set program::math of both to one mode"));
  } else if (is_consistent()) {
    if (ir::consistent == nullptr)
      throw evaluation_error(message("overdub: evaluate: the program cannot be run: %s", ir::not_consistent));
    if constexpr (!on_numbers)
      throw evaluation_error(message(
          "overdub: evaluate: a program of consistent mathematics is evaluated on numbers, not on values of "
          "contexts; let the context rewrite it, overdub(context, program), and evaluate what that gives"));
  }
}
template <class S>
void evaluator<S>::call_function(frame& at, ir::node_id n) {
  std::vector<slot> arguments;
  for (ir::value_id const v : at.f.operands_of(n)) arguments.push_back(slot_of(at, v));
  ir::attributes const& a = at.f[n].attributes;
  give(
      at, n,
      a.is_exempt() ? called_outside(a.callee(), std::move(arguments))
                    : called(a.callee(), std::move(arguments)));
}
template <class S>
auto evaluator<S>::called_outside(ir::function_id id, std::vector<slot> arguments) -> std::vector<slot> {
  if constexpr (S::empty) {
    return run_slots(id, std::move(arguments));
  } else if constexpr (std::is_same_v<S, symbols_alone>) {
    return call_staged_on(id, arguments, ir::attributes::exempt);
  } else if constexpr (symbolic) {
    ir::function const& f = program_[id];
    std::vector<ir::value_id> operands;
    for (std::uint32_t i = 0; i < arguments.size(); ++i) {
      if (f.type_of(f.parameters()[i]).is_function())
        throw evaluation_error(message(
            "overdub: an exempt call gives @%s a function value, which would run in the contexts; inline the "
            "function value first, or call the function without the mark",
            std::string(program_.text(f.name)).c_str()));
      operands.push_back(symbol_of(arguments[i]));
    }
    recorder& r = recorder_();
    ir::function_id const callee = in_contexts(innermost_of(stack_)).staged(id);
    auto const types = r.program[callee].results;
    ir::node_id const made = r.insert(ir::op::call, operands, types, ir::attributes::exempt_call(callee));
    auto const symbols = r.here().results_of(made);
    if constexpr (keeps_form)
      return slots_of(f.results, symbols);
    else {
      std::vector<slot> results;
      for (std::size_t i = 0; i < types.size(); ++i)
        results.push_back(
            {with_type(
                 types[i],
                 [&]<class T>(std::type_identity<T>) { return any(symbol_in<T>(stack_, symbols[i])); }),
             nullptr,
             {}});
      return results;
    }
  } else {
    overdub::stack<> const none;
    auto outside = in_contexts(none);
    using outside_slot = typename decltype(outside)::slot;
    std::vector<outside_slot> given;
    for (slot const& s : arguments)
      opened(leaf(s), [&](auto const& held, auto) {
        given.push_back({typename decltype(outside)::any(concrete(held)), nullptr, {}});
      });
    std::vector<slot> results;
    for (outside_slot const& s : outside.run_slots(id, std::move(given)))
      results.push_back(
          {outside.leaf(s).visit([&](auto const& held) { return any(wrap(stack_, held)); }), nullptr, {}});
    return results;
  }
}
template <class S>
void evaluator<S>::give(frame& at, ir::node_id n, std::vector<slot> results) {
  for (std::uint32_t i = 0; i < results.size(); ++i)
    at.slots[index_of(at.f.result(n, i))] = std::move(results[i]);
}
template <class S>
auto evaluator<S>::call_unseen(ir::function_id id, std::vector<slot> arguments) -> std::vector<slot> {
  if constexpr (symbolic) {
    if constexpr (differentiates<
                      S>) // with constant arguments, which are known only here, it is not differentiated
      if (program_[id].derivative.how == ir::derivative::by::refused) return by_rule(id, arguments);
    return call_staged_on(id, arguments);
  } else
    return run_slots(id, std::move(arguments));
}
template <class S>
auto evaluator<S>::cell_or_none(slot const& s) const -> any {
  if constexpr (keeps_form)
    if (!s.leaf && s.symbol != ir::nothing && !is_cell(s.type)) return {};
  if (!s.leaf && (s.symbol == ir::nothing || s.type.is_function())) return {};
  return leaf(s);
}

// Evaluates `protect`: an exception runs the second region, and is rethrown.
template <class S>
void evaluator<S>::protect(frame& at, ir::node_id n) {
  if constexpr (symbolic) {
    ir::node_id const made =
        recorder_().insert(ir::op::protect, {}, {}, {}, std::vector<std::vector<ir::type>>(2));
    for (std::uint32_t i = 0; i < 2; ++i) slots_in_region(at, n, made, i);
    give_results(at, n, made);
  } else {
    try {
      give(at, n, region_slots(at, at.f.region_at(n, 0), {}));
    } catch (...) {
      auto const first = std::exchange(failed_, {});
      (void)region(at, at.f.region_at(n, 1)); // an exception in it has its own location
      failed_ = first;
      throw;
    }
  }
}
template <class S>
void evaluator<S>::leave_program(frame& at, ir::node_id n) {
  node const& x = at.f[n];
  std::string const text(program_.text(x.attributes.text()));
  if constexpr (symbolic) {
    emit_host(at, n);
  } else if (x.code == ir::op::assert_) {
    if (!concrete(typed<bool>(at, at.f.operand(n, 0))))
      throw assertion_failed(message("overdub: assertion failed: %s", text.c_str()));
  } else
    call_host(at, n, text);
}
// Throws evaluation_error if the call would lose metadata, and a context with metadata has a rule for all native functions, which does not
// apply here. Constants have no metadata to lose.
template <class S>
void evaluator<S>::refuse_lost_metadata([[maybe_unused]] frame& at, [[maybe_unused]] ir::node_id n) {
  if constexpr (keeps_metadata<S>()) {
    node const& x = at.f[n];
    if (x.result_count == 0) return;
    bool const has_rule = with_effect(
        x.attributes.effects, []<effect E>(effects::constant<E>) { return has_native_rule<S, E>(); });
    if (has_rule &&
        !std::ranges::all_of(at.f.operands_of(n), [&](ir::value_id v) { return at.f.is_literal(v); }))
      throw evaluation_error(message(
          "overdub: a context that keeps metadata has a rule for native functions, which it does not answer "
          "by in "
          "a program; give it one for \"%s\", or for the function that calls it",
          std::string(name_of_native(x)).c_str()));
  }
}
// The native function of a host operation.
template <class S>
auto evaluator<S>::host_of(node const& x) const -> ir::host_binding const& {
  ir::host_binding const* const known = program_.host(x.attributes.text());
  if (known == nullptr)
    throw host_error(message(
        "overdub: evaluate: the program has no function for the host operation \"%s\"; run it by an "
        "executable that is given one",
        std::string(name_of_native(x)).c_str()));
  refuse_context(*known);
  return *known;
}
template <class S>
void evaluator<S>::call_host(frame& at, ir::node_id n, std::string const& name) {
  if (at.f[n].code != ir::op::host)
    throw not_executable(message(
        "overdub: evaluate: no handler is given for the random choice \"%s\"; run the program by an "
        "executable that has "
        "one",
        name.c_str()));
  ir::host_binding const& known = host_of(at.f[n]);
  refuse_lost_metadata(at, n);
  // The native function is called with plain numbers. Its results are constants in the contexts.
  using plain = cell<overdub::stack<>>;
  std::vector<plain> operands, results;
  for (any const& x : cells(at, n, 0, at.f[n].operand_count))
    opened(x, [&](auto const& held, auto) { operands.emplace_back(concrete(held)); });
  for (ir::value_id const v : at.f.results_of(n))
    results.push_back(with_type(at.f.type_of(v), []<class T>(std::type_identity<T>) { return plain(T{}); }));
  std::vector<void const*> given;
  std::vector<void*> places;
  for (auto const& x : operands) x.visit([&](auto const& held) { given.push_back(&held); });
  for (auto& x : results) x.visit([&](auto& held) { places.push_back(&held); });
  known.run(known.object, given.data(), places.data());
  std::vector<any> made;
  for (auto const& x : results)
    made.push_back(x.visit([&](auto const& held) { return any(wrap(stack_, held)); }));
  set_all(at, n, made);
}

// ---- symbols: the staged program

// The contexts of the stack.
template <class S>
std::vector<context_identity> contexts_above(S const& contexts) {
  std::vector<context_identity> all;
  if constexpr (!detail::symbolic<typename S::context>) {
    all = contexts_above(contexts.rest());
    add_context(all, contexts.top().get());
  }
  return all;
}

/// Stages a function in the contexts of the stack, once.
template <class S>
auto evaluator<S>::staged(ir::function_id id) -> ir::function_id requires symbolic {
  recorder& r = recorder_();
  void const* const key = r.key_of(
      &type_key<S>, {.contexts = contexts_above(stack_), .of = &program_, .number = ir::index_of(id)});
  if (auto const* known = r.find(key)) return known->id;
  ir::function const& f = program_[id];
  std::vector<ir::type> parameters, parameter_symbols, result_symbols;
  for (ir::value_id const v : f.parameters()) {
    parameters.push_back(f.type_of(v));
    append_types_in(parameter_symbols, f.type_of(v));
  }
  for (ir::type const t : f.results) append_types_in(result_symbols, t);
  std::size_t const number = r.begin(
      key, std::string(recorder::base_name(program_.text(f.name))) + above_ + names_above<S, symbols_alone>(),
      parameter_symbols);
  ir::function_id const made = r.id_of(number);
  r.program[made].results = result_symbols;
  r.program[made].origin_in_cpp = f.origin_in_cpp;
  r.program[made].origin_name = f.origin_name.empty() ? interned_name(program_.text(f.name)) : f.origin_name;
  auto const scope = r.enter(made);
  auto const yielded = run_slots(id, slots_of(parameters, r.here().parameters()));
  std::vector<ir::value_id> results;
  for (std::size_t i = 0; i < yielded.size(); ++i) append_symbols(results, yielded[i], f.results[i]);
  r.yield(results);
  r.end(number, std::vector<any>());
  if (f.derivative.how != ir::derivative::by::body) {
    ir::derivative const says = derivative_in_contexts(id); // which stages more
    r.program[made].derivative = says;
  }
  return made;
}
template <class S>
auto evaluator<S>::derivative_in_contexts(ir::function_id id) -> ir::derivative {
  ir::derivative says = program_[id].derivative;
  ir::function const& f = program_[id];
  std::vector<ir::type> types;
  for (ir::value_id const v : f.parameters()) append_types_in(types, f.type_of(v));
  if (says.how == ir::derivative::by::refused) {
    says.why = recorder_().program.intern(program_.text(says.why));
  } else if (says.how == ir::derivative::by::rule) {
    if (types.size() != f.parameters().size()) return {}; // with metadata: by its body
    says.tangent = staged(says.tangent);
    if (says.cotangent != ir::nothing) says.cotangent = staged(says.cotangent);
  }
  return says;
}

template <class S>
template <class T>
auto evaluator<S>::recorder_in(T const& contexts) -> recorder& {
  if constexpr (T::depth == 1)
    return contexts.top().get().recorder();
  else
    return recorder_in(contexts.rest());
}
template <class S>
auto evaluator<S>::recorder_() const -> recorder& {
  return recorder_in(stack_);
}

// The symbols of cells and of their metadata; `filled` returns cells of the same types with other symbols.
template <class S>
auto evaluator<S>::symbols(std::vector<any> const& cells) -> std::vector<ir::value_id> {
  symbol_list all;
  for (any const& c : cells) note_symbols(all, c);
  return std::move(all.ids);
}
template <class S>
auto evaluator<S>::filled(std::vector<any> const& like, ir::id_range<ir::value_id> values)
    -> std::vector<any> {
  std::size_t next = 0;
  std::vector<any> all;
  for (any const& c : like) all.push_back(with_symbols(c, values, next));
  return all;
}
// A cell of a type, with placeholders as symbols.
template <class S>
auto evaluator<S>::prototype(ir::type t) -> any {
  auto const scope = recorder_().enter(recorder_().scratch());
  return empty_of(t);
}
template <class S>
template <class Make>
void evaluator<S>::in_region(ir::node_id n, std::uint32_t i, Make const& make) {
  auto const scope = recorder_().enter(recorder_().region_of(n, i));
  auto const yielded = symbols(make()); // before at(), which staging moves
  recorder_().yield(yielded);
}
// Sets the results of a staged operation to those that its region yielded.
template <class S>
auto evaluator<S>::results_of(ir::node_id n, std::vector<any> const& like) -> std::vector<any> {
  recorder_().set_results(n, recorder_().types_of(symbols(like)));
  return filled(like, recorder_().here().results_of(n));
}

template <class S>
auto evaluator<S>::call_staged(ir::function_id id, std::vector<any> const& arguments) -> std::vector<any> {
  std::vector<slot> slots;
  for (any const& a : arguments) slots.push_back({a, nullptr, {}});
  std::vector<any> results;
  for (slot const& r : intercepts_functions_ ? called(id, std::move(slots)) : call_staged_on(id, slots))
    results.push_back(leaf(r));
  return results;
}
template <class S>
auto evaluator<S>::call_staged_on(ir::function_id id, std::vector<slot> const& arguments, std::uint8_t flags)
    -> std::vector<slot> {
  recorder& r = recorder_();
  ir::function_id const callee = staged(id);
  ir::function const& f = program_[id];
  std::vector<ir::value_id> operands;
  for (std::uint32_t i = 0; i < arguments.size(); ++i)
    append_symbols(operands, arguments[i], f.type_of(f.parameters()[i]));
  auto const types = r.program[callee].results;
  ir::node_id const n =
      r.insert(ir::op::call, operands, types, {.subject = index_of(callee), .flags = flags});
  return slots_of(f.results, r.here().results_of(n));
}

template <class S>
void evaluator<S>::accumulate_symbols(frame& at, ir::node_id n) {
  ir::region_id const body = at.f.region_at(n, 0);
  auto const start = cells(at, n, 0, at.f[n].operand_count);
  auto const operands = symbols(start);
  auto accumulators = recorder_().types_of(operands);
  for (ir::type& t : accumulators) t = t.accumulator();
  ir::node_id const made = recorder_().insert(
      ir::op::accumulate, operands, {}, {}, std::vector<std::vector<ir::type>>{accumulators});
  std::vector<slot> arguments;
  std::uint32_t next = 0;
  for (any const& c : start) {
    slot& s = arguments.emplace_back();
    for (std::size_t k = symbols({c}).size(); k > 0; --k)
      s.accumulators.push_back(recorder_().here().argument(recorder_().region_of(made, 0), next++));
  }
  std::vector<any> results = start;
  std::vector<any> further;
  in_region(made, 0, [&] {
    for (slot const& s : region_slots(at, body, std::move(arguments))) further.push_back(leaf(s));
    return further;
  });
  results.insert(results.end(), further.begin(), further.end());
  set_all(at, n, results_of(made, results));
}
// Addition is linear: adds the values and their metadata, symbol by symbol.
template <class S>
void evaluator<S>::add_to_symbols(frame& at, ir::node_id n) {
  std::uint32_t const last = at.f[n].operand_count - 1;
  std::vector<ir::value_id> operands(1);
  for (ir::value_id const i : symbols(cells(at, n, 1, last - 1))) operands.push_back(i);
  operands.push_back(operands[0]);
  auto const values = symbols(cells(at, n, last, 1));
  auto const& accumulators = at.slots[index_of(at.f.operand(n, 0))].accumulators;
  for (std::size_t k = 0; k < accumulators.size(); ++k) {
    operands.front() = accumulators[k];
    operands.back() = values[k];
    recorder_().insert(ir::op::add_to, operands, {});
  }
}
// Copies a host operation, with plain values as operands. Its results are constants in the contexts.
template <class S>
void evaluator<S>::emit_host(frame& at, ir::node_id n) {
  recorder& r = recorder_();
  ir::attributes const a = attributes_in(at.f[n]);
  auto const arguments = cells(at, n, 0, at.f[n].operand_count);
  if (at.f[n].code == ir::op::host) {
    refuse_lost_metadata(at, n);
    std::vector<ir::value_id> operands;
    for (auto const& x : arguments)
      opened(x, [&](auto const& held, auto) { operands.push_back(symbol_below(held)); });
    std::vector<ir::type> plain;
    for (ir::value_id const v : at.f.results_of(n)) plain.push_back(at.f.type_of(v));
    ir::node_id const made = r.insert(ir::op::host, operands, plain, a);
    std::vector<any> given;
    for (std::uint32_t i = 0; i < plain.size(); ++i)
      given.push_back(with_type(plain[i], [&]<class T>(std::type_identity<T>) {
        return any(symbol_in<T>(stack_, r.here().result(made, i)));
      }));
    set_all(at, n, given);
    return;
  }
  auto operands = symbols(arguments);
  if (at.f[n].code == ir::op::assert_) operands.resize(1);
  std::vector<any> like;
  std::vector<ir::type> types;
  for (ir::value_id const v : at.f.results_of(n)) {
    like.push_back(prototype(at.f.type_of(v))); // its symbols are placeholders of another function
    append_types_in(types, at.f.type_of(v));
  }
  if (operands.size() != at.f[n].operand_count || types.size() != at.f[n].result_count)
    throw evaluation_error(message(
        "overdub: \"%s\" is a random choice, and a context keeps metadata "
        "for its values; give the context a rule for the function that makes it",
        std::string(r.program.text(a.text())).c_str()));
  ir::node_id const made = r.insert(at.f[n].code, operands, types, a);
  set_all(at, n, filled(like, r.here().results_of(made)));
}

} // namespace overdub::detail
