// Calls of functions with plain arguments in the body of a function that runs in contexts: no context intercepts them. Checked builds, and
// those with ambient contexts, tell the contexts of the body, and a strict run throws.
#pragma once

#include <overdub/call/callee.hpp>
#include <overdub/call/stack.hpp>
#include <overdub/core/config.hpp>
#include <overdub/core/error.hpp>

#include <concepts>
#include <string_view>
#include <type_traits>
#include <utility>

namespace overdub {

/// Whether this build reports calls with plain arguments to contexts that declare the hook `unseen`.
inline constexpr bool counts_unseen_calls = OVERDUB_CHECKED || OVERDUB_AMBIENT;

namespace detail {

template <class S>
inline constexpr bool is_strict = false;
template <class... L>
inline constexpr bool is_strict<stack<L...>> = OVERDUB_CHECKED &&
                                               (std::is_base_of_v<strict, typename L::context> || ...);

template <class C>
concept declares_unseen = requires(C& context, std::string_view name) {
  context.unseen(name, name);
};
template <class S>
inline constexpr bool hears_of_unseen = false;
template <class... L>
inline constexpr bool hears_of_unseen<stack<L...>> =
    counts_unseen_calls && !is_symbolic<stack<L...>> && (declares_unseen<typename L::context> || ...);

// The function whose body this thread is running, if its contexts hear of calls that they do not see.
struct watched_body {
  void const* contexts;
  void (*unseen)(void const* contexts, std::string_view callee, std::string_view caller);
  std::string_view caller;
  bool is_strict;
};
struct ambient_listener; // see ambient_call.hpp

/// Who observes the calls with plain arguments of a thread: the contexts of the body that runs, and ambient contexts.
struct plain_call_observers {
  watched_body const* body;
  ambient_listener* ambient; // the innermost
};
OVERDUB_HIDDEN inline constinit thread_local plain_call_observers observers{nullptr, nullptr};

template <class S>
constexpr void tell_unseen(S const& stack, std::string_view callee, std::string_view caller) {
  if constexpr (!S::empty) {
    if constexpr (declares_unseen<typename S::context>) stack.top().get().unseen(callee, caller);
    tell_unseen(stack.rest(), callee, caller);
  }
}

// Suspends the watch of the running body.
class no_body {
public:
  OVERDUB_HIDDEN no_body() : before_(std::exchange(observers.body, nullptr)) {}
  OVERDUB_HIDDEN ~no_body() { observers.body = before_; }
  no_body(no_body const&) = delete;
  no_body& operator=(no_body const&) = delete;

private:
  watched_body const* before_;
};
// While it exists, a body runs in these contexts.
class watch {
public:
  template <class S>
  OVERDUB_HIDDEN watch(S const& contexts, std::string_view caller)
      : body_{
            &contexts,
            [](void const* at, std::string_view callee, std::string_view by) {
              tell_unseen(*static_cast<S const*>(at), callee, by);
            },
            caller, detail::is_strict<S>},
        before_(std::exchange(observers.body, &body_)) {}
  OVERDUB_HIDDEN ~watch() { observers.body = before_; }
  watch(watch const&) = delete;
  watch& operator=(watch const&) = delete;

private:
  watched_body body_;
  watched_body const* before_;
};
struct no_watch {
  constexpr no_watch() {}
  template <class S>
  constexpr no_watch(S const&, std::string_view) {}
};
template <class S>
inline constexpr bool is_watched = is_strict<S> || hears_of_unseen<S>;
// While a body runs in S; while a call in S runs anything but a body. An operation on numbers runs nothing but rules and hooks.
template <class S>
using watch_t = std::conditional_t<is_watched<S>, watch, no_watch>;
template <class S, class F>
using unwatched_t = std::conditional_t<is_strict<S> || (is_watched<S> && !elementwise<F>), no_body, no_watch>;

/// Tells the contexts of the running body that a callee is called with plain arguments. Throws escaped_call if one of them is strict and
/// the callee has a body: a native function may be called so on purpose, for a constant.
OVERDUB_HIDDEN inline void tell_body(watched_body const& body, std::string_view callee, bool is_function) {
  if (body.is_strict && is_function) throw_escaped(callee);
  no_body const in_hooks;
  body.unseen(body.contexts, callee, body.caller);
}

/// A call of F with plain arguments. If a body makes it, its contexts are told; what the call calls is outside of the run.
template <class F>
class plain_call {
public:
  OVERDUB_HIDDEN plain_call() {
    if (observers.body == nullptr) return;
    tell_body(*observers.body, F::name(), function<F>);
    body_ = std::exchange(observers.body, nullptr);
  }
  OVERDUB_HIDDEN ~plain_call() {
    if (body_ != nullptr) observers.body = body_;
  }
  plain_call(plain_call const&) = delete;
  plain_call& operator=(plain_call const&) = delete;

private:
  watched_body const* body_ = nullptr;
};

} // namespace detail
} // namespace overdub
