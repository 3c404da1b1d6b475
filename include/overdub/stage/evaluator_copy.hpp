// The evaluator: copies operations that no context intercepts to the staged program. Operations in their regions are evaluated,
// since contexts may intercept them.
#pragma once

#include <overdub/stage/evaluator.hpp>

#include <concepts>
#include <vector>

namespace overdub::detail {

template <class S>
template <class... F>
consteval bool evaluator<S>::are_copied_on_arrays() {
  return (
      for_all_arrays<F>(
          []<class R, class... X>(types<R, X...>) { return is_copied<F, in<R>, in<X>...>(); }) &&
      ...);
}
template <class S>
template <class... F>
consteval bool evaluator<S>::are_kept_on_arrays() {
  return (
      for_all_arrays<F>([]<class R, class... X>(types<R, X...>) { return is_kept<F, in<R>, in<X>...>(); }) &&
      ...);
}

template <class S>
template <ir::op Code>
consteval bool evaluator<S>::is_intercepted_for_any() {
  if constexpr (!keeps_form)
    return true;
  else if constexpr (Code == ir::op::convert)
    return []<class... From>(types<From...> all) {
      auto const is_copied_to = []<class To, class... Each>(std::type_identity<To>, types<Each...>) {
        return (is_copied<convert_t<To>, in<To>, in<Each>>() && ...);
      };
      return !(is_copied_to(std::type_identity<From>{}, all) && ...);
    }(scalar_types{});
  else if constexpr (Code == ir::op::array) // evaluated as `fill` and `update`
    return !are_copied_on_arrays<fill_t, update_t>();
  else if constexpr (Code == ir::op::length)
    return !is_copied<array_size_t, in<i64>, std::vector<any_array>>() ||
           !are_copied_on_arrays<array_size_t>();
  else if constexpr (Code == ir::op::at)
    return !are_copied_on_arrays<at_t>();
  else if constexpr (Code == ir::op::slice)
    return !are_copied_on_arrays<slice_t>();
  else if constexpr (Code == ir::op::update)
    return !are_copied_on_arrays<update_t, at_t>();
  else if constexpr (Code == ir::op::fill)
    return !are_copied_on_arrays<fill_t>();
  else if constexpr (Code == ir::op::iota)
    return !are_copied_on_arrays<iota_t>();
  else if constexpr (Code == ir::op::concat)
    return !are_copied_on_arrays<concat_t>();
  else {
    static_assert(Code == ir::op::gather);
    return !are_copied_on_arrays<gather_t>();
  }
}

template <class S>
bool evaluator<S>::is_always_copied(ir::op code) {
  switch (code) {
  case ir::op::call:
  case ir::op::closure:
  case ir::op::apply:
  case ir::op::reabstract:
  case ir::op::copy:
  case ir::op::accumulate:
  case ir::op::add_to:
  case ir::op::protect:
  case ir::op::host:
  case ir::op::sample:
  case ir::op::assert_:
    return true;
  default:
    return false;
  }
}

template <class S>
auto evaluator<S>::symbol_of(slot const& s) const -> ir::value_id {
  if (s.leaf || s.symbol == ir::nothing)
    return leaf(s).visit([](auto const& held) { return symbol_below(held); });
  return s.symbol;
}
template <class S>
auto evaluator<S>::symbol_at(frame& at, ir::value_id v) -> ir::value_id {
  ir::type const t = at.f.type_of(v);
  if (at.f.is_literal(v)) return recorder_().literal(t, at.f.bits_of(v));
  slot const& s = at.slots[index_of(v)];
  return t.is_function() ? function_symbol(s, t) : symbol_of(s);
}

template <class S>
auto evaluator<S>::symbols_at(frame& at, ir::node_id n) -> std::vector<ir::value_id> {
  std::vector<ir::value_id> all;
  for (ir::value_id const v : at.f.operands_of(n)) all.push_back(symbol_at(at, v));
  return all;
}
template <class S>
void evaluator<S>::set_symbol(frame& at, ir::value_id v, ir::value_id symbol) {
  at.slots[index_of(v)] = {{}, nullptr, {}, symbol, at.f.type_of(v)};
}

// Rejects a hook of a context that each call of a compiled function supplies.
inline void refuse_context(ir::host_binding const& b) {
  if (b.context != ir::host_binding::no_context)
    throw host_error(
        message("overdub: evaluate: the program was compiled for contexts, which its calls bring; call what "
                "compile gave, or stage it in contexts of your own"));
}
// A hook of a context that each call supplies remains bound to that context.
template <class S>
auto evaluator<S>::attributes_in(node const& x) -> ir::attributes {
  recorder& r = recorder_();
  ir::attributes a = x.attributes;
  switch (x.code) {
  case ir::op::call:
  case ir::op::closure:
    a.subject = index_of(staged(a.callee()));
    break;
  case ir::op::host:
  case ir::op::sample:
  case ir::op::assert_: {
    ir::host_binding const* const known = x.code == ir::op::host ? program_.host(a.text()) : nullptr;
    if (known != nullptr && known->context >= r.contexts.size()) refuse_context(*known);
    std::string name(program_.text(a.text()));
    a.subject = index_of(
        known != nullptr ? r.bind(
                               std::move(name), known->run, known->object, known->context,
                               known->origin_in_cpp, known->is_hook)
                         : r.program.intern(name));
    if (a.detail != ir::nothing) a.detail = r.program.intern(program_.text(a.detail));
    break;
  }
  default:
    break;
  }
  return a;
}

template <class S>
void evaluator<S>::copy([[maybe_unused]] frame& at, [[maybe_unused]] ir::node_id n) {
  if constexpr (keeps_form) { // otherwise never called
    recorder& r = recorder_();
    ir::attributes const a = attributes_in(at.f[n]); // which may stage functions
    std::vector<ir::value_id> const operands = symbols_at(at, n);
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
      std::vector<slot> arguments;
      for (std::uint32_t k = 0; k < regions[i].size(); ++k)
        arguments.push_back(
            {{},
             nullptr,
             {},
             r.here().argument(r.here().region_at(made, i), k),
             at.f.type_of(at.f.argument(region, k))});
      auto const yielded = region_slots(at, region, std::move(arguments));
      ir::node_id const last = at.f.yield_of(region);
      std::vector<ir::value_id> values;
      for (std::uint32_t k = 0; k < yielded.size(); ++k) {
        ir::type const t = at.f.type_of(at.f.operand(last, k));
        values.push_back(t.is_function() ? function_symbol(yielded[k], t) : symbol_of(yielded[k]));
      }
      r.yield(values);
    }
    for (std::uint32_t i = 0; i < results.size(); ++i)
      set_symbol(at, at.f.result(n, i), r.here().result(made, i));
  }
}

