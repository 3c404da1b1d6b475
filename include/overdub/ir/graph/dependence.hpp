// The data dependence inside a function, as a graph of the Boost Graph Library.
#pragma once

#include <overdub/ir/graph/edges.hpp>
#include <overdub/ir/program.hpp>
#include <overdub/ir/walk.hpp>

#include <boost/graph/graph_traits.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace overdub::ir {
/// An edge of the data dependence: the operation that defines a value, one that uses it, and the operand.
struct dependence {
  node_id from = nothing;
  node_id to = nothing;
  use_id use = nothing;
  friend bool operator==(dependence const&, dependence const&) = default;
};

namespace detail {

// Iterates over the uses of results and of region arguments; for a yield, over the uses of its operation's results; then
// for an add_to, to the yield.
struct steps_out {
  function const* f = nullptr;
  node_id n = nothing;
  // 0: results; then the arguments of each region; then the results of the yield's operation; then add_to.
  std::uint32_t part = 0;
  std::uint32_t value = 0; // in the current part
  use_id use = nothing;

  std::uint32_t parts() const { return (*f)[n].region_count + 3; }
  bool adds() const { return part + 1 == parts(); }
  id_range<value_id> values() const {
    function::node const& node = (*f)[n];
    if (part == 0) return f->results_of(n);
    if (part <= node.region_count) return f->arguments_of(f->region_at(n, part - 1));
    if (node.code == op::yield && node.parent != function::body)
      return f->results_of((*f)[node.parent].parent);
    return {0, 0};
  }
  // Advances to the next use.
  void advance() {
    while (part < parts() && use == nothing) {
      if (adds()) {
        if ((*f)[n].code == op::add_to) use = use_id{(*f)[n].first_operand};
        if (use == nothing) ++part;
      } else if (id_range<value_id> const all = values(); value < all.size()) {
        use = (*f)[all[value++]].first_use;
      } else {
        ++part;
        value = 0;
      }
    }
  }
  dependence edge() const {
    if (!adds()) return {n, (*f)[use].user, use};
    return {n, f->yield_of(f->region_of((*f)[use].value)), use};
  }
  void step() {
    use = adds() ? use_id(nothing) : (*f)[use].next;
    if (adds()) ++part;
    advance();
  }
  friend bool operator==(steps_out const& a, steps_out const& b) {
    return a.part == b.part && a.value == b.value && a.use == b.use;
  }
};

// Iterates over operands, each from its definition; then, for a yield, over additions to its region's accumulators.
struct steps_in {
  function const* f = nullptr;
  node_id n = nothing;
  std::uint32_t operand = 0;
  std::uint32_t source = 0;   // 0: the operation that defines the value; then the yields of its regions
  std::uint32_t argument = 0; // the index of the accumulator
  use_id use = nothing;       // of the accumulator

  value_id value() const { return f->operand(n, operand); }
  std::uint32_t sources() const {
    if (f->is_result(value())) return 1 + (*f)[f->node_of(value())].region_count;
    return f->is_argument(value()) && f->region_of(value()) != function::body ? 1 : 0;
  }
  bool is_operand() const { return operand < (*f)[n].operand_count; }
  id_range<value_id> accumulators() const {
    function::node const& node = (*f)[n];
    node_id const owner = (*f)[node.parent].parent;
    if (node.code == op::yield && owner != nothing && (*f)[owner].code == op::accumulate)
      return f->arguments_of(node.parent);
    return {0, 0};
  }
  void advance() {
    for (; is_operand(); ++operand, source = 0)
      if (source < sources()) return;
    for (id_range<value_id> const all = accumulators(); use == nothing && argument < all.size(); ++argument)
      use = (*f)[all[argument]].first_use;
  }
  dependence edge() const {
    if (!is_operand()) return {(*f)[use].user, n, use};
    use_id const u{(*f)[n].first_operand + operand};
    if (f->is_argument(value())) return {(*f)[f->region_of(value())].parent, n, u};
    node_id const made = f->node_of(value());
    return {source == 0 ? made : f->yield_of(f->region_at(made, source - 1)), n, u};
  }
  void step() {
    if (is_operand())
      ++source;
    else
      use = (*f)[use].next;
    advance();
  }
  friend bool operator==(steps_in const& a, steps_in const& b) {
    return a.operand == b.operand && a.source == b.source && a.argument == b.argument && a.use == b.use;
  }
};

} // namespace detail

