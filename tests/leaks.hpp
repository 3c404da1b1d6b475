// Allocations that the sanitizer of leaks does not look at.
#pragma once

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/lsan_interface.h>
#define OVERDUB_TESTS_LEAKS 1
#endif
#endif

/// What is allocated while it lives is no leak to the sanitizer of leaks.
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
