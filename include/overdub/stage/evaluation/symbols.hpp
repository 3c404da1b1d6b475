// The values of an evaluation in symbolic contexts as symbols of the staged program: each leaf, and each number in its metadata, is one
// symbol, and so is a function value.
//
// A known function value is called directly. If it escapes the function that creates it, a closure of the staged program represents it: its
// function is the function in the contexts, and its type has the same calling convention, with the contexts' metadata among its parameters
// and results. Therefore transformation by contexts commutes with `reabstract`.
#pragma once

#include <overdub/stage/evaluation/run.hpp>
#include <overdub/stage/transform.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub::detail {

// ---- leaves

// The symbols of cells and of their metadata; `filled` returns cells of the same types with other symbols.
template <class Cell>
std::vector<ir::value_id> symbols_of(std::vector<Cell> const& cells) {
  symbol_list all;
  for (Cell const& c : cells) note_symbols(all, c);
  return std::move(all.ids);
}
template <class Cell>
std::vector<Cell> filled(std::vector<Cell> const& like, ir::id_range<ir::value_id> values) {
  std::size_t next = 0;
  std::vector<Cell> all;
  for (Cell const& c : like) all.push_back(with_symbols(c, values, next));
  return all;
}
// A cell of a type, with placeholders as symbols.
template <class S>
cell<S> prototype(evaluation_state<S> const& e, ir::type t) {
  auto const scope = e.recorder().enter(e.recorder().scratch());
  return with_type(t, [&]<class T>(std::type_identity<T>) { return cell<S>(wrap(e.stack(), T{})); });
}

// ---- types

template <class S>
ir::type function_type_in(evaluation_state<S> const& e, ir::type t);
// Appends the types of the symbols that represent a value of a type. Function types keep their calling convention.
template <class S>
void append_types_in(evaluation_state<S> const& e, std::vector<ir::type>& all, ir::type t) {
  if (t.is_function()) return all.push_back(detail::function_type_in(e, t));
  if constexpr (keeps_form<S>)
    all.push_back(t);
  else {
    symbol_list symbols;
    note_symbols(symbols, detail::prototype(e, t));
    all.insert(all.end(), symbols.types.begin(), symbols.types.end());
  }
}
template <class S>
ir::type function_type_in(evaluation_state<S> const& e, ir::type t) {
  ir::signature const& s = e.program().signature_of(t);
  ir::signature made{.calls = s.calls, .parameters = {}, .results = {}};
  for (ir::type const each : s.parameters) detail::append_types_in(e, made.parameters, each);
  for (ir::type const each : s.results) detail::append_types_in(e, made.results, each);
  return e.recorder().program.function_type(made);
}

// ---- values

template <class S>
void append_symbols(evaluation_state<S>& e, std::vector<ir::value_id>& all, slot<S> const& s, ir::type t);

// The symbol of a value that is not a function value.
template <class S>
ir::value_id symbol_of(evaluation_state<S> const& e, slot<S> const& s) {
  if (s.leaf || s.symbol == ir::nothing)
    return e.leaf(s).visit([](auto const& held) { return symbol_below(held); });
  return s.symbol;
}
// The symbol of a function value, with the given type of the evaluated program.
template <class S>
ir::value_id function_symbol(evaluation_state<S>& e, slot<S> const& s, ir::type wanted) {
  if (!s.function_value && s.symbol == ir::nothing) (void)e.leaf(s); // which throws
  ir::value_id made = s.symbol;
  if (s.function_value) {
    e.check_depth();
    ir::function const& f = e.program()[s.function_value->f];
    ir::function_id const callee = stage_intercepted(e, s.function_value->f);
    std::vector<ir::value_id> captured;
    for (std::uint32_t k = 0; k < s.function_value->captured.size(); ++k)
      detail::append_symbols(e, captured, s.function_value->captured[k], f.type_of(f.parameters()[k]));
    made = e.recorder().add(
        ir::op::closure, captured, detail::function_type_in(e, s.type), ir::attributes::of(callee));
  }
  if (s.type == wanted) return made;
  return e.recorder().add(ir::op::reabstract, std::span(&made, 1), detail::function_type_in(e, wanted));
}
// Appends the symbols of a value of this type of the evaluated program.
template <class S>
void append_symbols(evaluation_state<S>& e, std::vector<ir::value_id>& all, slot<S> const& s, ir::type t) {
  if (t.is_function())
    all.push_back(detail::function_symbol(e, s, t));
  else if constexpr (keeps_form<S>)
    all.push_back(detail::symbol_of(e, s));
  else
    for (ir::value_id const v : detail::symbols_of(std::vector{e.leaf(s)})) all.push_back(v);
}
// Values of these types with the given symbols.
template <class S>
std::vector<slot<S>>
slots_of(evaluation_state<S> const& e, std::vector<ir::type> const& all, ir::id_range<ir::value_id> given) {
  std::vector<slot<S>> slots;
  std::uint32_t next = 0;
  for (ir::type const t : all) {
    if (t.is_function() || keeps_form<S>) {
      slots.push_back({.symbol = given[next++], .type = t});
      continue;
    }
    std::vector<cell<S>> const like{detail::prototype(e, t)};
    auto const count = static_cast<std::uint32_t>(detail::symbols_of(like).size());
    slots.push_back({detail::filled(like, {index_of(given[next]), count})[0]});
    next += count;
  }
  return slots;
}
// The symbols of a function's results, and results of such symbols.
template <class S>
std::vector<ir::value_id>
symbols_of_results(evaluation_state<S>& e, ir::function_id id, std::vector<slot<S>> const& results) {
  std::vector<ir::value_id> all;
  for (std::size_t i = 0; i < results.size(); ++i)
    detail::append_symbols(e, all, results[i], e.program()[id].results[i]);
  return all;
}
template <class S>
std::vector<slot<S>>
results_of_symbols(evaluation_state<S> const& e, ir::function_id id, ir::id_range<ir::value_id> symbols) {
  return detail::slots_of(e, e.program()[id].results, symbols);
}

// ---- results of a staged operation with regions

// Evaluates region i of an operation into the same region of the staged operation.
template <class S>
void stage_region(evaluation_state<S>& e, frame<S>& at, ir::node_id n, ir::node_id made, std::uint32_t i) {
  auto const scope = e.recorder().enter(e.recorder().region_of(made, i));
  auto const yielded = run_region(e, at, at.f.region_at(n, i), {});
  ir::node_id const last = at.f.yield_of(at.f.region_at(n, i));
  std::vector<ir::value_id> all;
  for (std::uint32_t k = 0; k < yielded.size(); ++k)
    detail::append_symbols(e, all, yielded[k], at.f.type_of(at.f.operand(last, k)));
  e.recorder().yield(all);
}
template <class S>
void set_staged_results(evaluation_state<S>& e, frame<S>& at, ir::node_id n, ir::node_id made) {
  std::vector<ir::type> types, symbol_types;
  for (ir::value_id const v : at.f.results_of(n)) types.push_back(at.f.type_of(v));
  for (ir::type const t : types) detail::append_types_in(e, symbol_types, t);
  e.recorder().set_results(made, symbol_types);
  detail::set_results(at, n, detail::slots_of(e, types, e.recorder().here().results_of(made)));
}

} // namespace overdub::detail
