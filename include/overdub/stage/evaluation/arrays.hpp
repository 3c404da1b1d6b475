// The evaluation of operations on arrays.
#pragma once

#include <overdub/array/primitives.hpp>
#include <overdub/core/quantifiers.hpp>
#include <overdub/stage/array_calls.hpp>
#include <overdub/stage/evaluation/copy.hpp>
#include <overdub/stage/evaluation/forms.hpp>
#include <overdub/stage/evaluation/rows.hpp>
#include <overdub/stage/evaluation/state.hpp>

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub::detail {

// Sets the result to f(array), for the array that is the first operand.
template <class S, class F>
void evaluate_on_array(evaluation_state<S>& e, frame<S>& at, ir::node_id n, F const& f) {
  cell<S> const a = e.cell_at(at, at.f.operand(n, 0));
  detail::opened(a, [&]<class T>(auto const& x, std::type_identity<T>) {
    if constexpr (is_array<T>) e.set(at, at.f.result(n), f(x));
  });
}
// Stages a kept operation F on the array that is the first operand, or on a new array of the type t.
template <class F, class S>
void stage_array_operation(evaluation_state<S>& e, frame<S>& at, ir::node_id n, ir::type t) {
  set_symbol(at, at.f.result(n), detail::stage_on_array(e, array_calls_of<S, F>, t, symbols_at(e, at, n)));
}

template <class S>
void evaluate_slice(evaluation_state<S>& e, frame<S>& at, ir::node_id n) {
  if constexpr (are_kept_on_arrays<S, slice_t>())
    stage_array_operation<slice_t>(e, at, n, at.f.type_of(at.f.operand(n, 0)));
  else
    detail::evaluate_on_array(e, at, n, [&](auto const& a) {
      return call(e.stack(), overdub::slice, a, e.integer(at, n, 1), e.integer(at, n, 2));
    });
}
template <class S>
void evaluate_gather(evaluation_state<S>& e, frame<S>& at, ir::node_id n) {
  if constexpr (are_kept_on_arrays<S, gather_t>())
    stage_array_operation<gather_t>(e, at, n, at.f.type_of(at.f.operand(n, 0)));
  else
    detail::evaluate_on_array(e, at, n, [&](auto const& a) {
      return call(e.stack(), overdub::gather, a, e.template typed<array<i64>>(at, at.f.operand(n, 1)));
    });
}
template <class S>
void evaluate_iota(evaluation_state<S>& e, frame<S>& at, ir::node_id n) {
  if constexpr (are_kept_on_arrays<S, iota_t>())
    stage_array_operation<iota_t>(e, at, n, ir::i64.array_of());
  else
    e.set(at, at.f.result(n), call(e.stack(), overdub::iota, e.integer(at, n, 0)));
}
template <class S>
void evaluate_fill(evaluation_state<S>& e, frame<S>& at, ir::node_id n) {
  if constexpr (are_kept_on_arrays<S, fill_t>())
    stage_array_operation<fill_t>(e, at, n, at.f.type_of(at.f.result(n)));
  else {
    auto const x = detail::cell_as<element_cell<S>>(e.cell_at(at, at.f.operand(n, 1)));
    detail::opened(x, [&](auto const& element, auto) {
      e.set(at, at.f.result(n), call(e.stack(), overdub::fill, e.integer(at, n, 0), element));
    });
  }
}
template <class S>
void evaluate_length(evaluation_state<S>& e, frame<S>& at, ir::node_id n) {
  if (at.f[n].operand_count == 1) {
    if constexpr (are_kept_on_arrays<S, array_size_t>())
      return stage_array_operation<array_size_t>(e, at, n, at.f.type_of(at.f.operand(n, 0)));
    else
      return detail::evaluate_on_array(
          e, at, n, [&](auto const& a) { return call(e.stack(), overdub::size, a); });
  }
  using Arrays = std::vector<array_cell<S>>;
  using R = wrap_t<S, i64>;
  if constexpr (is_copied<S, array_size_t, R, Arrays>())
    copy_operation(e, at, n);
  else if constexpr (is_kept<
                         S, array_size_t, R, Arrays>()) // hooks receive an empty value for a list of several
    detail::observe_control(
        e, at, n, observed_control_of<S, array_size_t, R, Arrays>, {e.recorder().literal(empty_cell)});
  else
    e.set(
        at, at.f.result(n),
        call(
            e.stack(), overdub::size,
            detail::cells_as<array_cell<S>>(e.cells_at(at, n, 0, at.f[n].operand_count))));
}

// An array of elements is filled with the first of them, and updated with the others.
template <class S>
void evaluate_array(evaluation_state<S>& e, frame<S>& at, ir::node_id n) {
  ir::value_id const result = at.f.result(n);
  if constexpr (are_kept_on_arrays<S, fill_t, update_t>()) {
    ir::type const t = at.f.type_of(result);
    auto const elements = at.f.operands_of(n);
    if (holds_for_all(elements, [&](ir::value_id v) { return at.f.is_literal(v); }))
      return copy_operation(e, at, n);
    std::vector<ir::value_id> const all = symbols_at(e, at, n);
    auto const number = [&](std::size_t i) {
      return e.recorder().literal(ir::i64, static_cast<std::uint64_t>(i));
    };
    ir::value_id made = detail::stage_on_array(e, array_calls_of<S, fill_t>, t, {number(all.size()), all[0]});
    for (std::size_t i = 1; i < all.size(); ++i)
      made = detail::stage_on_array(e, array_calls_of<S, update_t>, t, {made, number(i), all[i]});
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
            for (ir::value_id const v : at.f.operands_of(n)) out.put(i++, e.template operand<E, true>(at, v));
            return e.set(at, result, out.finish(i));
          }
        i64 const size = at.f[n].operand_count;
        if (size == 0) return e.set(at, result, T{});
        auto all = wrap_t<S, T>(call(
            e.stack(), overdub::fill, wrap(e.stack(), size), e.template typed<E>(at, at.f.operand(n, 0))));
        for (i64 i = 1; i < size; ++i)
          all = call(
              e.stack(), overdub::update, std::move(all), wrap(e.stack(), i),
              e.template typed<E>(at, at.f.operand(n, static_cast<std::uint32_t>(i))));
        e.set(at, result, all);
        detail::check_rows<S>(at[result].leaf);
      }
    });
}

