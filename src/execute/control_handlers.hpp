// Handlers of control flow: jumps, loops, calls and protected regions; and of assertions, host functions and random choices.
#pragma once

#include <overdub/execute/values.hpp>
#include <overdub/implementation/execute/array_handlers.hpp>
#include <overdub/implementation/execute/array_words.hpp>
#include <overdub/implementation/execute/handler.hpp>
#include <overdub/implementation/execute/machine.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace overdub::execute {

// Jump targets are in c.
struct jump {
  OVERDUB_HANDLER void run(OVERDUB_STATE) { OVERDUB_GO(target(at, at->c), frame, x, y); }
};
/// Jumps if a is false.
template <source A>
struct jump_unless {
  OVERDUB_HANDLER void run(OVERDUB_STATE) {
    if (operand<bool, A>(frame, at->a, x, y)) OVERDUB_NEXT;
    OVERDUB_GO(target(at, at->c), frame, x, y);
  }
};
/// Jumps if a comparison of a and b is false.
template <class Op, class T, source A, source B>
struct jump_unless_compared {
  OVERDUB_HANDLER void run(OVERDUB_STATE) {
    bool const holds = Op::compute(operand<T, A>(frame, at->a, x, y), operand<T, B>(frame, at->b, x, y));
    if (holds) OVERDUB_NEXT;
    OVERDUB_GO(target(at, at->c), frame, x, y);
  }
};
/// Begins a loop with the index i (out) and the trip count n (a): sets i to 0; jumps to c if n is not positive.
struct start_loop {
  OVERDUB_HANDLER void run(OVERDUB_STATE) {
    put<i64>(frame, at->out, 0);
    if (get<i64>(frame, at->a) > 0) OVERDUB_GO(at + 1, frame, 0, y);
    OVERDUB_GO(target(at, at->c), frame, 0, y);
  }
};
/// Increments i; jumps to c, the start of the body, if i < n.
struct next_loop {
  OVERDUB_HANDLER void run(OVERDUB_STATE) {
    i64 const i = get<i64>(frame, at->out) + 1;
    put(frame, at->out, i);
    if (i < get<i64>(frame, at->a)) OVERDUB_GO(target(at, at->c), frame, i, y);
    OVERDUB_NEXT;
  }
};
/// Begins a loop in reverse order: sets i to n - 1; jumps to c if n is not positive.
struct start_reversed {
  OVERDUB_HANDLER void run(OVERDUB_STATE) {
    i64 const n = get<i64>(frame, at->a);
    put<i64>(frame, at->out, n - (n > 0));
    if (n > 0) OVERDUB_GO(at + 1, frame, n - 1, y);
    OVERDUB_GO(target(at, at->c), frame, x, y);
  }
};
/// Decrements i; jumps to c, the start of the body, if i >= 0.
struct next_reversed {
  OVERDUB_HANDLER void run(OVERDUB_STATE) {
    i64 const i = get<i64>(frame, at->out) - 1;
    put(frame, at->out, i);
    if (i >= 0) OVERDUB_GO(target(at, at->c), frame, i, y);
    OVERDUB_NEXT;
  }
};

// ---- calls

/// Ends the run.
struct halt {
  OVERDUB_HANDLER void run(OVERDUB_STATE) {
#if !OVERDUB_TAIL_CALLS
    m->go_on(nullptr, nullptr, 0, 0);
#endif
  }
};

/// Creates the frame of a callee after the caller's; writes the return address, the caller's frame, and the literals.
[[gnu::always_inline]] inline std::byte*
make_frame(machine& m, std::byte* frame, instruction const* at, function_code const& callee) {
  std::byte* const made = m.frame_after(frame + at->c, callee.frame_bytes);
  write(made + return_at, at);
  write(made + return_frame, frame);
  std::uint64_t const* const literals = m.program->literals.data() + callee.first_literal;
  for (offset i = 0; i < callee.literal_count; ++i)
    write(made + callee.literals + i * word_size, literals[i]);
  return made;
}
// Copies the words of the arguments. `list` has their number, and then their offsets in the caller's frame.
[[gnu::always_inline]] inline void pass_arguments(std::byte* to, std::byte const* frame, offset const* list) {
  for (offset i = 0; i < list[0]; ++i) write(to + i * word_size, read<std::uint64_t>(frame + list[1 + i]));
}

/// Calls a function. a: the list of argument words, then of result words; b: the function; c: the bytes of the caller's frame.
struct call {
  OVERDUB_HANDLER void run(OVERDUB_STATE) {
    function_code const& callee = m->program->functions[at->b];
    std::byte* const made = make_frame(*m, frame, at, callee);
    pass_arguments(made + first_parameter, frame, list_of(*m, *at));
    OVERDUB_GO(m->program->instructions.data() + callee.entry, made, x, y);
  }
};
// Creates the frame of a function value's callee. Its first parameters are the captures, whose buffers are retained.
inline std::byte* frame_of_function(machine& m, std::byte* frame, instruction const* at) {
  std::byte const* const f = get<buffer*>(frame, at->b)->data();
  function_code const& callee = m.program->functions[read<std::uint64_t>(f)];
  auto const captured = static_cast<std::size_t>(read<std::uint64_t>(f + word_size)) * word_size;
  std::byte* const made = make_frame(m, frame, at, callee);
  std::memcpy(made + first_parameter, f + 2 * word_size, captured);
  for (offset const owned : callee.owners)
    if (owned < captured)
      if (auto* const b = read<buffer*>(made + first_parameter + owned)) ++b->count;
  pass_arguments(made + first_parameter + captured, frame, list_of(m, *at));
  return made;
}
/// Calls the function value at b.
struct apply {
  OVERDUB_HANDLER void run(OVERDUB_STATE) {
    auto const number = read<std::uint64_t>(get<buffer*>(frame, at->b)->data());
    std::byte* const made = frame_of_function(*m, frame, at);
    OVERDUB_GO(m->program->instructions.data() + m->program->functions[number].entry, made, x, y);
  }
};

