// What a cache did, as a list: for tests of what is compiled when, and for people who wonder.
#pragma once

#include <overdub/core/requirements.hpp>

#include <string>

namespace overdub {

struct compilation_event {
  enum class kind {
    step,        // of a compilation: staging, a context's pass, an optimisation, lowering
    stored,      // a compilation ended, and what it made is kept
    failed,      // it threw
    waited,      // for what another thread compiled
    evicted,     // there was no room
    invalidated, // what it was made of changed
    cleared
  };
  kind what;
  std::string function;
  std::string detail = {}; // the step's name, or the error
};

} // namespace overdub
