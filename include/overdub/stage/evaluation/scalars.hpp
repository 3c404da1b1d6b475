// The evaluation of elementwise operations and of conversions.
#pragma once

#include <overdub/stage/evaluation/control.hpp>
#include <overdub/stage/evaluation/thunks.hpp>

#include <cstdint>
#include <type_traits>

namespace overdub::detail {

template <class S>
void evaluate_elementwise(evaluation_state<S>& e, frame<S>& at, ir::node_id n) {
  ir::function::node const& x = at.f[n];
  std::uint32_t const main = ir::main_operand(x.code);
  ir::type const t = at.f.type_of(at.f.operand(n, main));
  if (!t.is_literal()) return evaluate_select(e, at, n);
  unsigned literals = 0;
  if constexpr (distinguishes_literals<S>) {
    for (std::uint32_t i = 0; i < x.operand_count; ++i)
      literals |= at.f.is_literal(at.f.operand(n, i)) ? 1u << i : 0u;
    if (literals == (1u << x.operand_count) - 1) literals &= ~1u;
    if (x.operand_count == 1) literals = 0;
  }
  auto const& found = thunk_table<S>::find(x.code, t.element, literals);
  if constexpr (keeps_form<S>)
    if (found.hooks != nullptr)
      return observe_operation(e, at, n, ir::row_of(x.code).name, {found.hooks, S::depth - 1});
  found.run(e, at, n);
}
template <class S>
void evaluate_convert(evaluation_state<S>& e, frame<S>& at, ir::node_id n) {
  with_type(at.f.type_of(at.f.operand(n, 0)), [&]<class From>(std::type_identity<From>) {
    with_type(at.f.type_of(at.f.result(n)), [&]<class To>(std::type_identity<To>) {
      if constexpr (std::is_arithmetic_v<From> && std::is_arithmetic_v<To>) {
        using F = convert_t<To>;
        using R = wrap_t<S, To>;
        using X = wrap_t<S, From>;
        if constexpr (is_copied<S, F, R, X>())
          copy_operation(e, at, n);
        else if constexpr (is_kept<S, F, R, X>())
          observe_operation(e, at, n, F::name(), observations<S, F, R, X>);
        else
          e.set(
              at, at.f.result(n),
              call(e.stack(), convert<To>, e.template typed<From>(at, at.f.operand(n, 0))));
      }
    });
  });
}

} // namespace overdub::detail
