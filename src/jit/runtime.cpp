#include "runtime.hpp"

#include <overdub/execute/run.hpp>
#include <overdub/implementation/execute/control_handlers.hpp>
#include <overdub/implementation/execute/ran_ahead.hpp>
#include <overdub/implementation/execute/reduce_handlers.hpp>

#include <algorithm>
#include <cstring>
#include <exception>
#include <pthread.h>
#include <string>

namespace overdub::jit::runtime {
namespace {

using namespace execute;

std::string_view name(std::uint32_t op) { return ir::name_of(static_cast<ir::op>(op)); }
offset rank_of(std::uint32_t shape) { return shape >> 16; }
offset bytes_of(std::uint32_t shape) { return shape & 0xffff; }
offset array_words(std::uint32_t shape) { return 2 + rank_of(shape); }

i64* extents_at(std::byte* array) { return reinterpret_cast<i64*>(array + 2 * word_size); }

} // namespace

void throw_index(std::uint32_t op, i64 i, i64 size) { overdub::detail::throw_index(name(op), i, size); }
void throw_sizes(std::uint32_t op, i64 first, i64 other) {
  overdub::detail::throw_sizes(name(op), first, other);
}
void throw_negative(std::uint32_t op, i64 n) { overdub::detail::throw_negative(name(op), n); }
void throw_empty() { overdub::detail::throw_empty("reduce"); }
void throw_division() { overdub::detail::throw_division(); }
void throw_assertion(char const* text) { execute::throw_assertion(text); }
void throw_fails_ahead() { throw fails_ahead(); }
void throw_too_deep(machine* m) {
  throw stack_overflow(message(
      "overdub: calls are nested too deep: their frames take more than %zu bytes, or more than this thread's "
      "stack has; end the recursion earlier, write a loop, or raise execution_limits::frame_bytes and the "
      "size of the stack",
      m->limits.frame_bytes));
}
void rethrow() { throw; }

buffer* take(machine* m, i64 bytes) { return m->buffers.take(static_cast<std::size_t>(bytes)); }
buffer* take_array(machine* m, i64 n, i64 size, std::uint32_t op) {
  constexpr std::uint64_t many = std::uint64_t{1} << 32; // products of smaller numbers do not overflow
  if (static_cast<std::uint64_t>(n) < many) [[likely]]
    try {
      return m->buffers.take(static_cast<std::size_t>(n) * static_cast<std::size_t>(size));
    } catch (std::bad_alloc const&) {
      throw_no_memory(name(op), &n, 1, static_cast<std::size_t>(size));
    }
  if (n < 0) overdub::detail::throw_negative(name(op), n);
  return take_buffer(*m, &n, 1, static_cast<std::size_t>(size), name(op));
}
buffer* copied(machine* m, std::byte const* elements, buffer* owner, i64 bytes) {
  buffer* const b = m->buffers.take(static_cast<std::size_t>(bytes));
  if (bytes > 0) std::memcpy(b->data(), elements, static_cast<std::size_t>(bytes));
  if (owner != nullptr) m->buffers.release(owner);
  return b;
}
buffer* grown(machine* m, buffer* old, i64 used, i64 more) {
  buffer* const b = m->buffers.take(2 * static_cast<std::size_t>(used + more));
  if (used > 0) std::memcpy(b->data(), old->data(), static_cast<std::size_t>(used));
  m->buffers.release(old);
  return b;
}
void free_buffer(machine* m, buffer* b) { m->buffers.release(b); }
void release_function(machine* m, buffer* b) { execute::release_function(*m, b); }

void make_array(machine* m, std::byte* out, std::uint32_t shape, std::uint32_t op) {
  execute::make_array(*m, out, 0, extents_at(out), rank_of(shape), bytes_of(shape), name(op));
}
void make_rows(machine* m, std::byte* out, i64 n, std::uint32_t shape, std::uint32_t op) {
  instruction const at{nullptr, 0, 0, rank_of(shape), bytes_of(shape)};
  make_room(*m, out, at, n, name(op));
}
void store_row(machine* m, std::byte* out, i64 i, std::byte* row, std::uint32_t shape, std::uint32_t op) {
  // The words of the row follow those of the array, as in a frame.
  auto const distance = static_cast<offset>(row - out);
  bool const fits = rank_of(shape) == 2 && owner(out, 0) != nullptr && extent(out, 0, 1) == extent(row, 0, 0);
  if (!fits) room_for_row(*m, out, 0, extent(out, 0, 0), distance, rank_of(shape), bytes_of(shape), name(op));
  copy_row(out, 0, i, distance, rank_of(shape), bytes_of(shape));
}
void push_row(machine* m, std::byte* out, std::byte* row, std::uint32_t shape) {
  push(*m, out, {nullptr, 0, static_cast<offset>(row - out), 0, shape});
}
void fill_rows(machine* m, std::byte* out, i64 n, std::byte* row, std::uint32_t shape) {
  offset const rank = rank_of(shape), size = bytes_of(shape);
  auto const at = static_cast<offset>(row - out);
  i64 extents[ir::max_rank + 1]{n};
  for (offset k = 1; k < rank; ++k) extents[k] = extent(out, at, k - 1);
  (void)execute::make_array(*m, out, 0, extents, rank, size, "fill");
  if (n > 0 && scalars(out, at, rank - 1) > 0)
    for (i64 i = 0; i < n; ++i) copy_row(out, 0, i, at, rank, size);
}
void concat(machine* m, std::byte* out, std::byte* arrays, std::uint32_t count, std::uint32_t shape) {
  offset const rank = rank_of(shape), size = bytes_of(shape), words = array_words(shape);
  auto const array = [&](offset i) { return i * words * word_size; };
  i64 extents[ir::max_rank + 1]{};
  offset rows = 0; // an array with rows
  for (offset i = 0; i < count; ++i) {
    extents[0] += extent(arrays, array(i), 0);
    if (extent(arrays, rows, 0) == 0) rows = array(i);
  }
  for (offset i = 0; i < count; ++i)
    if (extent(arrays, array(i), 0) > 0) check_shape(arrays, rows, rank, 1, array(i) + word_size, "concat");
  for (offset k = 1; k < rank; ++k) extents[k] = extent(arrays, rows, k);
  std::byte* to = execute::make_array(*m, out, 0, extents, rank, size, "concat");
  for (offset i = 0; i < count; ++i) {
    auto const bytes = static_cast<std::size_t>(scalars(arrays, array(i), rank)) * size;
    if (bytes > 0) std::memcpy(to, elements(arrays, array(i)), bytes);
    to += bytes;
  }
}
void gather(machine* m, std::byte* out, std::byte* array, std::byte* indices, std::uint32_t shape) {
  execute::gather(
      *m, out, {nullptr, 0, static_cast<offset>(array - out), static_cast<offset>(indices - out), shape});
}

bool reduce_bool(std::uint32_t op, bool const* p, i64 n) { return combine(static_cast<ir::op>(op), p, n); }
i64 reduce_i64(std::uint32_t op, i64 const* p, i64 n) { return combine(static_cast<ir::op>(op), p, n); }
float reduce_f32(std::uint32_t op, float const* p, i64 n) { return combine(static_cast<ir::op>(op), p, n); }
double reduce_f64(std::uint32_t op, double const* p, i64 n) { return combine(static_cast<ir::op>(op), p, n); }

void host(machine* m, std::byte* frame, std::uint32_t list, std::uint32_t number) {
  call_host(*m, frame, {nullptr, 0, list, number, 0});
}
void sample(machine* m, std::byte* frame, std::uint32_t list, std::uint32_t number) {
  call_sampler(*m, frame, {nullptr, 0, list, number, 0});
}

void on_machine(code const* const* compiled, std::byte* frame) {
  borrowed_machine borrowed;
  machine& m = *borrowed;
  m.program = *compiled;
  m.contexts = nullptr;
  m.stack_end = stack_end(m.limits.frame_bytes);
  code const& c = **compiled;
  bool const done = ran_ahead([&] {
    try {
      c.compiled(frame, &m);
    } catch (...) {
      m.buffers.reset();
      throw;
    }
  });
  if (done) return;
  program_run run(c.interpreted(), m);
  run.on_words(nullptr, frame + first_parameter);
  releasing const at_end(run);
  std::memcpy(read<std::byte*>(frame + return_frame), run.result_words(), c.results.size() * word_size);
}
void run_compiled(instruction const*, std::byte* frame, machine* m, i64, double) {
  m->stack_end = stack_end(m->limits.frame_bytes);
  m->program->compiled(frame, m);
  m->go_on(nullptr, nullptr, 0, 0); // for machines whose handlers return to a loop
}

std::byte const* stack_end(std::size_t most) {
  // Reserve for host functions and exceptions.
  constexpr std::size_t reserved = std::size_t{128} << 10;
  struct limits {
    std::byte *low, *high;
  };
  thread_local limits const mine = [] {
    pthread_attr_t attributes;
    void* low = nullptr;
    std::size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
      pthread_attr_getstack(&attributes, &low, &size);
      pthread_attr_destroy(&attributes);
    }
    auto* const first = static_cast<std::byte*>(low);
    return limits{first, first + size};
  }();
  auto const* const here = static_cast<std::byte const*>(__builtin_frame_address(0));
  bool const known = mine.low < here && here < mine.high;
  // The size of a stack that the user created is unknown.
  std::size_t const left = known ? static_cast<std::size_t>(here - mine.low) : 2 * reserved;
  return here - std::min(most, left > reserved ? left - reserved : 0);
}
std::int64_t stack_end_offset() {
  static std::int64_t const known = [] {
    machine const any;
    return reinterpret_cast<std::byte const*>(&any.stack_end) - reinterpret_cast<std::byte const*>(&any);
  }();
  return known;
}

} // namespace overdub::jit::runtime
