// graphviz: runs Graphviz's program dot as a child process.
#pragma once

#include <overdub/report/text.hpp>

#include <optional>
#include <string>

namespace overdub::report {

/// The output of dot for a graph in its language, in a format such as "svg"; nothing if dot is not installed. Throws report_error if dot
/// fails, or if temporary files cannot be written. If the process ignores SIGCHLD, the exit status of dot is unknown: it counts as failed
/// if it wrote nothing. Messages of dot go to the standard error.
std::optional<std::string> graphviz(std::string const& graph, std::string const& format);

} // namespace overdub::report
