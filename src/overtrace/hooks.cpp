// The functions that instrumented code calls at the entry and exit of each function: the hooks of -finstrument-functions of g++ and clang,
// and those of overdub's plugin. Each thread has a shadow stack of its calls, which also finds the calls that longjmp leaves.
#include "callee.hpp"
#include "callee_table.hpp"

#include <overdub/call/blocked_signals.hpp>
#include <overdub/contexts/trace/call_records.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <pthread.h>
#include <utility>

namespace overdub::overtrace {

namespace tracing = contexts::tracing;

/// The shadow stack of a thread: its instrumented calls that began while a recording was active, and that have not ended. A signal handler
/// that interrupts a push or pop pushes and pops its own calls on top. If siglongjmp leaves a push or pop, the stack keeps a call whose
/// `recorded` is null.
struct call_stack {
  static constexpr std::uint32_t most = 4096; // deeper calls are counted, and not recorded
  struct call {
    void const* key; // of the function
    // The complement of the address of the call's frame, so that deeper calls have larger numbers. With -finstrument-functions the frame is
    // the hook's, which is below the frame of the function. 0 during a push or pop.
    std::uintptr_t under;
    void const* site;       // the return address of the function, or of the function that it is inlined in
    void const* hook_site;  // the return address of the hook
    callee const* recorded; // null if the call is not recorded
    std::uint32_t level;    // the number of recorded calls up to this one
  };
  std::uint32_t depth;
  call calls[most + 1];                      // calls[depth] is the innermost one; calls[0] is a sentinel
  std::uintptr_t highest_under, least_under; // the bounds of the thread's own stack
  call& last() { return calls[std::min(depth, most)]; }
  /// Whether the frame at `deeper` no longer exists when code runs at `under`. False for frames on other stacks, such as those of
  /// coroutines and of signal handlers with an alternate stack, because addresses of different stacks have no order.
  bool was_left(std::uintptr_t deeper, std::uintptr_t under) const {
    return deeper > under && deeper < highest_under && under > least_under;
  }
  /// Whether the call `c` was left before the call `next` began. Two calls can share a frame: if their hooks have different return
  /// addresses, `next` is inlined in `c`, and `c` has not been left.
  bool was_left(call const& c, call const& next) const {
    bool const is_inlined = c.site == next.site && c.hook_site != next.hook_site;
    return was_left(c.under, next.under - (c.under == next.under && !is_inlined));
  }
};

namespace {

constinit call_stack
    no_calls{}; // the stack of threads whose calls are not observed: they have ended, or run code of this library
constinit thread_local call_stack* this_stack = nullptr;

// Writes a record. If memory for it runs out, the call is not recorded, since a hook must not throw.
[[gnu::always_inline]] inline void
write(callee const& c, tracing::record_kind kind, std::uintptr_t under) noexcept {
  try {
    tracing::call_records to(~under);
    to.write(reinterpret_cast<std::uintptr_t>(&c.info) + static_cast<unsigned>(kind));
  } catch (...) {
  }
}

[[gnu::always_inline]] inline void
pop(call_stack& s, tracing::record_kind kind, std::uintptr_t under) noexcept {
  call_stack::call& last = s.calls[s.depth];
  if (last.recorded != nullptr)
    // Before the pop: if siglongjmp leaves the write, a later hook ends the call.
    write(*last.recorded, kind, under);
  last.recorded = nullptr;
  last.under = 0;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  --s.depth;
}

// Ends the remaining calls when the thread ends, because pthread_exit and exit do not return from them.
struct owned_stack {
  ~owned_stack() {
    call_stack* const mine = this_stack;
    if (mine == &no_calls) return;
    mine->depth = std::min(mine->depth, call_stack::most);
    while (mine->depth > 0) pop(*mine, tracing::record_kind::failed, ~tracing::this_frame());
    this_stack = &no_calls; // before the stack is freed, since a signal handler may use it
    std::atomic_signal_fence(std::memory_order_seq_cst);
    std::free(mine);
  }
};

void find_bounds(call_stack& s) noexcept {
  s.highest_under = 0; // unknown
  pthread_attr_t of_thread;
  if (pthread_getattr_np(pthread_self(), &of_thread) != 0) return;
  void* lowest = nullptr;
  std::size_t size = 0;
  if (pthread_attr_getstack(&of_thread, &lowest, &size) == 0) {
    s.highest_under = ~reinterpret_cast<std::uintptr_t>(lowest);
    s.least_under = s.highest_under - size;
  }
  pthread_attr_destroy(&of_thread);
}

[[gnu::cold, gnu::noinline]] call_stack* begin_thread() noexcept {
  // If a signal handler left this function by siglongjmp, the thread would have no stack.
  overdub::detail::blocked_signals const here;
  this_stack = &no_calls; // so that calls of this function are not recorded
  try {
    // Constructed before `owner`, since the destructor of `owner` writes records.
    tracing::call_records const first;
  } catch (...) {
  }
  thread_local owned_stack owner;
  static_cast<void>(owner);
  if (auto* const made = static_cast<call_stack*>(std::calloc(1, sizeof(call_stack)))) {
    find_bounds(*made);
    this_stack = made;
  }
  return this_stack;
}

std::atomic<bool> const* is_active = nullptr; // set when the library is loaded
std::uint32_t max_depth = 0;
[[gnu::constructor(101)]] void find_recordings() {
  max_depth = process_filters().depth;
  is_active = &tracing::all_recordings().is_active;
}

// Ends the calls that longjmp, for example, left before the call `next` began.
[[gnu::cold, gnu::noinline]] void end_left(call_stack& s, call_stack::call const& next) noexcept {
  if (!s.was_left(s.last(), next)) return;
  s.depth = std::min(s.depth, call_stack::most);
  while (s.was_left(s.last(), next)) pop(s, tracing::record_kind::failed, next.under);
}

template <class Find>
[[gnu::always_inline]] inline void begin(
    void const* key, void const* site, std::uintptr_t under, void const* hook_site,
    Find const& find) noexcept {
  if (is_active == nullptr || !is_active->load(std::memory_order_relaxed)) return;
  call_stack* s = this_stack;
  if (s == nullptr) [[unlikely]]
    s = begin_thread();
  if (s == &no_calls) return;
  callee const* const c = find();
  if (c == nullptr) return;
  if (s->last().under >= under) [[unlikely]]
    end_left(*s, {key, under, site, hook_site, nullptr, 0});
  std::uint32_t const at = ++s->depth;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (at > call_stack::most) return;
  call_stack::call& mine = s->calls[at];
  mine.key = key;
  mine.under = under;
  mine.site = site;
  mine.hook_site = hook_site;
  mine.level = s->calls[at - 1].level;
  choice is = c->is.load(std::memory_order_relaxed);
  if (is == choice::unknown) [[unlikely]]
    is = wait_for_choice(*c);
  if (is == choice::left_out || mine.level >= max_depth) return;
  ++mine.level;
  mine.recorded = c;
  write(*c, tracing::record_kind::begin, under);
}

// Ends a call that is not the innermost one on the stack. First ends the inner calls, which longjmp, for example, left.
[[gnu::cold, gnu::noinline]] void
end_outer(call_stack& s, void const* key, std::uintptr_t under, bool after_return) noexcept {
  if (s.depth > call_stack::most) {
    if (!s.was_left(s.last().under, under) &&
        (after_return || s.last().under != under || s.last().key != key)) {
      --s.depth;
      return;
    }
    s.depth = call_stack::most;
  }
  while (s.was_left(s.last().under, under)) {
    if (after_return && s.last().key == key && !s.was_left(s.calls[s.depth - 1].under, under)) break;
    pop(s, tracing::record_kind::failed, under);
  }
  std::uint32_t at = s.depth;
  while (at > 0 && s.calls[at].key != key) --at;
  if (at == 0) return; // the call began while no recording was active
  while (s.depth > at) pop(s, tracing::record_kind::failed, under);
  pop(s, tracing::record_kind::end, under);
}

// `after_return`: the hook was called by a tail call, after the frame of its function was released.
[[gnu::always_inline]] inline void end(void const* key, std::uintptr_t under, bool after_return) noexcept {
  call_stack* const s = this_stack;
  if (s == nullptr || s->depth == 0) return;
  if (s->depth <= call_stack::most) [[likely]] {
    call_stack::call const* const last = &s->calls[s->depth];
    // The common case: the function returns, and no call inside it was left. After a tail call, the frame of its caller is checked instead.
    if (last->key == key && (last - after_return)->under <= under) [[likely]] {
      pop(*s, tracing::record_kind::end, under);
      return;
    }
  }
  end_outer(*s, key, under, after_return);
}

} // namespace

unobserved::unobserved() noexcept : before_(std::exchange(this_stack, &no_calls)) {}
unobserved::~unobserved() { this_stack = before_; }
bool unobserved::is_first() const noexcept { return before_ != &no_calls; }

} // namespace overdub::overtrace

