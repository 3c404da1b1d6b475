// The classes of effects: what may be dropped, moved and run in parallel follows from them.
#pragma once

#include <overdub/core/requirements.hpp>

#include <cstdint>

namespace overdub {

/// What an operation or a native function does besides returning its result. Later ones include earlier ones.
enum class effect : std::uint8_t {
  pure,          // nothing: equal arguments give equal results
  may_fail,      // may throw
  reads_context, // reads state that others write
  addressed,     // a random choice at an address; commutes with other addresses
  accumulates,   // adds to state; commutes with itself
  ordered        // anything else: input and output, order matters
};

} // namespace overdub
