// The event log of a cache, for tests and debugging.
#pragma once

#include <overdub/core/requirements.hpp>

#include <string>

namespace overdub {

struct compilation_event {
  enum class kind {
    step,        // a step of a compilation: staging, a context's pass, an optimisation, lowering
    stored,      // a compilation ended, and its result is stored
    failed,      // a compilation threw
    waited,      // for a compilation of another thread
    evicted,     // the cache was full
    invalidated, // a definition that it depends on changed
    cleared
  };
  kind what;
  std::string function;
  std::string detail = {}; // the step's name, or the error
};

} // namespace overdub
