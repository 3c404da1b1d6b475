// How handlers call the next one. Units compiled with and without optimisation, or with the library, meet in one program:
// each kind has its own interpreter in a hidden inline namespace.
#pragma once

#include <overdub/header_only.hpp>

// Whether a call at the end of a handler is a guaranteed tail call. GNU compilers make one whenever they optimise (-O1
// needs a flag); clang has an attribute.
#if !defined(OVERDUB_TAIL_CALLS)
#if defined(__clang__) || defined(__OPTIMIZE__)
#define OVERDUB_TAIL_CALLS 1
#else
#define OVERDUB_TAIL_CALLS 0
#endif
#endif

#if !OVERDUB_HEADER_ONLY
#define OVERDUB_EXECUTE_ABI execute_compiled
#elif OVERDUB_TAIL_CALLS
#define OVERDUB_EXECUTE_ABI execute_jumping
#else
#define OVERDUB_EXECUTE_ABI execute_looping
#endif

// Each header spells the full namespace: clang puts the contents of a reopened `namespace overdub::execute` beside the
// inline namespace, GNU compilers inside it (CWG 2061), and objects of both are linked together.
namespace overdub::inline OVERDUB_EXECUTE_ABI::execute {}
