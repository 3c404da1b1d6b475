#include "draw.hpp"

#include "failure.hpp"

#include <overdub/ir/graph.hpp>

#include <boost/graph/graphviz.hpp>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <spawn.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

namespace overdub::tools {
namespace {

template <class Graph>
std::string drawn(Graph const& g) {
  std::ostringstream out;
  boost::write_graphviz(
      out, g, boost::make_label_writer(get(boost::vertex_name, g)), boost::default_writer(),
      [](std::ostream& head) { head << "node [shape=box, fontname=monospace];\n"; });
  return std::move(out).str();
}

std::optional<ir::function_id> only_function(ir::program const& p) {
  std::optional<ir::function_id> only;
  for (std::uint32_t i = 0; i < p.functions.size(); ++i) {
    if (p.is_erased(ir::function_id{i})) continue;
    if (only) return {};
    only = ir::function_id{i};
  }
  return only;
}

struct closing {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using file = std::unique_ptr<std::FILE, closing>;

[[noreturn]] void fail(std::string const& why) { throw failure(exit_code::file, "overdub-opt: " + why); }

} // namespace

std::string graph_of(ir::program const& p, std::string_view name) {
  std::optional<ir::function_id> f;
  if (name.empty()) {
    f = p.entry != ir::nothing ? p.entry : only_function(p);
  } else if (name != "calls") {
    if (name.starts_with('@')) f = p.find(name.substr(1));
    if (!f)
      throw failure(
          exit_code::usage, "overdub-opt: there is no graph " + std::string(name) +
                                "; name a function of the program, as in @f, or write calls");
  }
  return f ? drawn(ir::dependence_graph(p, *f)) : drawn(ir::call_graph(p));
}

std::string svg_of(std::string const& graph) {
  file const in(std::tmpfile());
  file const out(std::tmpfile());
  if (!in || !out || std::fwrite(graph.data(), 1, graph.size(), in.get()) != graph.size())
    fail("a temporary file cannot be written: " + std::string(std::strerror(errno)));
  std::rewind(in.get());

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, fileno(in.get()), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, fileno(out.get()), STDOUT_FILENO);
  std::array<char, 4> dot{"dot"};
  std::array<char, 6> format{"-Tsvg"};
  std::array<char*, 3> const arguments{dot.data(), format.data(), nullptr};
  pid_t child = 0;
  int const wrong = posix_spawnp(&child, dot.data(), &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  int status = 0;
  if (wrong == 0)
    while (waitpid(child, &status, 0) == -1 && errno == EINTR) {
    }
  if (wrong != 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 127))
    fail(
        "the picture is drawn by the program dot, which is not there; install Graphviz, or write the graph's "
        "text with --dot");
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) fail("the program dot failed");

  std::rewind(out.get());
  std::string picture;
  std::array<char, 4096> part;
  while (std::size_t const n = std::fread(part.data(), 1, part.size(), out.get()))
    picture.append(part.data(), n);
  return picture;
}

} // namespace overdub::tools
