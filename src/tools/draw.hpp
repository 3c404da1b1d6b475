// Draws programs as graphs, by Graphviz.
#pragma once

#include <overdub/ir/program.hpp>

#include <string>
#include <string_view>

namespace overdub::tools {

/// A graph in the DOT language: the call graph for "calls", the data dependence of a function for "@f"; for an empty name,
/// that of the entry or the only function, else the call graph. Throws failure.
std::string graph_of(ir::program const& p, std::string_view name);

/// Renders a graph as SVG with Graphviz's dot. Throws failure if dot is missing.
std::string svg_of(std::string const& graph);

} // namespace overdub::tools
