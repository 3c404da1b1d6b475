// Compilation of the dispatch layers: attributes for inlining, visibility, and checked builds.
#pragma once

#include <overdub/core/requirements.hpp>

// Forces dispatch layers inline when optimising. At -O0 this would only increase compile time.
#if defined(__OPTIMIZE__)
#define OVERDUB_INLINE __attribute__((always_inline))
#else
#define OVERDUB_INLINE
#endif

// On a return statement: inlines the calls in it. It is for functions that are passed to control primitives, which have one call site.
#if defined(__OPTIMIZE__) && defined(__clang__) && __clang_major__ >= 15
#define OVERDUB_INLINE_CALLS [[clang::always_inline]]
#else
#define OVERDUB_INLINE_CALLS
#endif

// On a function: inlines all calls in it. For clang, the attribute of statements above is used instead.
#if defined(__OPTIMIZE__) && !defined(__clang__)
#define OVERDUB_FLATTEN gnu::flatten
#else
#define OVERDUB_FLATTEN
#endif

// Hidden visibility for state, tables of functions, and addresses that identify types, so that each shared object has its own. Otherwise
// the dynamic linker merges them by name across a process (STB_GNU_UNIQUE of GNU compilers, even under RTLD_LOCAL), and two plugins with
// different functions named `loss` would run the same one. A static variable in a function has the visibility of the function. Constructors
// and destructors that change the state are hidden, too, so that both use the state of one object. Types are never hidden: users' types
// have members of them, and the guards of other libraries' statics would be shared (GCC 12).
#define OVERDUB_HIDDEN __attribute__((visibility("hidden")))
// Exceptions must be exported, so that other shared objects can catch them with -fvisibility=hidden, too.
#define OVERDUB_EXPORTED __attribute__((visibility("default")))

// Checked builds compare the contexts of the operands of each call, and detect calls outside of `strict` runs. All units of a program must
// agree on OVERDUB_CHECKED, as they must on NDEBUG.
#if !defined(OVERDUB_CHECKED)
#if defined(NDEBUG)
#define OVERDUB_CHECKED 0
#else
#define OVERDUB_CHECKED 1
#endif
#endif

// Builds ambient contexts in: see overdub/ambient.hpp. All units of a program must agree on it.
#if !defined(OVERDUB_AMBIENT)
#define OVERDUB_AMBIENT 0
#endif
