// Vectorised instructions: each applies one operation to all lanes of a block. Operands are words that point to lanes, or
// words of uniform numbers.
//
// An array of lanes {elements, owner, extents} holds `maximum_lanes` numbers for each element: the element at a uniform
// index is a row of lanes, which is not copied. If a lane fails, the block is abandoned: its elements run again one by one,
// and the failing one throws (next_block in block_handlers.hpp).
#pragma once

#include <overdub/implementation/execute/array_handlers.hpp>
#include <overdub/implementation/execute/handler.hpp>
#include <overdub/implementation/execute/lanes.hpp>
#include <overdub/implementation/execute/scalar_handlers.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace overdub::execute {

// Continues the block, or abandons it.
#define OVERDUB_NEXT_FOR_ALL OVERDUB_GO(at + 1, frame, 0, 0)
#define OVERDUB_LEAVE_BLOCK                                                                                  \
  do {                                                                                                       \
    m->abandoned = true;                                                                                     \
    OVERDUB_GO(m->elementwise, frame, 0, 0);                                                                 \
  } while (false)

// A handler that calls a function of (machine, frame, instruction), which returns whether all lanes succeeded.
template <auto F>
struct trying {
  OVERDUB_HANDLER void run(OVERDUB_STATE) {
    if (F(*m, frame, *at)) [[likely]]
      OVERDUB_NEXT_FOR_ALL;
    OVERDUB_LEAVE_BLOCK;
  }
};

template <class T>
inline in_lane<T>* lanes_at(std::byte const* frame, offset word) {
  return get<in_lane<T>*>(frame, word);
}

// ---- element-wise operations

template <class Op, class T>
struct lane_unary {
  OVERDUB_HANDLER void run(OVERDUB_STATE) {
    using U = given_by<Op, T>;
    i64 const n = m->lanes;
    auto const* const a = lanes_at<T>(frame, at->a);
    auto* const out = lanes_at<U>(frame, at->out);
    i64 i = 0;
    if constexpr (has_vectors<Op, T>())
      for (constexpr i64 w = vector_width<T>; i + w <= n; i += w)
        store_vector<U>(out + i, of_vector<Op, T>(load_vector<T>(a + i)));
    for (; i < n; ++i) out[i] = as_lane<U>(Op::compute(from_lane<T>(a[i])));
    OVERDUB_NEXT_FOR_ALL;
  }
};
template <class Op, class T, lane_kind A, lane_kind B>
struct lane_binary {
  OVERDUB_HANDLER void run(OVERDUB_STATE) {
    using U = given_by<Op, T>;
    i64 const n = m->lanes;
    lane_operand<T, A> const a(frame, at->a);
    lane_operand<T, B> const b(frame, at->b);
    auto* const out = lanes_at<U>(frame, at->out);
    i64 i = 0;
    if constexpr (has_vectors<Op, T>())
      for (constexpr i64 w = vector_width<T>; i + 2 * w <= n; i += 2 * w) {
        auto const first = of_vectors<Op, T>(a.many(i), b.many(i));
        auto const second = of_vectors<Op, T>(a.many(i + w), b.many(i + w));
        store_vector<U>(out + i, first);
        store_vector<U>(out + i + w, second);
      }
    for (; i < n; ++i) out[i] = as_lane<U>(Op::compute(from_lane<T>(a.one(i)), from_lane<T>(b.one(i))));
    OVERDUB_NEXT_FOR_ALL;
  }
};
/// Division of integers.
template <class Op>
struct lane_divide {
  OVERDUB_HANDLER void run(OVERDUB_STATE) {
    i64 const n = m->lanes;
    auto const* const a = lanes_at<i64>(frame, at->a);
    auto const* const b = lanes_at<i64>(frame, at->b);
    auto* const out = lanes_at<i64>(frame, at->out);
    for (i64 i = 0; i < n; ++i) {
      if (b[i] == 0) [[unlikely]]
        OVERDUB_LEAVE_BLOCK;
      out[i] = Op::compute(a[i], b[i]);
    }
    OVERDUB_NEXT_FOR_ALL;
  }
};
template <class Op, class T>
struct lane_ternary {
  OVERDUB_HANDLER void run(OVERDUB_STATE) {
    i64 const n = m->lanes;
    auto const* const a = lanes_at<T>(frame, at->a);
    auto const* const b = lanes_at<T>(frame, at->b);
    auto const* const c = lanes_at<T>(frame, at->c);
    auto* const out = lanes_at<T>(frame, at->out);
    i64 i = 0;
    if constexpr (has_vectors<Op, T>())
      for (constexpr i64 w = vector_width<T>; i + w <= n; i += w)
        store_vector<T>(
            out + i, Op::compute(load_vector<T>(a + i), load_vector<T>(b + i), load_vector<T>(c + i)));
    for (; i < n; ++i) out[i] = Op::compute(a[i], b[i], c[i]);
    OVERDUB_NEXT_FOR_ALL;
  }
};
template <class T>
struct lane_select {
  OVERDUB_HANDLER void run(OVERDUB_STATE) {
    i64 const n = m->lanes;
    auto const* const mask = lanes_at<bool>(frame, at->a);
    auto const* const b = lanes_at<T>(frame, at->b);
    auto const* const c = lanes_at<T>(frame, at->c);
    auto* const out = lanes_at<T>(frame, at->out);
    i64 i = 0;
    if constexpr (sizeof(in_lane<T>) == sizeof(i64))
      for (constexpr i64 w = vector_width<T>; i + w <= n; i += w)
        store_vector<T>(
            out + i, chosen<T>(load_vector<bool>(mask + i), load_vector<T>(b + i), load_vector<T>(c + i)));
    for (; i < n; ++i) out[i] = mask[i] != 0 ? b[i] : c[i];
    OVERDUB_NEXT_FOR_ALL;
  }
};

