#include "structure.hpp"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/strong_components.hpp>
#include <boost/graph/topological_sort.hpp>

#include <algorithm>
#include <bit>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

namespace overdub::lifting {
namespace {

constexpr std::uint32_t none = ~std::uint32_t{0};

struct no_structure {
  std::string problem;
  std::uint32_t block;
};

struct variable_assignment {
  std::uint32_t variable;
  std::uint32_t value;
};

// The graph, in which cycles are replaced by vertices of kind `loop` until each region is acyclic.
struct arc {
  std::uint32_t target;
  std::vector<variable_assignment> assigns; // when control passes
};
struct vertex {
  enum class kind : std::uint8_t { nothing, block, selection, loop };
  kind is = kind::nothing;
  std::uint32_t subject = 0; // the block, or the variable that selects or repeats
  std::uint32_t inside = 0;  // loop: its region
  std::vector<arc> out;
};
// Vertices that are entered at one and left to a common end.
struct region {
  std::vector<std::uint32_t> members;
  std::uint32_t entry = 0;
  std::uint32_t end = 0;
};

struct region_graph {
  std::vector<vertex> vertices;
  std::vector<region> regions; // the first is the function
  std::vector<std::uint32_t> value_count;

  std::uint32_t add(vertex v) {
    vertices.push_back(std::move(v));
    return static_cast<std::uint32_t>(vertices.size() - 1);
  }
  std::uint32_t add_variable(std::size_t values) {
    value_count.push_back(static_cast<std::uint32_t>(values));
    return static_cast<std::uint32_t>(value_count.size() - 1);
  }
  std::uint32_t block_near(std::uint32_t v) const {
    while (vertices[v].is == vertex::kind::loop) v = regions[vertices[v].inside].entry;
    return vertices[v].is == vertex::kind::block ? vertices[v].subject : 0;
  }
};

// Numbers vertices in the order in which they are first seen.
class numbering {
public:
  std::uint32_t operator()(std::uint32_t v) {
    auto const [at, is_new] = number_.try_emplace(v, static_cast<std::uint32_t>(all.size()));
    if (is_new) all.push_back(v);
    return at->second;
  }
  bool has(std::uint32_t v) const { return number_.contains(v); }
  std::vector<std::uint32_t> all;

private:
  std::map<std::uint32_t, std::uint32_t> number_;
};

using plain_graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;

// The arcs inside of a region, by the indices of its members. `index` maps vertices to them, and others to none.
plain_graph arcs_within(region_graph const& g, region const& r, std::vector<std::uint32_t> const& index) {
  plain_graph out(r.members.size());
  for (std::uint32_t i = 0; i < r.members.size(); ++i)
    for (arc const& a : g.vertices[r.members[i]].out)
      if (index[a.target] != none) boost::add_edge(i, index[a.target], out);
  return out;
}

region_graph graph_of(flow_graph const& from) {
  region_graph g;
  auto const count = static_cast<std::uint32_t>(from.successors.size());
  std::vector<std::uint32_t> vertex_of(count, none);
  std::uint32_t const start = g.add({}), end = g.add({});
  region all{{start}, start, end};
  std::vector<std::uint32_t> pending;
  auto const reach = [&](std::uint32_t b) {
    if (vertex_of[b] == none) {
      vertex_of[b] = g.add({vertex::kind::block, b, 0, {}});
      all.members.push_back(vertex_of[b]);
      pending.push_back(b);
    }
    return vertex_of[b];
  };
  std::uint32_t const first = reach(0);
  g.vertices[start].out.push_back({first, {}});
  for (std::size_t at = 0; at < pending.size(); ++at) {
    std::uint32_t const b = pending[at];
    std::vector<arc> out;
    for (std::uint32_t const s : from.successors[b]) out.push_back({reach(s), {}});
    if (out.empty()) out.push_back({end, {}});
    g.vertices[vertex_of[b]].out = std::move(out);
  }
  g.regions.push_back(std::move(all));
  return g;
}

// Loop restructuring: each cycle is entered at one vertex, and repeats from its end alone.
class loop_restructurer {
public:
  explicit loop_restructurer(region_graph& g) : g_(g) {}
  void run() {
    for (std::uint32_t r = 0; r < g_.regions.size(); ++r) contract(r);
  }

private:
  struct entering_arc {
    std::uint32_t source;
    std::uint32_t index; // among the arcs of its source
    std::uint32_t target;
  };
  struct cycle {
    std::vector<std::uint32_t> members;
    std::vector<entering_arc> entering;
    std::uint32_t vertex = 0; // that replaces it
  };

