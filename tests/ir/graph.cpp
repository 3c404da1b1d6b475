// Programs as graphs of the Boost Graph Library: the concepts that they model, and unmodified algorithms on them.
#include "catch.hpp"
#include "ir/samples.hpp"

#include <overdub/ir/calls.hpp>
#include <overdub/ir/graph.hpp>

#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/graph_concepts.hpp>
#include <boost/graph/graphviz.hpp>
#include <boost/graph/reverse_graph.hpp>
#include <boost/graph/strong_components.hpp>
#include <boost/graph/topological_sort.hpp>

#include <algorithm>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace samples;

BOOST_CONCEPT_ASSERT((boost::VertexListGraphConcept<dependence_graph>));
BOOST_CONCEPT_ASSERT((boost::EdgeListGraphConcept<dependence_graph>));
BOOST_CONCEPT_ASSERT((boost::BidirectionalGraphConcept<dependence_graph>));
BOOST_CONCEPT_ASSERT((boost::VertexListGraphConcept<call_graph>));
BOOST_CONCEPT_ASSERT((boost::EdgeListGraphConcept<call_graph>));
BOOST_CONCEPT_ASSERT((boost::BidirectionalGraphConcept<call_graph>));
BOOST_CONCEPT_ASSERT((boost::ReadablePropertyGraphConcept<dependence_graph, node_id, boost::vertex_index_t>));
BOOST_CONCEPT_ASSERT((boost::ReadablePropertyGraphConcept<dependence_graph, node_id, boost::vertex_name_t>));
BOOST_CONCEPT_ASSERT((boost::ReadablePropertyGraphConcept<call_graph, function_id, boost::vertex_index_t>));
BOOST_CONCEPT_ASSERT((boost::ReadablePropertyGraphConcept<call_graph, function_id, boost::vertex_name_t>));

// All edges, as "from -> to" by name.
template <class Graph>
std::vector<std::string> named_edges(Graph const& g) {
  std::vector<std::string> all;
  for (auto [at, end] = edges(g); at != end; ++at)
    all.push_back(g.name(source(*at, g)) + " -> " + g.name(target(*at, g)));
  std::sort(all.begin(), all.end());
  return all;
}
template <class Graph>
std::string reached_from(Graph const& g, typename Graph::vertex_descriptor start, bool backwards = false) {
  std::vector<boost::default_color_type> colors(num_vertices(g));
  auto const index = get(boost::vertex_index, g);
  auto const color = boost::make_iterator_property_map(colors.begin(), index);
  if (backwards)
    boost::breadth_first_search(
        boost::make_reverse_graph(g), start, boost::vertex_index_map(index).color_map(color));
  else
    boost::breadth_first_search(g, start, boost::color_map(color));
  std::string text;
  for (auto [at, end] = vertices(g); at != end; ++at)
    if (get(color, *at) == boost::black_color) text.append(text.empty() ? "" : ", ").append(g.name(*at));
  return text;
}

// f(x) = sqrt of the sum of x[i] * x[i], and another value
program squares() {
  program p;
  define(p, "f", {f64s, f64}, {f64}, [&](cursor& c, values x) {
    auto const named = [&](value_id v, char const* name) {
      c.set_name(v, p.intern(name));
      return v;
    };
    value_id const n = named(c.add(op::length, x[0]), "n");
    named(c.add(op::sin, x[1]), "other");
    node_id const map = with_regions(c, op::map, {n}, {f64s}, {{i64}});
    named(c->result(map), "m");
    fill(c, c->region_at(map, 0), [&](cursor& in, values i) {
      value_id const e = named(in.add(op::at, x[0], i[0]), "e");
      return values{named(in.add(op::mul, e, e), "p")};
    });
    value_id const s = named(c->result(c.insert(op::reduce, {c->result(map)}, attributes::of(op::add))), "s");
    return values{named(c.add(op::sqrt, s), "r")};
  });
  return p;
}

} // namespace

TEST_CASE("values flow along edges, one for each use, into regions and out of them through yields") {
  program const p = squares();
  dependence_graph const g(p, function_id{0});
  CHECK(
      named_edges(g) == std::vector<std::string>{
                            "%e = at -> %p = mul", "%e = at -> %p = mul", "%m = map -> %e = at",
                            "%m = map -> %s = reduce", "%n = length -> %m = map", "%p = mul -> yield",
                            "%r = sqrt -> yield", "%s = reduce -> %r = sqrt", "yield -> %s = reduce"});
  CHECK(num_edges(g) == 9);
  CHECK(num_vertices(g) == 9);
}

