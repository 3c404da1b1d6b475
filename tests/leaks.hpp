// Allocations that the leak sanitizer ignores.
#pragma once

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/lsan_interface.h>
#define OVERDUB_TESTS_LEAKS 1
#endif
#endif

/// The leak sanitizer ignores allocations during the lifetime of this object.
class no_leaks {
public:
#if OVERDUB_TESTS_LEAKS
  no_leaks() { __lsan_disable(); }
  ~no_leaks() { __lsan_enable(); }
#else
  no_leaks() {}
#endif
  no_leaks(no_leaks const&) = delete;
  no_leaks& operator=(no_leaks const&) = delete;
};
