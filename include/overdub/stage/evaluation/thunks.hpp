// The table from operation codes to primitives: one thunk for each operation, type and set of literal operands, generated from
// core/ops.def for each stack of contexts.
#pragma once

#include <overdub/ir/consistent.hpp>
#include <overdub/special.hpp>
#include <overdub/stage/evaluation/copy.hpp>
#include <overdub/stage/op_code.hpp>

#include <array>
#include <type_traits>
#include <utility>

namespace overdub::detail {

// Whether an operation with this typing rule accepts operands of the main type T.
template <ir::type_rule Rule, class T>
consteval bool takes_type() {
  switch (Rule) {
  case ir::type_rule::numeric:
    return !std::is_same_v<T, bool>;
  case ir::type_rule::integer:
    return std::is_same_v<T, i64>;
  case ir::type_rule::comparison:
  case ir::type_rule::select:
    return true;
  case ir::type_rule::logical:
    return std::is_same_v<T, bool>;
  default:
    return std::is_floating_point_v<T>;
  }
}
// Whether it has two operands and a result of one type.
template <ir::type_rule Rule, class T>
consteval bool combines_type() {
  switch (Rule) {
  case ir::type_rule::numeric:
  case ir::type_rule::integer:
  case ir::type_rule::floating:
  case ir::type_rule::logical:
    return true;
  case ir::type_rule::comparison:
    return std::is_same_v<T, bool>;
  default:
    return false;
  }
}
template <ir::type_rule Rule, class T, std::size_t I>
using main_or_index_t = std::conditional_t<
    (Rule == ir::type_rule::select && I == 0), bool,
    std::conditional_t<
        (Rule == ir::type_rule::integer_floating && I == 0) ||
            (Rule == ir::type_rule::floating_integer && I == 1),
        i64, T>>;

// The operand whose type is the main one.
constexpr std::uint32_t main_operand(ir::type_rule rule) {
  return rule == ir::type_rule::select || rule == ir::type_rule::integer_floating ? 1 : 0;
}

template <class S>
using thunk = void (*)(evaluation_state<S>&, frame<S>&, ir::node_id);

template <class S, class F, class T, std::size_t Arity, unsigned Literals>
void run_elementwise(evaluation_state<S>& e, frame<S>& at, ir::node_id n) {
  constexpr ir::type_rule rule = ir::row_of(op_code<F>).types;
  if constexpr (S::empty && ir::is_elementary(op_code<F>) && std::is_floating_point_v<T>)
    if (e.is_consistent()) {
      constexpr auto code = static_cast<std::size_t>(op_code<F>);
      auto const x = [&](std::uint32_t i) -> T {
        return e.template operand<T, false>(at, at.f.operand(n, i));
      };
      auto const& functions = ir::consistent->of<T>();
      if constexpr (Arity == 1)
        e.set(at, at.f.result(n), functions.one[code](x(0)));
      else
        e.set(at, at.f.result(n), functions.two[code](x(0), x(1)));
      return;
    }
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    e.set(
        at, at.f.result(n),
        call(
            e.stack(), F{},
            e.template operand<main_or_index_t<rule, T, I>, (Literals >> I & 1u) != 0>(
                at, at.f.operand(n, I))...));
  }
  (std::make_index_sequence<Arity>{});
}

// Stages an operation that contexts observe and do not replace.
template <class S, class F, class R, class... X>
void observe_elementwise(evaluation_state<S>& e, frame<S>& at, ir::node_id n) {
  observe_operation(e, at, n, F::name(), observations<S, F, R, X...>);
}

template <class S>
class thunk_table {
public:
  using entry = thunk<S>;

  static entry find(ir::op code, ir::scalar main, unsigned literals) {
    return rows[static_cast<std::size_t>(code)][static_cast<std::size_t>(main) - 1][literals];
  }

private:
  using row = std::array<std::array<entry, 8>, 4>; // by the main type, and which operands are literals