  void contract(std::uint32_t r) {
    std::vector<cycle> cycles = cycles_of(r);
    if (cycles.empty()) return;
    std::vector<std::uint32_t> outside;
    for (std::uint32_t const v : g_.regions[r].members)
      if (cycle_of_[v] == none) outside.push_back(v);
    for (cycle& c : cycles) c.vertex = g_.add({vertex::kind::loop, 0, 0, {}});
    cycle_of_.resize(g_.vertices.size(), none);
    for (std::uint32_t i = 0; i < cycles.size(); ++i) {
      replace(cycles[i], i, outside);
      outside.push_back(cycles[i].vertex);
    }
    // Arcs from one cycle to another now enter the vertex of that one.
    for (std::uint32_t const v : outside)
      for (arc& a : g_.vertices[v].out)
        if (cycle_of_[a.target] != none) a.target = cycles[cycle_of_[a.target]].vertex;
    g_.regions[r].members = std::move(outside);
    for (cycle const& c : cycles)
      for (std::uint32_t const v : c.members) cycle_of_[v] = none;
  }

  std::vector<cycle> cycles_of(std::uint32_t r) {
    region const& in = g_.regions[r];
    index_.resize(g_.vertices.size(), none);
    cycle_of_.resize(g_.vertices.size(), none);
    auto const count = static_cast<std::uint32_t>(in.members.size());
    for (std::uint32_t i = 0; i < count; ++i) index_[in.members[i]] = i;
    plain_graph const arcs = arcs_within(g_, in, index_);
    for (std::uint32_t const v : in.members) index_[v] = none;
    std::vector<std::uint32_t> component(count);
    if (count == 0) return {};
    auto const components = static_cast<std::uint32_t>(boost::strong_components(
        arcs, boost::make_iterator_property_map(component.begin(), boost::get(boost::vertex_index, arcs))));
    std::vector<std::uint32_t> size(components), number(components, none);
    for (std::uint32_t const c : component) ++size[c];
    std::vector<cycle> cycles;
    for (std::uint32_t i = 0; i < count; ++i) {
      std::uint32_t const v = in.members[i], c = component[i];
      bool const repeats_itself =
          std::ranges::any_of(g_.vertices[v].out, [&](arc const& a) { return a.target == v; });
      if (size[c] == 1 && !repeats_itself) continue;
      if (number[c] == none) {
        number[c] = static_cast<std::uint32_t>(cycles.size());
        cycles.emplace_back();
      }
      cycles[number[c]].members.push_back(v);
      cycle_of_[v] = number[c];
    }
    for (std::uint32_t const v : in.members)
      for (std::uint32_t i = 0; i < g_.vertices[v].out.size(); ++i) {
        std::uint32_t const target = g_.vertices[v].out[i].target, entered = cycle_of_[target];
        if (entered != none && entered != cycle_of_[v]) cycles[entered].entering.push_back({v, i, target});
      }
    return cycles;
  }

