// Signal handlers that interrupt code of their own thread, and siglongjmp, which leaves the interrupted code. Not a part of the public interface.
#pragma once

#include <overdub/core/config.hpp>

#include <cerrno>
#include <csignal>
#include <cstdint>

namespace overdub::contexts::tracing {

/// The address of the frame of the function that this is inlined in: of the end of its caller's frame. It needs no frame pointer.
[[gnu::always_inline]] inline std::uintptr_t this_frame() {
  return reinterpret_cast<std::uintptr_t>(__builtin_dwarf_cfa());
}

// The least size of what the system stores in the stack between the frames of the interrupted code and of a handler: registers.
#if defined(__x86_64__) || defined(__aarch64__)
constexpr std::uintptr_t least_signal_frame = 1024;
#else
constexpr std::uintptr_t least_signal_frame = 1;
#endif

/// Whether code with a stack frame at the address `at` may be a signal handler that interrupted the code with a frame at `held`, on the same
/// thread. Otherwise that code was left by siglongjmp: frames of handlers are below those of the code that they interrupt, unless the
/// handler has an alternate stack. Async-signal-safe.
[[gnu::cold, gnu::noinline]] inline bool
may_have_interrupted(std::uintptr_t at, std::uintptr_t held) noexcept {
  if (at <= held) return held - at >= least_signal_frame;
  int const error = errno;
  stack_t alternate{};
  bool const is_on_it = sigaltstack(nullptr, &alternate) == 0 && (alternate.ss_flags & SS_ONSTACK) != 0;
  errno = error;
  return is_on_it && held - reinterpret_cast<std::uintptr_t>(alternate.ss_sp) >= alternate.ss_size;
}

} // namespace overdub::contexts::tracing
