// The runtime library of compiled code: memory, errors, host calls, and operations on whole arrays. Arrays are in words of
// memory, as in the interpreter's frames: {elements, owner, extents}. Operations are given by their number.
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

[[noreturn]] void throw_index(std::uint32_t op, i64 i, i64 size);
[[noreturn]] void throw_sizes(std::uint32_t op, i64 first, i64 other);
[[noreturn]] void throw_negative(std::uint32_t op, i64 n);
[[noreturn]] void throw_empty();
[[noreturn]] void throw_division();
[[noreturn]] void throw_assertion(char const* text);
[[noreturn]] void throw_fails_ahead();
[[noreturn]] void throw_too_deep(machine* m);
/// Rethrows the current exception.
[[noreturn]] void rethrow();

/// Allocates a buffer.
buffer* take(machine* m, i64 bytes);
/// Allocates a buffer for n scalars; throws size_error if n is negative or too large.
buffer* take_array(machine* m, i64 n, i64 size, std::uint32_t op);
/// Copies the elements of an array to a new buffer, and releases the owner.
buffer* copied(machine* m, std::byte const* elements, buffer* owner, i64 bytes);
/// Replaces a buffer, `used` bytes of which are in use, by one with room for `more`.
buffer* grown(machine* m, buffer* old, i64 used, i64 more);
/// Frees a buffer with one reference.
void free_buffer(machine* m, buffer* b);
/// Frees a function value with one reference, and releases its captures.
void release_function(machine* m, buffer* b);

/// Creates an array at `out`, with the extents that are there. `shape`: rank << 16 | size of a scalar.
void make_array(machine* m, std::byte* out, std::uint32_t shape, std::uint32_t op);
/// Prepares an array of n rows of unknown shape: it has no owner before the first row.
void make_rows(machine* m, std::byte* out, i64 n, std::uint32_t shape, std::uint32_t op);
/// Copies the row at `row` to index i of the array at `out`.
void store_row(machine* m, std::byte* out, i64 i, std::byte* row, std::uint32_t shape, std::uint32_t op);
/// Appends a row to the array at `out`.
void push_row(machine* m, std::byte* out, std::byte* row, std::uint32_t shape);
/// n copies of the row at `row`.
void fill_rows(machine* m, std::byte* out, i64 n, std::byte* row, std::uint32_t shape);
/// Concatenates `count` arrays, in consecutive words.
void concat(machine* m, std::byte* out, std::byte* arrays, std::uint32_t count, std::uint32_t shape);
void gather(machine* m, std::byte* out, std::byte* array, std::byte* indices, std::uint32_t shape);

/// Combines n > 0 elements in order.
bool reduce_bool(std::uint32_t op, bool const* p, i64 n);
i64 reduce_i64(std::uint32_t op, i64 const* p, i64 n);
float reduce_f32(std::uint32_t op, float const* p, i64 n);
double reduce_f64(std::uint32_t op, double const* p, i64 n);

/// Calls the host: arguments and results are in `frame`, at the offsets in the code's list.
void host(machine* m, std::byte* frame, std::uint32_t list, std::uint32_t number);
void sample(machine* m, std::byte* frame, std::uint32_t list, std::uint32_t number);

/// Runs compiled code on a machine of this thread; `frame` is the argument of the code's entry point.
void on_machine(execute::code const* const* code, std::byte* frame);

/// Runs the code of the machine's program; the handler of its only instruction.
void run_compiled(execute::instruction const* at, std::byte* frame, execute::machine* m, i64 x, double y);

/// The limit of this thread's stack, at most so many bytes from here.
std::byte const* stack_end(std::size_t most);
/// The offset of that limit in a machine.
std::int64_t stack_end_offset();

} // namespace overdub::jit::runtime
