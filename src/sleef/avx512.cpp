// Vectors of 512 bits.
#if defined(__x86_64__)
#include <sleef.h>

#define OVERDUB_F64(NAME, SUFFIX) Sleef_cinz_##NAME##d8_##SUFFIX##avx512fnofma
#define OVERDUB_F32(NAME, SUFFIX) Sleef_cinz_##NAME##f16_##SUFFIX##avx512fnofma

namespace overdub::sleef {
namespace {
using f64s = __m512d;
using f32s = __m512;
f64s load(double const* p) { return _mm512_loadu_pd(p); }
f32s load(float const* p) { return _mm512_loadu_ps(p); }
void store(double* p, f64s x) { _mm512_storeu_pd(p, x); }
void store(float* p, f32s x) { _mm512_storeu_ps(p, x); }
bool within(f64s x, double least, double most) {
  __mmask8 const above = _mm512_cmp_pd_mask(x, _mm512_set1_pd(least), _CMP_GE_OQ);
  return _mm512_mask_cmp_pd_mask(above, x, _mm512_set1_pd(most), _CMP_LE_OQ) == 0xff;
}
bool within(f32s x, float least, float most) {
  __mmask16 const above = _mm512_cmp_ps_mask(x, _mm512_set1_ps(least), _CMP_GE_OQ);
  return _mm512_mask_cmp_ps_mask(above, x, _mm512_set1_ps(most), _CMP_LE_OQ) == 0xffff;
}
} // namespace
} // namespace overdub::sleef

#include "vectors.hpp"

namespace overdub::sleef {
void fill_avx512(ir::consistent_functions& all) { fill(all); }
unsigned vectors_avx512(ir::vector_function* to) { return list(to); }
} // namespace overdub::sleef
#endif
