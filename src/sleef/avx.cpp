// Vectors of 256 bits.
#if defined(__x86_64__)
#include <sleef.h>

#define OVERDUB_F64(NAME, SUFFIX) Sleef_cinz_##NAME##d4_##SUFFIX##avx
#define OVERDUB_F32(NAME, SUFFIX) Sleef_cinz_##NAME##f8_##SUFFIX##avx

namespace overdub::sleef {
namespace {
using f64s = __m256d;
using f32s = __m256;
f64s load(double const* p) { return _mm256_loadu_pd(p); }
f32s load(float const* p) { return _mm256_loadu_ps(p); }
void store(double* p, f64s x) { _mm256_storeu_pd(p, x); }
void store(float* p, f32s x) { _mm256_storeu_ps(p, x); }
bool within(f64s x, double least, double most) {
  f64s const above = _mm256_cmp_pd(x, _mm256_set1_pd(least), _CMP_GE_OQ);
  return _mm256_movemask_pd(_mm256_and_pd(above, _mm256_cmp_pd(x, _mm256_set1_pd(most), _CMP_LE_OQ))) == 15;
}
bool within(f32s x, float least, float most) {
  f32s const above = _mm256_cmp_ps(x, _mm256_set1_ps(least), _CMP_GE_OQ);
  return _mm256_movemask_ps(_mm256_and_ps(above, _mm256_cmp_ps(x, _mm256_set1_ps(most), _CMP_LE_OQ))) == 255;
}
} // namespace
} // namespace overdub::sleef

#include "vectors.hpp"

namespace overdub::sleef {
void fill_avx(ir::consistent_functions& all) { fill(all); }
unsigned vectors_avx(ir::vector_function* to) { return list(to); }
} // namespace overdub::sleef
#endif
