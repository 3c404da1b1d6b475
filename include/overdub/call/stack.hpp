// The contexts of a run, outermost first, as a type and as references. The context that intercepts a call is determined by comparing
// stacks, never by their depth.
#pragma once

#include <overdub/call/context.hpp>

#include <string_view>
#include <type_traits>

namespace overdub {

/// One context of a stack. Run distinguishes two runs of one context type that may exchange values (perturbation confusion): if the context
/// has metadata, it has the types of the run's function and arguments that hold state (captures, members); otherwise it is void.
template <class C, class Run>
struct level {
  using context = C;
  using run = Run;
};

/// References to the contexts of a value, outermost first. A stack of stateless contexts is an empty class.
template <class... Levels>
struct stack;

template <>
struct stack<> {
  static constexpr bool empty = true;
  static constexpr int depth = 0;
};

namespace detail {
// One reference of a stack. The depth makes the bases of two levels of one context type different classes, so that stateless ones take no
// space.
template <class C, int Depth, bool = std::is_empty_v<C>>
struct stack_slot {
  ref<C> context;
  constexpr ref<C> get() const { return context; }
};
template <class C, int Depth>
struct stack_slot<C, Depth, true> {
  constexpr stack_slot() = default;
  constexpr stack_slot(ref<C>) {}
  static constexpr ref<C> get() { return {}; }
};
} // namespace detail

template <class Level, class... Rest>
struct stack<Level, Rest...> : detail::stack_slot<typename Level::context, sizeof...(Rest)>, stack<Rest...> {
  using head = Level;
  using context = typename Level::context;
  using tail = stack<Rest...>;
  using reference = detail::ref<context>;
  using slot = detail::stack_slot<context, sizeof...(Rest)>;
  static constexpr bool empty = false;
  static constexpr int depth = 1 + sizeof...(Rest);

  constexpr stack() requires(std::is_empty_v<slot>&& std::is_default_constructible_v<tail>) = default;
  constexpr stack(reference top_context, tail below) : slot{top_context}, tail(below) {}

  constexpr reference top() const { return slot::get(); }
  constexpr tail const& rest() const { return *this; }
};

namespace detail {

// Whether the innermost context is a symbolic one.
template <class S>
inline constexpr bool is_symbolic = false;
template <class L, class... R>
inline constexpr bool is_symbolic<stack<L, R...>> = is_symbolic<stack<R...>>;
template <class L>
inline constexpr bool is_symbolic<stack<L>> = symbolic<typename L::context>;

// Whether the only context is a symbolic one. It has no rules for operations on numbers and for functions, but two members, which are
// called without a search for rules:
//   stage_operation(stack, operation, x...)   with values of the stack and plain numbers; returns a value of the stack
//   stage_function<R>(call, f, x...)          with opened arguments, as rules; returns an R
template <class S>
inline constexpr bool stages = false;
template <class L>
inline constexpr bool stages<stack<L>> = symbolic<typename L::context>;

// A constant, as in `T s = 0`, belongs to no run: its references to contexts with state are null. A value whose reference to a context is
// null is its inner value, only with the type of a value of that context: the members of a null context are not called.

// The stack of a constant.
template <class S>
struct null_stack;
template <>
struct null_stack<stack<>> {
  static constexpr stack<> make() { return {}; }
};
template <class L, class... R>
struct null_stack<stack<L, R...>> {
  static constexpr stack<L, R...> make() {
    return {
        ref<typename L::context>(static_cast<typename L::context*>(nullptr)),
        null_stack<stack<R...>>::make()};
  }
};

// Whether a reference of a stack is null.
template <class S>
OVERDUB_INLINE constexpr bool has_null([[maybe_unused]] S const& stack) {
  if constexpr (std::is_empty_v<S>)
    return false;
  else
    return stack.top().is_null() || has_null(stack.rest());
}

// Whether all references of a stack to contexts with state are null.
template <class S>
OVERDUB_INLINE constexpr bool is_null_stack([[maybe_unused]] S const& stack) {
  if constexpr (std::is_empty_v<S>)
    return true;
  else
    return (std::is_empty_v<typename S::context> || stack.top().is_null()) && is_null_stack(stack.rest());
}

// The stack of a call that only a run can make. Throws `rejected_program` if a reference is null.
template <class S>
constexpr S const& stack_of_run(S const& stack, std::string_view call) {
  if constexpr (!std::is_empty_v<S>)
    if (has_null(stack)) throw_constants(call, context_name_v<typename S::context>);
  return stack;
}

// A stack whose null references are replaced by those of another one, which has all or the inner ones of its contexts.
template <class S, class T>
OVERDUB_INLINE constexpr S filled_with(S const& stack, T const& other) {
  if constexpr (std::is_empty_v<T>)
    return stack;
  else if constexpr (S::depth > T::depth)
    return S(stack.top(), filled_with(stack.rest(), other));
  else
    return S(stack.top().is_null() ? other.top() : stack.top(), filled_with(stack.rest(), other.rest()));
}

// Whether two stacks of one type refer to the same contexts. A null reference refers to none, and contradicts no other.
OVERDUB_INLINE constexpr bool same_contexts(stack<>, stack<>) { return true; }
template <class... L>
OVERDUB_INLINE constexpr bool same_contexts(stack<L...> const& a, stack<L...> const& b) {
  return a.top().agrees_with(b.top()) && same_contexts(a.rest(), b.rest());
}

template <class S, class Of>
inline constexpr bool is_suffix = false;
template <class... L>
inline constexpr bool is_suffix<stack<L...>, stack<L...>> = true;
template <class... L, class H, class... R>
requires(sizeof...(L) <= sizeof...(R)) inline constexpr bool is_suffix<stack<L...>, stack<H, R...>> =
    is_suffix<stack<L...>, stack<R...>>;

template <class Level, class S>
struct push;
template <class Level, class... Rest>
struct push<Level, stack<Rest...>> {
  using type = stack<Level, Rest...>;
};
template <class Level, class S>
using push_t = typename push<Level, S>::type;

// The join of unrelated stacks, after a diagnostic.
struct unrelated {
  static constexpr bool empty = true;
  static constexpr int depth = 1 << 16;
};
template <class S>
inline constexpr bool is_suffix<S, unrelated> = true;

template <class A, class B>
consteval bool related_contexts() {
  constexpr bool related = is_suffix<A, B> || is_suffix<B, A>;
  static_assert(
      related,
      "overdub: values of two unrelated runs meet in one call; start the inner run from the outer's values: "
      "pass them as arguments, lift its start with cx.lift(1.0), or run it with the scope: overdub(context, "
      "cx, f, ...)");
  return related;
}

// The stack of which all others are suffixes.
template <class... S>
struct join {
  using type = stack<>;
};
template <class A>
struct join<A> {
  using type = A;
};
template <class A, class... R>
struct join<A, A, R...> : join<A, R...> {};
template <class A, class B, class... R>
requires(!std::is_same_v<A, B>) struct join<A, B, R...>
    : join<
          std::conditional_t<
              related_contexts<A, B>(), std::conditional_t<(A::depth >= B::depth), A, B>, unrelated>,
          R...> {
};
template <class... S>
using join_t = typename join<S...>::type;

} // namespace detail
} // namespace overdub
