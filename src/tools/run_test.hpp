// Runs text tests.
#pragma once

#include <ostream>
#include <string>

namespace overdub::tools {

/// Runs the text test in a file, and reports failures. With `bless`, updates expected outputs that differ, and values for
/// `== ?`. Returns whether it passed. Throws failure if the file cannot be read or written.
bool run_test(std::string const& path, bool bless, std::ostream& out);

} // namespace overdub::tools