  // Makes a cycle a region of its own, which `c.vertex` runs.
  void replace(cycle& c, std::uint32_t number, std::vector<std::uint32_t>& outside) {
    std::uint32_t const end = g_.add({});
    std::uint32_t const repeat = g_.add_variable(2);
    cycle_of_.resize(g_.vertices.size(), none);

    numbering entries;
    for (entering_arc const& a : c.entering) (void)entries(a.target);
    std::uint32_t head = entries.all.front();
    std::optional<std::uint32_t> entry_variable;
    if (entries.all.size() > 1) {
      entry_variable = g_.add_variable(entries.all.size());
      vertex select{vertex::kind::selection, *entry_variable, 0, {}};
      for (std::uint32_t const v : entries.all) select.out.push_back({v, {}});
      head = g_.add(std::move(select));
      for (entering_arc const& a : c.entering)
        g_.vertices[a.source].out[a.index].assigns.push_back({*entry_variable, entries(a.target)});
    }
    // Entering arcs keep their targets until all cycles are replaced: they may leave another one.

    numbering exits;
    std::vector<arc*> leaving;
    for (std::uint32_t const v : c.members)
      for (arc& a : g_.vertices[v].out) {
        bool const leaves = cycle_of_[a.target] != number;
        if (!leaves && !entries.has(a.target)) continue;
        if (leaves) {
          (void)exits(a.target);
          leaving.push_back(&a);
        } else {
          if (entry_variable) a.assigns.push_back({*entry_variable, entries(a.target)});
          a.target = end;
        }
        a.assigns.push_back({repeat, leaves ? 0u : 1u});
      }
    if (exits.all.empty()) throw no_structure{"a loop without an exit", g_.block_near(head)};
    std::vector<arc> onward;
    if (exits.all.size() > 1) {
      std::uint32_t const exit_variable = g_.add_variable(exits.all.size());
      for (arc* const a : leaving) a->assigns.push_back({exit_variable, exits(a->target)});
      vertex select{vertex::kind::selection, exit_variable, 0, {}};
      for (std::uint32_t const v : exits.all) select.out.push_back({v, {}});
      for (arc* const a : leaving) a->target = end;
      std::uint32_t const selects = g_.add(std::move(select));
      outside.push_back(selects);
      onward.push_back({selects, {}});
    } else {
      for (arc* const a : leaving) a->target = end;
      onward.push_back({exits.all.front(), {}});
    }
    cycle_of_.resize(g_.vertices.size(), none);

    region inside{c.members, head, end};
    if (entry_variable) inside.members.push_back(head);
    vertex& loop = g_.vertices[c.vertex];
    loop.subject = repeat;
    loop.inside = static_cast<std::uint32_t>(g_.regions.size());
    loop.out = std::move(onward);
    g_.regions.push_back(std::move(inside));
  }

  region_graph& g_;
  std::vector<std::uint32_t> index_;    // of members in their region
  std::vector<std::uint32_t> cycle_of_; // the cycles of the current region, by vertex
};

// Immediate dominators in an acyclic region: that of a vertex is the lowest common ancestor of its predecessors.
class acyclic_dominators {
public:
  acyclic_dominators(region_graph const& g, region const& r, std::vector<std::uint32_t>& index) {
    region with_end = r;
    with_end.members.push_back(r.end);
    auto const count = static_cast<std::uint32_t>(with_end.members.size());
    for (std::uint32_t i = 0; i < count; ++i) index[with_end.members[i]] = i;
    plain_graph const arcs = arcs_within(g, with_end, index);
    std::vector<std::uint32_t> order;
    boost::topological_sort(arcs, std::back_inserter(order)); // in reverse
    parent_.assign(count, none);
    depth_.assign(count, 0);
    skip_.assign(count, none);
    position.assign(count, 0);
    arcs_in.assign(count, 0);
    for (std::uint32_t i = count; i-- > 0;) {
      std::uint32_t const v = order[i];
      position[v] = count - 1 - i;
      if (parent_[v] == none)
        depth_[v] = 0, skip_[v] = v; // the entry
      else
        link(v);
      for (auto [e, last] = boost::out_edges(v, arcs); e != last; ++e) {
        auto const w = static_cast<std::uint32_t>(boost::target(*e, arcs));
        ++arcs_in[w];
        parent_[w] = parent_[w] == none ? v : common(parent_[w], v);
      }
    }
  }
  std::uint32_t of(std::uint32_t i) const { return parent_[i]; }
  std::vector<std::uint32_t> position; // in topological order
  std::vector<std::uint32_t> arcs_in;

private:
  // Jump pointers: E. W. Myers, An applicative random-access stack, Information Processing Letters 17(5), 1983.
  void link(std::uint32_t v) {
    std::uint32_t const p = parent_[v];
    depth_[v] = depth_[p] + 1;
    bool const doubles = depth_[p] - depth_[skip_[p]] == depth_[skip_[p]] - depth_[skip_[skip_[p]]];
    skip_[v] = doubles ? skip_[skip_[p]] : p;
  }
  std::uint32_t common(std::uint32_t a, std::uint32_t b) const {
    if (depth_[a] < depth_[b]) std::swap(a, b);
    while (depth_[a] > depth_[b]) a = depth_[skip_[a]] >= depth_[b] ? skip_[a] : parent_[a];
    while (a != b) {
      bool const skips = skip_[a] != skip_[b];
      a = skips ? skip_[a] : parent_[a];
      b = skips ? skip_[b] : parent_[b];
    }
    return a;
  }
  std::vector<std::uint32_t> parent_, depth_, skip_;
};

// Branch restructuring: writes the tree of acyclic regions.
class tree_writer {
public:
  tree_writer(region_graph& g, structure_limits const& limits) : g_(g), limits_(limits) {}

