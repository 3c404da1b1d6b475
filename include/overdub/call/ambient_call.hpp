// Calls of named functions with plain arguments in programs that are built with OVERDUB_AMBIENT: the ambient contexts of the thread observe
// them. Such a context is of a type that the caller does not know, and receives the arguments as `observed`.
#pragma once

#include <overdub/call/callee.hpp>
#include <overdub/call/name.hpp>
#include <overdub/call/observed.hpp>
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
struct observed_call {
  std::string_view name;
  bool is_leaf;
  observed* arguments;
  std::size_t count;
};

/// An ambient context of a thread, in a list from the innermost to the outermost.
struct ambient_listener {
  void* context;
  std::atomic<bool> const* listens; // null: always
  void (*before)(void* context, observed_call const& call);
  void (*after)(void* context, observed_call const& call, observed const& result);
  void (*failed)(void* context, observed_call const& call, std::exception_ptr const& exception);
  ambient_listener* outer;
  std::uint64_t number; // of the listeners of this thread, in the order in which they began
};

OVERDUB_HIDDEN inline constinit thread_local std::uint64_t ambient_listeners_begun = 0;

// Whether a context listens that this thread has.
[[gnu::always_inline]] OVERDUB_HIDDEN inline bool has_ambient_listener() {
  for (ambient_listener const* l = observers.ambient; l != nullptr; l = l->outer)
    if (l->listens == nullptr || l->listens->load(std::memory_order_relaxed)) return true;
  return false;
}

/// A call that ambient contexts observe. No context observes what their hooks call.
class ambient_call {
public:
  /// Calls the hooks `before`, outermost context first.
  OVERDUB_HIDDEN explicit ambient_call(observed_call const& call)
      : call_(call), newest_(ambient_listeners_begun) {
    suspended const hooks(*this);
    begin(hooks.listeners);
  }
  ambient_call(ambient_call const&) = delete;
  ambient_call& operator=(ambient_call const&) = delete;

  /// Calls the hooks `after`, innermost context first.
  OVERDUB_HIDDEN void end(observed const& result) {
    suspended const hooks(*this);
    for (ambient_listener* l = hooks.listeners; l != nullptr; l = l->outer)
      if (l->number <= newest_) l->after(l->context, call_, result);
  }
  OVERDUB_HIDDEN void fail(std::exception_ptr const& exception) {
    suspended const hooks(*this);
    fail(hooks.listeners, exception);
  }

private:
  struct suspended {
    explicit suspended(ambient_call&) : listeners(std::exchange(observers.ambient, nullptr)) {}
    suspended(suspended const&) = delete;
    suspended& operator=(suspended const&) = delete;
    ~suspended() { observers.ambient = listeners; }
    ambient_listener* const listeners;
  };

  void begin(ambient_listener* l) {
    if (l == nullptr) return;
    begin(l->outer);
    try {
      l->before(l->context, call_);
    } catch (...) {
      fail(l->outer, std::current_exception());
      throw;
    }
  }
  void fail(ambient_listener* l, std::exception_ptr const& exception) {
    for (; l != nullptr; l = l->outer)
      if (l->number <= newest_) l->failed(l->context, call_, exception);
  }

  observed_call const& call_;
  std::uint64_t newest_; // listeners that began during the call do not observe its end
};

// Of arguments that are passed as A..., those that the call may have consumed.
template <class... A>
void clear_consumed(observed* arguments, types<A...>) {
  [[maybe_unused]] auto const clear = [&](observed& x, bool is_lvalue) {
    if (!is_lvalue && x.is_view()) x.clear();
  };
  (clear(*arguments++, std::is_lvalue_reference_v<A>), ...);
}

/// Calls compute(), which is a call of F with the arguments a... as Passed says, and tells the ambient contexts of this thread.
template <class F, class Passed, class Compute, class... X>
OVERDUB_HIDDEN auto observe_call(Compute const& compute, X&... a) {
  using R = decltype(compute());
  observed arguments[sizeof...(X) + 1] = {observed(a)..., observed(false)};
  observed_call const call{F::name(), of_kind<F, kind::leaf>, arguments, sizeof...(X)};
  ambient_call now(call);
  auto const guarded = [&]() -> R {
    try {
      return compute();
    } catch (...) {
      clear_consumed(arguments, Passed{});
      now.fail(std::current_exception());
      throw;
    }
  };
  [[maybe_unused]] auto const end = [&](observed const& result) {
    clear_consumed(arguments, Passed{});
    now.end(result);
  };
  if constexpr (std::is_move_constructible_v<R>) {
    R result = guarded();
    end(observed(result));
    return result;
  } else {
    // A result that cannot be moved is made in the caller's memory, where this function does not see it.
    struct at_return {
      decltype(end) const& ends;
      int const exceptions = std::uncaught_exceptions();
      ~at_return() noexcept(false) {
        if (std::uncaught_exceptions() == exceptions) ends(observed(observed_object{type_name<R>()}));
      }
    } const after{end};
    return guarded();
  }
}

} // namespace overdub::detail
