// What the graphs of graph.hpp share: edge iterators, vertex indices, property maps.
#pragma once

#include <overdub/ir/id.hpp>

#include <boost/graph/properties.hpp>
#include <boost/property_map/property_map.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub::ir {
namespace detail {

// An iterator over the edges of one vertex, or of all. `Steps` has the current edge, advances, and knows the end.
template <class Edge, class Steps>
class edge_iterator {
public:
  using value_type = Edge;
  using reference = Edge;
  using pointer = void;
  using difference_type = std::ptrdiff_t;
  using iterator_category = std::input_iterator_tag;
  using iterator_concept = std::forward_iterator_tag;

  edge_iterator() = default;
  explicit edge_iterator(Steps const& at) : at_(at) {}

  Edge operator*() const { return at_.edge(); }
  edge_iterator& operator++() { return at_.step(), *this; }
  edge_iterator operator++(int) {
    edge_iterator const before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(edge_iterator const& a, edge_iterator const& b) { return a.at_ == b.at_; }
  friend bool operator!=(edge_iterator const& a, edge_iterator const& b) { return !(a == b); }

private:
  Steps at_;
};

// The edges of all vertices, vertex by vertex.
template <class Graph>
struct steps_over_all {
  Graph const* g = nullptr;
  typename Graph::vertex_iterator vertex{};
  typename Graph::out_edge_iterator at{}, end{};

  void advance() {
    auto const last = vertices(*g).second;
    while (at == end && vertex != last && ++vertex != last) std::tie(at, end) = out_edges(*vertex, *g);
    if (vertex == last) at = end = {};
  }
  auto edge() const { return *at; }
  void step() {
    ++at;
    advance();
  }
  friend bool operator==(steps_over_all const& a, steps_over_all const& b) {
    return a.vertex == b.vertex && a.at == b.at;
  }
};

template <class EdgeIterator, class Graph>
std::pair<EdgeIterator, EdgeIterator> all_edges(Graph const& g) {
  auto const [begin, end] = vertices(g);
  steps_over_all<Graph> first{&g, begin, {}, {}};
  if (begin != end) std::tie(first.at, first.end) = out_edges(*begin, g);
  first.advance();
  return {EdgeIterator(first), EdgeIterator(steps_over_all<Graph>{&g, end, {}, {}})};
}

template <class Iterator>
std::size_t count(std::pair<Iterator, Iterator> range) {
  std::size_t n = 0;
  for (; range.first != range.second; ++range.first) ++n;
  return n;
}

// A bidirectional map between vertices and indices.
template <class Vertex>
struct vertex_table {
  std::vector<Vertex> all;
  std::vector<std::uint32_t> index;

  void add(Vertex v) {
    index[index_of(v)] = static_cast<std::uint32_t>(all.size());
    all.push_back(v);
  }
};

} // namespace detail

/// A vertex property of one of the graphs, as a readable property map.
template <class Graph, class Property>
class vertex_property {
  static constexpr bool is_index = std::is_same_v<Property, boost::vertex_index_t>;

public:
  using key_type = typename Graph::vertex_descriptor;
  using value_type = std::conditional_t<is_index, std::uint32_t, std::string>;
  using reference = value_type;
  using category = boost::readable_property_map_tag;

  vertex_property() = default;
  explicit vertex_property(Graph const& g) : g_(&g) {}
  friend value_type get(vertex_property const& map, key_type v) {
    if constexpr (is_index)
      return map.g_->index(v);
    else
      return map.g_->name(v);
  }

private:
  Graph const* g_ = nullptr;
};

} // namespace overdub::ir