/// Returns to the caller, and copies the results to the words that its call lists. Without a return address, the results stay in the frame,
/// and the run ends. a: the list of result words; b: their number.
struct return_values {
  OVERDUB_HANDLER void run(OVERDUB_STATE) {
    auto const* const from = read<instruction const*>(frame + return_at);
    if (from == nullptr) return halt::run(at, frame, m, x, y);
    auto* const caller = read<std::byte*>(frame + return_frame);
    m->leave(frame);
    offset const* const words = list_of(*m, *at);
    offset const* const to = list_of(*m, *from) + 1 + list_of(*m, *from)[0];
    for (offset i = 0; i < at->b; ++i) write(caller + to[i], read<std::uint64_t>(frame + words[i]));
    OVERDUB_GO(from + 1, caller, x, y);
  }
};
/// Returns to the caller, and copies the result, the word at a, to the `out` of its call.
struct return_word {
  OVERDUB_HANDLER void run(OVERDUB_STATE) {
    auto const* const from = read<instruction const*>(frame + return_at);
    if (from == nullptr) return halt::run(at, frame, m, x, y);
    auto* const caller = read<std::byte*>(frame + return_frame);
    auto const result = read<i64>(frame + at->a);
    m->leave(frame);
    write(caller + from->out, result);
    OVERDUB_GO(from + 1, caller, result, std::bit_cast<double>(result));
  }
};

// ---- protection

/// Begins a protected region: an exception in it continues at c.
struct protect {
  OVERDUB_HANDLER void run(OVERDUB_STATE) {
    m->protect(target(at, at->c), frame);
    OVERDUB_NEXT;
  }
};
inline void unprotect(machine& m, std::byte*, instruction const&) { m.unprotect(); }
inline void rethrow(machine& m, std::byte*, instruction const&) { m.rethrow(); }

// ---- leaving the program

[[noreturn, gnu::cold, gnu::noinline]] inline void throw_assertion(std::string const& text) {
  throw assertion_failed(message("overdub: assertion failed: %s", text.c_str()));
}
/// Throws assertion_failed if a is false. b: the index of the message.
struct assert_that {
  OVERDUB_HANDLER void run(OVERDUB_STATE) {
    if (!get<bool>(frame, at->a)) [[unlikely]]
      throw_assertion(m->program->texts[at->b]);
    OVERDUB_NEXT;
  }
};

[[noreturn, gnu::cold, gnu::noinline]] inline void throw_host_results(std::string_view what) {
  throw host_error(message(
      "overdub: what the host answered to %.*s has another number or type than the program's call",
      static_cast<int>(what.size()), what.data()));
}
inline std::vector<datum>
data_of(std::byte const* frame, offset const* at, std::vector<ir::type> const& types) {
  std::vector<datum> data;
  data.reserve(types.size());
  for (std::size_t i = 0; i < types.size(); ++i) data.push_back(datum_at(frame, at[i], types[i]));
  return data;
}
// Calls a host function. a: the list of arguments, then of results; b: the index of the call.
inline void call_host(machine& m, std::byte* frame, instruction const& at) {
  host_call const& call = m.program->hosts[at.b];
  offset const* const list = list_of(m, at);
  offset const* const results = list + call.parameters.size();
  if (call.callee->typed) return m.call_out([&] { call.callee->typed(m, frame, list, results); });
  std::vector<datum> answer;
  m.call_out([&] { answer = call.callee->on_data(data_of(frame, list, call.parameters), call.results); });
  bool fits = answer.size() == call.results.size();
  for (std::size_t i = 0; fits && i < answer.size(); ++i) fits = answer[i].type() == call.results[i];
  if (!fits) throw_host_results("a host function");
  for (std::size_t i = 0; i < answer.size(); ++i) deliver_datum(m, frame, results[i], answer[i]);
}
// Makes a random choice. a: the list of indices, then of parameters, then the result; b: the index of the call.
inline void call_sampler(machine& m, std::byte* frame, instruction const& at) {
  sample_call const& call = m.program->samples[at.b];
  offset const* const list = list_of(m, at);
  std::vector<i64> indices;
  for (std::size_t i = 0; i < call.indices; ++i) indices.push_back(get<i64>(frame, list[i]));
  auto const parameters = data_of(frame, list + call.indices, call.parameters);
  datum const answer =
      m.program->registry.sampler({call.address, indices, call.distribution, parameters, call.result});
  if (answer.type() != call.result) throw_host_results("a sample");
  deliver_datum(m, frame, list[call.indices + call.parameters.size()], answer);
}

} // namespace overdub::execute