extern "C" {

using overdub::contexts::tracing::this_frame;

// ---- hooks of -finstrument-functions

[[gnu::visibility("default")]] void __cyg_profile_func_enter(void* function, void* site) {
  using namespace overdub::overtrace;
  begin(function, site, ~this_frame(), __builtin_return_address(0), [&] {
    callee const* const known = known_callees.find(function);
    return known != nullptr ? known : add_callee(function);
  });
}
[[gnu::visibility("default")]] void __cyg_profile_func_exit(void* function, void* site) {
  overdub::overtrace::end(function, ~this_frame(), __builtin_return_address(0) == site);
}

// ---- hooks of the plugin

/// What the plugin stores for each function.
struct overtrace_function {
  char const* name;
  std::size_t name_size;
  char const* file;
  std::size_t file_size;
  overdub::overtrace::callee const* called; // null before the first call
};
/// `frame`: the location on the stack of the return address of the function, or of the function that it is inlined in.
[[gnu::visibility("default")]] void overtrace_begin(overtrace_function* f, void** frame) {
  using namespace overdub::overtrace;
  begin(f, *frame, ~reinterpret_cast<std::uintptr_t>(frame), __builtin_return_address(0), [&] {
    callee const* known = __atomic_load_n(&f->called, __ATOMIC_ACQUIRE);
    if (known != nullptr) [[likely]]
      return known;
    known = add_callee({f->name, f->name_size}, {f->file, f->file_size});
    __atomic_store_n(&f->called, known, __ATOMIC_RELEASE);
    return known;
  });
}
[[gnu::visibility("default")]] void overtrace_end(overtrace_function* f, void** frame) {
  overdub::overtrace::end(f, ~reinterpret_cast<std::uintptr_t>(frame), false);
}
}
