// Whether what is no template is defined in headers, or compiled once, in the library overdub::compiled. All units of a
// program must agree on it: the library's target defines OVERDUB_COMPILED for all that link it.
#pragma once

#if defined(OVERDUB_COMPILED)
#define OVERDUB_HEADER_ONLY 0
#define OVERDUB_DECL
#else
#define OVERDUB_HEADER_ONLY 1
#define OVERDUB_DECL inline
#endif