// Function calls, lane by lane: c is the index of the function. Those of the consistent mode take all lanes at once.
template <class T>
void lane_call1(machine& m, std::byte* frame, instruction const& at) {
  T const* const a = lanes_at<T>(frame, at.a);
  T* const out = lanes_at<T>(frame, at.out);
  if (at.c >= ir::op_count) return ir::consistent->of<T>().many_of_one[at.c - ir::op_count](a, out, m.lanes);
  auto const f = functions1<T>[at.c];
  for (i64 i = 0, n = m.lanes; i < n; ++i) out[i] = f(a[i]);
}
template <class T>
void lane_call2(machine& m, std::byte* frame, instruction const& at) {
  T const* const a = lanes_at<T>(frame, at.a);
  T const* const b = lanes_at<T>(frame, at.b);
  T* const out = lanes_at<T>(frame, at.out);
  if (at.c >= ir::op_count)
    return ir::consistent->of<T>().many_of_two[at.c - ir::op_count](a, b, out, m.lanes);
  auto const f = functions2<T>[at.c];
  for (i64 i = 0, n = m.lanes; i < n; ++i) out[i] = f(a[i], b[i]);
}
template <class Op, class T>
void lane_call3(machine& m, std::byte* frame, instruction const& at) {
  auto const f = functions3<T>[static_cast<std::size_t>(Op::code)];
  T const* const a = lanes_at<T>(frame, at.a);
  T const* const b = lanes_at<T>(frame, at.b);
  T const* const c = lanes_at<T>(frame, at.c);
  T* const out = lanes_at<T>(frame, at.out);
  for (i64 i = 0, n = m.lanes; i < n; ++i) out[i] = f(a[i], b[i], c[i]);
}
template <class T>
void lane_ldexp(machine& m, std::byte* frame, instruction const& at) {
  T const* const a = lanes_at<T>(frame, at.a);
  i64 const* const b = lanes_at<i64>(frame, at.b);
  T* const out = lanes_at<T>(frame, at.out);
  for (i64 i = 0, n = m.lanes; i < n; ++i) out[i] = ldexp(a[i], b[i]);
}
template <class T>
void lane_polygamma(machine& m, std::byte* frame, instruction const& at) {
  i64 const* const a = lanes_at<i64>(frame, at.a);
  T const* const b = lanes_at<T>(frame, at.b);
  T* const out = lanes_at<T>(frame, at.out);
  for (i64 i = 0, n = m.lanes; i < n; ++i) out[i] = polygamma(a[i], b[i]);
}

/// For a type, by operands: both in lanes, the second uniform, the first uniform; null if there is none.
using lane_variants = std::array<handler, 3>;

template <class Op, class T>
constexpr lane_variants lane_variants_of() {
  using ir::type_rule;
  constexpr auto in_lanes = lane_kind::in_lanes, uniform = lane_kind::uniform;
  constexpr bool divides = std::is_same_v<T, i64> && (Op::code == ir::op::div || Op::code == ir::op::rem);
  lane_variants all{};
  if constexpr (Op::rule == type_rule::floating_integer) {
    if constexpr (std::is_floating_point_v<T>) all[0] = &doing<lane_ldexp<T>>::run;
  } else if constexpr (Op::rule == type_rule::integer_floating) {
    if constexpr (std::is_floating_point_v<T>) all[0] = &doing<lane_polygamma<T>>::run;
  } else if constexpr (takes<Op, T>) {
    if constexpr (Op::rule == type_rule::select)
      all[0] = &lane_select<T>::run;
    else if constexpr (!Op::light) {
      if constexpr (Op::arity == 1) all[0] = &doing<lane_call1<T>>::run;
      if constexpr (Op::arity == 2) all[0] = &doing<lane_call2<T>>::run;
      if constexpr (Op::arity == 3) all[0] = &doing<lane_call3<Op, T>>::run;
    } else if constexpr (Op::arity == 1)
      all[0] = &lane_unary<Op, T>::run;
    else if constexpr (divides)
      all[0] = &lane_divide<Op>::run;
    else if constexpr (Op::arity == 2) {
      all[0] = &lane_binary<Op, T, in_lanes, in_lanes>::run;
      if constexpr (std::is_same_v<T, double> || (std::is_same_v<T, i64> && has_vectors<Op, T>()))
        all[1] = &lane_binary<Op, T, in_lanes, uniform>::run;
      if constexpr (std::is_same_v<T, double> && (Op::code == ir::op::sub || Op::code == ir::op::div))
        all[2] = &lane_binary<Op, T, uniform, in_lanes>::run;
    } else
      all[0] = &lane_ternary<Op, T>::run;
  }
  return all;
}
template <class From, class To>
void lane_convert(machine& m, std::byte* frame, instruction const& at) {
  auto const* const a = lanes_at<From>(frame, at.a);
  auto* const out = lanes_at<To>(frame, at.out);
  for (i64 i = 0, n = m.lanes; i < n; ++i) out[i] = as_lane<To>(native::convert<To>(from_lane<From>(a[i])));
}

