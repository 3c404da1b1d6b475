// Compiled code that is abandoned before it has side effects.
#pragma once

#include <overdub/execute/code.hpp>

namespace overdub::inline OVERDUB_EXECUTE_ABI::execute {

/// Whether compiled code ran to its end; false if it throws fails_ahead.
template <class Run>
bool ran_ahead(Run const& run) {
  try {
    run();
    return true;
  } catch (fails_ahead const&) {
    return false;
  }
}

} // namespace overdub::inline OVERDUB_EXECUTE_ABI::execute
