// Elementary functions of the library SLEEF (Shibata and Petrogalli, 2020), for numbers and for SIMD vectors. Each vector width has one
// source, which is compiled for its instruction set, such as AVX-512. These sources define no inline function and no template with external
// linkage: the linker merges equal definitions, and could keep the AVX-512 one for processors without AVX-512.
#pragma once

#include <overdub/ir/consistent.hpp>

#include <cstdint>

namespace overdub::sleef {

#if defined(__x86_64__)
/// Set the functions on arrays of numbers, which process the array in vectors of one width.
void fill_sse2(ir::consistent_functions&);
void fill_avx(ir::consistent_functions&);
void fill_avx512(ir::consistent_functions&);
/// Append the functions on vectors of one width. Return their number.
unsigned vectors_sse2(ir::vector_function*);
unsigned vectors_avx(ir::vector_function*);
unsigned vectors_avx512(ir::vector_function*);
#endif

// The functions on one number. sin_one is the function of the operation sin.
#define OVERDUB_ELEMENTARY1(NAME, ...)                                                                       \
  double NAME##_one(double);                                                                                 \
  float NAME##_one(float);
#define OVERDUB_ELEMENTARY1_WITHIN(NAME, ...)                                                                \
  double NAME##_one(double);                                                                                 \
  float NAME##_one(float);
#define OVERDUB_ELEMENTARY2(NAME, ...)                                                                       \
  double NAME##_one(double, double);                                                                         \
  float NAME##_one(float, float);
#include <overdub/ir/elementary.def>

} // namespace overdub::sleef
