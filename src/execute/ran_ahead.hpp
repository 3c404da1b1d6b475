// Runs compiled code that may stop before its first side effect, so that the interpreter can run the program instead.
#pragma once

#include <overdub/execute/code.hpp>

namespace overdub::execute {

/// Runs compiled code. Returns false if it throws fails_ahead, and else true.
template <class Run>
bool ran_ahead(Run const& run) {
  try {
    run();
    return true;
  } catch (fails_ahead const&) {
    return false;
  }
}

} // namespace overdub::execute
