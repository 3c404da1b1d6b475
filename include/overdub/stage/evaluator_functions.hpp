// The evaluator: creates, selects and applies function values. In symbolic contexts, a known function value is called directly. If
// it escapes the function that creates it, a closure of the staged program represents it: its function is the function in the
// contexts, and its type has the same calling convention, with the contexts' metadata among its parameters and results. Therefore
// transformation by contexts commutes with `reabstract`.
#pragma once

#include <overdub/ir/regions.hpp>
#include <overdub/stage/evaluator.hpp>
#include <overdub/stage/transform.hpp>

namespace overdub::detail {

template <class S>
void evaluator<S>::make_closure(frame& at, ir::node_id n) {
  auto made = std::make_shared<closure>();
  made->f = at.f[n].attributes.callee();
  for (ir::value_id const v : at.f.operands_of(n)) made->captured.push_back(slot_of(at, v));
  ir::value_id const result = at.f.result(n);
  at.slots[index_of(result)] = {{}, std::move(made), {}, ir::nothing, at.f.type_of(result)};
}
template <class S>
void evaluator<S>::apply_closure(frame& at, ir::node_id n) {
  slot const f = slot_of(at, at.f.operand(n, 0));
  std::vector<slot> arguments;
  if (f.function_value) arguments = f.function_value->captured;
  for (std::uint32_t i = 1; i < at.f[n].operand_count; ++i)
    arguments.push_back(slot_of(at, at.f.operand(n, i)));
  if (f.function_value) return give(at, n, called(f.function_value->f, std::move(arguments)));
  if constexpr (symbolic)
    give(at, n, applied(f, at.f.type_of(at.f.operand(n, 0)), arguments));
  else
    throw evaluation_error(message("overdub: evaluate: a function value came from outside of the program"));
}
// The evaluator calls function values of all conventions in the same way. A symbol is reabstracted when it is used with another type.
template <class S>
void evaluator<S>::reabstract(frame& at, ir::node_id n) {
  at.slots[index_of(at.f.result(n))] = slot_of(at, at.f.operand(n, 0));
}
template <class S>
void evaluator<S>::select_function(frame& at, ir::node_id n) {
  slot& result = at.slots[index_of(at.f.result(n))];
  if constexpr (symbolic) {
    ir::type const t = at.f.type_of(at.f.result(n));
    ir::value_id const operands[] = {
        symbols({cell_of(at, at.f.operand(n, 0))})[0], function_symbol(slot_of(at, at.f.operand(n, 1)), t),
        function_symbol(slot_of(at, at.f.operand(n, 2)), t)};
    result = {{}, nullptr, {}, recorder_().add(ir::op::select, operands, function_type_in(t)), t};
  } else
    result = slot_of(at, at.f.operand(n, concrete(typed<bool>(at, at.f.operand(n, 0))) ? 1 : 2));
}

// ---- control operations with function values as results, to which rules of contexts do not apply

template <class S>
bool evaluator<S>::gives_functions(frame const& at, ir::node_id n) {
  for (ir::value_id const v : at.f.results_of(n))
    if (at.f.type_of(v).is_function()) return true;
  return false;
}
template <class S>
void evaluator<S>::branch_to_functions(frame& at, ir::node_id n) {
  if constexpr (symbolic) {
    ir::value_id const condition[] = {symbols({cell_of(at, at.f.operand(n, 0))})[0]};
    ir::node_id const made =
        recorder_().insert(ir::op::if_, condition, {}, {}, std::vector<std::vector<ir::type>>(2));
    for (std::uint32_t i = 0; i < 2; ++i) slots_in_region(at, n, made, i);
    give_results(at, n, made);
  } else {
    std::uint32_t const taken = concrete(typed<bool>(at, at.f.operand(n, 0))) ? 0 : 1;
    give(at, n, region_slots(at, at.f.region_at(n, taken), {}));
  }
}
template <class S>
void evaluator<S>::loop_on_functions(frame& at, ir::node_id n) {
  node const& x = at.f[n];
  bool const counted = ir::is_counted(x.code);
  if (symbolic || x.result_count != x.operand_count - counted)
    throw evaluation_error(message(
        "overdub: evaluate: a loop that carries function values is not rewritten by contexts, and stacks "
        "nothing; inline the functions, make two loops of it, or use an executable"));
  if constexpr (!symbolic) {
    std::vector<slot> state;
    for (std::uint32_t i = counted; i < x.operand_count; ++i)
      state.push_back(slot_of(at, at.f.operand(n, i)));
    if (counted) {
      i64 const count = concrete(integer(at, n, 0));
      for (i64 i = 0; i < count; ++i) {
        std::vector<slot> arguments;
        append(arguments, in<i64>(wrap(stack_, x.attributes.is_reversed() ? count - 1 - i : i)));
        arguments.insert(arguments.end(), state.begin(), state.end());
        state = region_slots(at, at.f.region_at(n, 0), std::move(arguments));
      }
    } else
      while (concrete(*region_slots(at, at.f.region_at(n, 0), state)[0].leaf.template get<in<bool>>()))
        state = region_slots(at, at.f.region_at(n, 1), std::move(state));
    give(at, n, std::move(state));
  }
}

// ---- symbols of function values

// The symbol of a function value, with the given type of the evaluated program.
template <class S>
auto evaluator<S>::function_symbol(slot const& s, ir::type wanted) -> ir::value_id {
  if (!s.function_value && s.symbol == ir::nothing) (void)leaf(s); // which throws
  ir::value_id made = s.symbol;
  if (s.function_value) {
    check_depth();
    ir::function const& f = program_[s.function_value->f];
    ir::function_id const callee = as_intercepted(s.function_value->f);
    std::vector<ir::value_id> captured;
    for (std::uint32_t k = 0; k < s.function_value->captured.size(); ++k)
      append_symbols(captured, s.function_value->captured[k], f.type_of(f.parameters()[k]));
    made = recorder_().add(ir::op::closure, captured, function_type_in(s.type), ir::attributes::of(callee));
  }
  if (s.type == wanted) return made;
  return recorder_().add(ir::op::reabstract, std::span(&made, 1), function_type_in(wanted));
}
template <class S>
void evaluator<S>::append_symbols(std::vector<ir::value_id>& all, slot const& s, ir::type t) {
  if (t.is_function())
    all.push_back(function_symbol(s, t));
  else if constexpr (keeps_form)
    all.push_back(symbol_of(s));
  else
    for (ir::value_id const v : symbols({leaf(s)})) all.push_back(v);
}
// Appends the types of the symbols that represent a value of a type. Function types keep their calling convention.
template <class S>
void evaluator<S>::append_types_in(std::vector<ir::type>& all, ir::type t) {
  if (t.is_function()) return all.push_back(function_type_in(t));
  if constexpr (keeps_form) return all.push_back(t);
  symbol_list symbols;
  note_symbols(symbols, prototype(t));
  all.insert(all.end(), symbols.types.begin(), symbols.types.end());
}
template <class S>
auto evaluator<S>::function_type_in(ir::type t) -> ir::type {
  ir::signature const& s = program_.signature_of(t);
  ir::signature made{.calls = s.calls, .parameters = {}, .results = {}};
  for (ir::type const each : s.parameters) append_types_in(made.parameters, each);
  for (ir::type const each : s.results) append_types_in(made.results, each);
  return recorder_().program.function_type(made);
}
// Values of these types with the given symbols.
template <class S>
auto evaluator<S>::slots_of(std::vector<ir::type> const& all, ir::id_range<ir::value_id> given)
    -> std::vector<slot> {
  std::vector<slot> slots;
  std::uint32_t next = 0;
  for (ir::type const t : all) {
    if (t.is_function() || keeps_form) {
      slots.push_back({{}, nullptr, {}, given[next++], t});
      continue;
    }
    std::vector<any> const like{prototype(t)};
    auto const count = static_cast<std::uint32_t>(symbols(like).size());
    slots.push_back({filled(like, {index_of(given[next]), count})[0], nullptr, {}});
    next += count;
  }
  return slots;
}
template <class S>
auto evaluator<S>::applied(slot const& f, ir::type t, std::vector<slot> const& arguments)
    -> std::vector<slot> {
  ir::signature const& s = program_.signature_of(t);
  std::vector<ir::value_id> operands{function_symbol(f, t)};
  for (std::size_t i = 0; i < arguments.size(); ++i) append_symbols(operands, arguments[i], s.parameters[i]);
  std::vector<ir::type> types;
  for (ir::type const each : s.results) append_types_in(types, each);
  ir::node_id const n = recorder_().insert(ir::op::apply, operands, types);
  return slots_of(s.results, recorder_().here().results_of(n));
}
// Evaluates region i of an operation into the same region of the staged operation.
template <class S>
void evaluator<S>::slots_in_region(frame& at, ir::node_id n, ir::node_id made, std::uint32_t i) {
  auto const scope = recorder_().enter(recorder_().region_of(made, i));
  auto const yielded = region_slots(at, at.f.region_at(n, i), {});
  ir::node_id const last = at.f.yield_of(at.f.region_at(n, i));
  std::vector<ir::value_id> all;
  for (std::uint32_t k = 0; k < yielded.size(); ++k)
    append_symbols(all, yielded[k], at.f.type_of(at.f.operand(last, k)));
  recorder_().yield(all);
}
template <class S>
void evaluator<S>::give_results(frame& at, ir::node_id n, ir::node_id made) {
  std::vector<ir::type> types, symbol_types;
  for (ir::value_id const v : at.f.results_of(n)) types.push_back(at.f.type_of(v));
  for (ir::type const t : types) append_types_in(symbol_types, t);
  recorder_().set_results(made, symbol_types);
  give(at, n, slots_of(types, recorder_().here().results_of(made)));
}

} // namespace overdub::detail
