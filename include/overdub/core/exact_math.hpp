// Warns if the flags of the unit (-ffast-math) make results inexact. Headers that promise exact results, or test for NaN and infinity,
// include it.
#pragma once

#include <overdub/core/requirements.hpp>

#if !defined(OVERDUB_ALLOW_FAST_MATH) &&                                                                             \
    (defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__ > 0) ||                        \
     defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || defined(__NO_SIGNED_ZEROS__))
#pragma GCC warning                                                                                                  \
    "overdub: this unit is compiled with -ffast-math or a part of it, so that results are not exact here (docs/equality.md); move overdub to a unit without the flag, or define OVERDUB_ALLOW_FAST_MATH"
#endif
