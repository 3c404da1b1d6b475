// Programs as graphs, drawn by Graphviz.
#pragma once

#include <overdub/ir/program.hpp>

#include <string>
#include <string_view>

namespace overdub::tools {

/// The text of a graph in Graphviz's language: of the calls of a program for "calls", of a function's data dependence for
/// "@f"; and for no name of what says most, the program's entry or its only function, else the calls. Throws failure.
std::string graph_of(ir::program const& p, std::string_view name);

/// The picture of a graph as SVG, made by Graphviz's program dot. Throws failure, where there is none.
std::string svg_of(std::string const& graph);

} // namespace overdub::tools
