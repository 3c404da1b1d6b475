#include <overdub/implementation/reverse/residual_problem.hpp>

// g++ warns that Boost.Graph's optional iterators may be uninitialised.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <boost/config.hpp>
// Boost before 1.81 derives from std::unary_function, which libc++ declares in C++14 only.
#if defined(_LIBCPP_VERSION) && !defined(BOOST_NO_CXX98_FUNCTION_BASE)
#define BOOST_NO_CXX98_FUNCTION_BASE
#endif
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/boykov_kolmogorov_max_flow.hpp>

#include <algorithm>

namespace overdub::adjoint {
namespace detail {

// A flow network with the reverse edges that the algorithm requires.
class network {
  using traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
  struct vertex {
    traits::edge_descriptor predecessor;
    boost::default_color_type colour = boost::white_color;
    double distance = 0;
  };
  struct edge {
    double capacity = 0;
    double residual = 0;
    traits::edge_descriptor reverse;
  };
  using graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, vertex, edge>;

public:
  explicit network(std::size_t vertices) : graph_(vertices) {}

  void connect(std::size_t from, std::size_t to, double capacity) {
    auto const forward = boost::add_edge(from, to, graph_).first;
    auto const backward = boost::add_edge(to, from, graph_).first;
    graph_[forward].capacity = capacity;
    graph_[forward].reverse = backward;
    graph_[backward].reverse = forward;
  }
  double flow(std::size_t source, std::size_t sink) {
    return boost::boykov_kolmogorov_max_flow(
        graph_, boost::get(&edge::capacity, graph_), boost::get(&edge::residual, graph_),
        boost::get(&edge::reverse, graph_), boost::get(&vertex::predecessor, graph_),
        boost::get(&vertex::colour, graph_), boost::get(&vertex::distance, graph_),
        boost::get(boost::vertex_index, graph_), source, sink);
  }
  // After `flow`: whether a vertex is on the source's side of the cut.
  bool is_with_source(std::size_t v) const { return graph_[v].colour == boost::black_color; }

private:
  graph graph_;
};

} // namespace detail

residual_choice choose_residuals(residual_problem const& problem) {
  // The sink's side has the values available in the backward pass, and the operations that it recomputes.
  std::size_t const values = problem.values.size(), operations = problem.operations.size();
  std::size_t const source = values + operations, sink = source + 1;
  double bound = 1; // exceeds the sum of finite capacities when doubled
  auto const count = [&](double cost) {
    if (cost < residual_problem::never) bound += cost;
  };
  for (auto const& v : problem.values) count(v.cost_of_saving);
  for (auto const& o : problem.operations) count(o.cost);
  bound *= 2;
  auto const capacity = [&](double cost) { return std::min(cost, bound); };

  detail::network flow(sink + 1);
  for (std::size_t i = 0; i < values; ++i) {
    auto const& v = problem.values[i];
    flow.connect(
        v.made_by == residual_problem::none ? source : values + v.made_by, i, capacity(v.cost_of_saving));
    if (v.is_needed) flow.connect(i, sink, bound);
  }
  for (std::size_t i = 0; i < operations; ++i) {
    flow.connect(source, values + i, capacity(problem.operations[i].cost));
    for (std::uint32_t const taken : problem.operations[i].takes) flow.connect(taken, values + i, bound);
  }
  residual_choice choice{std::vector<bool>(values), flow.flow(source, sink)};
  if (choice.cost >= bound) choice.cost = residual_problem::never;
  for (std::size_t i = 0; i < values; ++i) {
    std::uint32_t const maker = problem.values[i].made_by;
    bool const is_made = maker != residual_problem::none && !flow.is_with_source(values + maker);
    choice.saves[i] = !flow.is_with_source(i) && !is_made;
  }
  return choice;
}

} // namespace overdub::adjoint
