// The dispatcher. The outermost context among the arguments intercepts a call: first its hook `before`; then its rule, or else the
// function's body in the context, or else the primitive one level down; then its hook `after`.
#pragma once

#include <overdub/call/hook.hpp>
#include <overdub/call/intercepts.hpp>
#include <overdub/call/plain_call.hpp>
#include <overdub/call/result.hpp>
#if OVERDUB_AMBIENT
#include <overdub/call/ambient_call.hpp>
#endif

#include <cstddef>
#include <exception>
#include <tuple>
#include <type_traits>
#include <utility>

namespace overdub {

namespace detail {

template <class S, class F>
struct derived;
} // namespace detail
template <class To>
struct convert_t;
namespace detail {

template <class S, class P, class... A>
OVERDUB_INLINE constexpr auto call_primitive(S const& stack, P const& p, A&&... a);

// The result type of a function is computed without instantiating the call; that of a primitive is deduced.
template <class S, class F, class... A>
consteval auto find_call_type() {
  if constexpr (function<F>)
    return result<S, F, std::remove_cvref_t<A>...>{};
  else
    return type_is<decltype(call_primitive(
        std::declval<S const&>(), std::declval<F const&>(), std::declval<A>()...))>{};
}
template <class S, class F, class... A>
using call_t = typename decltype(find_call_type<S, F, A...>())::type;

// Calls f in S. An argument is a constant for those contexts of S of which it is not a value.
template <class S, class F, class... A>
OVERDUB_INLINE constexpr call_t<S, F, A...> call(S const& stack, F const& f, A&&... a);

// ---- primitives

// A primitive that moves data or takes functions defines its call one level down:
//   p.lower(stack, call_lowered, a...) returns call_lowered(the arguments one level down...).
// Functions among them are lowered: they wrap their arguments, and strip their results.
struct any_call {
  template <class... L>
  constexpr none operator()(L&&...) const {
    return {}; // never called; clang warns of undefined functions of types in unnamed namespaces
  }
};
template <class P, class S, class... A>
concept lowers = requires(P const& p, S const& stack, A&&... a) {
  p.lower(stack, any_call{}, static_cast<A&&>(a)...);
};

// Makes a lowered call by a rule, if rules are allowed and one exists, or else in the next context.
template <bool Rules, class S, class P>
struct lowered_call {
  S const& stack;
  P const& p;
  template <class... L>
  OVERDUB_INLINE constexpr auto operator()(L&&... l) const {
    constexpr rule found = [] {
      if constexpr (Rules)
        return rule_for<S, P, decltype(owned_tree(static_cast<L&&>(l)))...>;
      else
        return rule::none;
    }();
    if constexpr (found != rule::none)
      return wrap(stack, call_rule<found>(stack, p, owned_tree(static_cast<L&&>(l))...));
    else
      return wrap(stack, call(stack.rest(), p, static_cast<L&&>(l)...));
  }
};

// The metadata of a conversion's result: those of its operand, each number converted to the type of the corresponding number in To.
template <class X>
using children_of_t = typename tree_traits<X>::children;
template <class To>
struct numbers_to {
  template <class S, class M>
  static constexpr auto of(S const& rest, M const& m) {
    if constexpr (std::is_same_v<M, To>)
      return m;
    else if constexpr (!tree<M> && stack_in_t<To>::empty) // plain in all contexts
      return convert_t<To>{}(m);
    else if constexpr (!tree<M>)
      return call(rest, convert_t<bottom_t<To>>{}, m);
    else if constexpr (std::tuple_size_v<children_of_t<M>> == 1)
      return tree_traits<M>::map(
          [&](auto const& x) { return numbers_to<std::tuple_element_t<0, children_of_t<To>>>::of(rest, x); },
          m);
    else
      return tree_traits<M>::map(
          [&]<class T>(auto const& x, std::type_identity<T>) { return numbers_to<T>::of(rest, x); }, m,
          tree_traits<To>::generate([]<class T>(std::type_identity<T> place) { return place; }));
  }
};

// Whether M and To have the same structure, with numbers at the same positions.
template <class M, class To>
consteval bool numbers_convert() {
  if constexpr (std::is_same_v<M, To>)
    return true;
  else if constexpr (tree<M> && tree<To>) {
    constexpr bool children_convert = []<class... A, class... B>(std::tuple<A...>*, std::tuple<B...>*) {
      if constexpr (sizeof...(A) == sizeof...(B))
        return (numbers_convert<A, B>() && ...);
      else
        return false;
    }(static_cast<children_of_t<M>*>(nullptr), static_cast<children_of_t<To>*>(nullptr));
    if constexpr (children_convert)
      return std::is_same_v<
          To, decltype(numbers_to<To>::of(std::declval<stack_in_t<M> const&>(), std::declval<M const&>()))>;
    else
      return false;
  } else
    return !tree<M> && !tree<To> && (stack_in_t<M>::empty || !stack_in_t<To>::empty) &&
           std::is_arithmetic_v<bottom_t<M>> && std::is_arithmetic_v<bottom_t<To>>;
}

// A conversion in a context with metadata. The result keeps the metadata, converted number by number, if the metadata for the new type have
// the same structure. Otherwise it has the metadata of a constant.
template <class P, class C>
concept converts_metadata = of_kind<P, kind::conversion> && carries_metadata<C>;

// Whether the outermost context of S may be null.
template <class S>
inline constexpr bool may_be_null = !std::is_empty_v<typename S::context>;

// An operation on constants of the outermost context, whose reference is null: an operation on numbers is the same call one level down, and
// others are refused. R is the type of the call in the context.
template <class R, class S, class P, class... A>
[[gnu::cold]] constexpr R call_on_constants(S const& stack, P const& p, A const&... a) {
  if constexpr (is_refused<R>)
    return {};
  else if constexpr (elementwise<P> && (is_leaf<A> && ...)) {
    if constexpr (std::is_same_v<R, decltype(wrap(stack, call(stack.rest(), p, inner(stack, a)...)))>)
      return wrap(stack, call(stack.rest(), p, inner(stack, a)...));
    else
      throw_constants(P::name(), context_name_v<typename S::context>);
  } else
    throw_constants(P::name(), context_name_v<typename S::context>);
}

struct answer_primitive {
  template <class S, class P, class... A>
  OVERDUB_INLINE static constexpr auto answer(S const& stack, P const& p, A&&... a) {
    if constexpr (control<P>) {
      if constexpr (may_be_null<S>)
        if (stack.top().is_null()) [[unlikely]]
          throw_constants(P::name(), context_name_v<typename S::context>);
      return p.lower(stack, lowered_call<true, S, P>{stack, p}, static_cast<A&&>(a)...);
    } else if constexpr (constexpr rule found = rule_for<S, P, open_t<S, A>...>; found != rule::none) {
      if constexpr (may_be_null<S>)
        if (stack.top().is_null()) [[unlikely]]
          return call_on_constants<decltype(wrap(
              stack, call_rule<found>(stack, p, open(stack, static_cast<A&&>(a))...)))>(stack, p, a...);
      return wrap(stack, call_rule<found>(stack, p, open(stack, static_cast<A&&>(a))...));
    } else
      return structure(stack, p, static_cast<A&&>(a)...);
  }

