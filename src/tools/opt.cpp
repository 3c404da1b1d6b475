// overdub-opt: reads the text of a program, transforms it by passes and contexts, and prints, runs, draws or tests it.
// docs/tools.md describes it.
#include "call.hpp"
#include "command_line.hpp"
#include "draw.hpp"
#include "executors.hpp"
#include "failure.hpp"
#include "hosts.hpp"
#include "run_test.hpp"
#include "source.hpp"

#include <overdub/ir/print.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iomanip>
#include <iostream>
#include <sstream>

namespace overdub::tools {
namespace {

int run_tests(command_line const& c) {
  char const* const bless = std::getenv("OVERDUB_BLESS");
  bool passed = true;
  for (std::string const& path : c.inputs)
    passed = run_test(path, bless && std::string_view(bless) == "1", std::cout) && passed;
  return static_cast<int>(passed ? exit_code::done : exit_code::test);
}

std::string table_of(std::vector<step_time> const& times) {
  std::ostringstream out;
  std::size_t width = 8;
  for (step_time const& t : times) width = std::max(width, t.name.size() + 1);
  auto const column = [&](auto const& what, int n) { out << std::right << std::setw(n) << what; };
  out << std::left << std::setw(static_cast<int>(width)) << "step";
  column("ms", 10), column("before", 10), column("after", 10);
  out << '\n' << std::fixed << std::setprecision(3);
  for (step_time const& t : times) {
    out << std::left << std::setw(static_cast<int>(width)) << t.name;
    column(t.milliseconds, 10), column(t.before, 10), column(t.after, 10);
    out << '\n';
  }
  return std::move(out).str();
}

// The calls one by one. What they print, and what was seen of them, stands in front of their results.
bool run_calls(command_line const& c, ir::program p, observed& seen, std::string& out) {
  bool good = true;
  auto const wrong = [&](std::string const& line) {
    std::cerr << line << '\n';
    good = false;
  };
  std::ostringstream printed;
  host_binder hosts(printed);
  seen.out = &printed;
  hosts.bind(p);
  for (std::string const& text : c.runs) {
    call k;
    try {
      k = parse_call(text);
    } catch (text_error const& e) {
      throw failure(
          exit_code::usage, "overdub-opt: --run: " + std::string(e.what()) + "\n  " + text + "\n  " +
                                std::string(e.at, ' ') + '^');
    }
    auto const f = p.find(k.function);
    if (!f)
      throw failure(
          exit_code::usage, "overdub-opt: --run: the program has no function @" + k.function +
                                (c.steps.empty() ? "" : " behind its passes and contexts"));
    std::vector<outcome> all;
    std::vector<std::string> texts;
    std::string said;
    for (executor_row const* const executor : executors_called(c.executor)) {
      printed.str({});
      all.push_back(execute(*executor, p, *f, k.arguments));
      seen.report();
      texts.push_back(printed.str() + text_of(all.back()));
      said += "\n  " + std::string(executor->name) + ": " + texts.back();
    }
    if (!std::ranges::all_of(all, [&](outcome const& o) { return o == all[0]; })) {
      wrong("overdub-opt: " + text + ": executors disagree:" + said);
      continue;
    }
    out += printed.str();
    if (!all[0].error.empty())
      wrong("overdub-opt: " + text + ": " + all[0].error + ": " + all[0].message);
    else
      out += text_of(all[0].values) + '\n';
  }
  return good;
}

int work_on_program(command_line const& c) {
  source const from = read_source(c.inputs.empty() ? "-" : c.inputs[0]);
  reading read = read_program(from);
  refuse(from, read.faults);
  ir::program& p = read.program;
  observed seen(std::cout);
  std::vector<step_time> times;
  try {
    run_steps(p, c.steps, seen, &times);
  } catch (failure const& e) {
    throw failure(e.code, from.name + ": " + e.what());
  }

  std::string out;
  bool const nothing_else = c.runs.empty() && !c.dot && !c.svg && !c.time && !c.verify;
  if (c.print || c.places || nothing_else) out += ir::print(p, {.places = c.places});
  if (c.time) out += table_of(times);
  if (c.dot || c.svg) {
    std::string const graph = graph_of(p, c.graph);
    out += c.svg ? svg_of(graph) : graph;
  }
  bool const good = run_calls(c, p, seen, out);
  if (!out.empty()) write_text(c.output, out);
  return static_cast<int>(good ? exit_code::done : exit_code::run);
}

} // namespace
} // namespace overdub::tools

int main(int count, char** words) {
  using namespace overdub::tools;
  try {
    bool done = false;
    command_line const c = read_command_line(count, words, done);
    if (done) return static_cast<int>(exit_code::done);
    return c.test ? run_tests(c) : work_on_program(c);
  } catch (failure const& e) {
    std::cout << std::flush;
    std::cerr << e.what() << '\n';
    return static_cast<int>(e.code);
  } catch (std::exception const& e) {
    std::cerr << "overdub-opt: " << e.what() << '\n';
    return static_cast<int>(exit_code::defect);
  }
}
