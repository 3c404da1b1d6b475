// Included by the sources of one width of vectors each, which define OVERDUB_F64 and OVERDUB_F32: SLEEF's function of a name;
// and, in overdub::sleef: f64s, f32s, load, store, within(x, least, most). The table's entries are made of them.
#pragma once

#include "functions.hpp"

#include <cfloat>

namespace overdub::sleef {
namespace {

// ---- the functions on vectors: SLEEF's where it is right for all lanes; else each lane for itself

template <class T, class V>
V one_by_one(V x, T (*f)(T)) {
  T numbers[sizeof(V) / sizeof(T)];
  store(numbers, x);
  for (T& each : numbers) each = f(each);
  return load(numbers);
}
template <class T, class V>
V one_by_one(V x, V y, T (*f)(T, T)) {
  constexpr std::size_t count = sizeof(V) / sizeof(T);
  T numbers[count], others[count];
  store(numbers, x);
  store(others, y);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = f(numbers[i], others[i]);
  return load(numbers);
}

#define OVERDUB_ELEMENTARY1(NAME, SUFFIX)                                                                    \
  f64s NAME##_of(f64s x) { return OVERDUB_F64(NAME, SUFFIX)(x); }                                            \
  f32s NAME##_of(f32s x) { return OVERDUB_F32(NAME, SUFFIX)(x); }
#define OVERDUB_ELEMENTARY1_WITHIN(NAME, SUFFIX, LEAST, MOST, LEAST_F32, MOST_F32)                           \
  f64s NAME##_of(f64s x) {                                                                                   \
    if (within(x, LEAST, MOST)) [[likely]]                                                                   \
      return OVERDUB_F64(NAME, SUFFIX)(x);                                                                   \
    return one_by_one<double>(x, &NAME##_one);                                                               \
  }                                                                                                          \
  f32s NAME##_of(f32s x) {                                                                                   \
    if (within(x, LEAST_F32, MOST_F32)) [[likely]]                                                           \
      return OVERDUB_F32(NAME, SUFFIX)(x);                                                                   \
    return one_by_one<float>(x, &NAME##_one);                                                                \
  }
#define OVERDUB_ELEMENTARY2(NAME, SUFFIX)                                                                    \
  f64s NAME##_of(f64s x, f64s y) { return OVERDUB_F64(NAME, SUFFIX)(x, y); }                                 \
  f32s NAME##_of(f32s x, f32s y) { return OVERDUB_F32(NAME, SUFFIX)(x, y); }
#define OVERDUB_ELEMENTARY1_FINITE(NAME, SUFFIX)                                                             \
  f64s NAME##_of(f64s x) {                                                                                   \
    f64s const r = OVERDUB_F64(NAME, SUFFIX)(x);                                                             \
    if (within(r, -DBL_MAX, DBL_MAX)) [[likely]]                                                             \
      return r;                                                                                              \
    return one_by_one<double>(x, &NAME##_one);                                                               \
  }                                                                                                          \
  f32s NAME##_of(f32s x) {                                                                                   \
    f32s const r = OVERDUB_F32(NAME, SUFFIX)(x);                                                             \
    if (within(r, -FLT_MAX, FLT_MAX)) [[likely]]                                                             \
      return r;                                                                                              \
    return one_by_one<float>(x, &NAME##_one);                                                                \
  }
#define OVERDUB_ELEMENTARY2_FINITE(NAME, SUFFIX)                                                             \
  f64s NAME##_of(f64s x, f64s y) {                                                                           \
    f64s const r = OVERDUB_F64(NAME, SUFFIX)(x, y);                                                          \
    if (within(r, -DBL_MAX, DBL_MAX)) [[likely]]                                                             \
      return r;                                                                                              \
    return one_by_one<double>(x, y, &NAME##_one);                                                            \
  }                                                                                                          \
  f32s NAME##_of(f32s x, f32s y) {                                                                           \
    f32s const r = OVERDUB_F32(NAME, SUFFIX)(x, y);                                                          \
    if (within(r, -FLT_MAX, FLT_MAX)) [[likely]]                                                             \
      return r;                                                                                              \
    return one_by_one<float>(x, y, &NAME##_one);                                                             \
  }
#include <overdub/ir/elementary.def>

// ---- on n numbers

template <class T>
constexpr std::int64_t lanes = sizeof(f64s) / sizeof(T);

template <class T, class F>
void on_many(T const* x, T* out, std::int64_t n, F f) {
  constexpr std::int64_t w = lanes<T>;
  std::int64_t i = 0;
  for (; i + w <= n; i += w) store(out + i, f(load(x + i)));
  if (i == n) return;
  T rest[w]{};
  for (std::int64_t k = 0; k < n - i; ++k) rest[k] = x[i + k];
  store(rest, f(load(rest)));
  for (std::int64_t k = 0; k < n - i; ++k) out[i + k] = rest[k];
}
template <class T, class F>
void on_many(T const* x, T const* y, T* out, std::int64_t n, F f) {
  constexpr std::int64_t w = lanes<T>;
  std::int64_t i = 0;
  for (; i + w <= n; i += w) store(out + i, f(load(x + i), load(y + i)));
  if (i == n) return;
  T rest[w]{}, other[w]{};
  for (std::int64_t k = 0; k < n - i; ++k) {
    rest[k] = x[i + k];
    other[k] = y[i + k];
  }
  store(rest, f(load(rest), load(other)));
  for (std::int64_t k = 0; k < n - i; ++k) out[i + k] = rest[k];
}

template <class T>
void fill(ir::elementary_functions<T>& all) {
#define OVERDUB_ELEMENTARY1(NAME, ...)                                                                       \
  all.many_of_one[static_cast<std::size_t>(ir::op::NAME)] = [](T const* x, T* out, std::int64_t n) {         \
    on_many(x, out, n, [](auto v) { return NAME##_of(v); });                                                 \
  };
#define OVERDUB_ELEMENTARY1_WITHIN(NAME, ...) OVERDUB_ELEMENTARY1(NAME, )
#define OVERDUB_ELEMENTARY2(NAME, ...)                                                                       \
  all.many_of_two[static_cast<std::size_t>(ir::op::NAME)] = [](T const* x, T const* y, T* out,               \
                                                               std::int64_t n) {                             \
    on_many(x, y, out, n, [](auto v, auto w) { return NAME##_of(v, w); });                                   \
  };
#include <overdub/ir/elementary.def>
}
void fill(ir::consistent_functions& all) {
  fill(all.f64);
  fill(all.f32);
}

// ---- for machine code

unsigned list(ir::vector_function* to) {
  unsigned count = 0;
  auto const add = [&](ir::op code, auto f64, auto f32) {
    to[count++] = {
        code, ir::scalar::f64, static_cast<unsigned>(lanes<double>), reinterpret_cast<void const*>(f64)};
    to[count++] = {
        code, ir::scalar::f32, static_cast<unsigned>(lanes<float>), reinterpret_cast<void const*>(f32)};
  };
#define OVERDUB_ELEMENTARY1(NAME, ...)                                                                       \
  add(ir::op::NAME, static_cast<f64s (*)(f64s)>(&NAME##_of), static_cast<f32s (*)(f32s)>(&NAME##_of));
#define OVERDUB_ELEMENTARY1_WITHIN(NAME, ...) OVERDUB_ELEMENTARY1(NAME, )
#define OVERDUB_ELEMENTARY2(NAME, ...)                                                                       \
  add(ir::op::NAME, static_cast<f64s (*)(f64s, f64s)>(&NAME##_of),                                           \
      static_cast<f32s (*)(f32s, f32s)>(&NAME##_of));
#include <overdub/ir/elementary.def>
  return count;
}

} // namespace
} // namespace overdub::sleef