  tree run() {
    index_.assign(g_.vertices.size(), none);
    out_.root = sequence_of(0, 0);
    out_.value_count = std::move(g_.value_count);
    return std::move(out_);
  }

private:
  // The sequences whose ends lead out of a part of the tree, by the vertex to which they lead, in topological order.
  struct exit_group {
    std::uint32_t target;
    std::vector<std::uint32_t> sequences;
  };
  using exit_groups = std::map<std::uint32_t, exit_group>;

  struct state {
    region const& r;
    acyclic_dominators dominators;
  };
  std::uint32_t at(std::uint32_t v) const { return index_[v]; }

  std::uint32_t add(tree::kind is, std::uint32_t subject, std::uint32_t value = 0) {
    if (out_.nodes.size() >= limits_.nodes) throw no_structure{"control flow that is too irregular", 0};
    out_.nodes.push_back({is, subject, value, {}});
    return static_cast<std::uint32_t>(out_.nodes.size() - 1);
  }
  std::uint32_t add_to(std::uint32_t parent, tree::kind is, std::uint32_t subject, std::uint32_t value = 0) {
    std::uint32_t const n = add(is, subject, value);
    out_.nodes[parent].children.push_back(n);
    return n;
  }
  void assign(std::uint32_t sequence, std::vector<variable_assignment> const& all) {
    for (variable_assignment const& a : all) add_to(sequence, tree::kind::assignment, a.variable, a.value);
  }

  std::uint32_t sequence_of(std::uint32_t number, std::uint32_t depth) {
    region const& r = g_.regions[number];
    state s{r, acyclic_dominators(g_, r, index_)};
    std::uint32_t const sequence = add(tree::kind::sequence, 0);
    (void)walk(s, r.entry, sequence, depth);
    return sequence;
  }

  void place(std::uint32_t v, std::uint32_t sequence, std::uint32_t depth) {
    vertex const& x = g_.vertices[v];
    if (x.is == vertex::kind::block) add_to(sequence, tree::kind::block, x.subject);
    if (x.is != vertex::kind::loop) return;
    std::uint32_t const inside = x.inside;
    std::uint32_t const loop = add_to(sequence, tree::kind::loop, x.subject);
    std::uint32_t const body = sequence_of(inside, depth + 1);
    out_.nodes[loop].children.push_back(body);
  }

  static void merge(exit_groups& into, exit_groups from) {
    if (into.size() < from.size()) std::swap(into, from);
    for (auto& [position, group] : from) {
      auto const [at, is_new] = into.try_emplace(position, std::move(group));
      if (is_new) continue;
      std::vector<std::uint32_t>&a = at->second.sequences, &b = group.sequences;
      if (a.size() < b.size()) std::swap(a, b);
      a.insert(a.end(), b.begin(), b.end());
    }
  }

  // The child of a branch for an arc to `target`: control continues there, if no other arc leads to it.
  void
  arm(state& s, std::uint32_t branch, std::uint32_t target, std::vector<variable_assignment> const& assigns,
      exit_groups& exits, std::uint32_t depth) {
    std::uint32_t const sequence = add_to(branch, tree::kind::sequence, 0);
    assign(sequence, assigns);
    if (target != s.r.end && s.dominators.arcs_in[at(target)] == 1) {
      merge(exits, walk(s, target, sequence, depth + 1));
    } else {
      merge(exits, {{s.dominators.position[at(target)], {target, {sequence}}}});
    }
  }

  // Writes what vertex v dominates to the end of a sequence, and returns where control goes from there.
  exit_groups walk(state& s, std::uint32_t v, std::uint32_t sequence, std::uint32_t depth) {
    if (depth > limits_.nesting)
      throw no_structure{
          "branches and loops that are nested more than " + std::to_string(limits_.nesting) + " deep",
          g_.block_near(v)};
    while (true) {
      place(v, sequence, depth);
      if (g_.vertices[v].out.size() == 1) {
        arc const& only = g_.vertices[v].out.front();
        assign(sequence, only.assigns);
        if (only.target == s.r.end || s.dominators.arcs_in[at(only.target)] != 1)
          return {{s.dominators.position[at(only.target)], {only.target, {sequence}}}};
        v = only.target;
        continue;
      }
      bool const selects = g_.vertices[v].is == vertex::kind::selection;
      std::uint32_t const branch =
          add_to(sequence, selects ? tree::kind::selection : tree::kind::branch, g_.vertices[v].subject);
      exit_groups exits;
      std::uint32_t const arms = depth + (selects ? levels(g_.vertices[v].out.size()) : 0);
      for (arc const& a : g_.vertices[v].out) arm(s, branch, a.target, a.assigns, exits, arms);
      std::uint32_t const next = tail(s, v, sequence, exits, depth);
      if (next == none) return exits;
      v = next;
    }
  }
  // How deeply n alternatives nest when each question has two answers.
  static std::uint32_t levels(std::size_t n) { return static_cast<std::uint32_t>(std::bit_width(n - 1)) - 1; }

