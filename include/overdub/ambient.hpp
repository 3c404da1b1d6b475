// ambient: a context that observes the calls of named functions with plain arguments on this thread: from methods, callbacks, and
// algorithms of the standard library.
#pragma once

#include <overdub/call/ambient_call.hpp>
#include <overdub/call/compose.hpp>
#include <overdub/call/dispatch.hpp>
#include <overdub/call/extends.hpp>
#include <overdub/call/named_functions.hpp>
#include <overdub/call/untyped_call.hpp>

#include <boost/hana/unpack.hpp>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>
#include <type_traits>
#include <utility>

namespace overdub {

/// An ambient context cannot begin.
struct OVERDUB_EXPORTED ambient_error : error {
  using error::error;
};

namespace detail {

using ambient_function = untyped_callee<kind::function>;
using ambient_leaf = untyped_callee<kind::leaf>;

// Whether C observes the calls of all functions: no `enter` leaves some of them. A context with `enter` may say so by a constant.
template <class C>
consteval bool observes_all_functions() {
  if constexpr (is_extension<C>)
    return []<class... Base>(types<Base...>) {
      return (observes_all_functions<Base>() && ...);
    }(typename C::overdub_bases{});
  else if constexpr (requires { C::observes_all_functions; })
    return C::observes_all_functions;
  else
    return !declares_enter<C>;
}

// Whether C has no list of callees, and no hook that names one.
template <class C>
consteval bool names_no_callee() {
  constexpr bool is_looked_for =
      find_names_of_hooks<C>(types<>{}) || find_names_of_hooks<C>(types<double>{}) ||
      find_names_of_hooks<C>(types<double, double>{}) || find_names_of_hooks<C>(types<ambient_value>{}) ||
      find_names_of_hooks<C>(types<ambient_value, ambient_value>{});
  using named = decltype(remembered_functions<types<C, std::bool_constant<is_looked_for>>, hooks_of<C>>());
  return std::is_same_v<typename listed_functions<C>::type, types<>> && std::is_same_v<named, types<>>;
}

template <class C>
consteval bool can_be_ambient() {
  static_assert(
      OVERDUB_AMBIENT || !is_context<C>,
      "overdub: ambient contexts are not built into this program; define OVERDUB_AMBIENT as 1 for all of its "
      "units: -DOVERDUB_AMBIENT=1");
  static_assert(is_context<C>, "overdub: ambient takes a context, or a composition of contexts");
  constexpr bool only_observes =
      !carries_metadata<C> && !declares_rules<C> && !has_fingerprint<C> && !has_pass<C>;
  static_assert(
      only_observes || !is_context<C>, "overdub: an ambient context only observes, and this one has rules, "
                                       "metadata or passes; run the function "
                                       "in it: run(context, f, x...)");
  constexpr bool stays = observes_all_functions<C>();
  static_assert(
      stays || !only_observes,
      "overdub: an ambient context observes all calls with their names, and this one leaves some functions "
      "or "
      "records arguments; use it without these options, or in run(context, f, x...)");
  constexpr bool names_none = names_no_callee<C>();
  static_assert(
      names_none || !only_observes,
      "overdub: an ambient context observes the calls of all functions, and the hooks of this one name "
      "functions; take any callee, and test f.name()");
  constexpr bool observes_calls = hooks_are_reached<C, ambient_value>() && has_hooks<C>;
  static_assert(
      observes_calls || !only_observes || !names_none, "overdub: a hook of this context accepts no call that "
                                                       "an ambient context observes; take the arguments as "
                                                       "auto const&... x");
  return OVERDUB_AMBIENT && is_context<C> && only_observes && stays && names_none && observes_calls;
}

template <class C>
struct ambient_hooks {
  static C& context(void* at) { return *static_cast<C*>(at); }

