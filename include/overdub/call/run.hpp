// Runs a function in a context, or in a composition: overdub(context, f, args...), also from a function that runs in contexts.
#pragma once

#include <overdub/call/body.hpp>
#include <overdub/call/compose.hpp>
#include <overdub/call/derived.hpp>
#include <overdub/call/leaving.hpp>
#include <overdub/call/scope.hpp>
#include <overdub/call/types.hpp>

#include <type_traits>
#include <utility>

namespace overdub {
namespace ir {
class program;
}
namespace detail {

// Whether an X may hold values of an outer run in captures or members that are not leaves of a tree.
template <class X>
consteval bool may_hide_values() {
  if constexpr (tree<X>)
    return []<class... T>(std::tuple<T...>*) {
      return (may_hide_values<std::remove_cvref_t<T>>() || ...);
    }(static_cast<typename tree_traits<X>::children*>(nullptr));
  else
    return !is_leaf<X> && !std::is_empty_v<X>;
}

// Identifies the run of F with arguments A, against perturbation confusion: the types that may hide values of an outer run become part of
// the type of this run's values. A context without metadata does not need this.
template <class F, class... A>
using hiding_t = concatenated_t<keep<may_hide_values<F>(), F>, keep<may_hide_values<A>(), A>...>;
template <class C, class Hiding>
using run_of_t = std::conditional_t<carries_metadata<C> && !std::is_same_v<Hiding, types<>>, Hiding, void>;

// The stack of a run: its contexts on top of those of S.
template <class Hiding, class S, class... C>
struct run_stack {
  using type = S;
};
template <class Hiding, class S, class C, class... Rest>
struct run_stack<Hiding, S, C, Rest...> {
  using type = push_t<level<C, run_of_t<C, Hiding>>, typename run_stack<Hiding, S, Rest...>::type>;
};

template <class Hiding, class S>
constexpr S make_run_stack(lifetime, S const& below) {
  return below;
}
template <class Hiding, class S, class C, class... Rest>
constexpr auto make_run_stack(lifetime of_run, S const& below, C& context, Rest&... rest) {
  return typename run_stack<Hiding, S, C, Rest...>::type(
      ref<C>(context, of_run), make_run_stack<Hiding>(of_run, below, rest...));
}
// The lifetime of a run in the contexts C..., if one of them needs it.
template <class... C>
using run_lifetime = begun_lifetime<(keeps_lifetime<C> || ...)>;

template <class X>
inline constexpr bool is_tagged_by_hand = false;
template <class T, class M>
inline constexpr bool is_tagged_by_hand<tagged<T, M>> = true;

// Wraps an argument of a run into the contexts of S that are outside of Below. A tag sets the metadata of the outermost context that has
// metadata; a tag of a tag sets those of the next one.
template <class Below, class S, class X>
constexpr auto admit(S const& stack, X&& x);

template <class Below, class S>
struct admitter {
  S const& stack;
  template <class X>
  constexpr auto operator()(X&& x) const {
    return admit<Below>(stack, std::forward<X>(x));
  }
};

template <class Below, class S, class X>
constexpr auto admit(S const& stack, X&& x) {
  using T = std::remove_cvref_t<X>;
  if constexpr (std::is_same_v<S, Below> || is_leaf<T>) {
    check_run_of_value<none>(x);
    constexpr bool taken = !is_tagged_by_hand<T>;
    static_assert(
        taken,
        "overdub: an argument is given as tag(x, metadata), and no context of this run keeps metadata for "
        "it; give x alone");
    if constexpr (taken)
      return wrap(stack, std::forward<X>(x));
    else
      return refused{};
  } else if constexpr (is_tagged<T>) {
    using C = typename S::context;
    if constexpr (carries_metadata<C>) {
      auto inner = wrap_tagged(stack.rest(), admit<Below>(stack.rest(), std::forward<X>(x).inner));
      using I = decltype(inner);
      using M = metadata_t<C, I>;
      auto metadata = [&] {
        // A tag inside of the metadata, and of the number, is for the next context with metadata; contexts without metadata in between are
        // skipped.
        if constexpr (is_tagged_by_hand<std::remove_cvref_t<decltype(x.metadata)>> && !stack_in_t<M>::empty)
          return become<M>(stack.rest(), admit<Below>(stack.rest(), std::forward<X>(x).metadata), inner);
        else
          return become<M>(stack.rest(), std::forward<X>(x).metadata, inner);
      }();
      return value<I, C, typename S::head::run>(std::move(inner), std::move(metadata), stack.top());
    } else
      return wrap(stack, admit<Below>(stack.rest(), std::forward<X>(x)));
  } else if constexpr (tree<T>)
    return tree_traits<T>::map(admitter<Below, S>{stack}, std::forward<X>(x));
  else
    return std::decay_t<T>(std::forward<X>(x)); // an array of C++ is a pointer
}

// Strips a result of a run of the contexts of S that are outside of Below.
template <class Below, class S, class X>
constexpr auto release(S const& stack, X&& x) {
  if constexpr (std::is_same_v<S, Below>)
    return std::remove_cvref_t<X>(std::forward<X>(x));
  else
    return release<Below>(stack.rest(), strip(stack, wrap(stack, std::forward<X>(x))));
}

template <class Below, class S, class X>
constexpr auto leave_run(S const& stack, X&& x);

template <class Below, class S>
struct leaver {
  S const& stack;
  template <class X>
  constexpr auto operator()(X&& x) const {
    return leave_run<Below>(stack, std::forward<X>(x));
  }
};

template <class Below, class X>
consteval bool can_leave() {
  constexpr bool is_closure = is_closure_of_values<Below, X>();
  constexpr bool can = rebuildable<X> && !has_values_as_keys<Below, X>;
  static_assert(
      !is_closure, "overdub: what this run returns is a closure that takes or returns values of its context, "
                   "and would outlive the run; return the numbers that it captured, and make the closure of "
                   "them after the run");
  static_assert(
      can || is_closure,
      "overdub: what this run returns holds values of its context in a type that overdub does not look "
      "into, and they would outlive "
      "the run; return numbers, arrays, or trees and standard containers of them, or describe the "
      "struct template with "
      "BOOST_HANA_DEFINE_STRUCT");
  return can;
}

// The same, including values in containers that are not trees. It is not forced inline: otherwise g++ computes the result in the memory of
// the arguments, and vectorises the loops less well (1.13 times the time in bench/forward.cpp).
template <class Below, class S, class X>
constexpr auto leave_run(S const& stack, X&& x) {
  using T = std::remove_cvref_t<X>;
  if constexpr (!holds_values_apart<Below, T>())
    return release<Below>(stack, std::forward<X>(x));
  else if constexpr (tree<T>)
    return tree_traits<T>::map(leaver<Below, S>{stack}, std::forward<X>(x));
  else if constexpr (can_leave<Below, T>())
    return rebuilt(leaver<Below, S>{stack}, T(std::forward<X>(x)));
  else
    return refused{};
}

template <class Below, class S, class F, class... A>
OVERDUB_INLINE constexpr auto run_in(S const& stack, F const& f, A&&... a) {
  [[maybe_unused]] begun_run_t<S> const begun;
  if constexpr (callee<F>)
    return leave_run<Below>(stack, call_in(stack, f, std::forward<A>(a)...));
  else
    return leave_run<Below>(stack, run_body(stack, f, std::forward<A>(a)...));
}

// Returns a composition itself, so that the contexts that it owns keep their state, or a copy of a const one.
template <class Composition>
constexpr decltype(auto) changeable(Composition&& contexts) {
  if constexpr (is_composition<std::remove_reference_t<Composition>>) {
    auto& own = contexts; // g++ 11 treats the parameter itself as an rvalue
    return (own);
  } else
    return compose(std::forward<Composition>(contexts));
}

template <class Below, class Context, class F, class... A>
OVERDUB_INLINE constexpr auto start(Below const& below, Context&& context, F const& f, A&&... a) {
  if constexpr (is_symbolic<Below>) (void)stack_of_run(below, "run");
  if constexpr (!part_of_composition<Context>() || std::is_same_v<Below, unrelated>)
    return refused{};
  else if constexpr (!is_composition<std::remove_cvref_t<Context>>) {
    run_lifetime<std::remove_cvref_t<Context>> const run;
    [[maybe_unused]] staged_run<Below, std::remove_cvref_t<Context>> const staged(below, context);
    auto const stack = make_run_stack<hiding_t<F, std::remove_cvref_t<A>...>>(run.get(), below, context);
    return run_in<Below>(stack, f, admit<Below>(stack, std::forward<A>(a))...);
  } else {
    auto&& contexts = changeable(std::forward<Context>(context));
    return hana::unpack(contexts.contexts, [&]<class... Held>(Held&... held) OVERDUB_INLINE {
      run_lifetime<held_context_t<Held>...> const run;
      [[maybe_unused]] staged_run<Below, held_context_t<Held>...> const staged(below, get_held(held)...);
      auto const stack =
          make_run_stack<hiding_t<F, std::remove_cvref_t<A>...>>(run.get(), below, get_held(held)...);
      return run_in<Below>(stack, f, admit<Below>(stack, std::forward<A>(a))...);
    });
  }
}

// A compiled run; defined in compile/compile.hpp.
template <class Context, class F, class... A>
struct compiled_run {
  static constexpr bool is_included = false;
};

// Whether a context has passes or a fingerprint, so that its runs are compiled.
template <class C>
inline constexpr bool is_dynamic = has_fingerprint<C> || has_pass<C> || declares_options<C>;
template <class... Held>
inline constexpr bool is_dynamic<composition<Held...>> = (is_dynamic<held_context_t<Held>> || ...);

template <class Context, class F, class... A>
consteval bool starts_compiled() {
  static_assert(
      compiled_run<Context, F, A...>::is_included,
      "overdub: a context with passes or a fingerprint is compiled; include <overdub/compile/compile.hpp>");
  return compiled_run<Context, F, A...>::is_included;
}
template <class Below, class Context, class F, class... A>
constexpr auto start_compiled(Below const& below, Context&& context, F const& f, A&&... a) {
  check_run<F>(below);
  (void)stack_of_run(below, "run");
  if constexpr (
      (!is_composition<std::remove_cvref_t<Context>> && !part_of_composition<Context>()) ||
      std::is_same_v<Below, unrelated>)
    return refused{};
  else if constexpr (!starts_compiled<Context, F, A...>())
    return refused{};
  else if constexpr (Below::empty)
    return compiled_run<Context, F, A...>::call(context, f, a...);
  else
    return compiled_run<Context, F, A...>::call_inside(below, context, f, a...);
}

} // namespace detail

/// Runs f in a context, or in a composition of contexts, which enclose the contexts of the arguments. An argument is a constant, or tag(x,
/// metadata). Returns the result of f: inner values if no context has metadata, and otherwise tagged{inner, metadata} for each leaf. The
/// context is used by reference and may be examined afterwards. In a context with passes or a fingerprint the run is compiled: see
/// compile/compile.hpp. If such a run is nested in another context's run, its program is evaluated in that context.
///   count c; overdub(c, f, 2.0);        overdub(forward{}, f, tag(2.0, 1.0)).metadata; overdub(compose(c,
///   d), f, 2.0);
template <class Context, class F, class... A>
requires(!scope<F>) constexpr auto overdub(Context&& context, F const& f, A&&... a) {
  using Below = detail::outermost_t<A...>;
  constexpr bool is_program = std::is_same_v<F, ir::program>;
  static_assert(
      !is_program, "overdub: a context rewrites a program by overdub(context, program); include "
                   "<overdub/stage/evaluate.hpp>");
  constexpr bool is_function = !detail::contexts_to_run_in<F>;
  static_assert(
      is_function, "overdub: a run is given a context in the place of the function; the context is the first "
                   "argument, the "
                   "function the second, and several contexts are composed: run(compose(a, b), f, x)");
  if constexpr (is_program || !is_function) {
    return detail::refused{};
  } else if constexpr (detail::is_dynamic<std::remove_cvref_t<Context>>)
    return detail::start_compiled(
        detail::stack_from<Below>(a...), std::forward<Context>(context), f, std::forward<A>(a)...);
  else
    return detail::start(
        detail::stack_from<Below>(a...), std::forward<Context>(context), f, std::forward<A>(a)...);
}

/// The same in a function with a scope: the context encloses the contexts of the scope, whatever the arguments are.
template <class Context, scope Scope, class F, class... A>
constexpr auto overdub(Context&& context, Scope const& cx, F const& f, A&&... a) {
  if constexpr (detail::is_dynamic<std::remove_cvref_t<Context>>)
    return detail::start_compiled(cx.levels(), std::forward<Context>(context), f, std::forward<A>(a)...);
  else
    return detail::start(cx.levels(), std::forward<Context>(context), f, std::forward<A>(a)...);
}

/// The same as `overdub`, with a name that is unambiguous after `using namespace overdub`.
template <class Context, class... A>
constexpr auto run(Context&& context, A&&... a) {
  return overdub::overdub(std::forward<Context>(context), std::forward<A>(a)...);
}

// Selected if <overdub/compile/compile.hpp> is not included: reports that.
template <class Context, class F, class... A, class... Options>
requires(!detail::compiled_run<Context, F>::is_included) //
    constexpr auto compile(Context&&, F const&, types<A...>, Options const&...) {
  static_assert(
      detail::compiled_run<Context, F>::is_included,
      "overdub: compile(contexts, f, signature) is in another header; include <overdub/compile/compile.hpp>");
  return detail::refused{};
}

} // namespace overdub
