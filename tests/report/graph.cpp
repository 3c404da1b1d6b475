// Graphs in reports: laid out by Graphviz, or listed if it is not installed.
#include "catch.hpp"

#include <overdub/implementation/report/graphviz.hpp>
#include <overdub/report/graph.hpp>

#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

namespace report = overdub::report;

bool has(std::string const& html, std::string_view text) { return html.find(text) != std::string::npos; }

std::size_t count(std::string const& html, std::string_view text) {
  std::size_t n = 0;
  for (std::size_t at = html.find(text); at != std::string::npos; at = html.find(text, at + 1)) ++n;
  return n;
}

// During its lifetime, no program is found in PATH.
class without_programs {
public:
  without_programs() : path_(std::getenv("PATH")) { ::setenv("PATH", "/nowhere", 1); }
  ~without_programs() { ::setenv("PATH", path_.c_str(), 1); }
  without_programs(without_programs const&) = delete;
  without_programs& operator=(without_programs const&) = delete;

private:
  std::string path_;
};

bool graphviz_is_there() { return report::graphviz("digraph {}", "plain").has_value(); }

report::graph example() {
  return {
      .title = "slice",
      .nodes = {{"a", "alpha", true}, {"b", "beta"}, {"c", "gamma", true}, {"d", "delta"}},
      .edges = {{"a", "b"}, {"a", "c"}, {"b", "d"}, {"c", "c"}},
      .note = "Seen from above."};
}

TEST_CASE("failures of dot are detected if SIGCHLD is ignored") {
  if (!graphviz_is_there()) {
    WARN("Graphviz's program dot is not there: nothing is drawn");
    return;
  }
  auto const before = std::signal(SIGCHLD, SIG_IGN);
  CHECK(report::graphviz("digraph { a -> b }", "plain")->ends_with("stop\n"));
  CHECK_THROWS_WITH(report::graphviz("digraph {", "plain"), Catch::Contains("dot failed on a graph"));
  CHECK_THROWS_WITH(report::graphviz("digraph {}", "no_format"), Catch::Contains("dot failed on a graph"));
  {
    without_programs const none;
    CHECK_FALSE(report::graphviz("digraph {}", "plain").has_value());
  }
  std::signal(SIGCHLD, before);
  CHECK_THROWS_WITH(report::graphviz("digraph {", "plain"), Catch::Contains("dot failed on a graph"));
}

TEST_CASE("a graph highlights nodes and edges") {
  if (!graphviz_is_there()) {
    WARN("Graphviz's program dot is not there: nothing is drawn");
    return;
  }
  std::string const html = example().html();
  CHECK(count(html, "<rect class=\"node\"") == 2);
  CHECK(count(html, "<rect class=\"node reached\"") == 2);
  CHECK(count(html, "<path class=\"edge\"") == 1);
  CHECK(count(html, "<path class=\"edge reached\"") == 1);
  CHECK(has(html, "<g><title>gamma</title>"));
  CHECK(has(html, "2 of 4 nodes are highlighted."));
  CHECK(has(html, "Seen from above."));
  // The path of each edge begins with M: two edges of each kind.
  std::size_t const at = html.find("<path class=\"edge reached\"");
  CHECK(count(html.substr(at, html.find("/>", at) - at), "M") == 2);
}

TEST_CASE("a graph is laid out to the right or down") {
  if (!graphviz_is_there()) {
    WARN("Graphviz's program dot is not there: nothing is drawn");
    return;
  }
  report::graph g{.title = "chain"};
  for (int i = 0; i < 12; ++i) {
    g.nodes.push_back({std::to_string(i), "n"});
    if (i > 0) g.edges.push_back({std::to_string(i - 1), std::to_string(i)});
  }
  auto const size = [&](std::string const& html, std::string const& name) {
    return std::stod(html.substr(html.find(" " + name + "=\"", html.find("<svg")) + name.size() + 3));
  };
  std::string const right = g.html();
  g.direction = report::direction::down;
  std::string const down = g.html();
  CHECK(size(right, "width") > 5 * size(right, "height"));
  CHECK(size(down, "height") > 5 * size(down, "width"));
}

TEST_CASE("ids and labels are never parsed by Graphviz") {
  std::string const bad = "\"]; n0 -> n0; } \\N <b>&lt;</b> \x01\xff {a|b}";
  report::graph const g{.title = bad, .nodes = {{bad, bad}, {"", ""}}, .edges = {{bad, ""}, {"", bad}}};
  std::string const html = g.html();
  CHECK(has(html, "2 nodes, 2 edges."));
  CHECK_FALSE(has(html, "<b>"));
}

TEST_CASE("if dot is not installed, a graph is a list, and a sentence has the reason") {
  without_programs const none;
  std::string const html = example().html();
  CHECK(has(html, "program dot, which is not there"));
  CHECK(
      has(html, "<li><b>alpha</b> → beta, gamma</li>\n<li><b>gamma</b> → gamma</li>\n<li>beta → "
                "delta</li>\n<li>delta</li>"));
  CHECK_FALSE(has(html, "<svg"));
}

TEST_CASE("large graphs are listed in part") {
  report::graph g{.title = "large"};
  for (int i = 0; i < 1000; ++i) {
    g.nodes.push_back({std::to_string(i), "n" + std::to_string(i), i == 999});
    g.edges.push_back({"0", std::to_string(i)});
  }
  std::string const html = g.html();
  CHECK(
      has(html,
          "A graph of 1000 nodes and 1000 edges is too large to be drawn. 1 of 1000 nodes is highlighted."));
  CHECK(
      has(html, "<ul class=\"nodes\">\n<li><b>n999</b></li>\n<li>n0 → n0, n1, n2, n3, n4, n5, n6, n7, and "
                "992 more</li>"));
  CHECK(count(html, "<li>") == 200);
  CHECK(has(html, "Of 1000 nodes, 200 are listed, highlighted ones first."));
}

TEST_CASE("an empty graph is a sentence") {
  CHECK(has(report::graph{.title = "none"}.html(), "There are no nodes."));
}

TEST_CASE("ids of a graph's edges must exist, and be unique") {
  CHECK_THROWS_WITH(
      (report::graph{.title = "g", .nodes = {{"a", "1"}, {"a", "2"}}}.html()),
      "overdub: two nodes of the graph \"g\" have the id \"a\": give each one of its own");
  CHECK_THROWS_WITH(
      (report::graph{.title = "g", .nodes = {{"a", "1"}}, .edges = {{"a", "b"}}}.html()),
      "overdub: an edge of the graph \"g\" names the node \"b\", which is not there");
}

TEST_CASE("a text that is no graph is rejected") {
  if (!graphviz_is_there()) {
    WARN("Graphviz's program dot is not there: nothing is drawn");
    return;
  }
  CHECK_THROWS_AS(report::graphviz("this is no graph", "plain"), report::report_error);
}

} // namespace