  static std::atomic<bool> const* listens(C const& context) {
    if constexpr (is_extension<C>) // its other bases listen
      return nullptr;
    else if constexpr (requires { context.listens(); }) {
      constexpr bool is_reference = std::is_same_v<decltype(context.listens()), std::atomic<bool> const&>;
      static_assert(is_reference, "overdub: listens() of a context returns a std::atomic<bool> const&");
      if constexpr (is_reference) return &context.listens();
    }
    return nullptr;
  }
  static void before(void* at, plain_call_view const& call) {
    with_arguments(
        call, [&](auto const& called, auto const&... x) { observe<before_hook>(context(at), called, x...); });
  }
  static void after(void* at, plain_call_view const& call, ambient_value const& result) {
    with_arguments(call, [&](auto const& called, auto const&... x) {
      observe<after_hook>(context(at), called, result, x...);
    });
  }
  static void failed(void* at, plain_call_view const& call, std::exception_ptr const& exception) {
    with_arguments(call, [&](auto const& called, auto const&... x) {
      observe<failed_hook>(context(at), called, exception, x...);
    });
  }

private:
  template <class Hook>
  static void with_arguments(plain_call_view const& call, Hook const& hook) {
    name_during_call const named(call.name);
    auto const with = [&](auto const& called) {
      with_untyped_arguments(call.arguments, call.count, [&](auto const&... x) { hook(called, x...); });
    };
    call.is_leaf ? with(ambient_leaf{}) : with(ambient_function{});
  }
};

// A listener on this thread's list, from its construction to its destruction.
class listening {
public:
  template <class C>
  explicit listening(C& context)
      : listener_{
            const_cast<void*>(static_cast<void const*>(&context)),
            ambient_hooks<C>::listens(context),
            &ambient_hooks<C>::before,
            &ambient_hooks<C>::after,
            &ambient_hooks<C>::failed,
            observers.ambient,
            ++ambient_listeners_begun,
            observers.ambient == nullptr ? 0 : observers.ambient->position + 1} {
    if (is_in_ambient_hook)
      throw ambient_error(
          message("overdub: a hook of an ambient context begins another one; begin it before the call"));
    if (listener_.position == max_ambient_listeners)
      throw ambient_error(
          message("overdub: a thread has at most %u ambient contexts", max_ambient_listeners));
    observers.ambient = &listener_;
  }
  listening(listening const&) = delete;
  listening& operator=(listening const&) = delete;
  ~listening() {
    ambient_listener** at = &observers.ambient;
    while (*at != nullptr && *at != &listener_) at = &(*at)->outer;
    if (*at == nullptr) {
      std::fputs(
          "overdub: an ambient context is ended on another thread than the one that began it, or by a hook; "
          "end "
          "it where it began\n",
          stderr);
      std::abort();
    }
    *at = listener_.outer;
  }

private:
  ambient_listener listener_;
};

// A listener for each context, the first of which is the outermost.
template <class... C>
struct listening_all {};
template <class C, class... Rest>
requires(can_be_ambient<C>()) struct listening_all<C, Rest...> {
  explicit listening_all(C& context, Rest&... inner) : first(context), rest(inner...) {}
  listening first;
  listening_all<Rest...> rest;
};
template <class C, class... Rest>
requires(!can_be_ambient<C>()) struct listening_all<C, Rest...> {
  explicit listening_all(C&, Rest&...) {}
};

} // namespace detail

/// While it exists, contexts observe the calls of functions and leaves with plain arguments on this thread, also from methods, callbacks
/// and algorithms of the standard library:
///
///   overdub::ambient with(log);          ambient with(trace{}, count) is two contexts, the first of which is the outermost
///
/// Contexts only observe: they have hooks, and no rules, metadata or passes. Hooks receive arguments and results as `ambient_value`, and at
/// most eight arguments. A call whose arguments are values of a run is observed by the contexts of the run, and not by these. What hooks of
/// ambient contexts call is not observed, nor are other threads. A context is used by reference, or owned if it is an rvalue. Ambient
/// contexts may be nested: the oldest is the outermost. A call is observed from its beginning to its end, or not at all. It must be
/// destroyed on the same thread, and not by a hook; otherwise the program aborts.
///
/// All units of the program are built with OVERDUB_AMBIENT=1. Without an ambient context on the thread, a call costs two loads and a branch
/// more. Throws ambient_error in a hook of an ambient context, and if the thread has 64 of them.
template <class Composition>
class [[nodiscard]] ambient {
public:
  template <class... C>
  requires(sizeof...(C) > 0 && !(std::is_same_v<std::remove_cvref_t<C>, ambient> || ...)) explicit ambient(
      C&&... contexts)
      : contexts_(compose(std::forward<C>(contexts)...)), listeners_(listen(contexts_)) {}
  ambient(ambient const&) = delete;
  ambient& operator=(ambient const&) = delete;

private:
  template <class... Held>
  static auto listen(composition<Held...>& all) {
    return boost::hana::unpack(all.contexts, [](auto&... held) {
      return detail::listening_all<detail::held_context_t<Held>...>(detail::get_held(held)...);
    });
  }
  Composition contexts_;
  decltype(listen(std::declval<Composition&>())) listeners_;
};
template <class... C>
requires(sizeof...(C) > 0) explicit ambient(C&&... contexts)
    ->ambient<decltype(compose(std::declval<C>()...))>;

} // namespace overdub
