// The lowered form of a program: threaded code of fixed-size instructions, which the interpreter runs.
//
// A function becomes a sequence of instructions {run, out, a, b, c}. `run` is the handler, the code of the instruction; the
// others are byte offsets into the frame of the call, or small numbers. A frame consists of words of 8 bytes:
//
//   return address (3 words) | parameters | literals | values, which share words if their live ranges do not overlap
//
// A bool, a number or a function value takes one word; a bool is 0 or 1, a float takes the first four bytes. An array is
// {elements, owner, extent of each axis} in row-major order, so that a part of an array is an array that shares its memory
// (buffer.hpp). The creator of an array value owns one reference to its buffer, and transfers it at the last use: there
// `update` writes in place if no other value shares the buffer.
//
// Handlers end with a tail call of the next instruction's handler, so that the C++ stack does not grow. They pass in
// registers the instruction, the frame, the machine, and the last result: an integer or bool x, or a double y. An operand
// that was just computed is read from there (`source::in_register`), and is not written to the frame if it has no other use. Where
// the compiler does not guarantee tail calls (g++ without optimisation), handlers return to a loop instead. Jumps are
// relative. Return addresses are in frames, and only the machine's memory for frames bounds the depth of recursion
// (machine.hpp).
//
// A `map` with a body of straight-line code is vectorised in blocks of up to 128 elements: each instruction processes 128
// numbers, the lanes, before the next one (lane_handlers.hpp). Values in lanes are pointers in the frame: to a buffer, or
// into an array. Uniform values, such as a loop in the body, stay scalars, and run once for the block.
#pragma once

#include <overdub/array/array.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace overdub::execute {

class machine;
struct instruction;
using handler = void (*)(instruction const* at, std::byte* frame, machine* m, i64 x, double y);
using offset = std::uint32_t;

struct instruction {
  handler run;
  offset out, a, b, c;
};
static_assert(sizeof(instruction) == 24);

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

/// The target of a jump at `at`.
inline instruction const* target(instruction const* at, offset displacement) {
  return at + static_cast<std::int32_t>(displacement);
}

/// A rounded product or sum, which the compiler does not contract with what follows.
template <class T>
[[gnu::always_inline]] inline T rounded(T x) {
#if defined(__x86_64__)
  asm("" : "+x"(x));
#elif defined(__aarch64__)
  asm("" : "+w"(x));
#else
  T volatile rounded = x;
  x = rounded;
#endif
  return x;
}

} // namespace overdub::execute
