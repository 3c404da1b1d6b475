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

template <class S>
using thunk = void (*)(evaluation_state<S>&, frame<S>&, ir::node_id);

// The type of its result.
template <ir::type_rule Rule, class T>
using main_or_bool_t = std::conditional_t<
    Rule == ir::type_rule::comparison || Rule == ir::type_rule::test || Rule == ir::type_rule::logical, bool,
    T>;

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
#define OVERDUB_OPERAND(I)                                                                                   \
  e.template operand<main_or_index_t<rule, T, I>, (Literals >> I & 1u) != 0>(at, at.f.operand(n, I))
  ir::value_id const result = at.f.result(n);
  if constexpr (Arity == 1)
    e.set(at, result, call(e.stack(), F{}, OVERDUB_OPERAND(0)));
  else if constexpr (Arity == 2)
    e.set(at, result, call(e.stack(), F{}, OVERDUB_OPERAND(0), OVERDUB_OPERAND(1)));
  else
    e.set(at, result, call(e.stack(), F{}, OVERDUB_OPERAND(0), OVERDUB_OPERAND(1), OVERDUB_OPERAND(2)));
#undef OVERDUB_OPERAND
}

// The functions of this class are instantiated for each operation, type and set of literals: it has few of them, and they have no lambdas.
template <class S>
class thunk_table {
  static constexpr std::size_t sets_of_literals = distinguishes_literals<S> ? 8 : 1;

public:
  // An operation that contexts observe and do not replace has hooks, which are staged around it. Others are run.
  struct entry {
    thunk<S> run = nullptr;
    observation const* hooks = nullptr;
  };

  static entry const& find(ir::op code, ir::scalar main, unsigned literals) {
    return rows[static_cast<std::size_t>(code)][static_cast<std::size_t>(main) - 1][literals];
  }

private:
  // By the main type, and which operands are literals.
  using row = std::array<std::array<entry, sets_of_literals>, 4>;

  // The types of operands and of the result of operations with this typing rule: as numbers, and in the contexts.
  template <ir::type_rule Rule, class T>
  struct types_of {
    using a = main_or_index_t<Rule, T, 0>;
    using b = main_or_index_t<Rule, T, 1>;
    using c = T;
    using x = wrap_t<S, a>;
    using y = wrap_t<S, b>;
    using z = wrap_t<S, c>;
    using result = wrap_t<S, main_or_bool_t<Rule, T>>;
  };

  template <class F, std::size_t Arity, ir::type_rule Rule = ir::row_of(op_code<F>).types>
  static constexpr row make_row() {
    row r{};
    if constexpr (takes_type<Rule, bool>()) fill<F, bool, Arity, types_of<Rule, bool>>(r[0]);
    if constexpr (takes_type<Rule, i64>()) fill<F, i64, Arity, types_of<Rule, i64>>(r[1]);
    if constexpr (takes_type<Rule, float>()) fill<F, float, Arity, types_of<Rule, float>>(r[2]);
    if constexpr (takes_type<Rule, double>()) fill<F, double, Arity, types_of<Rule, double>>(r[3]);
    return r;
  }
  // Rules receive a literal as a plain number. If all operands are literals, the first is lifted, so that this case needs no entry.
  template <class F, class T, std::size_t Arity, class Types>
  static constexpr void fill(std::array<entry, sets_of_literals>& entries) {
    using a = typename Types::a;
    using b = typename Types::b;
    using c = typename Types::c;
    using x = typename Types::x;
    using y = typename Types::y;
    using z = typename Types::z;
    using R = typename Types::result;
    if constexpr (Arity == 1)
      entries[0] = of<F, T, 0, R, x>();
    else if constexpr (Arity == 2) {
      entries[0] = of<F, T, 0, R, x, y>();
      if constexpr (distinguishes_literals<S>) {
        entries[1] = of<F, T, 1, R, a, y>();
        entries[2] = of<F, T, 2, R, x, b>();
      }
    } else {
      entries[0] = of<F, T, 0, R, x, y, z>();
      if constexpr (distinguishes_literals<S>) {
        entries[1] = of<F, T, 1, R, a, y, z>();
        entries[2] = of<F, T, 2, R, x, b, z>();
        entries[3] = of<F, T, 3, R, a, b, z>();
        entries[4] = of<F, T, 4, R, x, y, c>();
        entries[5] = of<F, T, 5, R, a, y, c>();
        entries[6] = of<F, T, 6, R, x, b, c>();
      }
    }
  }
  template <class F, class T, unsigned Literals, class R, class... X>
  static constexpr entry of() {
    if constexpr (!keeps_form<S>)
      return {&run_elementwise<S, F, T, sizeof...(X), Literals>};
    else if constexpr (!any_intercepts<S, F, R, X...>())
      return {&copy_operation<S>};
    else if constexpr (!any_rule<S, F, R, X...>())
      return {nullptr, observations<S, F, R, X...>.data()};
    else
      return {&run_elementwise<S, F, T, sizeof...(X), Literals>};
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
