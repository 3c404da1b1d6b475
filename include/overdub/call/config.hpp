// How the dispatch layers are compiled: inlined away when optimising, checked in debug builds.
#pragma once

// Dispatch layers vanish when optimising; at -O0 inlining them would only slow the compiler down.
#if defined(__OPTIMIZE__)
#define OVERDUB_INLINE __attribute__((always_inline))
#else
#define OVERDUB_INLINE
#endif

// On a return statement: inlines the calls in it, for functions given to control primitives, which stand in
// one place.
#if defined(__OPTIMIZE__) && defined(__clang__) && __clang_major__ >= 15
#define OVERDUB_INLINE_CALLS [[clang::always_inline]]
#else
#define OVERDUB_INLINE_CALLS
#endif

// Checked builds compare the contexts of values that meet, and watch over `strict` runs. All units of a
// program must agree on it, as they must on NDEBUG.
#if !defined(OVERDUB_CHECKED)
#if defined(NDEBUG)
#define OVERDUB_CHECKED 0
#else
#define OVERDUB_CHECKED 1
#endif
#endif
