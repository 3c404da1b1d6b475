// Reductions. The order of the operations is part of their meaning (control/reduce.hpp): sums of floating-point numbers use
// eight interleaved partial sums, other reductions a balanced tree, unless they are in order.
#pragma once

#include <overdub/implementation/execute/array_handlers.hpp>
#include <overdub/implementation/execute/handler.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <string_view>

namespace overdub::execute {

// ---- by an operation

template <class T, class F>
T combine_tree(T const* p, i64 n, F const& f) {
  auto const four = [&f](T const* q) { return f(f(q[0], q[1]), f(q[2], q[3])); };
  switch (n) {
  case 1:
    return p[0];
  case 2:
    return f(p[0], p[1]);
  case 3:
    return f(f(p[0], p[1]), p[2]);
  case 4:
    return four(p);
  case 16:
    return f(f(four(p), four(p + 4)), f(four(p + 8), four(p + 12)));
  default:
    i64 const half = static_cast<i64>(std::bit_floor(static_cast<std::uint64_t>(n - 1)));
    return f(combine_tree(p, half, f), combine_tree(p + half, n - half, f));
  }
}

/// The folds of eight partial sums, the first `present` of which exist: steps (0, 4), (2, 6), (0, 2), (1, 5), ...
inline constexpr std::array<std::array<std::uint8_t, 2>, 7> lane_folds{
    {{0, 4}, {2, 6}, {0, 2}, {1, 5}, {3, 7}, {1, 3}, {0, 1}}};

template <class T, class F>
T fold_lanes(T* lane, i64 present, F const& f) {
  for (auto const [to, from] : lane_folds)
    if (from < present) lane[to] = f(lane[to], lane[from]);
  return lane[0];
}

// Two partial sums in a vector of the baseline width.
using pair_of_doubles [[gnu::vector_size(16)]] = double;

template <class T>
T sum_lanes(T const* p, i64 n) {
  auto const add = [](T a, T b) { return a + b; };
  T lane[8]{};
  i64 i = std::min<i64>(n, 8);
  std::copy_n(p, i, lane);
  if constexpr (std::is_same_v<T, double>) {
    pair_of_doubles v[4];
    std::memcpy(v, lane, sizeof v);
    for (; i + 8 <= n; i += 8)
      for (int k = 0; k < 4; ++k) {
        pair_of_doubles next;
        std::memcpy(&next, p + i + 2 * k, sizeof next);
        v[k] += next;
      }
    if (n >= 8) std::memcpy(lane, v, sizeof v);
  } else
    for (; i + 8 <= n; i += 8)
      for (int k = 0; k < 8; ++k) lane[k] += p[i + k];
  for (int k = 0; i + k < n; ++k) lane[k] += p[i + k];
  return fold_lanes(lane, n, add);
}

/// The function by which an operation combines two values of type T, for operations that are rarely reduced by; indexed by
/// ir::number_in.
template <class T>
OVERDUB_HIDDEN inline constexpr auto combinations = table_of_modes(
    []<class Op>() -> T (*)(T, T) {
      if constexpr (
          Op::arity == 2 && takes<Op, T> &&
          std::is_same_v<std::conditional_t<Op::rule == ir::type_rule::comparison, bool, T>, T>)
        return [](T a, T b) -> T { return static_cast<T>(Op::compute(a, b)); };
      else
        return nullptr;
    },
    consistent_function2<T>);

/// `code` may be an index of ir::number_in.
template <class T>
T combine(ir::op code, T const* p, i64 n) {
  if constexpr (std::is_floating_point_v<T>) {
    if (code == ir::op::add) return sum_lanes(p, n);
    if (code == ir::op::mul) return combine_tree(p, n, [](T a, T b) { return a * b; });
    if (code == ir::op::max) return combine_tree(p, n, [](T a, T b) { return a < b ? b : a; });
    if (code == ir::op::min) return combine_tree(p, n, [](T a, T b) { return b < a ? b : a; });
  } else if constexpr (std::is_same_v<T, i64>) {
    // In any order: wrapping addition is associative.
    if (code == ir::op::add) {
      std::uint64_t s = 0;
      for (i64 i = 0; i < n; ++i) s += static_cast<std::uint64_t>(p[i]);
      return static_cast<i64>(s);
    }
    if (code == ir::op::max) return *std::max_element(p, p + n);
    if (code == ir::op::min) return *std::min_element(p, p + n);
  }
  return combine_tree(p, n, combinations<T>[static_cast<std::size_t>(code)]);
}
template <class T>
T combine_two(ir::op code, T a, T b) {
  return combinations<T>[static_cast<std::size_t>(code)](a, b);
}

/// Reduces the array at a by the operation c; b: the initial value, 0 for none.
template <class T>
void reduce_array(machine& m, std::byte* frame, instruction const& at) {
  (void)m;
  i64 const n = extent(frame, at.a, 0);
  auto const code = static_cast<ir::op>(at.c);
  if (n == 0) {
    if (at.b == 0) detail::throw_empty("reduce");
    return put(frame, at.out, get<T>(frame, at.b));
  }
  T const all = combine(code, reinterpret_cast<T const*>(elements(frame, at.a)), n);
  put(frame, at.out, at.b == 0 ? all : combine_two(code, get<T>(frame, at.b), all));
}
OVERDUB_HIDDEN inline constexpr auto reduce_handlers =
    for_each_type([]<class T>() -> handler { return &doing<reduce_array<T>>::run; });

/// Combines the initial value at b with the elements of the array at a, one after another, by the operation c.
template <class T>
void reduce_in_order(machine&, std::byte* frame, instruction const& at) {
  i64 const n = extent(frame, at.a, 0);
  auto const* const p = reinterpret_cast<T const*>(elements(frame, at.a));
  T all = get<T>(frame, at.b);
  if (std::is_floating_point_v<T> && static_cast<ir::op>(at.c) == ir::op::add) {
    for (i64 i = 0; i < n; ++i) all = static_cast<T>(all + p[i]);
  } else {
    auto const f = combinations<T>[at.c];
    for (i64 i = 0; i < n; ++i) all = f(all, p[i]);
  }
  put(frame, at.out, all);
}
OVERDUB_HIDDEN inline constexpr auto reduce_in_order_handlers =
    for_each_type([]<class T>() -> handler { return &doing<reduce_in_order<T>>::run; });

// ---- by a region, which combines `left` and `right` to `current`. Values have several words each; the state in the frame
// is
//
//   index, length, depth, pending, phase | current | left | right | initial | parts

struct reduction {
  static constexpr offset index = 0, length = 1, depth = 2, pending = 3, phase = 4, values = 5;
  static constexpr offset max_parts = 64;
  enum phases : i64 { reading, folding, starting, done };

