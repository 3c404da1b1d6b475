#include <overdub/ir/calls.hpp>
#include <overdub/ir/walk.hpp>

#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/strong_components.hpp> // without recursion, unless BOOST_RECURSIVE_DFS is defined

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace overdub::ir {
namespace {

// Calls visit(callee) for each call and closure of a function.
template <class F>
void for_each_callee(function const& f, F const& visit) {
  for (std::uint32_t i = 0; i < f.node_count(); ++i)
    if (node_id const n{i}; !f.is_erased(n) && (f[n].code == op::call || f[n].code == op::closure))
      visit(f[n].attributes.callee());
}

} // namespace

call_components::call_components(program const& p) : recursive_(p.functions.size()) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> calls;
  for (std::uint32_t i = 0; i < p.functions.size(); ++i)
    if (!p.is_erased(function_id{i}))
      for_each_callee(p[function_id{i}], [&](function_id callee) {
        calls.emplace_back(i, index_of(callee));
        if (index_of(callee) == i) recursive_[i] = true;
      });
  // The call graph: its vertices are indices of functions.
  boost::compressed_sparse_row_graph<boost::directedS> const graph(
      boost::edges_are_unsorted_multi_pass, calls.begin(), calls.end(), p.functions.size());
  std::vector<std::uint32_t> component(p.functions.size());
  std::size_t const count = boost::strong_components(
      graph, boost::make_iterator_property_map(component.begin(), get(boost::vertex_index, graph)));

  std::vector<std::vector<function_id>> members(count); // Boost numbers callees first
  for (std::uint32_t i = 0; i < p.functions.size(); ++i)
    if (!p.is_erased(function_id{i})) members[component[i]].push_back(function_id{i});
  for (std::vector<function_id> const& all : members) {
    if (all.empty()) continue;
    first_.push_back(order_.size());
    for (function_id const f : all) {
      order_.push_back(f);
      if (all.size() > 1) recursive_[index_of(f)] = true;
    }
  }
}

std::span<function_id const> call_components::operator[](std::size_t i) const {
  std::size_t const end = i + 1 < first_.size() ? first_[i + 1] : order_.size();
  return std::span(order_).subspan(first_[i], end - first_[i]);
}

std::vector<bool> functions_with(
    program const& p, call_components const& components,
    overdub::detail::function_view<bool(function const&, node_id)> has) {
  std::vector<bool> found(p.functions.size());
  for (std::size_t i = 0; i < components.size(); ++i) { // callees first
    bool any = false;
    for (function_id const f : components[i])
      walk(p[f], function::body, [&](node_id n) {
        any =
            any || has(p[f], n) || (p[f][n].code == op::call && found[index_of(p[f][n].attributes.callee())]);
      });
    for (function_id const f : components[i]) found[index_of(f)] = any;
  }
  return found;
}

std::vector<function_id>
reachable_functions(program const& p, function_id entry, with_derivatives derivatives) {
  std::vector<function_id> reached{entry};
  std::vector<bool> is_reached(p.functions.size());
  is_reached[index_of(entry)] = true;
  auto const reach = [&](function_id f) {
    if (is_reached[index_of(f)]) return;
    is_reached[index_of(f)] = true;
    reached.push_back(f);
  };
  for (std::size_t i = 0; i < reached.size(); ++i) {
    function const& f = p[reached[i]];
    if (derivatives == with_derivatives::yes)
      for (function_id const rule : {f.derivative.tangent, f.derivative.cotangent})
        if (rule != nothing) reach(rule);
    for_each_callee(f, reach);
  }
  return reached;
}

} // namespace overdub::ir
