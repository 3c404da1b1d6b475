#include "draw.hpp"
#include "failure.hpp"

#include <overdub/implementation/report/graphviz.hpp>

namespace overdub::tools {

std::string svg_of(std::string const& graph) {
  try {
    if (auto picture = report::graphviz(graph, "svg")) return *std::move(picture);
  } catch (report::report_error const& e) {
    throw failure(exit_code::file, "overdub-opt: " + std::string(e.what()).substr(9)); // without "overdub: "
  }
  throw failure(
      exit_code::file,
      "overdub-opt: the picture is drawn by the program dot, which is not there; install Graphviz, or "
      "write the graph's text with --dot");
}

} // namespace overdub::tools
