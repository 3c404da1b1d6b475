// Calls of functions with plain arguments in the body of a function that runs in contexts: no context intercepts them. Checked builds, and
// those with ambient contexts, report them to the contexts of the body, and a strict run throws.
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

struct unseen_member {
  int unseen;
};
template <class C>
consteval bool declares_unseen() {
  constexpr bool has_member = !requires { &member_probe<C, unseen_member>::unseen; };
  constexpr bool is_hook = requires(C & context, std::string_view name) { context.unseen(name, name); };
  static_assert(
      is_hook || !has_member, "overdub: the hook `unseen` of a context is called with the names of the "
                              "callee and of its caller: void "
                              "unseen(std::string_view callee, std::string_view caller)");
  return is_hook;
}

// Whether unseen calls in a body that runs in S are reported.
template <class S>
inline constexpr bool is_watched = false;
template <class... L>
inline constexpr bool is_watched<stack<L...>> = is_strict<stack<L...>> || [] {
  if constexpr (counts_unseen_calls && !is_symbolic<stack<L...>>)
    return (declares_unseen<typename L::context>() || ...);
  else
    return false;
}();

/// The function whose body a thread is running, if its run is watched.
struct running_body {
  void const* contexts;
  void (*report)(void const* contexts, std::string_view callee, std::string_view caller);
  std::string_view name;
  bool is_strict;
};
struct ambient_listener; // see ambient_call.hpp

/// Who observes the calls with plain arguments of a thread: the contexts of the running body, and ambient contexts.
struct plain_call_observers {
  running_body const* body;
  ambient_listener* ambient; // the innermost
};
OVERDUB_HIDDEN inline constinit thread_local plain_call_observers observers{nullptr, nullptr};

template <class S>
constexpr void report_unseen(S const& stack, std::string_view callee, std::string_view caller) {
  if constexpr (!S::empty) {
    if constexpr (declares_unseen<typename S::context>())
      if (!stack.top().is_null()) stack.top().get().unseen(callee, caller);
    report_unseen(stack.rest(), callee, caller);
  }
}

// While it exists, no body is watched: a rule, a hook, a native function or another run is running.
class suspended_watch {
public:
  OVERDUB_HIDDEN constexpr suspended_watch() {
    if (!std::is_constant_evaluated()) before_ = std::exchange(observers.body, nullptr);
  }
  OVERDUB_HIDDEN constexpr ~suspended_watch() {
    if (!std::is_constant_evaluated()) observers.body = before_;
  }
  suspended_watch(suspended_watch const&) = delete;
  suspended_watch& operator=(suspended_watch const&) = delete;

private:
  running_body const* before_ = nullptr;
};
// While it exists, the body of a function runs in these contexts.
class watch {
public:
  template <class S>
  OVERDUB_HIDDEN constexpr watch(S const& contexts, std::string_view name)
      : body_{
            &contexts,
            [](void const* at, std::string_view callee, std::string_view caller) {
              report_unseen(*static_cast<S const*>(at), callee, caller);
            },
            name, detail::is_strict<S>} {
    if (!std::is_constant_evaluated()) before_ = std::exchange(observers.body, &body_);
  }
  OVERDUB_HIDDEN constexpr ~watch() {
    if (!std::is_constant_evaluated()) observers.body = before_;
  }
  watch(watch const&) = delete;
  watch& operator=(watch const&) = delete;

private:
  running_body body_;
  running_body const* before_ = nullptr;
};
struct no_watch {
  constexpr no_watch() {}
  template <class S>
  constexpr no_watch(S const&, std::string_view) {}
};
template <class S>
using watch_t = std::conditional_t<is_watched<S>, watch, no_watch>;
template <class S>
using unwatched_t = std::conditional_t<is_watched<S>, suspended_watch, no_watch>;
// For a run that begins in the body of another one.
template <class S>
using begun_run_t =
    std::conditional_t<counts_unseen_calls && !S::empty && !is_symbolic<S>, suspended_watch, no_watch>;

/// Reports a call of constants alone, which belong to no run, to the contexts of the body that makes it. Throws escaped_call if one of them
/// is strict, and the callee has a body.
template <class F, class S>
constexpr void report_call_of_constants([[maybe_unused]] S const& stack) {
  if constexpr (is_watched<S> && !std::is_empty_v<S>) {
    if (std::is_constant_evaluated() || !is_null_stack(stack) || observers.body == nullptr) return;
    running_body const& body = *observers.body;
    if (body.is_strict && function<F>) throw_escaped(F::name());
    body.report(body.contexts, F::name(), body.name);
  }
}

/// A call with plain arguments, until its end. If a body makes it, it is reported to the contexts of the body, unless an ambient context
/// observes it; what it calls is outside of the run. Throws escaped_call if one of the contexts is strict and the callee has a body: a
/// native function may be called so on purpose, for a constant.
template <class F>
class call_outside_run {
public:
  OVERDUB_HIDDEN explicit call_outside_run(bool is_observed) : body_(std::exchange(observers.body, nullptr)) {
    if (body_ == nullptr) return;
    try {
      if (body_->is_strict && function<F>) throw_escaped(F::name());
      if (!is_observed) body_->report(body_->contexts, F::name(), body_->name);
    } catch (...) {
      observers.body = body_;
      throw;
    }
  }
  OVERDUB_HIDDEN ~call_outside_run() { observers.body = body_; }
  call_outside_run(call_outside_run const&) = delete;
  call_outside_run& operator=(call_outside_run const&) = delete;

private:
  running_body const* body_;
};

} // namespace detail
} // namespace overdub
