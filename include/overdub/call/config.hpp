// How the dispatch layers are compiled: inlined away when optimising, checked in debug builds.
#pragma once

#include <overdub/core/requirements.hpp>

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

// On a function: inlines all calls in it. clang inlines by statement, above.
#if defined(__OPTIMIZE__) && !defined(__clang__)
#define OVERDUB_FLATTEN gnu::flatten
#else
#define OVERDUB_FLATTEN
#endif

// State, tables of functions, and addresses that identify types are one per shared object. Else the dynamic linker merges those
// of all objects of a process by their names (GNU compilers', STB_GNU_UNIQUE, even under RTLD_LOCAL), and two plugins that name
// different functions `loss` run one of them. A variable in a function has the visibility of that function, which is a small one
// then; constructors and destructors that change the state are marked, too, so that both change the one of one object. Types are
// never marked: users' types have members of them, and the guards of other libraries' statics would be shared (GCC 12).
#define OVERDUB_HIDDEN __attribute__((visibility("hidden")))
// Exceptions are caught in other shared objects than threw them, also where -fvisibility=hidden hides the rest.
#define OVERDUB_EXPORTED __attribute__((visibility("default")))

// Checked builds compare the contexts of values that meet, and watch over `strict` runs. All units of a
// program must agree on it, as they must on NDEBUG.
#if !defined(OVERDUB_CHECKED)
#if defined(NDEBUG)
#define OVERDUB_CHECKED 0
#else
#define OVERDUB_CHECKED 1
#endif
#endif