  template <class S, class P, class A>
  OVERDUB_INLINE static constexpr auto convert(S const& stack, P const& p, A&& a) {
    auto const from = open(stack, static_cast<A&&>(a));
    auto result = call(stack.rest(), p, from.inner);
    using R = decltype(result);
    using M = std::remove_cvref_t<decltype(from.metadata)>;
    using To = metadata_t<typename S::context, R>;
    if constexpr (numbers_convert<M, To>())
      return wrap(
          stack, tagged<R, To, typename S::head>{
                     std::move(result), numbers_to<To>::of(stack.rest(), from.metadata)});
    else
      return wrap(stack, std::move(result));
  }

  // Without a rule: the same call one level down.
  template <class S, class P, class... A>
  OVERDUB_INLINE static constexpr auto structure(S const& stack, P const& p, A&&... a) {
    if constexpr (may_be_null<S> && carries_metadata<typename S::context> && !shorthand<P> && !native_leaf<P>)
      if (stack.top().is_null()) [[unlikely]]
        return call_on_constants<decltype(structure_of_values(stack, p, static_cast<A&&>(a)...))>(
            stack, p, a...);
    return structure_of_values(stack, p, static_cast<A&&>(a)...);
  }
  template <class S, class P, class... A>
  OVERDUB_INLINE static constexpr auto structure_of_values(S const& stack, P const& p, A&&... a) {
    if constexpr (shorthand<P>)
      return wrap(stack, p.decompose(wrap(stack, static_cast<A&&>(a))...));
    else if constexpr (converts_metadata<P, typename S::context>)
      return convert(stack, p, static_cast<A&&>(a)...);
    else if constexpr (carries_metadata<typename S::context> && requires {
                         p.decompose(static_cast<A&&>(a)...);
                       })
      return wrap(stack, p.decompose(static_cast<A&&>(a)...));
    else if constexpr (lowers<P, S, A...>)
      return p.lower(stack, lowered_call<false, S, P>{stack, p}, static_cast<A&&>(a)...);
    else
      return wrap(stack, call(stack.rest(), p, inner(stack, static_cast<A&&>(a))...));
  }
};

template <class C>
inline constexpr bool has_hooks = declares_before<C> || declares_after<C> || declares_failed<C>;

// ---- functions

// A function's body runs one level down, as a call of the derived function "f in the context", which the next context intercepts. Handles a
// context that `enter` returned by value while a function is staged. Defined in stage/hooks.hpp.
template <class S>
void begin_temporary(S const& stack, void const* begin, std::size_t size);
template <class S>
void end_temporary(S const& stack);
template <class S, class Entered>
struct temporary_context {
  OVERDUB_INLINE constexpr temporary_context(S const&, std::remove_cvref_t<Entered> const&) {}
};
template <class S, class Entered>
requires(
    is_symbolic<S> && !std::is_reference_v<Entered> &&
    !std::is_empty_v<Entered>) class temporary_context<S, Entered> {
public:
  temporary_context(S const& stack, Entered const& context) : stack_(stack) {
    begin_temporary(stack, &context, sizeof context);
  }
  temporary_context(temporary_context const&) = delete;
  temporary_context& operator=(temporary_context const&) = delete;
  ~temporary_context() { end_temporary(stack_); }

private:
  S const& stack_;
};

// A run in contexts while a function is staged. When it has ended, other contexts may have their addresses. Defined in stage/hooks.hpp.
template <class S>
void begin_context(S const& stack, void const* context);
template <class S>
void end_context(S const& stack, void const* context);
template <class S, class... C>
struct staged_run {
  OVERDUB_INLINE constexpr staged_run(S const&, C const&...) {}
};
template <class S, class... C>
requires(is_symbolic<S> && (!std::is_trivially_copyable_v<C> || ...)) class staged_run<S, C...> {
public:
  staged_run(S const& stack, C const&... contexts) : stack_(stack), contexts_{&contexts...} {
    for (void const* const each : contexts_) begin_context(stack_, each);
  }
  staged_run(staged_run const&) = delete;
  staged_run& operator=(staged_run const&) = delete;
  ~staged_run() {
    for (void const* const each : contexts_) end_context(stack_, each);
  }

private:
  S const& stack_;
  void const* contexts_[sizeof...(C)];
};

// Whether a context has more to do with a call of constants alone than to run the function's body: a rule of its own, `enter`, or a rule of
// an inner context that names the function, which its metadata keep it from.
template <answer How, class S, class F, class... A>
consteval bool needs_context() {
  if constexpr (How == answer::rule)
    return true;
  else if constexpr (How != answer::body)
    return false;
  else if constexpr (changes_context<typename S::context, F, A...>)
    return true;
  else
    return carries_metadata<typename S::context> && named_inside<S, F, A...>();
}

// Whether no context does more with a call of constants alone than to run the function's body.
template <class S, class F, class... A>
consteval bool runs_body_alone() {
  if constexpr (S::empty)
    return true;
  else {
    using C = typename S::context;
    if constexpr (std::is_empty_v<C> && (has_hooks<C> || declares_enter<C>))
      return false;
    else if constexpr (find_answer<S, F, A...>() != answer::body)
      return false;
    else if constexpr (needs_context<answer::body, S, F, A...>())
      return false;
    else
      return runs_body_alone<
          typename S::tail, derived<S, F>, std::remove_cvref_t<strip_t<S, wrap_t<S, A>>>...>();
  }
}

struct answer_function {
  template <class S, class F, class... A>
  OVERDUB_INLINE static constexpr result_t<S, F, A...> answer(S const& stack, F const& f, A&&... a) {
    using C = typename S::context;
    using R = result_t<S, F, A...>;
    constexpr detail::answer how = find_answer<S, F, std::remove_cvref_t<A>...>();
    if constexpr (may_be_null<S> && needs_context<how, S, F, std::remove_cvref_t<A>...>())
      if (stack.top().is_null()) [[unlikely]]
        throw_constants(F::name(), context_name_v<C>);
    if constexpr (how == detail::answer::rule) {
      constexpr rule found = rule_for<S, F, open_t<S, std::remove_cvref_t<A>>...>;
      using Rule = decltype(wrap(stack, call_rule<found>(stack, f, open(stack, static_cast<A&&>(a))...)));
      if constexpr (rule_result<S, F, R, Rule>())
        return wrap(stack, call_rule<found>(stack, f, open(stack, static_cast<A&&>(a))...));
      else if constexpr (of_kind<F, kind::of_program>)
        throw_rule_result(F::name(), context_name_v<C>);
      else
        return refused{};
    } else if constexpr (how == detail::answer::leave || how == detail::answer::pass) {
      return wrap(stack, call(stack.rest(), f, inner(stack, static_cast<A&&>(a))...));
    } else if constexpr (changes_context<C, F, std::remove_cvref_t<A>...>) {
      using Entered = decltype(ask_enter<std::remove_cvref_t<A>...>(stack.top().get(), f));
      using Body = body_stack_t<S, F, std::remove_cvref_t<A>...>;
      static_assert(
          !is_symbolic<S> || std::is_reference_v<Entered> || std::is_empty_v<Entered> ||
              !has_hooks<std::remove_cvref_t<Entered>>,
          "overdub: enter(f) returns a context with hooks and members by value, whose hooks would be called "
          "when the program runs, after the context is destroyed; return a reference to a member of the "
          "context");
      auto&& entered = ask_enter<std::remove_cvref_t<A>...>(stack.top().get(), f);
      [[maybe_unused]] temporary_context<S, Entered> const temporary(stack, entered);
      // A context that is returned by reference has the lifetime of this run.
      constexpr bool goes_on = std::is_lvalue_reference_v<Entered> && keeps_lifetime<C>;
      begun_lifetime<keeps_lifetime<std::remove_cvref_t<Entered>> && !goes_on> const here;
      auto const of_body = [&] {
        if constexpr (goes_on)
          return stack.top().of_run();
        else
          return here.get();
      }();
      Body const body{{entered, of_body}, stack.rest()};
      return rehome(
          body, stack,
          call(
              body.rest(), derived<Body, F>{f, body},
              strip(body, rehome(stack, body, static_cast<A&&>(a)))...));
    } else {
      return wrap(
          stack, call(stack.rest(), derived<S, F>{f, stack}, lift_down(stack, static_cast<A&&>(a))...));
    }
  }
};

// ---- hooks of functions and primitives

// The type of an argument of a call with hooks: they observe it after the call, which must not consume it.
template <class A>
using kept_t = std::conditional_t<
    std::is_lvalue_reference_v<A>, A,
    std::conditional_t<
        can_be_copied<std::remove_cvref_t<A>>(), std::remove_cvref_t<A>, consumed_argument> const>;

// Which hook observes the end of a call. Refuses one that names the type of an argument that cannot be kept.
template <class Hook, class S, class F, class R, class... A>
consteval hook_kind find_end_hook() {
  constexpr hook_kind found = find_hook<Hook, S, F, R, std::remove_cvref_t<kept_t<A>>...>();
  if constexpr (!(std::is_same_v<std::remove_cvref_t<kept_t<A>>, std::remove_cvref_t<A>> && ...)) {
    constexpr bool names_type = found == hook_kind::never &&
                                find_hook<Hook, S, F, R, std::remove_cvref_t<A>...>() != hook_kind::never;
    static_assert(
        !names_type, "overdub: a hook observes the end of a call, and names the type of an argument that "
                     "cannot be copied, as std::unique_ptr; take it as auto const&, and it is an "
                     "overdub::consumed_argument, or give the function what it holds, f(*p)");
  }
  return found;
}
template <class S, class F, class R, class... A>
inline constexpr bool
    observes_end = find_end_hook<after_hook, S, F, R, A...>() != hook_kind::never
                   || find_end_hook<failed_hook, S, F, std::exception_ptr, A...>() != hook_kind::never;

// For staged programs: stages `compute`, and `fail` as the handler of its exceptions. Defined in stage/hooks.hpp.
template <class R, class S, class Compute, class Fail>
R stage_protected(S const& stack, Compute const& compute, Fail const& fail);
// Stages a protected call of a program's function whose results are not cells: the call stores them.
template <class S, class F, class Compute, class Fail>
void stage_protected_call(S const& stack, F const& f, Compute const& compute, Fail const& fail);

template <class R, class Answer, class S, class F, class... A>
OVERDUB_INLINE constexpr R observe_end(S const& stack, F const& f, A&&... a) {
  constexpr bool after = find_end_hook<after_hook, S, F, R, A...>() != hook_kind::never;
  constexpr bool failed = find_end_hook<failed_hook, S, F, std::exception_ptr, A...>() != hook_kind::never;
  if constexpr (failed && is_symbolic<S> && may_be_null<S>)
    if (stack.top().is_null()) return Answer::answer(stack, f, a...);
  if constexpr (failed && is_symbolic<S>) { // symbolic values are never consumed
    auto const compute = [&] { return R(Answer::answer(stack, f, a...)); };
    auto const fail = [&] { call_hook<failed_hook>(stack, f, std::exception_ptr{}, a...); };
    if constexpr (is_untyped<F> && function<F>)
      if (!f.call_of_program().returns_cell) {
        stage_protected_call(stack, f, compute, fail);
        if constexpr (after) call_hook<after_hook>(stack, f, R{}, a...);
        return R{};
      }
    R result = stage_protected<R>(stack, compute, fail);
    if constexpr (after) call_hook<after_hook>(stack, f, result, a...);
    return result;
  } else {
    std::tuple<kept_t<A>...> const kept{a...};
    auto call_after = [&](R const& result) {
      if constexpr (after)
        std::apply([&](auto const&... k) { call_hook<after_hook>(stack, f, result, k...); }, kept);
    };
    if constexpr (!failed) {
      R result = Answer::answer(stack, f, static_cast<A&&>(a)...);
      call_after(result);
      return result;
    } else {
      auto guarded = [&]() -> R {
        try {
          return Answer::answer(stack, f, static_cast<A&&>(a)...);
        } catch (...) {
          std::exception_ptr const exception = std::current_exception();
          std::apply([&](auto const&... k) { call_hook<failed_hook>(stack, f, exception, k...); }, kept);
          throw;
        }
      };
      R result = guarded();
      call_after(result);
      return result;
    }
  }
}

// A context without rules, hooks, metadata and `enter` is transparent. Operations on numbers skip it. Functions skip it if all contexts are
// transparent, since no context observes the derived functions.
template <class C>
inline constexpr bool transparent =
    !has_hooks<C> && !declares_rules<C> && !declares_enter<C> && !carries_metadata<C>;

template <class S>
struct skip_transparent {
  using type = S;
};
template <class S>
requires(!S::empty && transparent<typename S::context>) struct skip_transparent<S>
    : skip_transparent<typename S::tail> {
};

// The value of a leaf in the contexts of T, which are a suffix of its own.
template <class T, class X>
OVERDUB_INLINE constexpr auto const& down_to(X const& x) {
  if constexpr (is_value<X> && stack_of_t<X>::depth > T::depth)
    return down_to<T>(x.inner());
  else
    return x;
}
template <class T, class S>
OVERDUB_INLINE constexpr T const& tail_of(S const& stack) {
  return stack;
}

// A shorthand operation is decomposed in the first context that intercepts one of its parts. Inner contexts intercept the parts, too.
template <class S, class P, class... A>
OVERDUB_INLINE constexpr auto call_shorthand(S const& stack, P const& p, A&&... a) {
  if constexpr (names_shorthand<S, P, A...>())
    return refused{};
  else if constexpr (P::template intercepted<S, wrap_t<S, A>...>())
    return wrap(stack, p.decompose(wrap(stack, static_cast<A&&>(a))...));
  else
    return wrap(stack, call_primitive(stack.rest(), p, inner(stack, static_cast<A&&>(a))...));
}

// Whether all contexts have only `before` hooks for operations on numbers; these hooks are called in one loop.
template <class S>
inline constexpr bool only_before_hooks = false;
template <class S>
requires(!S::empty) inline constexpr bool only_before_hooks<S> = !declares_after<typename S::context> &&
                                                                 !declares_failed<typename S::context> &&
                                                                 !declares_rules<typename S::context> &&
                                                                 !carries_metadata<typename S::context>;
template <class S>
struct below_before_hooks {
  using type = S;
};
template <class S>
requires only_before_hooks<S>
struct below_before_hooks<S> : below_before_hooks<typename S::tail> {
};
template <class Until, class S, class P, class... A>
OVERDUB_INLINE constexpr void call_before_hooks(S const& stack, P const& p, A const&... a) {
  if constexpr (!std::is_same_v<S, Until>) {
    if constexpr (declares_before<typename S::context>) call_hook<before_hook>(stack, p, a...);
    call_before_hooks<Until>(stack.rest(), p, down_to<typename S::tail>(a)...);
  }
}

template <class S, class P, class... A>
OVERDUB_INLINE constexpr auto call_primitive(S const& stack, P const& p, A&&... a) {
  using T = typename skip_transparent<S>::type;
  if constexpr (std::is_same_v<S, unrelated>)
    return refused{};
  else if constexpr (stages<S> && elementwise<P>) {
    using R = decltype(stack.top().get().stage_operation(stack, p, a...));
    if (stack.top().is_null()) return call_on_constants<R>(stack, p, a...);
    return stack.top().get().stage_operation(stack, p, a...);
  } else if constexpr (S::empty)
    return p.compute(static_cast<A&&>(a)...);
  else if constexpr (shorthand<P>)
    return call_shorthand(stack, p, static_cast<A&&>(a)...);
  else if constexpr (symbolic<typename S::context> && requires {
                       p.decompose(wrap(stack, static_cast<A&&>(a))...);
                     })
    return wrap(stack, p.decompose(wrap(stack, static_cast<A&&>(a))...)); // programs have no shorthands
  else if constexpr (elementwise<P> && !std::is_same_v<S, T> && (is_leaf<std::remove_cvref_t<A>> && ...))
    return wrap(stack, call_primitive(tail_of<T>(stack), p, down_to<T>(a)...));
  else if constexpr (
      elementwise<P> && only_before_hooks<S> && !is_symbolic<S> && (is_leaf<std::remove_cvref_t<A>> && ...)) {
    using U = typename below_before_hooks<S>::type;
    call_before_hooks<U>(stack, p, a...);
    return wrap(stack, call_primitive(tail_of<U>(stack), p, down_to<U>(a)...));
  } else {
    using C = typename S::context;
    if constexpr (declares_before<C>) call_hook<before_hook>(stack, p, a...);
    if constexpr (declares_after<C> || declares_failed<C>) {
      using R = decltype(answer_primitive::answer(stack, p, static_cast<A&&>(a)...));
      if constexpr (observes_end<S, P, R, A...>)
        return observe_end<R, answer_primitive>(stack, p, static_cast<A&&>(a)...);
      else
        return answer_primitive::answer(stack, p, static_cast<A&&>(a)...);
    } else if constexpr (
        elementwise<P> && !declares_rules<C> && !converts_metadata<P, C> &&
        (is_leaf<std::remove_cvref_t<A>> && ...))
      return wrap(stack, call_primitive(stack.rest(), p, down_to<typename S::tail>(a)...));
    else
      return answer_primitive::answer(stack, p, static_cast<A&&>(a)...);
  }
}

template <class S, class F, class... A>
OVERDUB_INLINE constexpr call_t<S, F, A...> call(S const& stack, F const& f, A&&... a) {
  if constexpr (function<F> || native_leaf<F>) report_call_of_constants<F>(stack);
  [[maybe_unused]] unwatched_t<S> const unwatched;
  if constexpr (!function<F>)
    return call_primitive(stack, f, static_cast<A&&>(a)...);
  else if constexpr (S::empty)
    return f.run(stack, static_cast<A&&>(a)...);
  else if constexpr (skip_transparent<S>::type::empty)
    return wrap(stack, f.run(stack, wrap(stack, static_cast<A&&>(a))...));
  else if constexpr (stages<S>) {
    using R = strip_t<S, call_t<S, F, A...>>;
    if (stack.top().is_null()) {
      if constexpr (of_kind<F, kind::of_program>)
        throw_constants(F::name(), context_name_v<typename S::context>);
      else
        return wrap(stack, f.run(stack, wrap(stack, a)...));
    }
    return wrap(
        stack, stack.top().get().template stage_function<R>(answering<S, F>(stack, f), f, open(stack, a)...));
  } else {
    // A function that captures values may return one of a run, although all arguments are constants: the result keeps its references.
    if constexpr (!std::is_empty_v<S> && !std::is_empty_v<origin_t<F>> && !of_kind<F, kind::of_program>)
      if constexpr (runs_body_alone<S, F, std::remove_cvref_t<A>...>())
        if (is_null_stack(stack)) [[unlikely]]
          return wrap(stack, f.run(stack, wrap(stack, static_cast<A&&>(a))...));
    if constexpr (declares_before<typename S::context>) call_hook<before_hook>(stack, f, a...);
    if constexpr (observes_end<S, F, result_t<S, F, A...>, A...>)
      return observe_end<result_t<S, F, A...>, answer_function>(stack, f, static_cast<A&&>(a)...);
    else
      return answer_function::answer(stack, f, static_cast<A&&>(a)...);
  }
}

// ---- from the arguments alone

#if OVERDUB_CHECKED
template <class S, class F, class X>
OVERDUB_INLINE constexpr void check_contexts(S const& stack, X const& x) {
  if constexpr (std::is_same_v<stack_in_t<X>, S> && is_value<X>) {
    auto const other = x.stack();
    if (!same_contexts(other, stack)) throw_mismatch(F::name(), context_name_v<typename S::context>);
  }
}
#endif

[[gnu::always_inline]] OVERDUB_HIDDEN inline bool is_plain_call_observed() {
#if OVERDUB_AMBIENT
  return observers.body != nullptr || has_ambient_listener();
#else
  return observers.body != nullptr;
#endif
}

// The parameters of a native function that is no template; void for others.
template <class Native>
struct native_parameters {
  using type = void;
};
template <class Native>
requires requires { &Native::operator(); }
struct native_parameters<Native> : native_parameters<decltype(&Native::operator())> {};
#define OVERDUB_NATIVE_PARAMETERS(FUNCTION)                                                                  \
  template <class C, class R, class... P>                                                                    \
  struct native_parameters<FUNCTION> {                                                                       \
    using type = types<P...>;                                                                                \
  };
OVERDUB_NATIVE_PARAMETERS(R (C::*)(P...) const)
OVERDUB_NATIVE_PARAMETERS(R (C::*)(P...) const noexcept)
#undef OVERDUB_NATIVE_PARAMETERS
template <class R, class... P>
struct native_parameters<R (*)(P...)> {
  using type = types<P...>;
};
template <class R, class... P>
struct native_parameters<R (*)(P...) noexcept> {
  using type = types<P...>;
};

// The parameters of F for arguments A.... Functions take copies; parameters of other native functions may be references.
template <class F, class... A>
consteval auto find_parameters() {
  if constexpr (function<F>)
    return types<std::remove_cvref_t<A>...>{};
  else {
    using known = typename native_parameters<decltype(F::body)>::type;
    return []<class... P>(types<P...>*) {
      if constexpr (sizeof...(P) == sizeof...(A) && !std::is_void_v<known>)
        return types<P...>{};
      else
        return types<std::remove_reference_t<A> const&...>{};
    }(static_cast<std::conditional_t<std::is_void_v<known>, types<>, known>*>(nullptr));
  }
}

/// A call of a function or a leaf with plain arguments that the contexts of the running body, or ambient contexts, observe.
template <class R, class F, class Arguments, class Parameters>
struct observed_plain_call;
template <class R, class F, class... A, class... P>
struct observed_plain_call<R, F, types<A...>, types<P...>> {
  // A number for a parameter that is a value is passed by value: if its address were taken, a loop would keep it in memory also where nothing
  // observes the call.
  template <class X, class Parameter, class Number = std::remove_cvref_t<X>>
  using argument = std::conditional_t<
      std::is_arithmetic_v<Number> && !std::is_reference_v<Parameter>, Number, std::remove_reference_t<X>&>;

