// Runs code in a child process, since the reader of LLVM may crash on damaged bitcode.
#pragma once

#include <cstdint>

namespace overdub::lifting {

enum class child_end : std::uint8_t { returned, crashed, timed_out };

/// Calls run(object) in a child process with a limit of time, and returns how it ended. What it writes to stderr is discarded. If there
/// can be no child process, returns `returned`. POSIX.
child_end run_in_child(void (*run)(void const* object), void const* object, unsigned seconds);

} // namespace overdub::lifting
