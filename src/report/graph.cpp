#include <overdub/implementation/report/figure.hpp>
#include <overdub/implementation/report/graphviz.hpp>
#include <overdub/io/number_text.hpp>
#include <overdub/report/graph.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace overdub::report {
namespace {

using link = std::pair<std::size_t, std::size_t>; // numbers of nodes
constexpr std::size_t most_letters = 28;          // of a label, at most
constexpr double letter = 7.3, node_height = 26, unit = 72;

std::vector<link> links_of(graph const& g) {
  std::unordered_map<std::string_view, std::size_t> numbers;
  for (std::size_t i = 0; i < g.nodes.size(); ++i)
    if (!numbers.emplace(g.nodes[i].id, i).second)
      throw report_error(message(
          "overdub: two nodes of the graph \"%.80s\" have the id \"%.80s\": give each one of its own",
          g.title.c_str(), g.nodes[i].id.c_str()));
  auto const number_of = [&](std::string const& id) {
    auto const found = numbers.find(id);
    if (found == numbers.end())
      throw report_error(message(
          "overdub: an edge of the graph \"%.80s\" names the node \"%.80s\", which is not there",
          g.title.c_str(), id.c_str()));
    return found->second;
  };
  std::vector<link> links;
  for (graph::edge const& e : g.edges) links.emplace_back(number_of(e.from), number_of(e.to));
  return links;
}

double node_width(graph::node const& n) {
  return 18 + letter * static_cast<double>(std::clamp<std::size_t>(length(n.label), 1, most_letters));
}

std::string language(graph const& g, std::vector<link> const& links) {
  std::string text = "digraph {\n";
  text += g.direction == direction::right ? "rankdir=LR; nodesep=0.14; ranksep=0.5;\n"
                                          : "rankdir=TB; nodesep=0.18; ranksep=0.38;\n";
  text += "nslimit=4; nslimit1=4; node [shape=box, fixedsize=true, label=\"\"]; edge [arrowsize=0.6];\n";
  for (std::size_t i = 0; i < g.nodes.size(); ++i)
    text += "n" + std::to_string(i) + " [width=" + writing::fixed(node_width(g.nodes[i]) / unit, 4) +
            ", height=" + writing::fixed(node_height / unit, 4) + "];\n";
  for (auto const& [from, to] : links)
    text += "n" + std::to_string(from) + " -> n" + std::to_string(to) + ";\n";
  return text + "}\n";
}

// Parses dot's format "plain": lines of words, with coordinates in inches from the bottom left corner.
struct words {
  std::string_view rest;

