// What compiled code calls in C++: memory, errors, what leaves the program, and operations on whole arrays. Arrays stand in
// words of memory there, as in the interpreter's frames: {elements, owner, extents}. Operations are named by their number.
#pragma once

#include <overdub/execute/code.hpp>
#include <overdub/execute/machine.hpp>
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
/// Throws on the exception that is being handled.
[[noreturn]] void rethrow();

/// A buffer of so many bytes.
buffer* take(machine* m, i64 bytes);
/// A buffer of n scalars; throws size_error where n is negative or too large.
buffer* take_array(machine* m, i64 n, i64 size, std::uint32_t op);
/// A buffer with a copy of so many bytes of an array, whose owner is released.
buffer* copied(machine* m, std::byte const* elements, buffer* owner, i64 bytes);
/// A buffer for an array that grows, which has used so many bytes of its own, and needs more.
buffer* grown(machine* m, buffer* old, i64 used, i64 more);
/// Gives a buffer back that is counted once.
void free_buffer(machine* m, buffer* b);
/// Releases a function value that is counted once, with what it captured.
void release_function(machine* m, buffer* b);

/// Makes an array at `out`, whose extents stand there. `shape`: rank << 16 | size of a scalar.
void make_array(machine* m, std::byte* out, std::uint32_t shape, std::uint32_t op);
/// Makes room for n rows that are not known yet: the array has no owner before the first one.
void make_rows(machine* m, std::byte* out, i64 n, std::uint32_t shape, std::uint32_t op);
/// Row i of the array at `out` becomes the one at `row`.
void store_row(machine* m, std::byte* out, i64 i, std::byte* row, std::uint32_t shape, std::uint32_t op);
/// Appends a row to the array at `out`.
void push_row(machine* m, std::byte* out, std::byte* row, std::uint32_t shape);
/// n times the row at `row`.
void fill_rows(machine* m, std::byte* out, i64 n, std::byte* row, std::uint32_t shape);
/// `count` arrays, one behind the other in words.
void concat(machine* m, std::byte* out, std::byte* arrays, std::uint32_t count, std::uint32_t shape);
void gather(machine* m, std::byte* out, std::byte* array, std::byte* indices, std::uint32_t shape);

/// n > 0 elements, combined in their order.
bool reduce_bool(std::uint32_t op, bool const* p, i64 n);
i64 reduce_i64(std::uint32_t op, i64 const* p, i64 n);
float reduce_f32(std::uint32_t op, float const* p, i64 n);
double reduce_f64(std::uint32_t op, double const* p, i64 n);

/// Calls the host: the words of arguments and results stand in `frame`, at the offsets in the code's list.
void host(machine* m, std::byte* frame, std::uint32_t list, std::uint32_t number);
void sample(machine* m, std::byte* frame, std::uint32_t list, std::uint32_t number);

/// Runs compiled code on a machine of this thread's; `frame` is what the code's entry expects.
void on_machine(execute::code const* const* code, std::byte* frame);

/// Runs the code of the program that the machine runs; the handler of its only instruction.
void run_compiled(execute::instruction const* at, std::byte* frame, execute::machine* m, i64 x, double y);

/// How far the stack of this thread may be used from here on, by so many bytes at most.
std::byte const* stack_end(std::size_t most);
/// Where a machine keeps that.
std::int64_t stack_end_offset();

} // namespace overdub::jit::runtime
