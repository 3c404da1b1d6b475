// Copies operations that no context intercepts to the staged program, in contexts without metadata, where each value is one symbol.
// Operations in their regions are evaluated, since contexts may intercept them.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/stage/array_calls.hpp>
#include <overdub/stage/evaluation/symbols.hpp>
#include <overdub/stage/observed.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace overdub::detail {

// ---- what is copied

// Whether no context intercepts a call of F with these arguments, which returns an R, so that the operation is copied.
template <class S, class F, class R, class... X>
consteval bool is_copied() {
  if constexpr (keeps_form<S>)
    return !any_intercepts<S, F, R, X...>();
  else
    return false;
}
// Whether no context has a rule for such a call, so that the operation is kept, between the calls of the hooks that observe it.
template <class S, class F, class R, class... X>
consteval bool is_kept() {
  if constexpr (keeps_form<S>)
    return !any_rule<S, F, R, X...>();
  else
    return false;
}
// Whether calls of all F on arrays of all types are copied, or kept.
template <class S, class... F>
consteval bool are_copied_on_arrays() {
  return (
      for_all_arrays<F>([]<class R, class... X>(types<R, X...>) {
        return is_copied<S, F, wrap_t<S, R>, wrap_t<S, X>...>();
      }) &&
      ...);
}
template <class S, class... F>
consteval bool are_kept_on_arrays() {
  return (
      for_all_arrays<F>([]<class R, class... X>(types<R, X...>) {
        return is_kept<S, F, wrap_t<S, R>, wrap_t<S, X>...>();
      }) &&
      ...);
}
// Whether a context intercepts an array operation or a conversion for values of some type. If not, no code is instantiated for it.
template <class S, ir::op Code>
consteval bool is_intercepted_for_any() {
  if constexpr (!keeps_form<S>)
    return true;
  else if constexpr (Code == ir::op::convert)
    return []<class... From>(types<From...> all) {
      auto const is_copied_to = []<class To, class... Each>(std::type_identity<To>, types<Each...>) {
        return (is_copied<S, convert_t<To>, wrap_t<S, To>, wrap_t<S, Each>>() && ...);
      };
      return !(is_copied_to(std::type_identity<From>{}, all) && ...);
    }(scalar_types{});
  else if constexpr (Code == ir::op::array) // evaluated as `fill` and `update`
    return !are_copied_on_arrays<S, fill_t, update_t>();
  else if constexpr (Code == ir::op::length)
    return !is_copied<S, array_size_t, wrap_t<S, i64>, std::vector<array_cell<S>>>() ||
           !are_copied_on_arrays<S, array_size_t>();
  else if constexpr (Code == ir::op::at)
    return !are_copied_on_arrays<S, at_t>();
  else if constexpr (Code == ir::op::slice)
    return !are_copied_on_arrays<S, slice_t>();
  else if constexpr (Code == ir::op::update)
    return !are_copied_on_arrays<S, update_t, at_t>();
  else if constexpr (Code == ir::op::fill)
    return !are_copied_on_arrays<S, fill_t>();
  else if constexpr (Code == ir::op::iota)
    return !are_copied_on_arrays<S, iota_t>();
  else if constexpr (Code == ir::op::concat)
    return !are_copied_on_arrays<S, concat_t>();
  else {
    static_assert(Code == ir::op::gather);
    return !are_copied_on_arrays<S, gather_t>();
  }
}

// Whether a call, or an operation on function values, is copied since no context intercepts functions.
template <class S>
bool is_copied_call(evaluation_state<S> const& e, ir::function::node const& x) {
  switch (x.code) {
  case ir::op::call:
    return !x.attributes.is_exempt() && !e.intercepts_functions();
  case ir::op::closure:
  case ir::op::apply:
  case ir::op::reabstract:
    return !e.intercepts_functions();
  default:
    return false;
  }
}

// ---- values, each of which is one symbol

template <class S>
ir::value_id symbol_at(evaluation_state<S>& e, frame<S>& at, ir::value_id v) {
  ir::type const t = at.f.type_of(v);
  if (at.f.is_literal(v)) return e.recorder().literal(t, at.f.bits_of(v));
  slot<S> const& s = at[v];
  return t.is_function() ? detail::function_symbol(e, s, t) : detail::symbol_of(e, s);
}
template <class S>
std::vector<ir::value_id> symbols_at(evaluation_state<S>& e, frame<S>& at, ir::node_id n) {
  std::vector<ir::value_id> all;
  for (ir::value_id const v : at.f.operands_of(n)) all.push_back(symbol_at(e, at, v));
  return all;
}
template <class S>
void set_symbol(frame<S>& at, ir::value_id v, ir::value_id symbol) {
  at[v] = {.symbol = symbol, .type = at.f.type_of(v)};
}

// ---- copies