template <class S>
void evaluate_at(evaluation_state<S>& e, frame<S>& at, ir::node_id n) {
  if constexpr (are_kept_on_arrays<S, at_t>()) {
    std::vector<ir::value_id> const operands = symbols_at(e, at, n);
    ir::type t = at.f.type_of(at.f.operand(n, 0));
    ir::value_id part = operands[0];
    for (std::size_t i = 1; i < operands.size(); ++i, t = t.element_type())
      part = detail::stage_on_array(e, array_calls_of<S, at_t>, t, {part, operands[i]});
    return set_symbol(at, at.f.result(n), part);
  } else {
    cell<S> part = e.cell_at(at, at.f.operand(n, 0));
    for (std::uint32_t i = 1; i < at.f[n].operand_count; ++i)
      part = detail::opened(part, [&]<class T>(auto const& a, std::type_identity<T>) -> cell<S> {
        if constexpr (is_array<T>)
          return call(e.stack(), overdub::at, a, e.integer(at, n, i));
        else
          return {};
      });
    at[at.f.result(n)].leaf = part;
  }
}

// Stages the update of the element at the indices [i, last) of an array of type t, if no context has rules for `at` and `update`.
template <class S>
ir::value_id updated_symbol(
    evaluation_state<S>& e, frame<S>& at, ir::node_id n, ir::value_id a, ir::type t, std::uint32_t i,
    std::uint32_t last, ir::value_id element) {
  if (i == last) return element;
  ir::value_id const index = symbol_at(e, at, at.f.operand(n, i));
  if (i + 1 < last)
    element = updated_symbol(
        e, at, n, detail::stage_on_array(e, array_calls_of<S, at_t>, t, {a, index}), t.element_type(), i + 1,
        last, element);
  return detail::stage_on_array(e, array_calls_of<S, update_t>, t, {a, index, element});
}
// Returns `a` with a part replaced by f(part). The operands [i, last) are the indices of the part.
template <class S, class F>
cell<S> updated(
    evaluation_state<S>& e, frame<S>& at, ir::node_id n, cell<S> const& a, std::uint32_t i,
    std::uint32_t last, F const& f) {
  if (i == last) return f(a);
  return detail::opened(a, [&]<class T>(auto const& x, std::type_identity<T>) -> cell<S> {
    if constexpr (is_array<T>) {
      using E = wrap_t<S, typename T::value_type>;
      auto const index = e.integer(at, n, i);
      cell<S> part; // unused if the element is replaced
      if (i + 1 < last || at.f[n].code != ir::op::update)
        part = cell<S>(E(call(e.stack(), overdub::at, x, index)));
      cell<S> const element = detail::updated(e, at, n, part, i + 1, last, f);
      return wrap_t<S, T>(call(e.stack(), overdub::update, x, index, *element.template get<E>()));
    } else
      return {};
  });
}
template <class S>
void evaluate_update(evaluation_state<S>& e, frame<S>& at, ir::node_id n) {
  std::uint32_t const last = at.f[n].operand_count - 1;
  if constexpr (are_kept_on_arrays<S, at_t, update_t>()) {
    ir::value_id const a = at.f.operand(n, 0);
    ir::value_id const element = symbol_at(e, at, at.f.operand(n, last));
    set_symbol(
        at, at.f.result(n), updated_symbol(e, at, n, symbol_at(e, at, a), at.f.type_of(a), 1, last, element));
  } else {
    cell<S> const x = e.cell_at(at, at.f.operand(n, last));
    at[at.f.result(n)].leaf = detail::updated(
        e, at, n, e.cell_at(at, at.f.operand(n, 0)), 1, last, [&](cell<S> const&) { return x; });
  }
}

template <class S>
void evaluate_concat(evaluation_state<S>& e, frame<S>& at, ir::node_id n) {
  if constexpr (are_kept_on_arrays<S, concat_t>()) {
    std::vector<ir::value_id> const operands = symbols_at(e, at, n);
    ir::value_id all = operands[0];
    for (std::size_t i = 1; i < operands.size(); ++i)
      all = detail::stage_on_array(
          e, array_calls_of<S, concat_t>, at.f.type_of(at.f.result(n)), {all, operands[i]});
    set_symbol(at, at.f.result(n), all);
  } else {
    cell<S> all = e.cell_at(at, at.f.operand(n, 0));
    for (std::uint32_t i = 1; i < at.f[n].operand_count; ++i) {
      cell<S> const next = e.cell_at(at, at.f.operand(n, i));
      all = detail::opened(all, [&]<class T>(auto const& a, std::type_identity<T>) -> cell<S> {
        if constexpr (is_array<T>)
          return wrap_t<S, T>(call(e.stack(), overdub::concat, a, *next.template get<wrap_t<S, T>>()));
        else
          return {};
      });
    }
    detail::check_rows<S>(all);
    at[at.f.result(n)].leaf = all;
  }
}

} // namespace overdub::detail
