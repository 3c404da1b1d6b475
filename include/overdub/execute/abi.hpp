// The calling convention of instruction handlers. A program may link translation units with and without optimisation, and the
// compiled library. Each kind of unit has its own interpreter, in a hidden inline namespace.
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

// Each header writes the full namespace. In a reopened `namespace overdub::execute`, clang declares names outside of the inline
// namespace, and g++ inside it (CWG 2061); but objects of both compilers are linked together.
namespace overdub::inline OVERDUB_EXECUTE_ABI::execute {}
