// The layout of numbers in lanes, and operations on vectors of them.
#pragma once

#include <overdub/execute/instruction.hpp>
#include <overdub/implementation/execute/compute.hpp>

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace overdub::execute {

/// The maximum number of elements of a block.
inline constexpr i64 maximum_lanes = 128;

/// The type of a lane for numbers of type T. A mask is 0 or -1, all bits, so that it selects bits.
template <class T>
using in_lane = std::conditional_t<std::is_same_v<T, bool>, i64, T>;

template <class T>
[[gnu::always_inline]] inline in_lane<T> as_lane(T x) {
  if constexpr (std::is_same_v<T, bool>)
    return -static_cast<i64>(x);
  else
    return x;
}
template <class T>
[[gnu::always_inline]] inline T from_lane(in_lane<T> x) {
  return static_cast<T>(x);
}

/// The bytes of a number in lanes.
constexpr offset lane_size_of(ir::scalar s) { return s == ir::scalar::f32 ? 4 : 8; }
constexpr offset row_size_of(ir::scalar s) { return lane_size_of(s) * static_cast<offset>(maximum_lanes); }

// The widest vectors that the compiler targets.
#if defined(__AVX512F__)
inline constexpr std::size_t vector_bytes = 64;
#elif defined(__AVX__)
inline constexpr std::size_t vector_bytes = 32;
#else
inline constexpr std::size_t vector_bytes = 16;
#endif

// Element types of vectors: integers are unsigned, so that they wrap.
template <class T>
using in_vector = std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>;
template <class T>
struct vector_of {
  typedef in_vector<T> type __attribute__((vector_size(vector_bytes)));
};
template <class T>
using vector = typename vector_of<T>::type;
template <class T>
inline constexpr i64 vector_width = static_cast<i64>(vector_bytes / sizeof(in_vector<T>));

template <class T>
[[gnu::always_inline]] inline vector<T> load_vector(in_lane<T> const* from) {
  vector<T> v;
  std::memcpy(&v, from, sizeof v);
  return v;
}
template <class T, class V>
[[gnu::always_inline]] inline void store_vector(in_lane<T>* to, V v) {
  static_assert(sizeof v == vector_bytes);
  std::memcpy(to, &v, sizeof v);
}

/// Whether an operation on numbers of type T is computed in vectors; the others are computed one by one.
template <class Op, class T>
consteval bool has_vectors() {
  using ir::op;
  constexpr op c = Op::code;
  constexpr bool sums = c == op::neg || c == op::add || c == op::sub;
  constexpr bool products = c == op::mul || c == op::div || c == op::strong_mul || c == op::strong_div;
  constexpr bool choices = c == op::abs || c == op::min || c == op::max || c == op::clamp || c == op::select;
  constexpr bool bits = c == op::bit_and || c == op::bit_or || c == op::bit_xor || c == op::bit_not;
  if (std::is_same_v<T, double>) return sums || products || choices || Op::rule == ir::type_rule::comparison;
  if (std::is_same_v<T, float>) return sums || products;
  if (std::is_same_v<T, i64>) return sums || bits || c == op::select;
  return true;
}

/// Bits of a where those of the mask are set, else of b.
template <class T>
[[gnu::always_inline]] inline vector<T> chosen(vector<bool> mask, vector<T> a, vector<T> b) {
  return (vector<T>)(((vector<bool>)a & mask) | ((vector<bool>)b & ~mask));
}

/// Applies an operation to vectors. The table's formula does not accept vectors if it queries a number's type.
template <class Op, class T>
[[gnu::always_inline]] inline auto of_vectors(vector<T> a, vector<T> b) {
  using ir::op;
  constexpr op c = Op::code;
  if constexpr (c == op::add)
    return a + b;
  else if constexpr (c == op::sub)
    return a - b;
  else if constexpr (c == op::strong_mul)
    return chosen<T>((vector<bool>)(a != 0), a * b, vector<T>{});
  else if constexpr (c == op::strong_div)
    return chosen<T>((vector<bool>)(a != 0), a / b, vector<T>{});
  else if constexpr (c == op::logical_and)
    return a & b;
  else if constexpr (c == op::logical_or)
    return a | b;
  else if constexpr (std::is_same_v<T, bool> && c == op::eq)
    return ~(a ^ b);
  else if constexpr (std::is_same_v<T, bool> && c == op::ne)
    return a ^ b;
  else if constexpr (std::is_same_v<T, bool> && c == op::lt)
    return ~a & b;
  else if constexpr (std::is_same_v<T, bool> && c == op::le)
    return ~a | b;
  else if constexpr (std::is_same_v<T, bool> && c == op::gt)
    return a & ~b;
  else if constexpr (std::is_same_v<T, bool> && c == op::ge)
    return a | ~b;
  else
    return Op::compute(a, b);
}
template <class Op, class T>
[[gnu::always_inline]] inline auto of_vector(vector<T> a) {
  using ir::op;
  constexpr op c = Op::code;
  if constexpr (c == op::neg)
    return -a;
  else if constexpr (c == op::abs) {
    auto const bits = (vector<bool>)a & (~std::uint64_t{} >> 1);
    return (vector<T>)bits;
  } else
    return ~a; // bit_not, logical_not
}
/// The kind of an operand of a vectorised instruction.
enum class lane_kind : std::uint8_t {
  in_lanes, // varying: the word points to the lanes
  uniform   // uniform: the word holds one number for all lanes
};

/// An operand, lane by lane or a vector at a time.
template <class T, lane_kind S>
struct lane_operand {
  in_lane<T> const* p;
  lane_operand(std::byte const* frame, offset at) : p(get<in_lane<T> const*>(frame, at)) {}
  [[gnu::always_inline]] in_lane<T> one(i64 i) const { return p[i]; }
  [[gnu::always_inline]] vector<T> many(i64 i) const { return load_vector<T>(p + i); }
};
template <class T>
struct lane_operand<T, lane_kind::uniform> {
  in_lane<T> x;
  vector<T> v;
  lane_operand(std::byte const* frame, offset at) : x(as_lane<T>(get<T>(frame, at))) {
    v = static_cast<in_vector<T>>(x) - vector<T>{}; // not +: 0 + -0 is 0
  }
  [[gnu::always_inline]] in_lane<T> one(i64) const { return x; }
  [[gnu::always_inline]] vector<T> many(i64) const { return v; }
};

} // namespace overdub::execute
