// The work of a function, as a number that is the same in each run: executed basic blocks and copied words. Sources that use it are
// compiled with -fsanitize-coverage=trace-pc; work in libraries is not counted.
#pragma once

#include <cstdint>

namespace growth {

/// The work of this thread since the program began.
std::uint64_t work();

template <class F>
double work_of(F const& f) {
  std::uint64_t const before = work();
  f();
  return static_cast<double>(work() - before);
}

} // namespace growth
