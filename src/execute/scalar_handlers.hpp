// Scalar instructions: element-wise operations, conversions, moves, elements of arrays; and fused pairs.
#pragma once

#include <overdub/execute/instruction.hpp>
#include <overdub/implementation/execute/compute.hpp>
#include <overdub/implementation/execute/handler.hpp>

#include <array>
#include <cmath>
#include <cstdint>

namespace overdub::execute {

/// The location of an operand: in the frame, or in the register of the last result.
enum class source : bool { frame, in_register };
/// Whether a result is written to the frame, or only passed to the next instruction.
enum class result : bool { stored, passed };

// The variants of an instruction, as bits of an index.
inline constexpr unsigned register_a = 1, register_b = 2, passed = 4;

template <class T>
inline constexpr bool stays_in_register = !std::is_same_v<T, float>;

template <class T, source S>
[[gnu::always_inline]] inline T operand(std::byte const* frame, offset at, i64 x, double y) {
  if constexpr (S == source::frame)
    return get<T>(frame, at);
  else if constexpr (std::is_same_v<T, double>)
    return y;
  else
    return static_cast<T>(x);
}

// The tail call of a handler with a result.
#define OVERDUB_GIVE(T, STORED, RESULT)                                                                      \
  auto const given_ = (RESULT);                                                                              \
  if constexpr ((STORED) == result::stored) put<T>(frame, at->out, given_);                                  \
  if constexpr (std::is_same_v<T, double>)                                                                   \
    OVERDUB_GO(at + 1, frame, x, given_);                                                                    \
  else if constexpr (std::is_integral_v<T>)                                                                  \
    OVERDUB_GO(at + 1, frame, static_cast<i64>(given_), y);                                                  \
  else                                                                                                       \
    OVERDUB_NEXT

// The result type of an operation for operands of type T.
template <class Op, class T>
using given_by =
    std::conditional_t<Op::rule == ir::type_rule::comparison || Op::rule == ir::type_rule::test, bool, T>;

template <class Op, class T, source A, result R>
struct unary {
  OVERDUB_HANDLER void run(OVERDUB_STATE) {
    using U = given_by<Op, T>;
    OVERDUB_GIVE(U, R, static_cast<U>(Op::compute(operand<T, A>(frame, at->a, x, y))));
  }
};
template <class Op, class T, source A, source B, result R>
struct binary {
  OVERDUB_HANDLER void run(OVERDUB_STATE) {
    using U = given_by<Op, T>;
    OVERDUB_GIVE(
        U, R,
        static_cast<U>(Op::compute(operand<T, A>(frame, at->a, x, y), operand<T, B>(frame, at->b, x, y))));
  }
};
template <class Op, class T>
struct ternary {
  OVERDUB_HANDLER void run(OVERDUB_STATE) {
    using First = std::conditional_t<Op::rule == ir::type_rule::select, bool, T>;
    OVERDUB_GIVE(
        T, result::stored,
        static_cast<T>(Op::compute(get<First>(frame, at->a), get<T>(frame, at->b), get<T>(frame, at->c))));
  }
};

// Function calls: c (for three operands: the word after the instruction) is the index of the function.
template <class T>
struct call1 {
  OVERDUB_HANDLER void run(OVERDUB_STATE) {
    T const r = functions1<T>[at->c](get<T>(frame, at->a));
    put(frame, at->out, r);
    OVERDUB_GO(at + 1, frame, 0, static_cast<double>(r));
  }
};
// The sine of a, and its cosine, which goes to b: glibc computes both by one function, with the same bits.
template <class T>
struct call_sine_and_cosine {
  OVERDUB_HANDLER void run(OVERDUB_STATE) {
    T const angle = get<T>(frame, at->a);
    T sine, cosine;
#if defined(__GLIBC__) && defined(_GNU_SOURCE)
    if constexpr (std::is_same_v<T, double>)
      ::sincos(angle, &sine, &cosine);
    else
      ::sincosf(angle, &sine, &cosine);
#else
    sine = std::sin(angle);
    cosine = std::cos(angle);
#endif
    put(frame, at->out, sine);
    put(frame, at->b, cosine);
    OVERDUB_GO(at + 1, frame, 0, static_cast<double>(sine));
  }
};
template <class T>
struct call2 {
  OVERDUB_HANDLER void run(OVERDUB_STATE) {
    T const r = functions2<T>[at->c](get<T>(frame, at->a), get<T>(frame, at->b));
    put(frame, at->out, r);
    OVERDUB_GO(at + 1, frame, 0, static_cast<double>(r));
  }
};
template <class Op, class T>
struct call3 {
  OVERDUB_HANDLER void run(OVERDUB_STATE) {
    T const r = functions3<T>[static_cast<std::size_t>(Op::code)](
        get<T>(frame, at->a), get<T>(frame, at->b), get<T>(frame, at->c));
    put(frame, at->out, r);
    OVERDUB_GO(at + 1, frame, 0, static_cast<double>(r));
  }
};
template <class T>
struct call_ldexp {
  OVERDUB_HANDLER void run(OVERDUB_STATE) {
    T const r = ldexp(get<T>(frame, at->a), get<i64>(frame, at->b));
    put(frame, at->out, r);
    OVERDUB_GO(at + 1, frame, 0, static_cast<double>(r));
  }
};
template <class T>
struct call_polygamma {
  OVERDUB_HANDLER void run(OVERDUB_STATE) {
    T const r = polygamma(get<i64>(frame, at->a), get<T>(frame, at->b));
    put(frame, at->out, r);
    OVERDUB_GO(at + 1, frame, 0, static_cast<double>(r));
  }
};

/// The types of scalars, in the order of ir::scalar.
template <class F>
constexpr auto for_each_type(F f) {
  return std::array{
      f.template operator()<bool>(), f.template operator()<i64>(), f.template operator()<float>(),
      f.template operator()<double>()};
}
constexpr std::size_t type_index(ir::scalar s) {
  return static_cast<std::size_t>(s) - static_cast<std::size_t>(ir::scalar::boolean);
}

/// For a type of operands: the handlers of all variants; null if there is none.
using variants = std::array<handler, 8>;

template <class Op, class T>
constexpr variants variants_of() {
  variants all{};
  constexpr auto stored = result::stored;
  constexpr auto in_frame = source::frame;
  if constexpr (Op::rule == ir::type_rule::floating_integer) {
    if constexpr (std::is_floating_point_v<T>) all[0] = &call_ldexp<T>::run;
  } else if constexpr (Op::rule == ir::type_rule::integer_floating) {
    if constexpr (std::is_floating_point_v<T>) all[0] = &call_polygamma<T>::run;
  } else if constexpr (takes<Op, T>) {
    if constexpr (!Op::light) {
      if constexpr (Op::arity == 1) all[0] = &call1<T>::run;
      if constexpr (Op::arity == 2) all[0] = &call2<T>::run;
      if constexpr (Op::arity == 3) all[0] = &call3<Op, T>::run;
    } else if constexpr (Op::arity == 1) {
      all[0] = &unary<Op, T, in_frame, stored>::run;
      if constexpr (stays_in_register<T>) {
        all[register_a] = &unary<Op, T, source::in_register, stored>::run;
        all[passed] = &unary<Op, T, in_frame, result::passed>::run;
        all[register_a | passed] = &unary<Op, T, source::in_register, result::passed>::run;
      }
    } else if constexpr (Op::arity == 2) {
      all[0] = &binary<Op, T, in_frame, in_frame, stored>::run;
      if constexpr (stays_in_register<T>) {
        all[register_a] = &binary<Op, T, source::in_register, in_frame, stored>::run;
        all[register_b] = &binary<Op, T, in_frame, source::in_register, stored>::run;
        all[register_a | register_b] = &binary<Op, T, source::in_register, source::in_register, stored>::run;
        all[passed] = &binary<Op, T, in_frame, in_frame, result::passed>::run;
        all[register_a | passed] = &binary<Op, T, source::in_register, in_frame, result::passed>::run;
        all[register_b | passed] = &binary<Op, T, in_frame, source::in_register, result::passed>::run;
        all[register_a | register_b | passed] =
            &binary<Op, T, source::in_register, source::in_register, result::passed>::run;
      }
    } else
      all[0] = &ternary<Op, T>::run;
  }
  return all;
}

// ---- fused pairs

enum class side : bool { left, right };

template <class First, class Second, side S, class T, source A, source C, result R>
struct fused {
  OVERDUB_HANDLER void run(OVERDUB_STATE) {
    T first = First::compute(operand<T, A>(frame, at->a, x, y), get<T>(frame, at->b));
    if constexpr (std::is_same_v<T, double>) first = rounded(first);
    T const c = operand<T, C>(frame, at->c, x, y);
    OVERDUB_GIVE(T, R, S == side::left ? Second::compute(first, c) : Second::compute(c, first));
  }
};

struct fused_row {
  ir::op first, second;
  side on;
  std::array<std::array<handler, 8>, 2> integer_double; // register_b: c is in the register
};

template <class First, class Second, side S>
constexpr fused_row fused_row_of() {
  auto const all = []<class T>() -> std::array<handler, 8> {
    constexpr auto in_frame = source::frame, in_register = source::in_register;
    constexpr auto stored = result::stored, pass = result::passed;
    return {
        &fused<First, Second, S, T, in_frame, in_frame, stored>::run,
        &fused<First, Second, S, T, in_register, in_frame, stored>::run,
        &fused<First, Second, S, T, in_frame, in_register, stored>::run,
        nullptr,
        &fused<First, Second, S, T, in_frame, in_frame, pass>::run,
        &fused<First, Second, S, T, in_register, in_frame, pass>::run,
        &fused<First, Second, S, T, in_frame, in_register, pass>::run,
        nullptr};
  };
  return {First::code, Second::code, S, {all.template operator()<i64>(), all.template operator()<double>()}};
}

// ---- elements of arrays of rank 1: a is the array, b the index

template <class T>
[[gnu::always_inline]] inline T element(std::byte const* frame, offset array, i64 i) {
  i64 const size = get<i64>(frame, array + 2 * word_size);
  if (static_cast<std::uint64_t>(i) >= static_cast<std::uint64_t>(size)) [[unlikely]]
    detail::throw_index("at", i, size);
  return read<T>(get<std::byte const*>(frame, array) + static_cast<std::size_t>(i) * sizeof(T));
}

template <class T, source B, result R>
struct load {
  OVERDUB_HANDLER void run(OVERDUB_STATE) {
    OVERDUB_GIVE(T, R, element<T>(frame, at->a, operand<i64, B>(frame, at->b, x, y)));
  }
};
template <class T>
constexpr variants load_variants() {
  variants all{};
  all[0] = &load<T, source::frame, result::stored>::run;
  all[register_b] = &load<T, source::in_register, result::stored>::run;
  if constexpr (stays_in_register<T>) {
    all[passed] = &load<T, source::frame, result::passed>::run;
    all[register_b | passed] = &load<T, source::in_register, result::passed>::run;
  }
  return all;
}

// The element at c of row b.
template <class T>
struct load2 {
  OVERDUB_HANDLER void run(OVERDUB_STATE) {
    i64 const row = get<i64>(frame, at->b), i = get<i64>(frame, at->c);
    i64 const rows = get<i64>(frame, at->a + 2 * word_size), size = get<i64>(frame, at->a + 3 * word_size);
    if (static_cast<std::uint64_t>(row) >= static_cast<std::uint64_t>(rows)) [[unlikely]]
      detail::throw_index("at", row, rows);
    if (static_cast<std::uint64_t>(i) >= static_cast<std::uint64_t>(size)) [[unlikely]]
      detail::throw_index("at", i, size);
    T const r =
        read<T>(get<std::byte const*>(frame, at->a) + static_cast<std::size_t>(row * size + i) * sizeof(T));
    OVERDUB_GIVE(T, result::stored, r);
  }
};

template <class Second, side S, class T, source C, result R>
struct fused_load {
  OVERDUB_HANDLER void run(OVERDUB_STATE) {
    T const e = element<T>(frame, at->a, get<i64>(frame, at->b));
    T const c = operand<T, C>(frame, at->c, x, y);
    OVERDUB_GIVE(T, R, S == side::left ? Second::compute(e, c) : Second::compute(c, e));
  }
};
struct fused_load_row {
  ir::op second;
  side on;
  variants on_doubles; // register_b: c is in the register
};
template <class Second, side S>
constexpr fused_load_row fused_load_row_of() {
  constexpr auto in_frame = source::frame, in_register = source::in_register;
  constexpr auto stored = result::stored, pass = result::passed;
  fused_load_row row{Second::code, S, {}};
  row.on_doubles[0] = &fused_load<Second, S, double, in_frame, stored>::run;
  row.on_doubles[register_b] = &fused_load<Second, S, double, in_register, stored>::run;
  row.on_doubles[passed] = &fused_load<Second, S, double, in_frame, pass>::run;
  row.on_doubles[register_b | passed] = &fused_load<Second, S, double, in_register, pass>::run;
  return row;
}

// ---- conversions, moves

template <class From, class To>
struct converting {
  OVERDUB_HANDLER void run(OVERDUB_STATE) {
    OVERDUB_GIVE(To, result::stored, native::convert<To>(get<From>(frame, at->a)));
  }
};

/// Moves a word; `move_words`: c of them, which must not overlap.
struct move_word {
  OVERDUB_HANDLER void run(OVERDUB_STATE) {
    write(frame + at->out, read<std::uint64_t>(frame + at->a));
    OVERDUB_NEXT;
  }
};
struct move_words {
  OVERDUB_HANDLER void run(OVERDUB_STATE) {
    for (offset i = 0; i < at->c; ++i)
      write(frame + at->out + i * word_size, read<std::uint64_t>(frame + at->a + i * word_size));
    OVERDUB_NEXT;
  }
};

} // namespace overdub::execute