TEST_CASE("values that are added to an accumulator flow to the yield that ends it") {
  program p = histogram();
  dependence_graph const g(p, p.entry);
  std::vector<std::string> const all = named_edges(g);
  CHECK(std::count(all.begin(), all.end(), "add_to -> yield") == 1);
  CHECK(std::count(all.begin(), all.end(), "accumulate -> add_to") == 1);
  node_id at = nothing;
  walk(p[p.entry], function::body, [&](node_id n) {
    if (p[p.entry][n].code == op::at) at = n;
  });
  CHECK(reached_from(g, at) == "at, add_to, yield, yield"); // of accumulate, and of the body
}

TEST_CASE("reversed edges equal the edges, on every sample") {
  for (program const& p : all())
    for (std::uint32_t i = 0; i < p.functions.size(); ++i) {
      dependence_graph const g(p, function_id{i});
      auto const order = [](dependence const& a, dependence const& b) {
        return std::tuple(index_of(a.from), index_of(a.to), index_of(a.use)) <
               std::tuple(index_of(b.from), index_of(b.to), index_of(b.use));
      };
      std::vector<dependence> forwards, backwards;
      for (auto [at, end] = vertices(g); at != end; ++at) {
        auto const out = out_edges(*at, g);
        auto const in = in_edges(*at, g);
        std::copy(out.first, out.second, std::back_inserter(forwards));
        std::copy(in.first, in.second, std::back_inserter(backwards));
        CHECK(out_degree(*at, g) + in_degree(*at, g) == degree(*at, g));
      }
      std::sort(forwards.begin(), forwards.end(), order);
      std::sort(backwards.begin(), backwards.end(), order);
      CHECK(forwards == backwards);
      CHECK(std::adjacent_find(forwards.begin(), forwards.end()) == forwards.end());
      CHECK(num_edges(g) == forwards.size());
      std::vector<dependence> listed;
      std::copy(edges(g).first, edges(g).second, std::back_inserter(listed));
      CHECK(listed.size() == forwards.size());
    }
}

TEST_CASE("the order of the program is a topological order, and Boost finds one on every sample") {
  for (program const& p : all())
    for (std::uint32_t i = 0; i < p.functions.size(); ++i) {
      dependence_graph const g(p, function_id{i});
      for (auto [at, end] = edges(g); at != end; ++at)
        CHECK(get(boost::vertex_index, g, source(*at, g)) < get(boost::vertex_index, g, target(*at, g)));
      std::vector<node_id> sorted; // users first
      boost::topological_sort(g, std::back_inserter(sorted));
      REQUIRE(sorted.size() == num_vertices(g));
      std::vector<std::size_t> position(p[function_id{i}].node_count());
      for (std::size_t k = 0; k < sorted.size(); ++k) position[index_of(sorted[k])] = k;
      for (auto [at, end] = edges(g); at != end; ++at)
        CHECK(position[index_of(at.operator*().from)] > position[index_of((*at).to)]);
    }
}

TEST_CASE("breadth-first search finds the operations that depend on an operation") {
  program const p = squares();
  dependence_graph const g(p, function_id{0});
  auto const vertex = [&](std::size_t i) { return vertices(g).first[static_cast<std::ptrdiff_t>(i)]; };
  CHECK(g.name(vertex(0)) == "%n = length");
  CHECK(
      reached_from(g, vertex(0)) ==
      "%n = length, %m = map, %e = at, %p = mul, yield, %s = reduce, %r = sqrt, yield");
  CHECK(reached_from(g, vertex(1)) == "%other = sin");
}

