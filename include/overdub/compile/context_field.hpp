// context_field<T>: a member of a context that rules read when a program runs, and not during staging.
#pragma once

#include <overdub/call/context.hpp>
#include <overdub/compile/fields_as_arguments.hpp>
#include <overdub/ir/type_text.hpp>
#include <overdub/stage/staging.hpp>

#include <cstddef>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

namespace overdub {

/// A number, bool or array of a context that its rules use, and that may change between calls of a compiled function:
///
///   struct scaled : overdub::context {
///     overdub::context_field<double> by;
///     auto overdub(overdub::sin_t, auto x) { return by(x) * sin(x); }
///     ...
///
/// Outside of rules it is a plain T, by get() and assignment. A rule calls the field with its arguments, which tell whether the rule is
/// being staged: during staging, by(x) records a load from the context, and is its symbol; otherwise it is the value. The field is not part
/// of the fingerprint.
template <class T>
class context_field {
  static_assert(
      static_cast<bool>(detail::ir_type_of<T>),
      "overdub: a field is bool, i64, float, double, or an array of them; return data that determine the "
      "program's structure from fingerprint()");

public:
  context_field() = default;
  context_field(T x) : value_(std::move(x)) {}
  context_field& operator=(T x) {
    value_ = std::move(x);
    return *this;
  }

  T const& get() const { return value_; }
  T& get() { return value_; }

  /// The value for a rule with the arguments x. During staging, throws staging_error if the field is not stored in a context of the
  /// program.
  template <class... X>
  auto operator()(X const&... x) const {
    using S = detail::outermost_t<X...>;
    if constexpr (detail::is_symbolic<S>) {
      auto const stack = detail::stack_of_run(detail::stack_from<S>(x...), "a context_field");
      return detail::wrap(stack, load(innermost(stack)));
    } else
      return value_;
  }

private:
  template <class S>
  static auto const& innermost(S const& stack) {
    if constexpr (S::depth == 1)
      return stack;
    else
      return innermost(stack.rest());
  }
  // Stages a call of `read` with the offset of this field in its context.
  template <class S>
  auto load(S const& bottom) const {
    detail::recorder& r = bottom.top().get().recorder();
    auto const* const here = reinterpret_cast<std::byte const*>(this);
    for (detail::recorder::context_of_call const& c : r.contexts)
      if (here >= c.begin && here < c.begin + c.size) {
        ir::value_id const offset = r.literal(static_cast<overdub::i64>(here - c.begin));
        ir::attributes a = ir::attributes::of(r.bind(
            std::string(detail::context_field_prefix) + ir::text_of(r.program, detail::ir_type_of<T>), &read,
            c.begin));
        a.effects = effect::reads_context;
        return detail::wrap(
            bottom,
            overdub::tag(T{}, symbol_of_value{r.add(ir::op::host, {&offset, 1}, detail::ir_type_of<T>, a)}));
      }
    throw staging_error(message(
        "overdub: a rule reads a context_field that is not stored in a context of the program; declare "
        "it as a data member of the context, and not behind a pointer"));
  }
  static void read(void* context, void const* const* arguments, void* const* results) {
    auto const offset = *static_cast<overdub::i64 const*>(arguments[0]);
    auto const* const here = static_cast<std::byte const*>(context) + offset;
    *static_cast<T*>(results[0]) = std::launder(reinterpret_cast<context_field const*>(here))->value_;
  }

  T value_{};
};

} // namespace overdub