  std::byte* const frame;
  offset const at, words; // of a value

  // Offsets of values, in words: 0: the current one, 1: left, 2: right, 3: the initial one, from 4 on: subtrees.
  static constexpr offset value_at(offset at, offset words, offset i) {
    return at + (values + i * words) * word_size;
  }
  static constexpr offset size(offset words) { return values + (4 + max_parts) * words; }

  i64 state(offset k) const { return get<i64>(frame, at + k * word_size); }
  void set(offset k, i64 x) const { put(frame, at + k * word_size, x); }
  void copy(offset to, offset from) const {
    std::memcpy(frame + value_at(at, words, to), frame + value_at(at, words, from), words * word_size);
  }
  static constexpr offset current = 0, left = 1, right = 2, initial = 3; // values
  static constexpr offset part(i64 i) { return 4 + static_cast<offset>(i); }
};
// out: the state; a: the words of a value, and whether there is an initial one.
constexpr offset words_and_start(offset words, bool started) { return words << 1 | offset{started}; }
inline reduction reduction_of(std::byte* frame, instruction const& at) { return {frame, at.out, at.a >> 1}; }
template <auto F>
struct deciding {
  OVERDUB_HANDLER void run(OVERDUB_STATE) {
    instruction const* const to = F(*m, frame, at);
    OVERDUB_GO(to, frame, x, y);
  }
};
/// Starts over b elements; jumps to c if there are none.
inline instruction const* start_reduction(machine&, std::byte* frame, instruction const* at) {
  reduction const r = reduction_of(frame, *at);
  i64 const n = get<i64>(frame, at->b);
  r.set(reduction::index, 0);
  r.set(reduction::length, n);
  r.set(reduction::depth, 0);
  r.set(reduction::pending, 0);
  r.set(reduction::phase, reduction::reading);
  if (n > 0) return at + 1;
  if ((at->a & 1) == 0) detail::throw_empty("reduce");
  r.copy(reduction::current, reduction::initial);
  return target(at, at->c);
}
// Combines with the initial value, at c, or finishes.
inline instruction const* finish_reduction(reduction const& r, instruction const* at) {
  if ((at->a & 1) == 0 || r.state(reduction::phase) == reduction::done) return at + 1;
  r.set(reduction::phase, reduction::done);
  r.copy(reduction::left, reduction::initial);
  r.copy(reduction::right, reduction::current);
  return target(at, at->c);
}
/// After each element, which was read at b, and each combination, which is computed at c. Subtrees are complete, of
/// descending sizes.
inline instruction const* next_in_tree(machine&, std::byte* frame, instruction const* at) {
  reduction const r = reduction_of(frame, *at);
  i64 depth = r.state(reduction::depth), pending = r.state(reduction::pending);
  if (pending == 0 && r.state(reduction::phase) == reduction::reading) {
    i64 const i = r.state(reduction::index) + 1;
    r.copy(reduction::part(depth++), reduction::current);
    r.set(reduction::index, i);
    if (i < r.state(reduction::length)) {
      r.set(reduction::depth, depth);
      r.set(reduction::pending, std::countr_zero(static_cast<std::uint64_t>(i + 1)));
      return target(at, at->b);
    }
    r.set(reduction::phase, reduction::folding);
    r.copy(reduction::current, reduction::part(--depth));
    pending = depth;
  }
  if (pending > 0) {
    r.copy(reduction::left, reduction::part(--depth));
    r.copy(reduction::right, reduction::current);
    r.set(reduction::depth, depth);
    r.set(reduction::pending, pending - 1);
    return target(at, at->c);
  }
  return finish_reduction(r, at);
}
/// The same with eight partial sums.
inline instruction const* next_in_lanes(machine&, std::byte* frame, instruction const* at) {
  reduction const r = reduction_of(frame, *at);
  i64 const n = r.state(reduction::length);
  if (r.state(reduction::phase) == reduction::reading) {
    i64 const i = r.state(reduction::index);
    if (i >= 8 && r.state(reduction::pending) == 0) {
      r.set(reduction::pending, 1);
      r.copy(reduction::left, reduction::part(i % 8));
      r.copy(reduction::right, reduction::current);
      return target(at, at->c);
    }
    r.set(reduction::pending, 0);
    r.copy(reduction::part(i % 8), reduction::current);
    r.set(reduction::index, i + 1);
    if (i + 1 < n) return target(at, at->b);
    r.set(reduction::phase, reduction::folding);
    r.set(reduction::depth, 0); // the index of the fold
  } else if (r.state(reduction::phase) == reduction::folding)
    r.copy(
        reduction::part(lane_folds[static_cast<std::size_t>(r.state(reduction::depth) - 1)][0]),
        reduction::current);
  if (r.state(reduction::phase) == reduction::folding) {
    for (i64 step = r.state(reduction::depth); step < 7; ++step) {
      auto const [to, from] = lane_folds[static_cast<std::size_t>(step)];
      if (from >= n) continue;
      r.set(reduction::depth, step + 1);
      r.copy(reduction::left, reduction::part(to));
      r.copy(reduction::right, reduction::part(from));
      return target(at, at->c);
    }
    r.set(reduction::phase, reduction::starting);
    r.copy(reduction::current, reduction::part(0));
  }
  return finish_reduction(r, at);
}

} // namespace overdub::execute
