// Programs as graphs of the Boost Graph Library: the data dependence inside a function, and the calls between functions.
// They are views that model the library's concepts; include the algorithms that you use.
#pragma once

#include <overdub/ir/graph/calls.hpp>
#include <overdub/ir/graph/dependence.hpp>

#include <type_traits>

namespace overdub::ir {
namespace detail {

template <class G>
concept graph_of_program = std::is_same_v<G, dependence_graph> || std::is_same_v<G, call_graph>;
template <class P>
concept property_of_vertices =
    std::is_same_v<P, boost::vertex_index_t> || std::is_same_v<P, boost::vertex_name_t>;

} // namespace detail

template <detail::property_of_vertices Property, detail::graph_of_program Graph>
vertex_property<Graph, Property> get(Property, Graph const& g) {
  return vertex_property<Graph, Property>(g);
}
template <detail::property_of_vertices Property, detail::graph_of_program Graph>
auto get(Property p, Graph const& g, typename Graph::vertex_descriptor v) {
  return get(get(p, g), v);
}

} // namespace overdub::ir

template <overdub::ir::detail::graph_of_program Graph, overdub::ir::detail::property_of_vertices Property>
struct boost::property_map<Graph, Property> {
  using type = overdub::ir::vertex_property<Graph, Property>;
  using const_type = type;
};