// ---- fused pairs of doubles: as in fused.def, a in lanes, b and c in lanes or uniform

template <class First, class Second, side S, lane_kind B, lane_kind C>
struct lane_fused {
  OVERDUB_HANDLER void run(OVERDUB_STATE) {
    i64 const n = m->lanes;
    lane_operand<double, lane_kind::in_lanes> const a(frame, at->a);
    lane_operand<double, B> const b(frame, at->b);
    lane_operand<double, C> const c(frame, at->c);
    double* const out = lanes_at<double>(frame, at->out);
    auto const both = [](auto x1, auto x2, auto x3) {
      auto const first = rounded(First::compute(x1, x2));
      return S == side::left ? Second::compute(first, x3) : Second::compute(x3, first);
    };
    i64 i = 0;
    for (constexpr i64 w = vector_width<double>; i + w <= n; i += w)
      store_vector<double>(out + i, both(a.many(i), b.many(i), c.many(i)));
    for (; i < n; ++i) out[i] = both(a.one(i), b.one(i), c.one(i));
    OVERDUB_NEXT_FOR_ALL;
  }
};
struct lane_fused_row {
  ir::op first, second;
  side on;
  std::array<handler, 3> handlers; // c in lanes; b uniform, c in lanes; c uniform
};
template <class First, class Second, side S>
constexpr lane_fused_row lane_fused_row_of() {
  constexpr auto in_lanes = lane_kind::in_lanes, uniform = lane_kind::uniform;
  return {
      First::code,
      Second::code,
      S,
      {&lane_fused<First, Second, S, in_lanes, in_lanes>::run,
       &lane_fused<First, Second, S, uniform, in_lanes>::run,
       &lane_fused<First, Second, S, in_lanes, uniform>::run}};
}

// ---- moves: uniform numbers to lanes, lanes to lanes

/// c: 1 for a mask, else the size of a lane.
inline void lane_fill(machine& m, std::byte* frame, instruction const& at) {
  auto const n = static_cast<std::size_t>(m.lanes);
  if (at.c == sizeof(float))
    std::fill_n(get<float*>(frame, at.out), n, get<float>(frame, at.a));
  else
    std::fill_n(
        get<i64*>(frame, at.out), n,
        at.c == 1 ? as_lane<bool>(get<bool>(frame, at.a)) : get<i64>(frame, at.a));
}
inline void lane_copy(machine& m, std::byte* frame, instruction const& at) {
  std::memmove(
      get<std::byte*>(frame, at.out), get<std::byte*>(frame, at.a), static_cast<std::size_t>(m.lanes) * at.c);
}
/// Numbers from a on, with stride b.
inline void lane_indices(machine& m, std::byte* frame, instruction const& at) {
  auto* const out = get<std::uint64_t*>(frame, at.out);
  auto const first = get<std::uint64_t>(frame, at.a), step = get<std::uint64_t>(frame, at.b);
  for (std::uint64_t i = 0, n = static_cast<std::uint64_t>(m.lanes); i < n; ++i) out[i] = first + i * step;
}
/// Jumps to c if all lanes, or none, hold.
template <bool All>
inline instruction const* jump_if_uniform(machine& m, std::byte* frame, instruction const* at) {
  auto const* const mask = lanes_at<bool>(frame, at->a);
  i64 sum = 0;
  for (i64 i = 0, n = m.lanes; i < n; ++i) sum -= mask[i];
  return sum == (All ? m.lanes : 0) ? target(at, at->c) : at + 1;
}
inline bool lane_assert(machine& m, std::byte* frame, instruction const& at) {
  auto const* const mask = lanes_at<bool>(frame, at.a);
  return std::all_of(mask, mask + m.lanes, [](i64 t) { return t != 0; });
}

} // namespace overdub::execute