template <class S>
auto evaluator<S>::stage_between_hooks(
    std::string_view name, std::span<observation const> contexts, std::span<ir::value_id const> operands,
    function_view<ir::value_id()> stage) -> ir::value_id {
  auto const objects = objects_of(stack_);
  auto const operands_after = [&](std::span<ir::value_id const> results) {
    std::vector<ir::value_id> all(results.begin(), results.end());
    all.insert(all.end(), operands.begin(), operands.end());
    return all;
  };
  auto const stage_one = [&] { return std::vector{stage()}; };
  return stage_observed(recorder_(), {name, contexts, objects, operands, operands_after, stage_one})[0];
}
template <class S>
void evaluator<S>::observe(
    [[maybe_unused]] frame& at, [[maybe_unused]] ir::node_id n, [[maybe_unused]] std::string_view name,
    [[maybe_unused]] std::span<observation const> contexts) {
  if constexpr (keeps_form) { // otherwise never called
    std::vector<ir::value_id> const operands = symbols_at(at, n);
    slot& result = at.slots[index_of(at.f.result(n))];
    result.symbol = stage_between_hooks(name, contexts, operands, [&] {
      copy(at, n);
      return result.symbol;
    });
  }
}
template <class S>
auto evaluator<S>::stage_on(
    array_calls const& calls, ir::type array, std::vector<ir::value_id> const& operands) -> ir::value_id {
  observed_array_call const& c = calls.of(array);
  return stage_between_hooks(
      calls.name, c.contexts, operands, [&] { return recorder_().add(calls.operation, operands, c.result); });
}

} // namespace overdub::detail
