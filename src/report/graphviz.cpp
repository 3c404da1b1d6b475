#include <overdub/implementation/report/graphviz.hpp>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace overdub::report {

std::optional<std::string> graphviz(std::string const& graph, std::string const& format) {
  struct closing {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  using temporary_file = std::unique_ptr<std::FILE, closing>;
  temporary_file const in(std::tmpfile());
  temporary_file const out(std::tmpfile());
  if (!in || !out || std::fwrite(graph.data(), 1, graph.size(), in.get()) != graph.size() ||
      std::fflush(in.get()) != 0)
    throw report_error(message("overdub: a temporary file cannot be written: %s", std::strerror(errno)));
  std::rewind(in.get());

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, ::fileno(in.get()), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, ::fileno(out.get()), STDOUT_FILENO);
  std::string program = "dot", option = "-T" + format;
  std::array<char*, 3> const arguments{program.data(), option.data(), nullptr};
  pid_t child = 0;
  int const wrong = ::posix_spawnp(&child, "dot", &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (wrong != 0) return std::nullopt;
  int status = 0;
  pid_t waited = 0;
  do {
    waited = ::waitpid(child, &status, 0);
  } while (waited == -1 && errno == EINTR);
  bool const is_known =
      waited == child; // false if SIGCHLD is ignored, or another thread waits for all children
  if (is_known && WIFEXITED(status) && WEXITSTATUS(status) == 127) return std::nullopt;

  std::rewind(out.get());
  std::string made;
  std::array<char, 4096> part;
  while (std::size_t const n = std::fread(part.data(), 1, part.size(), out.get()))
    made.append(part.data(), n);
  if (is_known ? !WIFEXITED(status) || WEXITSTATUS(status) != 0 : made.empty())
    throw report_error(message("overdub: Graphviz's program dot failed on a graph"));
  return made;
}

} // namespace overdub::report
