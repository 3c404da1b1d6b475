// Vectorised reductions: of arrays of lanes, lane by lane; and of the elements of a map, block by block, without storing
// them.
#pragma once

#include <overdub/implementation/execute/block_handlers.hpp>
#include <overdub/implementation/execute/handler.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

namespace overdub::execute {

// ---- lane by lane

// Combines two rows of lanes by an operation.
template <class T, class F>
void combine_rows(T* out, T const* a, T const* b, i64 n, F const& f) {
  i64 i = 0;
  if constexpr (requires(vector<T> v) { f(v, v); })
    for (constexpr i64 w = vector_width<T>; i + w <= n; i += w)
      store_vector<T>(out + i, f(load_vector<T>(a + i), load_vector<T>(b + i)));
  for (; i < n; ++i) out[i] = f(a[i], b[i]);
}
template <class T, class F>
void combine_tree_of_rows(T* out, T const* rows, i64 count, i64 n, F const& f) {
  if (count == 1) {
    std::copy_n(rows, n, out);
    return;
  }
  if (count == 2) return combine_rows(out, rows, rows + maximum_lanes, n, f);
  auto const left = static_cast<i64>(std::bit_floor(static_cast<std::uint64_t>(count - 1)));
  T right[maximum_lanes];
  combine_tree_of_rows(out, rows, left, n, f);
  combine_tree_of_rows(right, rows + left * maximum_lanes, count - left, n, f);
  combine_rows<T>(out, out, right, n, f);
}

/// Combines eight partial sums, `Present` of which exist: see lane_folds.
template <int Present, class Get>
[[gnu::always_inline]] inline auto folded(Get const& lane) {
  auto const pair = [&]<int K>() {
    if constexpr (Present > K + 4)
      return lane(K) + lane(K + 4);
    else
      return lane(K);
  };
  auto const four = [&]<int K>() {
    if constexpr (Present > K + 2)
      return pair.template operator()<K>() + pair.template operator()<K + 2>();
    else
      return pair.template operator()<K>();
  };
  if constexpr (Present > 1)
    return four.template operator()<0>() + four.template operator()<1>();
  else
    return four.template operator()<0>();
}
template <int Present, class T, class F>
void fold_present_rows(T* out, T const* rows, i64 n, F const& finish) {
  i64 i = 0;
  for (constexpr i64 w = vector_width<T>; i + w <= n; i += w)
    store_vector<T>(out + i, finish(folded<Present>([&](int k) {
                      return load_vector<T>(rows + k * maximum_lanes + i);
                    })));
  for (; i < n; ++i) out[i] = finish(folded<Present>([&](int k) { return rows[k * maximum_lanes + i]; }));
}
/// The same for rows of lanes: `count` were added, and `finish` is applied to the sum.
template <class T, class F>
void fold_rows(T* out, T const* rows, i64 count, i64 n, F const& finish) {
  switch (count) {
  case 1:
    return fold_present_rows<1>(out, rows, n, finish);
  case 2:
    return fold_present_rows<2>(out, rows, n, finish);
  case 3:
    return fold_present_rows<3>(out, rows, n, finish);
  case 4:
    return fold_present_rows<4>(out, rows, n, finish);
  case 5:
    return fold_present_rows<5>(out, rows, n, finish);
  case 6:
    return fold_present_rows<6>(out, rows, n, finish);
  case 7:
    return fold_present_rows<7>(out, rows, n, finish);
  default:
    return fold_present_rows<8>(out, rows, n, finish);
  }
}

template <class T>
void combine_lanes(ir::op code, T* out, T const* rows, i64 count, i64 n) {
  using ir::op;
  if constexpr (std::is_floating_point_v<T>) {
    if (code == op::add) {
      T sums[8 * maximum_lanes];
      i64 k = 0;
      for (; k < std::min<i64>(count, 8); ++k)
        std::copy_n(rows + k * maximum_lanes, n, sums + k * maximum_lanes);
      for (; k < count; ++k)
        combine_rows<T>(
            sums + k % 8 * maximum_lanes, sums + k % 8 * maximum_lanes, rows + k * maximum_lanes, n,
            [](auto a, auto b) { return a + b; });
      return fold_rows(out, sums, count, n, [](auto sum) { return sum; });
    }
    if constexpr (std::is_same_v<T, double>) {
      if (code == op::max)
        return combine_tree_of_rows(out, rows, count, n, [](auto a, auto b) { return a < b ? b : a; });
      if (code == op::min)
        return combine_tree_of_rows(out, rows, count, n, [](auto a, auto b) { return b < a ? b : a; });
      if (code == op::mul)
        return combine_tree_of_rows(out, rows, count, n, [](auto a, auto b) { return a * b; });
    }
  }
  combine_tree_of_rows(out, rows, count, n, combinations<T>[static_cast<std::size_t>(code)]);
}
/// out: lanes; a: an array of lanes; b: initial lanes, 0 for none; c: the operation.
template <class T>
void lane_reduce(machine& m, std::byte* frame, instruction const& at) {
  i64 const count = extent(frame, at.a, 0);
  auto const code = static_cast<ir::op>(at.c);
  T* const out = lanes_at<T>(frame, at.out);
  if (count == 0) {
    if (at.b == 0) detail::throw_empty("reduce");
    std::memmove(out, lanes_at<T>(frame, at.b), static_cast<std::size_t>(m.lanes) * sizeof(T));
    return;
  }
  combine_lanes<T>(code, out, lanes_at<T>(frame, at.a), count, m.lanes);
  if (at.b != 0) combine_rows<T>(out, lanes_at<T>(frame, at.b), out, m.lanes, combinations<T>[at.c]);
}

// ---- sums of the doubles that a nested map returns, in eight rows of lanes

/// The destination of element b: one of the rows at a for the first eight, then the lanes at c.
inline void lane_sum_destination(machine&, std::byte* frame, instruction const& at) {
  i64 const i = get<i64>(frame, at.b);
  put(frame, at.out,
      i < 8 ? lanes_at<double>(frame, at.a) + i * maximum_lanes : lanes_at<double>(frame, at.c));
}
/// Adds element b, the lanes at a, to the rows at out, unless it is one of the first eight.
struct lane_sum_step {
  OVERDUB_HANDLER void run(OVERDUB_STATE) {
    if (i64 const i = get<i64>(frame, at->b); i >= 8) {
      double* const row = lanes_at<double>(frame, at->out) + i % 8 * maximum_lanes;
      combine_rows<double>(
          row, row, lanes_at<double>(frame, at->a), m->lanes, [](auto a, auto b) { return a + b; });
    }
    OVERDUB_NEXT_FOR_ALL;
  }
};
/// Element c is the product of a and b.
template <lane_kind B>
struct lane_sum_product {
  OVERDUB_HANDLER void run(OVERDUB_STATE) {
    i64 const n = m->lanes, k = get<i64>(frame, at->c);
    lane_operand<double, lane_kind::in_lanes> const a(frame, at->a);
    lane_operand<double, B> const b(frame, at->b);
    double* const row = lanes_at<double>(frame, at->out) + k % 8 * maximum_lanes;
    i64 i = 0;
    if (k < 8) {
      for (constexpr i64 w = vector_width<double>; i + w <= n; i += w)
        store_vector<double>(row + i, a.many(i) * b.many(i));
      for (; i < n; ++i) row[i] = a.one(i) * b.one(i);
    } else {
      for (constexpr i64 w = vector_width<double>; i + w <= n; i += w)
        store_vector<double>(row + i, load_vector<double>(row + i) + rounded(a.many(i) * b.many(i)));
      for (; i < n; ++i) row[i] += rounded(a.one(i) * b.one(i));
    }
    OVERDUB_NEXT_FOR_ALL;
  }
};
/// The sum of b elements in the rows at a, after the initial number at c.
template <lane_kind Initial>
void lane_sum_fold_from(machine& m, std::byte* frame, instruction const& at) {
  i64 const count = get<i64>(frame, at.b), n = m.lanes;
  double* const out = lanes_at<double>(frame, at.out);
  double const* const rows = lanes_at<double>(frame, at.a);
  lane_operand<double, Initial> const initial(frame, at.c);
  if (count <= 0) {
    for (i64 i = 0; i < n; ++i) out[i] = initial.one(i);
  } else if constexpr (Initial == lane_kind::uniform)
    fold_rows(out, rows, count, n, [&](auto sum) {
      if constexpr (std::is_same_v<decltype(sum), double>)
        return initial.x + sum;
      else
        return initial.v + sum;
    });
  else {
    double sums[maximum_lanes];
    fold_rows(sums, rows, count, n, [](auto sum) { return sum; });
    combine_rows<double>(out, initial.p, sums, n, [](auto a, auto b) { return a + b; });
  }
}
/// The same without an initial number.
inline void lane_sum_fold(machine& m, std::byte* frame, instruction const& at) {
  i64 const count = get<i64>(frame, at.b);
  if (count <= 0) detail::throw_empty("reduce");
  fold_rows(lanes_at<double>(frame, at.out), lanes_at<double>(frame, at.a), count, m.lanes, [](auto sum) {
    return sum;
  });
}

// ---- over the lanes of all blocks. State: the number of elements and eight partial sums; or the number of subtrees, and
// the subtrees

struct block_reduction {
  static constexpr offset count = 0, parts = 1, size = 1 + 58;
};
inline void start_block_reduction(machine&, std::byte* frame, instruction const& at) {
  put<i64>(frame, at.out, 0);
}
// Continues partial sums with n numbers of a block, whose index is a multiple of eight: get(i) are two of them.
template <class Pair, class One>
void block_sums(std::byte* frame, offset at, i64 n, Pair const& pair, One const& one) {
  i64 const before = get<i64>(frame, at);
  pair_of_doubles v[4];
  std::memcpy(v, frame + at + word_size, sizeof v);
  i64 i = 0;
  if (before == 0 && n >= 8)
    for (; i < 8; i += 2) v[i / 2] = pair(i);
  for (; i + 8 <= n; i += 8)
    for (i64 k = 0; k < 4; ++k) v[k] += pair(i + 2 * k);
  double sums[8];
  std::memcpy(sums, v, sizeof v);
  for (i64 k = 0; i + k < n; ++k) sums[k] = before == 0 && i == 0 ? one(k) : sums[k] + one(i + k);
  std::memcpy(frame + at + word_size, sums, sizeof sums);
  put(frame, at, before + n);
}
inline pair_of_doubles pair_at(double const* p) {
  pair_of_doubles v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

template <class T>
void block_reduce(machine& m, std::byte* frame, instruction const& at) {
  i64 const n = m.lanes, before = get<i64>(frame, at.out);
  T const* const p = lanes_at<T>(frame, at.a);
  auto const code = static_cast<ir::op>(at.c);
  std::byte* const parts = frame + at.out + word_size;
  if constexpr (std::is_same_v<T, double>)
    if (code == ir::op::add)
      return block_sums(
          frame, at.out, n, [p](i64 i) { return pair_at(p + i); }, [p](i64 i) { return p[i]; });
  // Whole blocks are complete trees; trees of equal size are combined.
  auto const f = combinations<T>[at.c];
  T part = combine(code, p, n);
  i64 const blocks = before / maximum_lanes;
  i64 depth = std::popcount(static_cast<std::uint64_t>(blocks));
  if (n == maximum_lanes)
    for (i64 merges = std::countr_one(static_cast<std::uint64_t>(blocks)); merges > 0; --merges)
      part = f(read<T>(parts + static_cast<std::size_t>(--depth) * word_size), part);
  write(parts + static_cast<std::size_t>(depth) * word_size, part);
  put(frame, at.out, before + n);
}
/// The result of the reduction at a, after the initial value at b; 0 for none.
template <class T>
void finish_block_reduction(machine&, std::byte* frame, instruction const& at) {
  i64 const n = get<i64>(frame, at.a);
  auto const code = static_cast<ir::op>(at.c);
  std::byte* const parts = frame + at.a + word_size;
  auto const f = combinations<T>[at.c];
  if (n == 0) {
    if (at.b == 0) detail::throw_empty("reduce");
    return put(frame, at.out, get<T>(frame, at.b));
  }
  T all;
  if (std::is_same_v<T, double> && code == ir::op::add) {
    T sums[8];
    std::memcpy(sums, parts, sizeof sums);
    all = fold_lanes(sums, n, f);
  } else {
    auto const part = [&](i64 k) { return read<T>(parts + static_cast<std::size_t>(k) * word_size); };
    i64 depth = std::popcount(static_cast<std::uint64_t>(n / maximum_lanes)) + (n % maximum_lanes != 0);
    all = part(--depth);
    while (depth > 0) all = f(part(--depth), all);
  }
  put(frame, at.out, at.b == 0 ? all : f(get<T>(frame, at.b), all));
}
/// A sum of products of doubles: the lanes at a and b.
inline void block_sum_products(machine& m, std::byte* frame, instruction const& at) {
  double const* const a = lanes_at<double>(frame, at.a);
  double const* const b = lanes_at<double>(frame, at.b);
  block_sums(
      frame, at.out, m.lanes, [=](i64 i) { return rounded(pair_at(a + i) * pair_at(b + i)); },
      [=](i64 i) { return rounded(a[i] * b[i]); });
}

} // namespace overdub::execute
