// Debug information of machine code: functions and lines, if requested, and nothing else.
#include "cache_folder.hpp"
#include "execute/texts.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

namespace {

using namespace overdub;
using Catch::Matchers::Contains;

// Source locations as the parser and the cursor record them. The function is recursive, so that it is not inlined.
ir::program placed() {
  return texts::program(R"(func @climb(%n: i64, %x: f64) -> f64 at "/models/climb.cpp":12 {
    %c = lt %n, 1 : bool at "/models/climb.cpp":13:7
    %r = if %c -> f64 at "/models/climb.cpp":14 {
      host ordered "stop"(%x) at "/models/climb.cpp":15:5
      yield %x
    } else {
      %m = sub %n, 1 : i64 at "/models/climb.cpp":17
      %y = sin %x : f64 at "/models/other.hpp":3
      %z = call @climb(%m, %y) : f64 at "/models/climb.cpp":18:9
      yield %z
    }
    return %r
  })");
}
hosts with_stop(void (*stop)(double)) {
  hosts all;
  all.add("stop", stop);
  return all;
}

// The output of a shell command.
std::string output_of(std::string const& command) {
  std::FILE* const from = popen((command + " 2>&1").c_str(), "r");
  if (from == nullptr) return {};
  std::string all;
  char part[4096];
  while (std::size_t const n = std::fread(part, 1, sizeof part, from)) all.append(part, n);
  pclose(from);
  return all;
}
bool has(char const* program) { return !output_of(std::string("command -v ") + program).empty(); }

// The object file of the only entry, which follows a header.
void take_object(cache_folder const& folder, std::string const& to) {
  std::string const bytes = bytes_of(folder.only_file());
  write_bytes(
      to, bytes.substr(bytes.find("\x7f"
                                  "ELF")));
}

} // namespace

TEST_CASE(
    "machine code has lines of the user's source if they are requested, and no debug information otherwise") {
  if (!has("objdump")) return;
  for (bool const debug : {false, true}) {
    cache_folder const folder, place;
    (void)jit::compile(placed(), with_stop(+[](double) {}), {.debug = debug, .cache = folder.open()});
    std::string const object = place.path() + "/o.o";
    take_object(folder, object);
    std::string const lines = output_of("objdump --dwarf=decodedline " + object);
    std::string const sections = output_of("objdump -h " + object);
    INFO(lines);
    if (!debug) {
      CHECK_THAT(sections, !Contains(".debug"));
      continue;
    }
    CHECK_THAT(sections, Contains(".debug_line"));
    for (char const* const line : {"12", "15", "18"})
      CHECK_THAT(lines, Catch::Matchers::Matches("[^]*climb.cpp +" + std::string(line) + " [^]*"));
    CHECK_THAT(lines, Catch::Matchers::Matches("[^]*other.hpp +3 [^]*"));
    CHECK_THAT(output_of("objdump --dwarf=info " + object), Contains("climb"));
  }
}

TEST_CASE("perf receives the names and locations of functions") {
  std::string const map = "/tmp/perf-" + std::to_string(getpid()) + ".map";
  std::filesystem::remove(map);
  (void)jit::compile(placed(), with_stop(+[](double) {}));
  if (std::getenv("OVERDUB_JIT_NAMES") == nullptr) CHECK_FALSE(std::filesystem::exists(map));
  (void)jit::compile(placed(), with_stop(+[](double) {}), {.debug = true});
  CHECK_THAT(bytes_of(map), Contains(" overdub.climb /models/climb.cpp:12\n"));
  std::filesystem::remove(map);
  // A symbolic link is not followed.
  cache_folder const folder;
  std::string const target = folder.path() + "/target";
  write_bytes(target, "untouched");
  std::filesystem::create_symlink(target, map);
  (void)jit::compile(placed(), with_stop(+[](double) {}), {.debug = true});
  CHECK(bytes_of(target) == "untouched");
  std::filesystem::remove(map);
}

TEST_CASE("results and errors are the same with lines, at each level, for programs with recursion, errors "
          "and loops") {
  ir::program const p = texts::program(R"(func @f(%x: f64[], %n: i64) -> (f64, f64[]) at "a.cpp":1 {
    %m = map %n (%i: i64) -> f64 at "a.cpp":2 { %a = at %x, %i : f64 at "a.cpp":3 yield %a }
    %s = reduce add %m from 0.0 : f64 at "a.cpp":4
    %t = call @g(%n, %s) : f64
    %r = protect -> f64 { %u = at %x, %n : f64 yield %u } failed { yield }
    %v = add %r, %t : f64
    return %v, %m
  }
  func @g(%n: i64, %x: f64) -> f64 {
    %c = lt %n, 1 : bool
    %r = if %c -> f64 { yield %x } else { %m = sub %n, 1 : i64 %y = call @g(%m, %x) : f64 yield %y }
    return %r
  })");
  executable const reference(p);
  for (int level = 0; level <= 3; ++level) {
    executable const run = jit::compile(p, {}, {.optimisation = level, .debug = true});
    for (char const* const arguments : {"[1.0, 2.0, 3.0], 3", "[1.0, 2.0, 3.0], 2", "[1.0], 4"})
      CHECK(texts::outcome_of(run, arguments) == texts::outcome_of(reference, arguments));
  }
}

// The program under gdb.
TEST_CASE("gdb stops in a function that compiled code calls", "[.gdb]") {
  if (std::getenv("OVERDUB_UNDER_GDB") == nullptr) return;
  auto const run = jit::compile(placed(), with_stop(+[](double) { std::raise(SIGTRAP); }), {.debug = true});
  CHECK(run.call<double>(i64{2}, 1.0) < 1);
}

TEST_CASE("gdb shows compiled functions with their lines") {
  if (!has("gdb")) return;
  std::string const program = std::filesystem::read_symlink("/proc/self/exe").string();
  std::string const shown = output_of(
      "timeout 60 gdb -nx -batch -ex 'set debuginfod enabled off' -ex 'set environment OVERDUB_UNDER_GDB 1' "
      "-ex run -ex bt -ex kill --args " +
      program + " '[.gdb]'");
  INFO(shown);
  if (shown.find("SIGTRAP") == std::string::npos) return; // it has no permission to trace
  CHECK_THAT(shown, Contains(" in climb () at /models/climb.cpp:15"));
  CHECK_THAT(shown, Contains(" in climb () at /models/climb.cpp:18"));
}
