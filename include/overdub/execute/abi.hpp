// How handlers go on to the next one. Units that are compiled otherwise, with optimisation or without, or with the library,
// meet in one program: each has an interpreter in a namespace of its own, which users do not see.
#pragma once

#include <overdub/header_only.hpp>

// Whether a call at the end of a handler is a jump. GNU compilers make it one whenever they optimise (-O1 must be asked
// to); clang promises it.
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

// Each header names it whole: clang puts what stands in a reopened `namespace overdub::execute` beside the inline namespace, GNU compilers
// into it (CWG 2061), and objects of both are linked together.
namespace overdub::inline OVERDUB_EXECUTE_ABI::execute {}
