// How an evaluator makes and reads arrays.
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
void evaluator<S>::make_array(frame& at, ir::node_id n) {
  ir::value_id const result = at.f.result(n);
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
  if (at.f[n].operand_count == 1)
    return on_array_number(at, n, [&](auto const& a) { return call(stack_, overdub::size, a); });
  set(at, at.f.result(n),
      call(stack_, overdub::size, narrowed_all<any_array>(cells(at, n, 0, at.f[n].operand_count))));
}
template <class S>
template <class F>
void evaluator<S>::on_array_number(frame& at, ir::node_id n, F const& f) {
  on_array(at, n, f);
}
template <class S>
void evaluator<S>::element_at(frame& at, ir::node_id n) {
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
template <class S>
void evaluator<S>::update_array(frame& at, ir::node_id n) {
  std::uint32_t const last = at.f[n].operand_count - 1;
  any const x = cell_of(at, at.f.operand(n, last));
  at.slots[index_of(at.f.result(n))].leaf =
      updated(at, n, cell_of(at, at.f.operand(n, 0)), 1, last, [&](any const&) { return x; });
}
// `a` with the part that the operands from the i-th to before the last-th select replaced by what f makes of it.
template <class S>
template <class F>
auto evaluator<S>::updated(
    frame& at, ir::node_id n, any const& a, std::uint32_t i, std::uint32_t last, F const& f) -> any {
  if (i == last) return f(a);
  return opened(a, [&]<class T>(auto const& x, std::type_identity<T>) -> any {
    if constexpr (is_array<T>) {
      using E = typename T::value_type;
      auto const index = integer(at, n, i);
      any part; // which nobody looks at where the element is replaced
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
  auto const x = narrowed<any_element>(cell_of(at, at.f.operand(n, 1)));
  opened(x, [&](auto const& e, auto) {
    set(at, at.f.result(n), call(stack_, overdub::fill, integer(at, n, 0), e));
  });
}
template <class S>
void evaluator<S>::concat_arrays(frame& at, ir::node_id n) {
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

} // namespace overdub::detail
