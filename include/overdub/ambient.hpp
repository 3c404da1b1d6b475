// ambient: a context that observes the calls of named functions with plain arguments on this thread: from methods, callbacks, and
// algorithms of the standard library.
#pragma once

#include <overdub/call/ambient_call.hpp>
#include <overdub/call/callee_name.hpp>
#include <overdub/call/compose.hpp>
#include <overdub/call/extends.hpp>
#include <overdub/call/named_functions.hpp>

#include <boost/hana/unpack.hpp>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>
#include <type_traits>
#include <utility>

namespace overdub {

namespace detail {

/// The callee of an observed call: its name is known only when the program runs.
template <class Kind>
struct observed_callee {
  using overdub_callee = Kind;
  static constexpr int depth = 0;
  static constexpr bool is_named = false;
  static constexpr bool is_typed = false;
  static constexpr std::string_view name() {
    if (std::is_constant_evaluated()) return name_at_compile_time;
    return called_name();
  }
};
using observed_function = observed_callee<kind::function>;
using observed_leaf = observed_callee<kind::leaf>;

// Hooks receive at most so many arguments: of longer calls, the last is empty.
inline constexpr std::size_t max_observed = 8;

// Whether some call of a function or leaf reaches the hook.
template <class Hook, class C, class... First>
inline constexpr bool hook_observes = [] {
  constexpr std::make_index_sequence<max_observed + 1> counts;
  auto const in = []<class F, std::size_t... I>(std::type_identity<F>, std::index_sequence<I...>) {
    auto const takes = []<std::size_t... N>(std::index_sequence<N...>) {
      return observes<Hook, C, F, First..., std::enable_if_t<(N < max_observed), observed>...>;
    };
    return (takes(std::make_index_sequence<I>()) || ...);
  };
  return in(std::type_identity<observed_function>{}, counts) ||
         in(std::type_identity<observed_leaf>{}, counts);
}();

// Whether C has no list of callees, and no hook that names one.
template <class C>
consteval bool names_no_callee() {
  constexpr bool is_looked_for =
      find_names_of_hooks<C>(types<>{}) || find_names_of_hooks<C>(types<observed>{}) ||
      find_names_of_hooks<C>(types<observed, observed>{}) || find_names_of_hooks<C>(types<double>{}) ||
      find_names_of_hooks<C>(types<double, double>{});
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
                                       "metadata or passes; run the function in "
                                       "it: run(context, f, x...)");
  constexpr bool stays = stays_everywhere<C>;
  static_assert(
      stays || !only_observes,
      "overdub: an ambient context observes all calls with their names, and this one leaves some "
      "functions or records arguments; use it without these options, or in run(context, f, x...)");
  constexpr bool names_none = names_no_callee<C>();
  static_assert(
      names_none || !only_observes,
      "overdub: an ambient context observes the calls of all functions, and the hooks of this one "
      "name functions; take any callee, and test f.name()");
  constexpr bool observes_any = hook_observes<before_hook, C> || hook_observes<after_hook, C, observed> ||
                                hook_observes<failed_hook, C, std::exception_ptr>;
  static_assert(
      observes_any || !only_observes || !names_none,
      "overdub: no hook of this context accepts the calls that an ambient context observes; take the "
      "arguments as "
      "auto const&... x");
  return OVERDUB_AMBIENT && is_context<C> && only_observes && stays && names_none && observes_any;
}

template <class C>
struct ambient_hooks {
  static C& context(void* at) { return *static_cast<C*>(at); }

  static std::atomic<bool> const* listens(C const& context) {
    if constexpr (requires { context.listens(); })
      return &context.listens();
    else
      return nullptr;
  }
  static void before(void* at, observed_call const& call) {
    with_arguments(
        call, [&](auto const& f, auto const&... x) { observe<before_hook>(context(at), f, x...); });
  }
  static void after(void* at, observed_call const& call, observed const& result) {
    with_arguments(
        call, [&](auto const& f, auto const&... x) { observe<after_hook>(context(at), f, result, x...); });
  }
  static void failed(void* at, observed_call const& call, std::exception_ptr const& exception) {
    with_arguments(call, [&](auto const& f, auto const&... x) {
      observe<failed_hook>(context(at), f, exception, x...);
    });
  }

private:
  template <class Hook>
  static void with_arguments(observed_call const& call, Hook const& hook) {
    name_during_call const named(call.name);
    if (call.is_leaf)
      with_count(call, [&](auto const&... x) { hook(observed_leaf{}, x...); });
    else
      with_count(call, [&](auto const&... x) { hook(observed_function{}, x...); });
  }
  template <class Hook, std::size_t N = 0>
  static void with_count(observed_call const& call, Hook const& hook) {
    if (call.count == N)
      pass(hook, call.arguments, std::make_index_sequence<N>());
    else if constexpr (N < max_observed)
      with_count<Hook, N + 1>(call, hook);
    else {
      observed last = call.arguments[N - 1];
      last.clear();
      auto const with_last = [&](auto const&... x) { hook(x..., last); };
      pass(with_last, call.arguments, std::make_index_sequence<N - 1>());
    }
  }
  template <class Hook, std::size_t... I>
  static void pass(Hook const& hook, [[maybe_unused]] observed const* arguments, std::index_sequence<I...>) {
    hook(arguments[I]...);
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
            ++ambient_listeners_begun} {
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
/// A context may only observe: it has hooks, and no rules, metadata or passes. Its hooks receive the arguments and results as `observed`,
/// and at most eight arguments. It does not observe calls that other contexts observe, since their arguments are values, calls that its own
/// hooks make, or other threads. It is used by reference, or owned if it is an rvalue. Ambient contexts may be nested: the oldest is the
/// outermost. A call is observed from its beginning to its end, or not at all. Must be destroyed on the same thread; otherwise aborts.
///
/// All units of the program are built with OVERDUB_AMBIENT=1. Without an ambient context on the thread, a call costs one load and one
/// branch more.
template <class Composition>
class [[nodiscard]] ambient {
public:
  template <class... C>
  explicit ambient(C&&... contexts)
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
explicit ambient(C&&... contexts) -> ambient<decltype(compose(std::declval<C>()...))>;

} // namespace overdub
