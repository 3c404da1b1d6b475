// What instrumented code calls at the begin and end of each function: -finstrument-functions of g++ and clang, and the plugin.
#include "callee.hpp"
#include "callee_table.hpp"

#include <overdub/contexts/trace/call_records.hpp>

#include <atomic>
#include <cstdint>
#include <new>

namespace overdub::overtrace {
namespace {

namespace tracing = contexts::tracing;

/// The instrumented calls of a thread that have not ended, and began while a recording was active. A signal handler that interrupts this
/// pushes and pops calls of its own above.
struct call_stack {
  static constexpr std::uint32_t most = 4096; // deeper calls are counted, and not recorded
  struct call {
    void const* key; // what the end of the call is found by
    callee const* recorded;
  };
  bool accepts = false; // whether calls are observed: not those that this library makes
  std::uint32_t depth = 0, recorded = 0;
  call calls[most]{};
};
constinit call_stack no_calls; // of threads that have ended
constinit thread_local call_stack* this_stack = nullptr;

struct owned_stack {
  ~owned_stack() {
    delete this_stack;
    this_stack = &no_calls;
  }
};

[[gnu::cold, gnu::noinline]] call_stack* begin_thread() noexcept {
  this_stack = &no_calls; // for the calls that this makes
  thread_local owned_stack owner;
  static_cast<void>(owner);
  if (auto* const made = new (std::nothrow) call_stack) {
    made->accepts = true;
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

// A thread that has no memory for its records records nothing.
[[gnu::always_inline]] inline void write(callee const& c, tracing::record_kind kind) noexcept {
  try {
    tracing::call_records to;
    to.write(reinterpret_cast<std::uintptr_t>(&c.info) + static_cast<unsigned>(kind));
  } catch (...) {
  }
}

[[gnu::always_inline]] inline void pop(call_stack& s, tracing::record_kind kind) noexcept {
  callee const* const c = s.calls[s.depth - 1].recorded;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  --s.depth;
  if (c == nullptr) return;
  --s.recorded;
  write(*c, kind);
}

// Finds a callee by make(), which may allocate, and call instrumented functions.
template <class Make>
[[gnu::cold, gnu::noinline]] callee const* find_new(call_stack& s, Make const& make) noexcept {
  s.accepts = false;
  callee const* made = nullptr;
  try {
    made = &make();
  } catch (...) { // memory is exhausted: this call is not recorded
  }
  s.accepts = true;
  return made;
}

template <class Find>
[[gnu::always_inline]] inline void begin(void const* key, Find const& find) noexcept {
  if (is_active == nullptr || !is_active->load(std::memory_order_relaxed)) return;
  call_stack* s = this_stack;
  if (s == nullptr) [[unlikely]]
    s = begin_thread();
  if (!s->accepts) return;
  callee const* const c = find(*s);
  if (c == nullptr) return;
  std::uint32_t const at = s->depth++;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (at >= call_stack::most) return;
  bool const recorded = c->is_recorded && s->recorded < max_depth;
  s->calls[at] = {key, recorded ? c : nullptr};
  if (!recorded) return;
  ++s->recorded;
  write(*c, tracing::record_kind::begin);
}

// Ends calls whose end was skipped, as by longjmp.
[[gnu::cold, gnu::noinline]] void end_skipped(call_stack& s, void const* key) noexcept {
  std::uint32_t at = s.depth;
  while (at > 0 && s.calls[at - 1].key != key) --at;
  if (at == 0) return; // it began while nothing was recorded
  while (s.depth > at) pop(s, tracing::record_kind::failed);
  pop(s, tracing::record_kind::end);
}

[[gnu::always_inline]] inline void end(void const* key) noexcept {
  call_stack* const s = this_stack;
  if (s == nullptr || s->depth == 0) return;
  if (!s->accepts) return;
  if (s->depth > call_stack::most) [[unlikely]]
    --s->depth;
  else if (s->calls[s->depth - 1].key == key) [[likely]]
    pop(*s, tracing::record_kind::end);
  else
    end_skipped(*s, key);
}

callee const* find_function(call_stack& s, void const* function) noexcept {
  if (callee_table const* const all = known_callees.load(std::memory_order_acquire)) [[likely]]
    if (callee const* const found = all->find(function)) return found;
  return find_new(s, [&]() -> callee const& { return callee_at(function); });
}

} // namespace
} // namespace overdub::overtrace

extern "C" {

using overdub::overtrace::callee;

// ---- of -finstrument-functions

[[gnu::visibility("default")]] void __cyg_profile_func_enter(void* function, void*) {
  overdub::overtrace::begin(
      function, [&](auto& stack) { return overdub::overtrace::find_function(stack, function); });
}
[[gnu::visibility("default")]] void __cyg_profile_func_exit(void* function, void*) {
  overdub::overtrace::end(function);
}

// ---- of the plugin

/// What the plugin stores for each function.
struct overtrace_function {
  char const* name;
  std::size_t name_size;
  char const* file;
  std::size_t file_size;
  callee const* called; // null before the first call
};
[[gnu::visibility("default")]] void overtrace_begin(overtrace_function* f) {
  overdub::overtrace::begin(f, [&](auto& stack) -> callee const* {
    if (callee const* const known = __atomic_load_n(&f->called, __ATOMIC_ACQUIRE)) [[likely]]
      return known;
    callee const* const made = overdub::overtrace::find_new(stack, [&]() -> callee const& {
      return overdub::overtrace::add_callee({f->name, f->name_size}, {f->file, f->file_size});
    });
    __atomic_store_n(&f->called, made, __ATOMIC_RELEASE);
    return made;
  });
}
[[gnu::visibility("default")]] void overtrace_end(overtrace_function* f) { overdub::overtrace::end(f); }
}
