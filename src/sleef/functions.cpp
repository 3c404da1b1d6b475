// The table of the math mode `consistent`: SLEEF's deterministic functions without fused multiplication, which return the same bits
// on all processors, for single numbers and for vectors. It is filled before main.
#include "functions.hpp"

#include <cmath>
#include <sleef.h>

namespace overdub::sleef {

// Functions of one number. SLEEF's functions on vectors of two are faster than its scalar ones.
#if defined(__x86_64__)
#define OVERDUB_ONE_F64(NAME, SUFFIX, X) _mm_cvtsd_f64(Sleef_cinz_##NAME##d2_##SUFFIX##sse2(_mm_set1_pd(X)))
#define OVERDUB_ONE_F32(NAME, SUFFIX, X) _mm_cvtss_f32(Sleef_cinz_##NAME##f4_##SUFFIX##sse2(_mm_set1_ps(X)))
#define OVERDUB_TWO_F64(NAME, SUFFIX, X, Y)                                                                  \
  _mm_cvtsd_f64(Sleef_cinz_##NAME##d2_##SUFFIX##sse2(_mm_set1_pd(X), _mm_set1_pd(Y)))
#define OVERDUB_TWO_F32(NAME, SUFFIX, X, Y)                                                                  \
  _mm_cvtss_f32(Sleef_cinz_##NAME##f4_##SUFFIX##sse2(_mm_set1_ps(X), _mm_set1_ps(Y)))
#else
#define OVERDUB_ONE_F64(NAME, SUFFIX, X) Sleef_cinz_##NAME##d1_##SUFFIX##purec(X)
#define OVERDUB_ONE_F32(NAME, SUFFIX, X) Sleef_cinz_##NAME##f1_##SUFFIX##purec(X)
#define OVERDUB_TWO_F64(NAME, SUFFIX, X, Y) Sleef_cinz_##NAME##d1_##SUFFIX##purec(X, Y)
#define OVERDUB_TWO_F32(NAME, SUFFIX, X, Y) Sleef_cinz_##NAME##f1_##SUFFIX##purec(X, Y)
#endif

namespace {
// The host's lgamma, for arguments for which SLEEF's is not accurate.
double lgamma_of(double x) {
  int sign = 0; // std::lgamma writes a global variable
  return ::lgamma_r(x, &sign);
}
float lgamma_of(float x) {
  int sign = 0;
  return ::lgammaf_r(x, &sign);
}
template <class T>
T log1p_of(T x) {
  return std::log1p(x);
}
template <class T>
T sinh_of(T x) {
  return std::sinh(x);
}
template <class T>
T cosh_of(T x) {
  return std::cosh(x);
}
template <class T>
T asinh_of(T x) {
  return std::asinh(x);
}
template <class T>
T acosh_of(T x) {
  return std::acosh(x);
}
template <class T>
T tgamma_of(T x) {
  return std::tgamma(x);
}
} // namespace

#define OVERDUB_ELEMENTARY1(NAME, SUFFIX)                                                                    \
  double NAME##_one(double x) { return OVERDUB_ONE_F64(NAME, SUFFIX, x); }                                   \
  float NAME##_one(float x) { return OVERDUB_ONE_F32(NAME, SUFFIX, x); }
#define OVERDUB_ELEMENTARY1_WITHIN(NAME, SUFFIX, LEAST, MOST, LEAST_F32, MOST_F32)                           \
  double NAME##_one(double x) {                                                                              \
    return x >= LEAST && x <= MOST ? OVERDUB_ONE_F64(NAME, SUFFIX, x) : NAME##_of(x);                        \
  }                                                                                                          \
  float NAME##_one(float x) {                                                                                \
    return x >= LEAST_F32 && x <= MOST_F32 ? OVERDUB_ONE_F32(NAME, SUFFIX, x) : NAME##_of(x);                \
  }
#define OVERDUB_ELEMENTARY2(NAME, SUFFIX)                                                                    \
  double NAME##_one(double x, double y) { return OVERDUB_TWO_F64(NAME, SUFFIX, x, y); }                      \
  float NAME##_one(float x, float y) { return OVERDUB_TWO_F32(NAME, SUFFIX, x, y); }
#define OVERDUB_ELEMENTARY1_FINITE(NAME, SUFFIX)                                                             \
  double NAME##_one(double x) {                                                                              \
    double const r = OVERDUB_ONE_F64(NAME, SUFFIX, x);                                                       \
    return std::isinf(r) ? std::NAME(x) : r;                                                                 \
  }                                                                                                          \
  float NAME##_one(float x) {                                                                                \
    float const r = OVERDUB_ONE_F32(NAME, SUFFIX, x);                                                        \
    return std::isinf(r) ? std::NAME(x) : r;                                                                 \
  }
#define OVERDUB_ELEMENTARY2_FINITE(NAME, SUFFIX)                                                             \
  double NAME##_one(double x, double y) {                                                                    \
    double const r = OVERDUB_TWO_F64(NAME, SUFFIX, x, y);                                                    \
    return std::isinf(r) ? std::NAME(x, y) : r;                                                              \
  }                                                                                                          \
  float NAME##_one(float x, float y) {                                                                       \
    float const r = OVERDUB_TWO_F32(NAME, SUFFIX, x, y);                                                     \
    return std::isinf(r) ? std::NAME(x, y) : r;                                                              \
  }
#include <overdub/ir/elementary.def>

namespace {

template <class T, T (*F)(T)>
void many_of_one(T const* x, T* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = F(x[i]);
}
template <class T, T (*F)(T, T)>
void many_of_two(T const* x, T const* y, T* out, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = F(x[i], y[i]);
}

template <class T>
void fill(ir::elementary_functions<T>& all) {
#define OVERDUB_ELEMENTARY1(NAME, ...)                                                                       \
  all.one[static_cast<std::size_t>(ir::op::NAME)] = &NAME##_one;                                             \
  all.many_of_one[static_cast<std::size_t>(ir::op::NAME)] = &many_of_one<T, &NAME##_one>;
#define OVERDUB_ELEMENTARY1_WITHIN(NAME, ...)                                                                \
  all.one[static_cast<std::size_t>(ir::op::NAME)] = &NAME##_one;                                             \
  all.many_of_one[static_cast<std::size_t>(ir::op::NAME)] = &many_of_one<T, &NAME##_one>;
#define OVERDUB_ELEMENTARY2(NAME, ...)                                                                       \
  all.two[static_cast<std::size_t>(ir::op::NAME)] = &NAME##_one;                                             \
  all.many_of_two[static_cast<std::size_t>(ir::op::NAME)] = &many_of_two<T, &NAME##_one>;
#include <overdub/ir/elementary.def>
}

ir::consistent_functions const& filled() {
  static ir::consistent_functions all;
  fill(all.f64);
  fill(all.f32);
#if defined(__x86_64__)
  static ir::vector_function vectors[6 * ir::op_count];
  unsigned count = vectors_sse2(vectors);
  fill_sse2(all);
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx")) {
    count += vectors_avx(vectors + count);
    fill_avx(all);
  }
  if (__builtin_cpu_supports("avx512f")) {
    count += vectors_avx512(vectors + count);
    fill_avx512(all);
  }
  all.vectors = {vectors, count};
#endif
  return all;
}

} // namespace
} // namespace overdub::sleef

// Programs that link overdub::sleef refer to this symbol, so that this translation unit is linked.
extern "C" {
extern bool const overdub_sleef;
bool const overdub_sleef = (overdub::ir::consistent = &overdub::sleef::filled(), true);
}