  std::string_view next() {
    std::size_t const begin = std::min(rest.find_first_not_of(' '), rest.size());
    std::size_t const end = std::min(rest.find(' ', begin), rest.size());
    std::string_view const word = rest.substr(begin, end - begin);
    rest.remove_prefix(end);
    return word;
  }
  template <class T>
  T number(std::string_view word) {
    T value{};
    if (!io::parse_whole(word, value))
      throw report_error(message("overdub: Graphviz's program dot wrote a layout that cannot be read"));
    return value;
  }
  double next_number() { return number<double>(next()); }
  std::size_t next_count() { return number<std::size_t>(next()); }
  std::size_t next_node() { return number<std::size_t>(next().substr(1)); } // n12
};

// A curve of cubic splines, and an arrowhead at its end.
void draw_edge(std::vector<writing::point> const& p, std::string& lines, std::string& heads) {
  using writing::figure;
  if (p.size() < 2) return;
  figure::step(lines, 'M', p[0]);
  for (std::size_t k = 1; k < p.size(); ++k) figure::step(lines, k == 1 ? 'C' : ' ', p[k]);
  auto const end = p.back();
  double dx = 0, dy = 0, far = 0;
  for (std::size_t k = p.size() - 1; k-- > 0 && far < 1e-3;) { // control points may coincide
    dx = end.x - p[k].x;
    dy = end.y - p[k].y;
    far = std::hypot(dx, dy);
  }
  if (far == 0) return;
  dx /= far;
  dy /= far;
  constexpr double long_ = 6, half = 3.2;
  figure::step(heads, 'M', {end.x + long_ * dx, end.y + long_ * dy});
  figure::step(heads, 'L', {end.x - half * dy, end.y + half * dx});
  figure::step(heads, 'L', {end.x + half * dy, end.y - half * dx});
  heads += 'Z';
}

std::string picture(graph const& g, std::string_view plain, std::string const& count) {
  using namespace writing;
  constexpr double margin = 4;
  std::optional<figure> f;
  double height = 0;
  std::string edges_drawn, edges_highlighted, heads, heads_highlighted;
  std::vector<std::pair<std::size_t, point>> places;
  auto const place = [&](words& w) {
    double const x = w.next_number() * unit, y = w.next_number() * unit;
    return point{margin + x, margin + height - y};
  };
  while (!plain.empty()) {
    std::size_t const end = std::min(plain.find('\n'), plain.size());
    words w{plain.substr(0, end)};
    plain.remove_prefix(std::min(end + 1, plain.size()));
    std::string_view const kind = w.next();
    if (kind == "graph") {
      w.next(); // the scale
      double const wide = w.next_number() * unit;
      height = w.next_number() * unit;
      f.emplace(std::string(class_of(g.width)) + " graph", wide + 2 * margin, height + 2 * margin, g.title);
    } else if (kind == "node") {
      std::size_t const i = w.next_node();
      places.emplace_back(i, place(w));
    } else if (kind == "edge") {
      std::size_t const from = w.next_node(), to = w.next_node();
      bool const stands_out = g.nodes.at(from).highlighted && g.nodes.at(to).highlighted;
      std::vector<point> points(w.next_count());
      for (point& p : points) p = place(w);
      draw_edge(points, stands_out ? edges_highlighted : edges_drawn, stands_out ? heads_highlighted : heads);
    }
  }
  if (!f || places.size() != g.nodes.size())
    throw report_error(message("overdub: Graphviz's program dot wrote a layout that cannot be read"));
  f->say(count);
  f->path("edge", edges_drawn);
  f->path("head", heads);
  f->path("edge reached", edges_highlighted);
  f->path("head reached", heads_highlighted);
  for (auto const& [i, centre] : places) {
    graph::node const& n = g.nodes.at(i);
    std::string const reached = n.highlighted ? " reached" : "";
    f->open_group(n.label);
    double const w = node_width(n);
    f->rectangle("node" + reached, {centre.x - w / 2, centre.y - node_height / 2}, w, node_height, 6);
    f->text("label middle" + reached, {centre.x, centre.y + 4}, shortened(n.label, most_letters));
    f->close_group();
  }
  f->note(g.note);
  return f->html();
}

// Each node with its successors, highlighted nodes first.
std::string list(graph const& g, std::string const& why, std::vector<link> const& links) {
  std::vector<std::size_t> order;
  for (bool const which : {true, false})
    for (std::size_t i = 0; i < g.nodes.size(); ++i)
      if (g.nodes[i].highlighted == which) order.push_back(i);
  constexpr std::size_t limit = 200, edge_limit = 8;
  std::vector<std::vector<std::size_t>> next(g.nodes.size());
  for (auto const& [from, to] : links) next[from].push_back(to);

  std::string out = "<figure class=\"" + std::string(writing::class_of(g.width)) + "\"><figcaption>" +
                    escaped(g.title) + "</figcaption><p>" + escaped(why) + "</p>";
  if (!g.nodes.empty()) out += "\n<ul class=\"nodes\">\n";
  for (std::size_t k = 0; k < std::min(limit, order.size()); ++k) {
    graph::node const& n = g.nodes[order[k]];
    out += n.highlighted ? "<li><b>" + escaped(n.label) + "</b>" : "<li>" + escaped(n.label);
    auto const& targets = next[order[k]];
    for (std::size_t t = 0; t < std::min(edge_limit, targets.size()); ++t)
      out += (t == 0 ? " → " : ", ") + escaped(g.nodes[targets[t]].label);
    if (targets.size() > edge_limit) out += ", and " + std::to_string(targets.size() - edge_limit) + " more";
    out += "</li>\n";
  }
  if (!g.nodes.empty()) out += "</ul>";
  if (order.size() > limit)
    out += "<p class=\"note\">Of " + counted(g.nodes.size(), "node") + ", " + std::to_string(limit) +
           " are listed, highlighted ones first.</p>";
  if (!g.note.empty()) out += "<p class=\"note\">" + escaped(g.note) + "</p>";
  return out + "</figure>\n";
}

} // namespace

std::string graph::html() const {
  auto const links = links_of(*this);
  auto const highlighted = static_cast<std::size_t>(std::ranges::count_if(nodes, &node::highlighted));
  std::string const count = highlighted == 0
                                ? counted(nodes.size(), "node") + ", " + counted(edges.size(), "edge")
                                : std::to_string(highlighted) + " of " + counted(nodes.size(), "node") +
                                      (highlighted == 1 ? " is" : " are") + " highlighted";
  if (nodes.empty()) return list(*this, "There are no nodes.", links);
  if (nodes.size() > 300 || edges.size() > 1500)
    return list(
        *this,
        "A graph of " + counted(nodes.size(), "node") + " and " + counted(edges.size(), "edge") +
            " is too large to be drawn. " + count + ".",
        links);
  auto const layout = graphviz(language(*this, links), "plain");
  if (!layout)
    return list(
        *this,
        "The graph is drawn by Graphviz's program dot, which is not there: install it, and write the "
        "report again. " +
            count + ".",
        links);
  return picture(*this, *layout, count + ".");
}

} // namespace overdub::report
