// The evaluator: operations on arrays.
#pragma once

#include <overdub/stage/evaluator.hpp>

namespace overdub::detail {

// ---- arrays

template <class S>
template <class F>
void evaluator<S>::on_array(frame& at, ir::node_id n, F const& f) {
  any const a = cell_of(at, at.f.operand(n, 0));
  opened(a, [&]<class T>(auto const& x, std::type_identity<T>) {
    if constexpr (is_array<T>) set(at, at.f.result(n), f(x));
  });
}
template <class S>
template <class F, class Call>
void evaluator<S>::part_of_array(frame& at, ir::node_id n, Call const& f) {
  if constexpr (are_kept_on_arrays<F>())
    set_symbol(
        at, at.f.result(n),
        stage_on(array_calls_of<S, F>, at.f.type_of(at.f.operand(n, 0)), symbols_at(at, n)));
  else
    on_array(at, n, f);
}
template <class S>
void evaluator<S>::make_iota(frame& at, ir::node_id n) {
  if constexpr (are_kept_on_arrays<iota_t>())
    set_symbol(
        at, at.f.result(n), stage_on(array_calls_of<S, iota_t>, ir::i64.array_of(), symbols_at(at, n)));
  else
    set(at, at.f.result(n), call(stack_, overdub::iota, integer(at, n, 0)));
}
template <class S>
void evaluator<S>::make_array(frame& at, ir::node_id n) {
  ir::value_id const result = at.f.result(n);
  if constexpr (are_kept_on_arrays<fill_t, update_t>()) {
    ir::type const t = at.f.type_of(result);
    auto const elements = at.f.operands_of(n);
    if (std::ranges::all_of(elements, [&](ir::value_id v) { return at.f.is_literal(v); })) return copy(at, n);
    std::vector<ir::value_id> const all = symbols_at(at, n);
    auto const number = [&](std::size_t i) {
      return recorder_().literal(ir::i64, static_cast<std::uint64_t>(i));
    };
    ir::value_id made = stage_on(array_calls_of<S, fill_t>, t, {number(all.size()), all[0]});
    for (std::size_t i = 1; i < all.size(); ++i)
      made = stage_on(array_calls_of<S, update_t>, t, {made, number(i), all[i]});
    return set_symbol(at, result, made);
  } else
    with_type(at.f.type_of(result), [&]<class T>(std::type_identity<T>) {
      if constexpr (is_array<T>) {
        using E = typename T::value_type;
        bool literal = true;
        for (ir::value_id const v : at.f.operands_of(n)) literal = literal && at.f.is_literal(v);
        if constexpr (std::is_arithmetic_v<E>)
          if (literal || S::empty) {
            array_builder<E> out(at.f[n].operand_count);
            i64 i = 0;
            for (ir::value_id const v : at.f.operands_of(n)) out.put(i++, operand<E, true>(at, v));
            return set(at, result, out.finish(i));
          }
        i64 const size = at.f[n].operand_count;
        if (size == 0) return set(at, result, T{});
        auto all = in<T>(call(stack_, overdub::fill, wrap(stack_, size), typed<E>(at, at.f.operand(n, 0))));
        for (i64 i = 1; i < size; ++i)
          all = call(
              stack_, overdub::update, std::move(all), wrap(stack_, i),
              typed<E>(at, at.f.operand(n, static_cast<std::uint32_t>(i))));
        set(at, result, all);
        check_rows(at.slots[index_of(result)].leaf);
      }
    });
}
template <class S>
void evaluator<S>::length(frame& at, ir::node_id n) {
  if (at.f[n].operand_count == 1) {
    if constexpr (are_kept_on_arrays<array_size_t>())
      return set_symbol(
          at, at.f.result(n),
          stage_on(array_calls_of<S, array_size_t>, at.f.type_of(at.f.operand(n, 0)), symbols_at(at, n)));
    else
      return on_array(at, n, [&](auto const& a) { return call(stack_, overdub::size, a); });
  }
  set(at, at.f.result(n),
      call(stack_, overdub::size, narrowed_all<any_array>(cells(at, n, 0, at.f[n].operand_count))));
}
template <class S>
void evaluator<S>::element_at(frame& at, ir::node_id n) {
  if constexpr (are_kept_on_arrays<at_t>()) {
    std::vector<ir::value_id> const operands = symbols_at(at, n);
    ir::type t = at.f.type_of(at.f.operand(n, 0));
    ir::value_id part = operands[0];
    for (std::size_t i = 1; i < operands.size(); ++i, t = t.element_type())
      part = stage_on(array_calls_of<S, at_t>, t, {part, operands[i]});
    return set_symbol(at, at.f.result(n), part);
  } else {
    any part = cell_of(at, at.f.operand(n, 0));
    for (std::uint32_t i = 1; i < at.f[n].operand_count; ++i)
      part = opened(part, [&]<class T>(auto const& a, std::type_identity<T>) -> any {
        if constexpr (is_array<T>)
          return call(stack_, overdub::at, a, integer(at, n, i));
        else
          return {};
      });
    at.slots[index_of(at.f.result(n))].leaf = part;
  }
}
template <class S>
void evaluator<S>::update_array(frame& at, ir::node_id n) {
  std::uint32_t const last = at.f[n].operand_count - 1;
  if constexpr (are_kept_on_arrays<at_t, update_t>()) {
    ir::value_id const a = at.f.operand(n, 0);
    ir::value_id const element = symbol_at(at, at.f.operand(n, last));
    set_symbol(
        at, at.f.result(n), updated_symbol(at, n, symbol_at(at, a), at.f.type_of(a), 1, last, element));
  } else {
    any const x = cell_of(at, at.f.operand(n, last));
    at.slots[index_of(at.f.result(n))].leaf =
        updated(at, n, cell_of(at, at.f.operand(n, 0)), 1, last, [&](any const&) { return x; });
  }
}
// Stages the update of the element at the indices [i, last) of an array of type t, if no context has rules for `at` and `update`.
template <class S>
auto evaluator<S>::updated_symbol(
    frame& at, ir::node_id n, ir::value_id a, ir::type t, std::uint32_t i, std::uint32_t last,
    ir::value_id element) -> ir::value_id {
  if (i == last) return element;
  ir::value_id const index = symbol_at(at, at.f.operand(n, i));
  if (i + 1 < last)
    element = updated_symbol(
        at, n, stage_on(array_calls_of<S, at_t>, t, {a, index}), t.element_type(), i + 1, last, element);
  return stage_on(array_calls_of<S, update_t>, t, {a, index, element});
}
// Returns `a` with a part replaced by f(part). The operands [i, last) are the indices of the part.
template <class S>
template <class F>
auto evaluator<S>::updated(
    frame& at, ir::node_id n, any const& a, std::uint32_t i, std::uint32_t last, F const& f) -> any {
  if (i == last) return f(a);
  return opened(a, [&]<class T>(auto const& x, std::type_identity<T>) -> any {
    if constexpr (is_array<T>) {
      using E = typename T::value_type;
      auto const index = integer(at, n, i);
      any part; // unused if the element is replaced
      if (i + 1 < last || at.f[n].code != ir::op::update)
        part = any(in<E>(call(stack_, overdub::at, x, index)));
      any const element = updated(at, n, part, i + 1, last, f);
      return in<T>(call(stack_, overdub::update, x, index, *element.template get<in<E>>()));
    } else
      return {};
  });
}
template <class S>
void evaluator<S>::fill_array(frame& at, ir::node_id n) {
  if constexpr (are_kept_on_arrays<fill_t>())
    set_symbol(
        at, at.f.result(n),
        stage_on(array_calls_of<S, fill_t>, at.f.type_of(at.f.result(n)), symbols_at(at, n)));
  else {
    auto const x = narrowed<any_element>(cell_of(at, at.f.operand(n, 1)));
    opened(x, [&](auto const& e, auto) {
      set(at, at.f.result(n), call(stack_, overdub::fill, integer(at, n, 0), e));
    });
  }
}
template <class S>
void evaluator<S>::concat_arrays(frame& at, ir::node_id n) {
  if constexpr (are_kept_on_arrays<concat_t>()) {
    std::vector<ir::value_id> const operands = symbols_at(at, n);
    ir::value_id all = operands[0];
    for (std::size_t i = 1; i < operands.size(); ++i)
      all = stage_on(array_calls_of<S, concat_t>, at.f.type_of(at.f.result(n)), {all, operands[i]});
    set_symbol(at, at.f.result(n), all);
  } else {
    any all = cell_of(at, at.f.operand(n, 0));
    for (std::uint32_t i = 1; i < at.f[n].operand_count; ++i) {
      any const next = cell_of(at, at.f.operand(n, i));
      all = opened(all, [&]<class T>(auto const& a, std::type_identity<T>) -> any {
        if constexpr (is_array<T>)
          return in<T>(call(stack_, overdub::concat, a, *next.template get<in<T>>()));
        else
          return {};
      });
    }
    check_rows(all);
    at.slots[index_of(at.f.result(n))].leaf = all;
  }
}

} // namespace overdub::detail
