// The recording that the environment asks for, from the loading of the library to the end of the process.
#include "callee.hpp"

#include <overdub/contexts/trace/recording.hpp>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <unistd.h>

namespace overdub::overtrace {
namespace {

using contexts::trace_format;

// The recording, until the process ends.
contexts::trace_file* file = nullptr;
contexts::recording* last = nullptr;
std::string* path_of_last = nullptr;
pid_t owner = 0; // the process that records: not a child of fork that ends by exit

// Replaces %p by the process's number.
std::string path_of(char const* text) {
  std::string path = text;
  if (auto const at = path.find("%p"); at != path.npos) path.replace(at, 2, std::to_string(getpid()));
  return path;
}
trace_format format_of(std::string_view path) {
  if (path.ends_with(".speedscope.json")) return trace_format::speedscope;
  if (path.ends_with(".json")) return trace_format::chrome;
  if (path.ends_with(".svg")) return trace_format::svg;
  if (path.ends_with(".folded")) return trace_format::folded;
  return trace_format::perfetto;
}

template <class Action>
void run(Action const& action) {
  unobserved const here; // the program may have an instrumented operator new
  try {
    action();
  } catch (std::exception const& e) {
    std::fprintf(stderr, "%s\n", e.what());
  }
}

[[gnu::constructor(102)]] void begin() {
  owner = getpid();
  run([] {
    if (char const* const text = std::getenv("OVERTRACE_LAST")) {
      path_of_last = new std::string(path_of(text));
      last = new contexts::recording;
    } else if (char const* const path = std::getenv("OVERTRACE"))
      file = new contexts::trace_file(path_of(path), format_of(path));
  });
}
[[gnu::destructor(102)]] void end() {
  if (getpid() != owner) return;
  run([] {
    if (last != nullptr) {
      last->stop();
      last->write(*path_of_last, format_of(*path_of_last));
    }
    if (file != nullptr) file->finish();
    if ((last != nullptr || file != nullptr) && all_callees_are_left_out())
      std::fputs(
          "overtrace: the trace has no calls, since no function that was called matches OVERTRACE_ONLY, "
          "OVERTRACE_EXCEPT and "
          "OVERTRACE_FILES. Patterns match whole names, as a trace without these variables shows them; files "
          "are known with -g\n",
          stderr);
  });
}

} // namespace
} // namespace overdub::overtrace