  // Continues after the branch at v. Returns the vertex with which the sequence goes on; none if control leaves what v dominates.
  std::uint32_t
  tail(state& s, std::uint32_t v, std::uint32_t sequence, exit_groups& exits, std::uint32_t depth) {
    auto const is_dominated = [&](exit_group const& to) {
      return to.target != s.r.end && s.dominators.of(at(to.target)) == at(v);
    };
    while (true) {
      std::vector<exit_group> continued;
      for (auto at = exits.begin(); at != exits.end();)
        if (is_dominated(at->second)) {
          continued.push_back(std::move(at->second));
          at = exits.erase(at);
        } else
          ++at;
      if (continued.empty()) return none;
      if (continued.size() == 1 && exits.empty()) return continued.front().target;
      std::size_t const ways = continued.size() + (exits.empty() ? 0 : 1);
      std::uint32_t const variable = g_.add_variable(ways);
      for (std::uint32_t i = 0; i < continued.size(); ++i) {
        for (std::uint32_t const from : continued[i].sequences)
          add_to(from, tree::kind::assignment, variable, i);
        std::uint32_t& arcs = s.dominators.arcs_in[at(continued[i].target)];
        arcs = arcs - static_cast<std::uint32_t>(continued[i].sequences.size()) + 1;
      }
      for (auto const& [position, group] : exits)
        for (std::uint32_t const from : group.sequences)
          add_to(from, tree::kind::assignment, variable, static_cast<std::uint32_t>(continued.size()));
      std::uint32_t const selection = add_to(sequence, tree::kind::selection, variable);
      exit_groups onward;
      for (exit_group const& group : continued)
        arm(s, selection, group.target, {}, onward, depth + levels(ways));
      if (!exits.empty()) add_to(selection, tree::kind::sequence, 0);
      merge(exits, std::move(onward));
    }
  }

  region_graph& g_;
  structure_limits const& limits_;
  tree out_;
  std::vector<std::uint32_t> index_; // of a vertex in its region
};

void append(std::string& out, tree const& t, std::uint32_t n, std::size_t indent) {
  tree::node const& x = t.nodes[n];
  std::string const margin(indent, ' ');
  auto const block = [&](std::uint32_t child) {
    out += "{\n";
    append(out, t, child, indent + 2);
    out += margin + '}';
  };
  std::string const subject = std::to_string(x.subject);
  switch (x.is) {
  case tree::kind::sequence:
    for (std::uint32_t const child : x.children) append(out, t, child, indent);
    return;
  case tree::kind::block:
    out += margin + 'b' + subject + '\n';
    return;
  case tree::kind::assignment:
    out += margin + 'v' + subject + " = " + std::to_string(x.value) + '\n';
    return;
  case tree::kind::branch:
  case tree::kind::selection:
    out += margin + (x.is == tree::kind::branch ? "branch b" : "select v") + subject + ' ';
    for (std::size_t i = 0; i < x.children.size(); ++i) {
      if (i > 0) out += ' ';
      block(x.children[i]);
    }
    break;
  case tree::kind::loop:
    out += margin + "repeat ";
    block(x.children.front());
    out += " while v" + subject;
    break;
  }
  out += '\n';
}

} // namespace

structured restructure(flow_graph const& g, structure_limits const& limits) {
  structured result;
  try {
    if (g.successors.empty()) throw no_structure{"a function without blocks", 0};
    if (g.successors.size() > limits.blocks)
      throw no_structure{"more than " + std::to_string(limits.blocks) + " blocks", 0};
    region_graph regions = graph_of(g);
    loop_restructurer(regions).run();
    result.tree = tree_writer(regions, limits).run();
  } catch (no_structure const& e) {
    result.problem = e.problem;
    result.block = e.block;
  }
  return result;
}

std::string text_of(tree const& t) {
  std::string out;
  append(out, t, t.root, 0);
  return out;
}

} // namespace overdub::lifting
