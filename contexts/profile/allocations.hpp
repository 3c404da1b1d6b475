// Counts the allocations of each thread: including this header in one unit of a program replaces operator new by a version
// that counts, and calls malloc.
#pragma once

#include <overdub/core/config.hpp>
#include <overdub/core/requirements.hpp>

#include <cstddef>
#include <cstdlib>
#include <limits>
#include <new>

// Sanitizers replace operator new themselves.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OVERDUB_COUNTS_ALLOCATIONS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define OVERDUB_COUNTS_ALLOCATIONS 0
#else
#define OVERDUB_COUNTS_ALLOCATIONS 1
#endif
#else
#define OVERDUB_COUNTS_ALLOCATIONS 1
#endif

namespace overdub::contexts {

/// Whether allocations are counted: not under a sanitizer.
inline constexpr bool counts_allocations = OVERDUB_COUNTS_ALLOCATIONS;

/// The number of calls of operator new in this thread so far.
OVERDUB_HIDDEN inline thread_local constinit long counted_allocations = 0;
inline long allocations_of_thread() { return counted_allocations; }

inline void* count_allocation(std::size_t bytes, std::size_t alignment) {
  ++counted_allocations;
  if (bytes == 0) bytes = 1;
  if (bytes > std::numeric_limits<std::size_t>::max() - alignment) throw std::bad_alloc();
  for (;;) {
    void* const p = alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__
                        ? std::malloc(bytes)
                        : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    if (p != nullptr) return p;
    std::new_handler const handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

} // namespace overdub::contexts

#if OVERDUB_COUNTS_ALLOCATIONS
// Weak, so that several units may include this header. Array and nothrow forms call these.
#define OVERDUB_WEAK [[gnu::weak]]
OVERDUB_WEAK void* operator new(std::size_t bytes) {
  return overdub::contexts::count_allocation(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
OVERDUB_WEAK void* operator new(std::size_t bytes, std::align_val_t a) {
  return overdub::contexts::count_allocation(bytes, static_cast<std::size_t>(a));
}
OVERDUB_WEAK void* operator new(std::size_t bytes, std::nothrow_t const&) noexcept {
  try {
    return operator new(bytes);
  } catch (...) {
    return nullptr;
  }
}
OVERDUB_WEAK void* operator new(std::size_t bytes, std::align_val_t a, std::nothrow_t const&) noexcept {
  try {
    return operator new(bytes, a);
  } catch (...) {
    return nullptr;
  }
}
OVERDUB_WEAK void operator delete(void* p) noexcept { std::free(p); }
OVERDUB_WEAK void operator delete(void* p, std::size_t) noexcept { std::free(p); }
OVERDUB_WEAK void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
OVERDUB_WEAK void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
OVERDUB_WEAK void operator delete(void* p, std::nothrow_t const&) noexcept { std::free(p); }
OVERDUB_WEAK void operator delete(void* p, std::align_val_t, std::nothrow_t const&) noexcept { std::free(p); }
#undef OVERDUB_WEAK
#endif
#undef OVERDUB_COUNTS_ALLOCATIONS
