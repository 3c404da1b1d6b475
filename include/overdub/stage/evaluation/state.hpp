// The state of one evaluation of a program in the contexts of a stack, and its access to the values in the frames of functions (`env`,
// `read` and `write` of JAX's eval_jaxpr). Functions of the evaluation whose parameters are references to const are called as detail::f: a
// user's template that argument-dependent lookup finds could be a better match.
#pragma once

#include <overdub/call/stack_limit.hpp>
#include <overdub/ir/consistent.hpp>
#include <overdub/ir/program.hpp>
#include <overdub/stage/evaluation/frame.hpp>
#include <overdub/stage/evaluation/properties.hpp>
#include <overdub/stage/hooks.hpp>
#include <overdub/stage/recorder.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub::detail {

inline constexpr std::size_t stack_of_evaluation = std::size_t{1} << 20; // in bytes of the C++ stack

template <class S>
class evaluation_state {
public:
  // A function that the evaluation stages is named by its original name, followed by `above` and the names of the contexts. The limit is
  // counted from the start of the run.
  evaluation_state(
      ir::program const& p, S const& contexts, std::string above, bool intercepts_functions,
      stack_limit const& limit = stack_limit(stack_of_evaluation))
      : program_(p), stack_(contexts), above_(std::move(above)), intercepts_functions_(intercepts_functions),
        limit_(limit) {
    check_math();
  }

  ir::program const& program() const { return program_; }
  S const& stack() const { return stack_; }
  std::string const& above() const { return above_; }
  /// Whether contexts intercept calls of this program's functions.
  bool intercepts_functions() const { return intercepts_functions_; }
  /// Whether elementary functions are those of the math mode `consistent`. (Programs of the mode `fast` are evaluated as `exact`.)
  bool is_consistent() const { return program_.math == ir::math_mode::consistent; }
  /// The program that is staged, in symbolic contexts.
  detail::recorder& recorder() const { return recorder_of(stack_); }

  stack_limit const& limit() const { return limit_; }
  void check_depth() const {
    if (limit_.is_reached())
      throw stack_overflow(
          message("overdub: evaluate: calls, or function values that capture one another, are nested too "
                  "deeply; does a recursion not end?"));
  }

  /// The operation that threw, in the innermost region and function.
  evaluation_place const& failed() const { return failed_; }
  void set_failed(evaluation_place const& place) { failed_ = place; }

  // ---- the values of a frame

  /// The cell of a slot. Throws evaluation_error, if the value is a function value or an accumulator.
  cell<S> const& leaf(slot<S> const& s) const {
    if constexpr (keeps_form<S>)
      if (!s.leaf && s.symbol != ir::nothing && !s.type.is_function())
        s.leaf = with_type(s.type, [&]<class T>(std::type_identity<T>) -> cell<S> {
          return symbol_in<T>(stack_, s.symbol);
        });
    if (!s.leaf)
      throw evaluation_error(message(
          "overdub: evaluate: a function value or an accumulator is used where only numbers and arrays "
          "can be; inline the function first, or use an executable"));
    return s.leaf;
  }
  /// The cell of a slot; none, if the value has no cell type.
  cell<S> cell_or_none(slot<S> const& s) const {
    if constexpr (keeps_form<S>)
      if (!s.leaf && s.symbol != ir::nothing && !is_cell(s.type)) return {};
    if (!s.leaf && (s.symbol == ir::nothing || s.type.is_function())) return {};
    return leaf(s);
  }
  cell<S> cell_at(frame<S>& at, ir::value_id v) const {
    if (!at.f.is_literal(v)) return leaf(at[v]);
    return with_type(at.f.type_of(v), [&]<class T>(std::type_identity<T>) -> cell<S> {
      if constexpr (std::is_arithmetic_v<T>)
        return wrap(stack_, literal_value<T>(at.f, v));
      else
        return {};
    });
  }
  /// The cells of `count` operands, from the operand `first` on.
  std::vector<cell<S>> cells_at(frame<S>& at, ir::node_id n, std::uint32_t first, std::uint32_t count) const {
    std::vector<cell<S>> all;
    for (std::uint32_t i = 0; i < count; ++i) all.push_back(cell_at(at, at.f.operand(n, first + i)));
    return all;
  }
  slot<S> slot_at(frame<S>& at, ir::value_id v) const {
    if (at.f.is_literal(v)) return {cell_at(at, v)};
    return at[v];
  }

  /// A value of type T. Rules receive a literal as a plain number, if Literal, and otherwise as a constant.
  template <class T, bool Literal>
  decltype(auto) operand(frame<S>& at, ir::value_id v) const {
    if constexpr (!std::is_arithmetic_v<T>)
      return *leaf(at[v]).template get<wrap_t<S, T>>();
    else if constexpr (Literal || S::empty)
      return at.f.is_literal(v) ? literal_value<T>(at.f, v) : plain_operand<T>(at, v);
    else
      return at.f.is_literal(v) ? wrap_t<S, T>(wrap(stack_, literal_value<T>(at.f, v)))
                                : *leaf(at[v]).template get<wrap_t<S, T>>();
  }
  template <class T>
  wrap_t<S, T> typed(frame<S>& at, ir::value_id v) const {
    return operand<T, false>(at, v);
  }
  wrap_t<S, i64> integer(frame<S>& at, ir::node_id n, std::uint32_t i) const {
    return typed<i64>(at, at.f.operand(n, i));
  }

  template <class X>
  void set(frame<S>& at, ir::value_id v, X&& x) const {
    at[v].leaf = cell<S>(wrap(stack_, std::forward<X>(x)));
  }

private:
  template <class T>
  T plain_operand(frame<S>& at, ir::value_id v) const {
    if constexpr (S::empty)
      return *at[v].leaf.template get<T>();
    else
      throw evaluation_error(message("overdub: evaluate: no literal"));
  }

  // Rejects programs of a math mode that is not available.
  void check_math() const {
    if constexpr (is_symbolic<S>) {
      if (recorder().program.math != program_.math)
        throw evaluation_error(message("overdub: evaluate: the program that is staged has other mathematics "
                                       "than the one that is evaluated; "
                                       "set program::math of both to one mode"));
    } else if (is_consistent()) {
      if (ir::consistent == nullptr)
        throw evaluation_error(
            message("overdub: evaluate: the program cannot be run: %s", ir::not_consistent));
      if constexpr (!S::empty)
        throw evaluation_error(message(
            "overdub: evaluate: a program of consistent mathematics is evaluated on numbers, not on values "
            "of "
            "contexts; let the context rewrite it, overdub(context, program), and evaluate what that gives"));
    }
  }

  ir::program const& program_;
  S const& stack_;
  std::string above_;
  evaluation_place failed_;
  bool intercepts_functions_;
  stack_limit limit_;
};

// Sets the results of an operation.
template <class S>
void set_results(frame<S>& at, ir::node_id n, std::vector<cell<S>> const& results) {
  for (std::uint32_t i = 0; i < results.size(); ++i) at[at.f.result(n, i)].leaf = results[i];
}
template <class S>
void set_results(frame<S>& at, ir::node_id n, std::vector<slot<S>> results) {
  for (std::uint32_t i = 0; i < results.size(); ++i) at[at.f.result(n, i)] = std::move(results[i]);
}

} // namespace overdub::detail
