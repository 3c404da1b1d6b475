// Runs text tests.
#pragma once

#include <ostream>
#include <string>

namespace overdub::tools {

/// Runs the text test in a file, and says what failed. With `bless`, expected outputs that differ are rewritten, and so are
/// values that are asked for by `== ?`. Whether it passed. Throws failure, when the file cannot be read or written.
bool run_test(std::string const& path, bool bless, std::ostream& out);

} // namespace overdub::tools