TEST_CASE("erased operations and functions are not vertices") {
  program p = squares();
  cursor c(p, function_id{0});
  while (c.next())
    if (c.code() == op::sin) c.erase();
  p.erase(define(p, "gone", {}, {}, [](cursor&, values) { return values{}; }));
  dependence_graph const g(p, function_id{0});
  CHECK(num_vertices(g) == 8);
  std::vector<std::uint32_t> indices;
  for (auto [at, end] = vertices(g); at != end; ++at) indices.push_back(get(boost::vertex_index, g, *at));
  CHECK(indices == std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(num_vertices(call_graph(p)) == 1);
}

namespace {

// even and odd are mutually recursive, main calls even twice, and makes a closure of lone.
program recursion() {
  program p;
  for (auto const name : {"main", "even", "odd", "lone"}) (void)p.add(name, types{});
  auto const call = [&](std::uint32_t from, std::uint32_t to) {
    cursor(p, function_id{from}, function::body).insert(op::call, {}, attributes::of(function_id{to}));
  };
  call(0, 1);
  call(0, 1);
  call(1, 2);
  call(2, 1);
  types const thunk{p.function_type({})};
  cursor(p, function_id{0}, function::body)
      .insert(op::closure, values{}, thunk, attributes::of(function_id{3}));
  for (std::uint32_t i = 0; i < 4; ++i) cursor(p, function_id{i}, function::body).yield({});
  return p;
}

} // namespace

TEST_CASE("the call graph has an edge for each call and each closure") {
  program const p = recursion();
  call_graph const g(p);
  CHECK(
      named_edges(g) ==
      std::vector<std::string>{"even -> odd", "main -> even", "main -> even", "main -> lone", "odd -> even"});
  CHECK(num_edges(g) == 5);
  CHECK(out_degree(function_id{0}, g) == 3);
  CHECK(reached_from(g, function_id{1}) == "even, odd");
}

TEST_CASE("the calls of a function are the edges from its callers") {
  program const p = recursion();
  call_graph const g(p);
  std::vector<function_call> in, out;
  for (auto [f, last] = vertices(g); f != last; ++f) {
    for (auto [at, end] = in_edges(*f, g); at != end; ++at) {
      CHECK(target(*at, g) == *f);
      in.push_back(*at);
    }
    CHECK(degree(*f, g) == in_degree(*f, g) + out_degree(*f, g));
  }
  for (auto [at, end] = edges(g); at != end; ++at) out.push_back(*at);
  CHECK(in.size() == out.size());
  CHECK(std::ranges::is_permutation(in, out));
  CHECK(in_degree(function_id{1}, g) == 3);
  CHECK(in_degree(function_id{0}, g) == 0);
  // Finds the functions that may reach a function: Boost's searches on the reversed graph.
  CHECK(reached_from(g, function_id{2}, true) == "main, even, odd");
}

TEST_CASE("callers lists the calls and closures that name a function, in the order of the program") {
  program const p = recursion();
  callers const all(p);
  auto const names = [&](function_id f) {
    std::string text;
    for (function_call const& c : all.of(f)) {
      CHECK(c.callee == f);
      CHECK(p[c.caller][c.at].attributes.callee() == f);
      text.append(text.empty() ? "" : ", ").append(p.name_of(c.caller));
    }
    return text;
  };
  CHECK(names(function_id{0}).empty());
  CHECK(names(function_id{1}) == "main, main, odd");
  CHECK(names(function_id{2}) == "even");
  CHECK(names(function_id{3}) == "main");
}

TEST_CASE("Boost's strong components of the call graph are those of the effect analysis") {
  program const p = recursion();
  call_graph const g(p);
  std::vector<std::size_t> component(num_vertices(g));
  auto const map = boost::make_iterator_property_map(component.begin(), get(boost::vertex_index, g));
  CHECK(boost::strong_components(g, map) == 3);
  CHECK(component[1] == component[2]);
  call_components const own(p);
  CHECK(own.size() == 3);
  for (std::size_t i = 0; i < own.size(); ++i)
    for (function_id const f : own[i]) CHECK(component[index_of(f)] == component[index_of(own[i].front())]);
}

TEST_CASE("both graphs are drawn by Graphviz, with names") {
  program const p = squares();
  dependence_graph const g(p, function_id{0});
  std::ostringstream out;
  boost::write_graphviz(out, g, boost::make_label_writer(get(boost::vertex_name, g)));
  CHECK_THAT(out.str(), Catch::Matchers::Contains("0[label=\"%n = length\"];\n"));
  CHECK_THAT(out.str(), Catch::Matchers::Contains("3->4 ;\n"));
  program const q = recursion();
  call_graph const calls(q);
  std::ostringstream drawn;
  boost::write_graphviz(drawn, calls, boost::make_label_writer(get(boost::vertex_name, calls)));
  CHECK(
      drawn.str() == "digraph G {\n0[label=main];\n1[label=even];\n2[label=odd];\n3[label=lone];\n0->1 "
                     ";\n0->1 ;\n0->3 ;\n1->2 "
                     ";\n2->1 ;\n}\n");
}