// Rejects a hook of a context that each call of a compiled function supplies.
void refuse_context(ir::host_binding const& b);
// The attributes of an operation in the staged program. A hook of a context that each call supplies remains bound to that context.
template <class S>
ir::attributes attributes_in(evaluation_state<S>& e, ir::function::node const& x) {
  recorder& r = e.recorder();
  ir::attributes a = x.attributes;
  switch (x.code) {
  case ir::op::call:
  case ir::op::closure:
    a.subject = index_of(stage_in_contexts(e, a.callee()));
    break;
  case ir::op::host:
  case ir::op::sample:
  case ir::op::assert_: {
    ir::host_binding const* const known = x.code == ir::op::host ? e.program().host(a.text()) : nullptr;
    if (known != nullptr && known->context >= r.contexts.size()) detail::refuse_context(*known);
    std::string name(e.program().text(a.text()));
    a.subject = index_of(
        known != nullptr ? r.bind(
                               std::move(name), known->run, known->object, known->context,
                               known->origin_in_cpp, known->is_hook)
                         : r.program.intern(name));
    if (a.detail != ir::nothing) a.detail = r.program.intern(e.program().text(a.detail));
    break;
  }
  default:
    break;
  }
  return a;
}

// Copies an operation. Its regions are evaluated.
template <class S>
void copy_operation(
    [[maybe_unused]] evaluation_state<S>& e, [[maybe_unused]] frame<S>& at, [[maybe_unused]] ir::node_id n) {
  if constexpr (keeps_form<S>) { // otherwise never called
    recorder& r = e.recorder();
    auto const type_in = [&](ir::type t) { return t.is_function() ? detail::function_type_in(e, t) : t; };
    ir::attributes const a = detail::attributes_in(e, at.f[n]); // which may stage functions
    std::vector<ir::value_id> const operands = symbols_at(e, at, n);
    std::vector<ir::type> results;
    for (ir::value_id const v : at.f.results_of(n)) results.push_back(type_in(at.f.type_of(v)));
    std::vector<std::vector<ir::type>> regions(at.f[n].region_count);
    for (std::uint32_t i = 0; i < regions.size(); ++i)
      for (ir::value_id const v : at.f.arguments_of(at.f.region_at(n, i)))
        regions[i].push_back(type_in(at.f.type_of(v)));

    ir::node_id const made = r.insert(at.f[n].code, operands, results, a, regions);
    for (std::uint32_t i = 0; i < regions.size(); ++i) {
      ir::region_id const region = at.f.region_at(n, i);
      auto const scope = r.enter(r.region_of(made, i));
      std::vector<slot<S>> arguments;
      for (std::uint32_t k = 0; k < regions[i].size(); ++k)
        arguments.push_back(
            {.symbol = r.here().argument(r.here().region_at(made, i), k),
             .type = at.f.type_of(at.f.argument(region, k))});
      auto const yielded = run_region(e, at, region, std::move(arguments));
      ir::node_id const last = at.f.yield_of(region);
      std::vector<ir::value_id> values;
      for (std::uint32_t k = 0; k < yielded.size(); ++k) {
        ir::type const t = at.f.type_of(at.f.operand(last, k));
        values.push_back(
            t.is_function() ? detail::function_symbol(e, yielded[k], t) : detail::symbol_of(e, yielded[k]));
      }
      r.yield(values);
    }
    for (std::uint32_t i = 0; i < results.size(); ++i)
      set_symbol(at, at.f.result(n, i), r.here().result(made, i));
  }
}

// Stages an operation with one result by `stage`, between the calls of the hooks that observe it.
template <class S>
ir::value_id stage_between_hooks(
    evaluation_state<S>& e, std::string_view name, std::span<observation const> contexts,
    std::span<ir::value_id const> operands, function_view<ir::value_id()> stage) {
  auto const objects = objects_of(e.stack());
  auto const operands_after = [&](std::span<ir::value_id const> results) {
    std::vector<ir::value_id> all(results.begin(), results.end());
    all.insert(all.end(), operands.begin(), operands.end());
    return all;
  };
  auto const stage_one = [&] { return std::vector{stage()}; };
  return stage_observed(e.recorder(), {name, contexts, objects, operands, operands_after, stage_one})[0];
}
// Copies an operation with one result, between the calls of the hooks that observe it.
template <class S>
void observe_operation(
    [[maybe_unused]] evaluation_state<S>& e, [[maybe_unused]] frame<S>& at, [[maybe_unused]] ir::node_id n,
    [[maybe_unused]] std::string_view name, [[maybe_unused]] std::span<observation const> contexts) {
  if constexpr (keeps_form<S>) { // otherwise never called
    std::vector<ir::value_id> const operands = symbols_at(e, at, n);
    slot<S>& result = at[at.f.result(n)];
    result.symbol = stage_between_hooks(e, name, contexts, operands, [&] {
      copy_operation(e, at, n);
      return result.symbol;
    });
  }
}
// Stages a kept operation on an array of this type, or one that creates such an array, between the calls of the hooks that observe it.
template <class S>
ir::value_id stage_on_array(
    evaluation_state<S>& e, array_calls const& calls, ir::type array,
    std::vector<ir::value_id> const& operands) {
  observed_array_call const& c = calls.of(array);
  return stage_between_hooks(e, calls.name, c.contexts, operands, [&] {
    return e.recorder().add(calls.operation, operands, c.result);
  });
}

} // namespace overdub::detail