  template <class F, std::size_t Arity>
  static constexpr row make_row() {
    row r{};
    fill<F, bool, Arity>(r[0]);
    fill<F, i64, Arity>(r[1]);
    fill<F, float, Arity>(r[2]);
    fill<F, double, Arity>(r[3]);
    return r;
  }
  // If all operands are literals, the first is lifted, so that this case needs no entry.
  template <class F, class T, std::size_t Arity>
  static constexpr void fill(std::array<entry, 8>& entries) {
    constexpr ir::type_rule rule = ir::row_of(op_code<F>).types;
    if constexpr (!takes_type<rule, T>())
      return;
    else {
      constexpr unsigned cases = distinguishes_literals<S> ? (1u << Arity) - 1 : 1;
      [&]<std::size_t... Mask>(std::index_sequence<Mask...>) {
        ((entries[Mask] = one<F, T, Arity, static_cast<unsigned>(Mask)>()), ...);
      }
      (std::make_index_sequence<cases>{});
    }
  }
  // The type of an operand that a rule receives: a plain number for a literal.
  template <class T, bool Literal>
  using given_t = std::conditional_t<Literal, T, wrap_t<S, T>>;
  template <class F, class T, std::size_t Arity, unsigned Literals>
  static constexpr entry one() {
    constexpr ir::type_rule rule = ir::row_of(op_code<F>).types;
    return []<std::size_t... I>(std::index_sequence<I...>)->entry {
      return of_arguments<
          F, T, Literals, given_t<main_or_index_t<rule, T, I>, (Literals >> I & 1u) != 0>...>();
    }
    (std::make_index_sequence<Arity>{});
  }
  template <class F, class T, unsigned Literals, class... X>
  static constexpr entry of_arguments() {
    if constexpr (keeps_form<S>) {
      using R = wrap_t<S, computed_t<F, plain_t<X>...>>;
      if constexpr (!any_intercepts<S, F, R, X...>())
        return &copy_operation<S>;
      else if constexpr (!any_rule<S, F, R, X...>())
        return &observe_elementwise<S, F, R, X...>;
      else
        return &run_elementwise<S, F, T, sizeof...(X), Literals>;
    } else
      return &run_elementwise<S, F, T, sizeof...(X), Literals>;
  }

  OVERDUB_HIDDEN static constexpr std::array<row, ir::op_count> rows = [] {
    std::array<row, ir::op_count> all{};
#define OVERDUB_UNARY(NAME, ...) all[static_cast<std::size_t>(ir::op::NAME)] = make_row<NAME##_t, 1>();
#define OVERDUB_BINARY(NAME, ...) all[static_cast<std::size_t>(ir::op::NAME)] = make_row<NAME##_t, 2>();
#define OVERDUB_TERNARY(NAME, ...) all[static_cast<std::size_t>(ir::op::NAME)] = make_row<NAME##_t, 3>();
#include <overdub/core/ops.def>
    return all;
  }();
};

/// The operations that combine two values of type T to one, by operation code.
template <class S, class T>
class combine_table {
public:
  using value = wrap_t<S, T>;
  using entry = value (*)(S const&, value const&, value const&);

  static entry find(ir::op code) { return rows[static_cast<std::size_t>(code)]; }
  /// Whether a context of S intercepts the operation.
  static bool is_intercepted(ir::op code) { return intercepted[static_cast<std::size_t>(code)]; }

private:
  template <class F>
  static consteval bool is_row_intercepted() {
    constexpr ir::type_rule rule = ir::row_of(op_code<F>).types;
    if constexpr (takes_type<rule, T>() && combines_type<rule, T>())
      return any_intercepts<S, F, value, value, value>();
    else
      return false;
  }
  OVERDUB_HIDDEN static constexpr std::array<bool, ir::op_count> intercepted = [] {
    std::array<bool, ir::op_count> all{};
#define OVERDUB_BINARY(NAME, ...)                                                                            \
  all[static_cast<std::size_t>(ir::op::NAME)] = is_row_intercepted<NAME##_t>();
#include <overdub/core/ops.def>
    return all;
  }();

public:
  /// Whether a context of S intercepts any of these operations.
  static constexpr bool is_any_intercepted = [] {
    for (bool const each : intercepted)
      if (each) return true;
    return false;
  }();

private:
  template <class F>
  static constexpr entry make_row() {
    constexpr ir::type_rule rule = ir::row_of(op_code<F>).types;
    if constexpr (takes_type<rule, T>() && combines_type<rule, T>())
      return +[](S const& stack, value const& a, value const& b) { return value(call(stack, F{}, a, b)); };
    else
      return nullptr;
  }

  OVERDUB_HIDDEN static constexpr std::array<entry, ir::op_count> rows = [] {
    std::array<entry, ir::op_count> all{};
#define OVERDUB_BINARY(NAME, ...) all[static_cast<std::size_t>(ir::op::NAME)] = make_row<NAME##_t>();
#include <overdub/core/ops.def>
    return all;
  }();
};

} // namespace overdub::detail
