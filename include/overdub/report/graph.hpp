// graph: a directed graph, as of dependencies, with highlighted nodes, as those that an update affects.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/report/share.hpp>

#include <string>
#include <vector>

namespace overdub::report {

/// The direction of a graph's edges.
enum class direction { right, down };

/// A directed graph. Nodes may be highlighted; edges between highlighted nodes are, too. Graphviz lays it out; its input has sizes and no
/// text, so that no label can be parsed as its language. If the program dot is not installed, and for more than 300 nodes or 1500 edges,
/// the block is a list instead, with the reason.
struct graph {
  struct node {
    std::string id, label;
    bool highlighted = false;
  };
  struct edge {
    std::string from, to; ///< ids of nodes
  };

  std::string title;
  std::vector<node> nodes = {};
  std::vector<edge> edges = {};
  report::direction direction = report::direction::right;
  std::string note = {};
  share width = share::whole;

  /// Throws report_error where two nodes have one id, and for an edge of an unknown node. Time: that of dot, up to some two seconds.
  std::string html() const;
};

} // namespace overdub::report