  [[gnu::noinline]] OVERDUB_HIDDEN static R make(F const& f, argument<A, P>... a) {
    auto const compute = [&]() -> R { return call(stack<>(), f, static_cast<A&&>(a)...); };
#if OVERDUB_AMBIENT
    bool const is_observed = has_ambient_listener();
    call_outside_run<F> const here(is_observed);
    if (is_observed) return observe_call<F>(types<P...>{}, compute, a...);
#else
    call_outside_run<F> const here(false);
#endif
    return compute();
  }
};

// Calls a function or a leaf outside of all contexts, as a program does.
template <class F, class... A>
OVERDUB_INLINE constexpr call_t<stack<>, F, A...> call_plainly(F const& f, A&&... a) {
  if constexpr (counts_unseen_calls && (function<F> || of_kind<F, kind::leaf>))
    if (!std::is_constant_evaluated())
      if (is_plain_call_observed()) [[unlikely]]
        return observed_plain_call<
            call_t<stack<>, F, A...>, F, types<A...>, decltype(find_parameters<F, A...>())>::make(f, a...);
  return call(stack<>(), f, static_cast<A&&>(a)...);
}

/// Calls f in the outermost stack of its arguments.
template <class F, class... A>
OVERDUB_INLINE constexpr call_t<outermost_t<A...>, F, A...> dispatch(F const& f, A&&... a) {
  using S = outermost_t<A...>;
  S const stack = stack_from<S>(a...);
#if OVERDUB_CHECKED
  if constexpr (!S::empty) {
    check_run<F>(stack);
    (check_run_of_value<F>(a), ...);
    (check_contexts<S, F>(stack, a), ...);
  }
#endif
  if constexpr (S::empty)
    return call_plainly(f, static_cast<A&&>(a)...);
  else
    return call(stack, f, static_cast<A&&>(a)...);
}

} // namespace detail
} // namespace overdub
