// How an instruction's handler is written: its parameters, and its call of the next one.
#pragma once

#include <overdub/execute/instruction.hpp>

// Whether a call at the end of a handler is a guaranteed tail call. GNU compilers make one whenever they optimise (-O1
// needs a flag); clang has an attribute.
#if !defined(OVERDUB_TAIL_CALLS)
#if defined(__clang__) || defined(__OPTIMIZE__)
#define OVERDUB_TAIL_CALLS 1
#else
#define OVERDUB_TAIL_CALLS 0
#endif
#endif

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

// The parameters of a handler, and its tail call of the next instruction.
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

namespace overdub::execute {

/// Where the machine continues, if handlers return to a loop.
void go_on(machine* m, instruction const* at, std::byte* frame, i64 x, double y);

} // namespace overdub::execute
