// Calls with plain arguments in programs that are built with OVERDUB_AMBIENT: the ambient contexts of the thread observe them. Such a
// context is of a type that the caller does not know, and receives the arguments as `ambient_value`.
#pragma once

#include <overdub/call/ambient_value.hpp>
#include <overdub/call/callee.hpp>
#include <overdub/call/name.hpp>
#include <overdub/call/plain_call.hpp>
#include <overdub/call/types.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string_view>
#include <type_traits>
#include <utility>

namespace overdub::detail {

/// A call as ambient contexts receive it.
struct plain_call_view {
  std::string_view name;
  bool is_leaf;
  ambient_value* arguments;
  std::size_t count;
};

/// An ambient context of a thread, in a list from the innermost to the outermost.
struct ambient_listener {
  void* context;
  std::atomic<bool> const* listens; // null: always
  void (*before)(void* context, plain_call_view const& call);
  void (*after)(void* context, plain_call_view const& call, ambient_value const& result);
  void (*failed)(void* context, plain_call_view const& call, std::exception_ptr const& exception);
  ambient_listener* outer;
  std::uint64_t number; // of the listeners of this thread, in the order in which they began
  unsigned position;    // in the list, from the outermost on
};
inline constexpr unsigned max_ambient_listeners = 64;

OVERDUB_HIDDEN inline constinit thread_local std::uint64_t ambient_listeners_begun = 0;
OVERDUB_HIDDEN inline constinit thread_local bool is_in_ambient_hook = false;

[[gnu::always_inline]] OVERDUB_HIDDEN inline bool is_listening(ambient_listener const& l) {
  return l.listens == nullptr || l.listens->load(std::memory_order_relaxed);
}
// Whether this thread has a context that listens.
[[gnu::always_inline]] OVERDUB_HIDDEN inline bool has_ambient_listener() {
  for (ambient_listener const* l = observers.ambient; l != nullptr; l = l->outer)
    if (is_listening(*l)) return true;
  return false;
}

/// A call that ambient contexts observe. They do not observe what their hooks call. If a hook throws, the contexts outside of it observe
/// that the call failed.
class ambient_call {
public:
  /// Calls the hooks `before` of the contexts that listen, outermost first.
  OVERDUB_HIDDEN explicit ambient_call(plain_call_view const& call)
      : call_(call), newest_(ambient_listeners_begun) {
    in_hooks const hooks;
    begin(hooks.listeners);
  }
  ambient_call(ambient_call const&) = delete;
  ambient_call& operator=(ambient_call const&) = delete;

  /// Calls the hooks `after` of the contexts whose hook `before` was called, innermost first.
  OVERDUB_HIDDEN void end(ambient_value const& result) {
    in_hooks const hooks;
    call_hooks(hooks.listeners, [&](ambient_listener const& l) { l.after(l.context, call_, result); });
  }
  OVERDUB_HIDDEN void fail(std::exception_ptr const& exception) {
    in_hooks const hooks;
    fail(hooks.listeners, exception);
  }

private:
  struct in_hooks {
    in_hooks() : listeners(std::exchange(observers.ambient, nullptr)) { is_in_ambient_hook = true; }
    in_hooks(in_hooks const&) = delete;
    in_hooks& operator=(in_hooks const&) = delete;
    ~in_hooks() {
      observers.ambient = listeners;
      is_in_ambient_hook = false;
    }
    ambient_listener* const listeners;
  };

  // Contexts that began during the call have a larger number.
  bool observes(ambient_listener const& l) const {
    return l.number <= newest_ && (observing_ >> l.position & 1) != 0;
  }
  void begin(ambient_listener* l) {
    if (l == nullptr) return;
    begin(l->outer);
    if (!is_listening(*l)) return;
    try {
      l->before(l->context, call_);
    } catch (...) {
      fail(l->outer, std::current_exception());
      throw;
    }
    observing_ |= std::uint64_t{1} << l->position;
  }
  void fail(ambient_listener const* l, std::exception_ptr const& exception) {
    call_hooks(l, [&](ambient_listener const& each) { each.failed(each.context, call_, exception); });
  }
  // Calls a hook of the observing contexts, from l outward. If it throws, the call fails for those outside of it.
  template <class Hook>
  void call_hooks(ambient_listener const* l, Hook const& hook) {
    for (; l != nullptr; l = l->outer)
      if (observes(*l)) {
        try {
          hook(*l);
        } catch (...) {
          fail(l->outer, std::current_exception());
          throw;
        }
      }
  }

  plain_call_view const& call_;
  std::uint64_t newest_;
  std::uint64_t observing_ = 0; // a bit for each position
};

/// The end of a call that returns normally. The call may have changed arguments that are no numbers.
class ambient_call_end {
public:
  ambient_call_end(ambient_call& call, plain_call_view const& view) : call_(call), view_(view) {}
  void operator()(ambient_value const& result) const {
    forget_views();
    call_.end(result);
  }
  void fail() const {
    forget_views();
    call_.fail(std::current_exception());
  }

private:
  void forget_views() const {
    for (std::size_t i = 0; i < view_.count; ++i)
      if (!view_.arguments[i].is_number()) view_.arguments[i] = ambient_value();
  }
  ambient_call& call_;
  plain_call_view const& view_;
};

// Returns the result of compute() without a copy.
template <class R, class Compute>
R guarded(Compute const& compute, ambient_call_end const& end) {
  try {
    return compute();
  } catch (...) {
    end.fail();
    throw;
  }
}
template <class R, class Compute>
R observed_result(Compute const& compute, ambient_call_end const& end) {
  R result = guarded<R>(compute, end);
  end(ambient_value(result));
  return result;
}
// A result that cannot be moved is made in the caller's memory, where it is not seen. An exception of a hook terminates the program.
struct unseen_result {
  ambient_call_end const& end;
  std::string_view type;
  int const exceptions = std::uncaught_exceptions();
  ~unseen_result() {
    if (std::uncaught_exceptions() == exceptions) end(ambient_value(ambient_object{type}));
  }
};

// The value of an argument for a parameter of type P. A parameter that the call may assign to is not read: it may have no value yet.
template <class P, class X>
ambient_value value_for(X const& x) {
  if constexpr (
      std::is_lvalue_reference_v<P> && !std::is_const_v<std::remove_reference_t<P>> &&
      std::is_arithmetic_v<X>)
    return ambient_value();
  else
    return ambient_value(x);
}

/// Calls compute(), which is a call of F with the arguments a... for parameters P..., and tells the ambient contexts of this thread.
template <class F, class... P, class Compute, class... X>
OVERDUB_HIDDEN auto observe_call(types<P...>, Compute const& compute, X&... a) {
  using R = decltype(compute());
  ambient_value arguments[sizeof...(X) + 1] = {value_for<P>(a)..., ambient_value()};
  plain_call_view const view{F::name(), of_kind<F, kind::leaf>, arguments, sizeof...(X)};
  ambient_call call(view);
  ambient_call_end const end(call, view);
  if constexpr (std::is_move_constructible_v<R>)
    return observed_result<R>(compute, end);
  else {
    unseen_result const after{end, type_name<R>()};
    return guarded<R>(compute, end);
  }
}

} // namespace overdub::detail
