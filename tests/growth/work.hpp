// How much work a function does, as a number that is the same in each run: basic blocks that were executed, and words that were copied.
// For sources that are compiled with -fsanitize-coverage=trace-pc, with headers alone: what is in libraries is not counted.
#pragma once

#include <cstdint>

namespace growth {

/// Since the program began, on this thread.
std::uint64_t work();

template <class F>
double work_of(F const& f) {
  std::uint64_t const before = work();
  f();
  return static_cast<double>(work() - before);
}

} // namespace growth
