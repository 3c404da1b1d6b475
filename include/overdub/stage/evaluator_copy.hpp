// How an evaluator copies what no context intercepts: node for node, into the program that is made. Operations in regions are
// evaluated, since contexts may intercept these.
#pragma once

#include <overdub/stage/evaluator.hpp>

#include <concepts>
#include <vector>

namespace overdub::detail {

template <class S>
template <ir::op Code>
consteval bool evaluator<S>::is_intercepted_for_any() {
  using arrays = concatenated_t<vector_types, matrix_types>;
  // Whether one of the types is not copied.
  [[maybe_unused]] auto const any = []<class... T>(types<T...>, auto const& is_kept) {
    return (!is_kept(std::type_identity<T>{}) || ...);
  };
  if constexpr (!keeps_form)
    return true;
  else if constexpr (Code == ir::op::convert)
    return any(scalar_types{}, [&]<class From>(std::type_identity<From>) {
      return !any(scalar_types{}, []<class To>(std::type_identity<To>) {
        return is_copied<convert_t<To>, in<To>, in<From>>();
      });
    });
  else if constexpr (Code == ir::op::array) // of values: an array filled with the first, and updated
    return any(arrays{}, []<class A>(std::type_identity<A>) {
      using E = typename A::value_type;
      return is_copied<fill_t, in<A>, in<i64>, in<E>>() &&
             is_copied<update_t, in<A>, in<A>, in<i64>, in<E>>();
    });
  else if constexpr (Code == ir::op::length)
    return !is_copied<array_size_t, in<i64>, std::vector<any_array>>() ||
           any(arrays{},
               []<class A>(std::type_identity<A>) { return is_copied<array_size_t, in<i64>, in<A>>(); });
  else if constexpr (Code == ir::op::at)
    return any(arrays{}, []<class A>(std::type_identity<A>) {
      return is_copied<at_t, in<typename A::value_type>, in<A>, in<i64>>();
    });
  else if constexpr (Code == ir::op::slice)
    return any(arrays{}, []<class A>(std::type_identity<A>) {
      return is_copied<slice_t, in<A>, in<A>, in<i64>, in<i64>>();
    });
  else if constexpr (Code == ir::op::update)
    return any(arrays{}, []<class A>(std::type_identity<A>) {
      using E = typename A::value_type;
      return is_copied<update_t, in<A>, in<A>, in<i64>, in<E>>() && is_copied<at_t, in<E>, in<A>, in<i64>>();
    });
  else if constexpr (Code == ir::op::fill)
    return any(arrays{}, []<class A>(std::type_identity<A>) {
      return is_copied<fill_t, in<A>, in<i64>, in<typename A::value_type>>();
    });
  else if constexpr (Code == ir::op::iota)
    return !is_copied<iota_t, in<array<i64>>, in<i64>>();
  else if constexpr (Code == ir::op::concat)
    return any(
        arrays{}, []<class A>(std::type_identity<A>) { return is_copied<concat_t, in<A>, in<A>, in<A>>(); });
  else {
    static_assert(Code == ir::op::gather);
    return any(arrays{}, []<class A>(std::type_identity<A>) {
      return is_copied<gather_t, in<A>, in<A>, in<array<i64>>>();
    });
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
  if (at.f.is_literal(v)) return recorder_().at().literal(t, at.f.bits_of(v));
  slot const& s = at.slots[index_of(v)];
  return t.is_function() ? function_symbol(s, t) : symbol_of(s);
}

// A function of a context that each call brings.
inline void refuse_context(ir::host_binding const& b) {
  if (b.context != ir::host_binding::no_context)
    throw host_error(
        message("overdub: evaluate: the program was compiled for contexts, which its calls bring; call what "
                "compile gave, or stage it in contexts of your own"));
}
// A function of a context's of the same calls stays one.
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
        known != nullptr
            ? r.bind(std::move(name), known->run, known->object, known->context, known->origin_in_cpp)
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
  if constexpr (keeps_form) { // else it is not called
    recorder& r = recorder_();
    ir::attributes const a = attributes_in(at.f[n]); // which may stage functions
    std::vector<ir::value_id> operands;
    for (ir::value_id const v : at.f.operands_of(n)) operands.push_back(symbol_at(at, v));
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
      r.at().yield(values);
    }
    for (std::uint32_t i = 0; i < results.size(); ++i)
      at.slots[index_of(at.f.result(n, i))] = {
          {}, nullptr, {}, r.here().result(made, i), at.f.type_of(at.f.result(n, i))};
  }
}

template <class S>
void evaluator<S>::observe(
    [[maybe_unused]] frame& at, [[maybe_unused]] ir::node_id n, [[maybe_unused]] std::string_view name,
    [[maybe_unused]] std::span<observation const> contexts) {
  if constexpr (keeps_form) { // else it is not called
    std::vector<ir::value_id> operands;
    for (ir::value_id const v : at.f.operands_of(n)) operands.push_back(symbol_at(at, v));
    slot& result = at.slots[index_of(at.f.result(n))];
    auto const stage = [&] {
      copy(at, n);
      return result.symbol;
    };
    auto const operands_after = [&](ir::value_id of) {
      std::vector<ir::value_id> all{of};
      all.insert(all.end(), operands.begin(), operands.end());
      return all;
    };
    auto const objects = objects_of(stack_);
    result.symbol = stage_observed(recorder_(), {name, contexts, objects, operands, operands_after, stage});
  }
}

} // namespace overdub::detail
