// The runtime library of compiled code: memory, errors, host calls, and operations on whole arrays. An array is given by the address of
// its words, as in a frame of the interpreter: a pointer to the elements, a pointer to the buffer that owns them, and the extents. `op` is
// an ir::op, for messages; in reductions it says what combines elements.
#pragma once

#include <overdub/execute/code.hpp>
#include <overdub/implementation/execute/machine.hpp>
#include <overdub/ir/op.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace overdub::jit::runtime {

using execute::buffer;
using execute::machine;

// Each throws the exception of a failed check.
[[noreturn]] void throw_index(std::uint32_t op, i64 i, i64 size);
[[noreturn]] void throw_sizes(std::uint32_t op, i64 first, i64 other);
[[noreturn]] void throw_negative(std::uint32_t op, i64 n);
[[noreturn]] void throw_empty();
[[noreturn]] void throw_division();
[[noreturn]] void throw_assertion(char const* text);
[[noreturn]] void
throw_fails_ahead(); // before a loop that would fail: the interpreter runs the program again, and reports the operation
[[noreturn]] void throw_too_deep(machine* m);
/// Rethrows the current exception.
[[noreturn]] void rethrow();

/// Allocates a buffer with one reference.
buffer* take(machine* m, i64 bytes);
/// Allocates a buffer for n scalars; throws size_error if n is negative or too large.
buffer* take_array(machine* m, i64 n, i64 size, std::uint32_t op);
/// Copies the elements of an array to a new buffer, and releases `owner`, which may be null.
buffer* copied(machine* m, std::byte const* elements, buffer* owner, i64 bytes);
/// Replaces a buffer, `used` bytes of which are in use, by one with room for `more`.
buffer* grown(machine* m, buffer* old, i64 used, i64 more);
/// Frees a buffer. The caller has the only reference.
void free_buffer(machine* m, buffer* b);
/// Frees a function value, and releases its captures. The caller has the only reference.
void release_function(machine* m, buffer* b);

/// Allocates an array whose extents are at `out`, and writes its other words there. `shape`: the rank << 16 | the bytes of a scalar.
void make_array(machine* m, std::byte* out, std::uint32_t shape, std::uint32_t op);
/// Prepares an array of n rows of unknown shape. The first row allocates it, unless its rank is 1 or n is 0.
void make_rows(machine* m, std::byte* out, i64 n, std::uint32_t shape, std::uint32_t op);
/// Copies the row at `row` to index i of the array at `out`. Throws size_error if its shape is not that of the first row.
void store_row(machine* m, std::byte* out, i64 i, std::byte* row, std::uint32_t shape, std::uint32_t op);
/// Appends a row to the array at `out`.
void push_row(machine* m, std::byte* out, std::byte* row, std::uint32_t shape);
/// Creates an array of n copies of the row at `row`.
void fill_rows(machine* m, std::byte* out, i64 n, std::byte* row, std::uint32_t shape);
/// Concatenates `count` arrays, whose words follow each other at `arrays`.
void concat(machine* m, std::byte* out, std::byte* arrays, std::uint32_t count, std::uint32_t shape);
/// Copies the rows of an array at the given indices to a new array. Throws index_error.
void gather(machine* m, std::byte* out, std::byte* array, std::byte* indices, std::uint32_t shape);

/// Reduces n > 0 elements, in the order of the interpreter, so that both have the same bits.
bool reduce_bool(std::uint32_t op, bool const* p, i64 n);
i64 reduce_i64(std::uint32_t op, i64 const* p, i64 n);
float reduce_f32(std::uint32_t op, float const* p, i64 n);
double reduce_f64(std::uint32_t op, double const* p, i64 n);

/// Calls a native function. Its arguments and results are in `frame`, at the offsets that stand at `list` in code::lists.
void host(machine* m, std::byte* frame, std::uint32_t list, std::uint32_t number);
/// Makes a random choice. The list has the offsets of its indices, parameters and result.
void sample(machine* m, std::byte* frame, std::uint32_t list, std::uint32_t number);

/// Runs compiled code for callers without a machine, on one of this thread. `frame` is the argument of the entry point.
void on_machine(execute::code const* const* code, std::byte* frame);

/// The interpreter's handler for a compiled program, whose only instruction it is: calls the machine code.
void run_compiled(execute::instruction const* at, std::byte* frame, execute::machine* m, i64 x, double y);

/// The lowest address that compiled frames of this thread may use: at most so many bytes below the current frame.
std::byte const* stack_end(std::size_t most);
/// The offset of `stack_end` in a machine.
std::int64_t stack_end_offset();

} // namespace overdub::jit::runtime