/// The data dependence of a valid function's operations. A model of VertexListGraph, EdgeListGraph and BidirectionalGraph,
/// with the properties vertex_index (dense, in the order of the program) and vertex_name.
///
/// Vertices are all operations, including nested ones. Values flow along edges, from a definition to its use; there is one
/// edge for each use:
/// - from an operation to each operation that uses one of its results;
/// - from an operation with regions to each operation that uses an argument of one of them;
/// - from the yield of a region to each operation that uses a result of the region's operation;
/// - from an add_to to the yield of the region that the accumulator belongs to.
/// The program order is a topological order, since loop-carried dependences are no edges. Nor are dependences by side
/// effects (effects.hpp). Uses of parameters and literals have no edge.
///
/// A view of the program, which must not be edited meanwhile. Construction is O(operations and uses). Vertices and edges
/// are found in O(1) each; for yields of regions with k results, in O(k).
class dependence_graph {
public:
  using vertex_descriptor = node_id;
  using edge_descriptor = dependence;
  using directed_category = boost::bidirectional_tag;
  using edge_parallel_category = boost::allow_parallel_edge_tag;
  struct traversal_category : boost::bidirectional_graph_tag,
                              boost::vertex_list_graph_tag,
                              boost::edge_list_graph_tag {};
  using vertices_size_type = std::size_t;
  using edges_size_type = std::size_t;
  using degree_size_type = std::size_t;
  using vertex_iterator = std::vector<node_id>::const_iterator;
  using out_edge_iterator = detail::edge_iterator<dependence, detail::steps_out>;
  using in_edge_iterator = detail::edge_iterator<dependence, detail::steps_in>;
  using edge_iterator = detail::edge_iterator<dependence, detail::steps_over_all<dependence_graph>>;
  using adjacency_iterator = void;
  static vertex_descriptor null_vertex() { return nothing; }

  dependence_graph(program const& p, function_id f) : program_(&p), f_(&p[f]) {
    vertices_.index.resize(f_->node_count());
    walk(*f_, function::body, [&](node_id n) {
      vertices_.add(n);
      edge_count_ += in_degree(n, *this);
    });
  }

  program const& owner() const { return *program_; }

  friend std::pair<vertex_iterator, vertex_iterator> vertices(dependence_graph const& g) {
    return {g.vertices_.all.begin(), g.vertices_.all.end()};
  }
  friend std::size_t num_vertices(dependence_graph const& g) { return g.vertices_.all.size(); }
  friend node_id source(dependence const& e, dependence_graph const&) { return e.from; }
  friend node_id target(dependence const& e, dependence_graph const&) { return e.to; }
  friend std::pair<out_edge_iterator, out_edge_iterator> out_edges(node_id n, dependence_graph const& g) {
    detail::steps_out first{.f = g.f_, .n = n};
    detail::steps_out last = first;
    first.advance();
    last.part = last.parts();
    return {out_edge_iterator(first), out_edge_iterator(last)};
  }
  friend std::pair<in_edge_iterator, in_edge_iterator> in_edges(node_id n, dependence_graph const& g) {
    detail::steps_in first{.f = g.f_, .n = n};
    detail::steps_in last = first;
    last.operand = (*g.f_)[n].operand_count;
    last.argument = static_cast<std::uint32_t>(last.accumulators().size());
    first.advance();
    return {in_edge_iterator(first), in_edge_iterator(last)};
  }
  friend std::size_t out_degree(node_id n, dependence_graph const& g) {
    return detail::count(out_edges(n, g));
  }
  friend std::size_t in_degree(node_id n, dependence_graph const& g) { return detail::count(in_edges(n, g)); }
  friend std::size_t degree(node_id n, dependence_graph const& g) {
    return out_degree(n, g) + in_degree(n, g);
  }
  friend std::pair<edge_iterator, edge_iterator> edges(dependence_graph const& g) {
    return detail::all_edges<edge_iterator>(g);
  }
  friend std::size_t num_edges(dependence_graph const& g) { return g.edge_count_; }

  /// The index of an operation among the vertices.
  std::uint32_t index(node_id n) const { return vertices_.index[index_of(n)]; }
  /// The label of an operation: `%x = call @f`.
  std::string name(node_id n) const {
    function::node const& node = (*f_)[n];
    std::string text;
    for (value_id const v : f_->results_of(n))
      if (symbol const s = (*f_)[v].name; s != nothing)
        text.append(text.empty() ? "" : ", ").append("%").append(program_->text(s));
    text.append(text.empty() ? "" : " = ").append(name_of(node.code));
    if (node.code == op::call || node.code == op::closure)
      text.append(" @").append(program_->name_of(node.attributes.callee()));
    return text;
  }

private:
  program const* program_;
  function const* f_;
  detail::vertex_table<node_id> vertices_;
  std::size_t edge_count_ = 0;
};

} // namespace overdub::ir
