#include "draw.hpp"
#include "failure.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace overdub::tools {
namespace {

struct closing {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using temporary_file = std::unique_ptr<std::FILE, closing>;

[[noreturn]] void fail_to_draw(std::string const& why) {
  throw failure(exit_code::file, "overdub-opt: " + why);
}

} // namespace

std::string svg_of(std::string const& graph) {
  temporary_file const in(std::tmpfile());
  temporary_file const out(std::tmpfile());
  if (!in || !out || std::fwrite(graph.data(), 1, graph.size(), in.get()) != graph.size())
    fail_to_draw("a temporary file cannot be written: " + std::string(std::strerror(errno)));
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
    fail_to_draw(
        "the picture is drawn by the program dot, which is not there; install Graphviz, or write the graph's "
        "text with --dot");
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) fail_to_draw("the program dot failed");

  std::rewind(out.get());
  std::string picture;
  std::array<char, 4096> part;
  while (std::size_t const n = std::fread(part.data(), 1, part.size(), out.get()))
    picture.append(part.data(), n);
  return picture;
}

} // namespace overdub::tools
