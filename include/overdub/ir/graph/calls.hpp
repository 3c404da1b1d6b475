// The calls between the functions of a program, as a graph of the Boost Graph Library.
#pragma once

#include <overdub/ir/callers.hpp>
#include <overdub/ir/graph/edges.hpp>
#include <overdub/ir/program.hpp>

#include <boost/graph/graph_traits.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace overdub::ir {
namespace detail {

// Iterates over the calls and closures in the storage of a function.
struct steps_over_calls {
  program const* p = nullptr;
  function_id caller = nothing;
  std::uint32_t at = 0;

  void advance() {
    function const& f = (*p)[caller];
    for (; at < f.node_count(); ++at) {
      function::node const& node = f[node_id{at}];
      if (node.parent != nothing && (node.code == op::call || node.code == op::closure)) return;
    }
  }
  function_call edge() const { return {caller, (*p)[caller][node_id{at}].attributes.callee(), node_id{at}}; }
  void step() {
    ++at;
    advance();
  }
  friend bool operator==(steps_over_calls const& a, steps_over_calls const& b) { return a.at == b.at; }
};

} // namespace detail

/// The calls of a program. A model of VertexListGraph, EdgeListGraph and BidirectionalGraph, with the properties vertex_index
/// (dense, in the order of the program) and vertex_name.
///
/// Vertices are the functions. There is an edge from a function to a callee for each call, and for each closure of the
/// callee.
///
/// A view of the program, which must not be edited meanwhile. Construction is O(operations), and so is iteration over all
/// edges; iteration over out-edges is O(operations of the function), over in-edges O(their number).
class call_graph {
public:
  using vertex_descriptor = function_id;
  using edge_descriptor = function_call;
  using directed_category = boost::bidirectional_tag;
  using edge_parallel_category = boost::allow_parallel_edge_tag;
  struct traversal_category : boost::bidirectional_graph_tag,
                              boost::vertex_list_graph_tag,
                              boost::edge_list_graph_tag {};
  using vertices_size_type = std::size_t;
  using edges_size_type = std::size_t;
  using degree_size_type = std::size_t;
  using vertex_iterator = std::vector<function_id>::const_iterator;
  using out_edge_iterator = detail::edge_iterator<function_call, detail::steps_over_calls>;
  using in_edge_iterator = std::span<function_call const>::iterator;
  using edge_iterator = detail::edge_iterator<function_call, detail::steps_over_all<call_graph>>;
  using adjacency_iterator = void;
  static vertex_descriptor null_vertex() { return nothing; }

  explicit call_graph(program const& p) : program_(&p), callers_(p) {
    vertices_.index.resize(p.functions.size());
    for (std::uint32_t i = 0; i < p.functions.size(); ++i) {
      if (p.is_erased(function_id{i})) continue;
      vertices_.add(function_id{i});
      edge_count_ += out_degree(function_id{i}, *this);
    }
  }

  program const& owner() const { return *program_; }

  friend std::pair<vertex_iterator, vertex_iterator> vertices(call_graph const& g) {
    return {g.vertices_.all.begin(), g.vertices_.all.end()};
  }
  friend std::size_t num_vertices(call_graph const& g) { return g.vertices_.all.size(); }
  friend function_id source(function_call const& e, call_graph const&) { return e.caller; }
  friend function_id target(function_call const& e, call_graph const&) { return e.callee; }
  friend std::pair<out_edge_iterator, out_edge_iterator> out_edges(function_id f, call_graph const& g) {
    detail::steps_over_calls first{.p = g.program_, .caller = f};
    detail::steps_over_calls last = first;
    first.advance();
    last.at = (*g.program_)[f].node_count();
    return {out_edge_iterator(first), out_edge_iterator(last)};
  }
  friend std::size_t out_degree(function_id f, call_graph const& g) { return detail::count(out_edges(f, g)); }
  friend std::pair<in_edge_iterator, in_edge_iterator> in_edges(function_id f, call_graph const& g) {
    std::span<function_call const> const all = g.callers_.of(f);
    return {all.begin(), all.end()};
  }
  friend std::size_t in_degree(function_id f, call_graph const& g) { return g.callers_.of(f).size(); }
  friend std::size_t degree(function_id f, call_graph const& g) { return out_degree(f, g) + in_degree(f, g); }
  friend std::pair<edge_iterator, edge_iterator> edges(call_graph const& g) {
    return detail::all_edges<edge_iterator>(g);
  }
  friend std::size_t num_edges(call_graph const& g) { return g.edge_count_; }

  /// The index of a function among the vertices.
  std::uint32_t index(function_id f) const { return vertices_.index[index_of(f)]; }
  /// The function's name.
  std::string name(function_id f) const { return std::string(program_->name_of(f)); }

private:
  program const* program_;
  callers callers_;
  detail::vertex_table<function_id> vertices_;
  std::size_t edge_count_ = 0;
};

} // namespace overdub::ir
