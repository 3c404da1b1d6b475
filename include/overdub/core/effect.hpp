// Side effects of operations. They determine which operations may be removed, moved, or run in parallel.
#pragma once

#include <overdub/core/requirements.hpp>

#include <cstdint>

namespace overdub {

/// The side effects of an operation or a native function, in increasing order: each includes the previous ones.
enum class effect : std::uint8_t {
  pure,          // no side effect: equal arguments have equal results
  may_fail,      // may throw
  reads_context, // reads state that other operations write
  addressed,     // a random choice at an address; commutes with other addresses
  accumulates,   // adds to state; commutes with itself
  ordered        // any other, such as input and output: the order matters
};

} // namespace overdub
