// The event log of a cache, for tests and debugging.
#pragma once

#include <overdub/core/requirements.hpp>

#include <string>

namespace overdub {

/// An event of a cache: the start of a step, or a change of an entry.
struct compilation_event {
  enum class kind {
    step,        // a step of a compilation: staging, a context's pass, an optimisation, lowering
    stored,      // a compilation ended, and its result is stored
    failed,      // a compilation threw
    waited,      // a thread waited for the compilation of another thread
    evicted,     // a result was removed, since the cache was full
    invalidated, // a definition on which the result depends changed
    cleared
  };
  kind what;
  std::string function;
  std::string detail = {}; // the step's name, or the error
};

} // namespace overdub
