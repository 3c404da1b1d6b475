// The lowered form of a program: instructions of one size, which the interpreter runs, and how one goes on to the next.
//
// A function becomes a sequence of instructions {run, out, a, b, c}. `run` is the handler, the code that carries the
// instruction out; the others are offsets into the frame of the call, in bytes, or small numbers. A frame is made of
// words of 8 bytes:
//
//   where to return (3 words) | parameters | literals | values, which share words where their lives do not overlap
//
// A bool, a number or a function value takes one word; a bool is 0 or 1 there, a float the first four bytes. An array is
// {elements, owner, extent of each axis}: elements lie row by row, so that a part of an array is an array, too, that
// shares its memory (buffer.hpp). Whoever makes an array value owns one count of its buffer, and gives it away where the
// value is used last: there `update` writes in place if no other value shares the buffer.
//
// Handlers end by calling the next instruction's handler as their last act, so that the stack of C++ does not grow, and
// pass along what the next one wants to have in registers: the instruction, the frame, the machine, and the last result,
// an integer or truth x or a double y. An operand that was just computed is taken from there (`source::kept`), and need
// not be written to the frame if nobody else reads it. Where the compiler does not promise such calls (g++ without
// optimisation), handlers return to a loop instead. Jumps are relative; calls keep their return addresses in frames,
// and the depth of recursion is bounded by the machine's memory for frames alone (machine.hpp).
//
// A `map` whose body is the same straight code for each element is run a block of up to 128 elements at a time: each
// instruction works on 128 numbers, the lanes, before the next one (lane_handlers.hpp). Values of lanes stand in the
// frame as pointers to the numbers: to a buffer, or right into an array. What is the same for all lanes, such as a loop
// inside the body, stays a scalar and is run once for the block.
#pragma once

#include <overdub/array/array.hpp>
#include <overdub/execute/abi.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#if defined(__clang__) && OVERDUB_TAIL_CALLS
#define OVERDUB_HANDLER static
#define OVERDUB_LAST [[clang::musttail]] return
#elif OVERDUB_TAIL_CALLS
#define OVERDUB_HANDLER __attribute__((optimize("optimize-sibling-calls"))) static
#define OVERDUB_LAST return
#else
#define OVERDUB_HANDLER static
#define OVERDUB_LAST return
#endif

// The parameters of a handler, and its last act: to go on at an instruction.
#define OVERDUB_STATE                                                                                        \
  [[maybe_unused]] ::overdub::execute::instruction const *at, [[maybe_unused]] std::byte *frame,             \
      [[maybe_unused]] ::overdub::execute::machine *m, [[maybe_unused]] ::overdub::i64 x,                    \
      [[maybe_unused]] double y
#if OVERDUB_TAIL_CALLS
#define OVERDUB_GO(TO, FRAME, X, Y) OVERDUB_LAST(TO)->run((TO), (FRAME), m, (X), (Y))
#else
#define OVERDUB_GO(TO, FRAME, X, Y) return ::overdub::execute::go_on(m, (TO), (FRAME), (X), (Y))
#endif
#define OVERDUB_NEXT OVERDUB_GO(at + 1, frame, x, y)

namespace overdub::inline OVERDUB_EXECUTE_ABI::execute {

class machine;
struct instruction;
using handler = void (*)(instruction const* at, std::byte* frame, machine* m, i64 x, double y);
using offset = std::uint32_t;

struct instruction {
  handler run;
  offset out, a, b, c;
};
static_assert(sizeof(instruction) == 24);

/// Where the machine goes on, when handlers return to a loop.
void go_on(machine* m, instruction const* at, std::byte* frame, i64 x, double y);

inline constexpr offset word_size = 8;

template <class T>
inline T read(std::byte const* from) {
  T x;
  std::memcpy(&x, from, sizeof x);
  return x;
}
template <class T>
inline void write(std::byte* to, T x) {
  std::memcpy(to, &x, sizeof x);
}

/// The value in a word of a frame.
template <class T>
inline T get(std::byte const* frame, offset at) {
  if constexpr (std::is_same_v<T, bool>)
    return read<i64>(frame + at) != 0;
  else
    return read<T>(frame + at);
}
template <class T>
inline void put(std::byte* frame, offset at, T x) {
  if constexpr (std::is_same_v<T, bool>)
    write<i64>(frame + at, x);
  else
    write<T>(frame + at, x);
}

/// The instruction that a jump at `at` goes to.
inline instruction const* target(instruction const* at, offset displacement) {
  return at + static_cast<std::int32_t>(displacement);
}

/// A product or sum, rounded: what follows is not fused with it, whatever the compiler was told.
template <class T>
[[gnu::always_inline]] inline T rounded(T x) {
#if defined(__x86_64__)
  asm("" : "+x"(x));
#elif defined(__aarch64__)
  asm("" : "+w"(x));
#else
  T volatile kept = x;
  x = kept;
#endif
  return x;
}

} // namespace overdub::inline OVERDUB_EXECUTE_ABI::execute
