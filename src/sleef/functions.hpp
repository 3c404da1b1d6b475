// The functions that the sources of overdub::sleef define. The sources for wider vectors are compiled with wider instruction sets. They
// define no entity that another source may define, too, such as an inline function: the linker could keep the copy with wide instructions,
// which other processors do not have.
#pragma once

#include <overdub/ir/consistent.hpp>

#include <cstdint>

namespace overdub::sleef {

#if defined(__x86_64__)
/// Fill in the functions on many numbers, by the vectors of one width.
void fill_sse2(ir::consistent_functions&);
void fill_avx(ir::consistent_functions&);
void fill_avx512(ir::consistent_functions&);
/// The functions on vectors of one width; appends them, and returns how many they are.
unsigned vectors_sse2(ir::vector_function*);
unsigned vectors_avx(ir::vector_function*);
unsigned vectors_avx512(ir::vector_function*);
#endif

// The functions on one number, by the names of operations.
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
