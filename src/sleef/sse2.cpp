// Vectors of 128 bits, which every processor of this kind has.
#if defined(__x86_64__)
#include <sleef.h>

#define OVERDUB_F64(NAME, SUFFIX) Sleef_cinz_##NAME##d2_##SUFFIX##sse2
#define OVERDUB_F32(NAME, SUFFIX) Sleef_cinz_##NAME##f4_##SUFFIX##sse2

namespace overdub::sleef {
namespace {
using f64s = __m128d;
using f32s = __m128;
f64s load(double const* p) { return _mm_loadu_pd(p); }
f32s load(float const* p) { return _mm_loadu_ps(p); }
void store(double* p, f64s x) { _mm_storeu_pd(p, x); }
void store(float* p, f32s x) { _mm_storeu_ps(p, x); }
bool within(f64s x, double least, double most) {
  return _mm_movemask_pd(
             _mm_and_pd(_mm_cmpge_pd(x, _mm_set1_pd(least)), _mm_cmple_pd(x, _mm_set1_pd(most)))) == 3;
}
bool within(f32s x, float least, float most) {
  return _mm_movemask_ps(
             _mm_and_ps(_mm_cmpge_ps(x, _mm_set1_ps(least)), _mm_cmple_ps(x, _mm_set1_ps(most)))) == 15;
}
} // namespace
} // namespace overdub::sleef

#include "vectors.hpp"

namespace overdub::sleef {
void fill_sse2(ir::consistent_functions& all) { fill(all); }
unsigned vectors_sse2(ir::vector_function* to) { return list(to); }
} // namespace overdub::sleef
#endif
