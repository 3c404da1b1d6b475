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
  column("ms", 10), column("before", 10), column("after", 10); // operations
  out << '\n' << std::fixed << std::setprecision(3);
  for (step_time const& t : times) {
    out << std::left << std::setw(static_cast<int>(width)) << t.name;
    column(t.milliseconds, 10), column(t.before, 10), column(t.after, 10);
    out << '\n';
  }
  double total = 0;
  for (step_time const& t : times) total += t.milliseconds;
  out << std::left << std::setw(static_cast<int>(width)) << "total";
  column(total, 10);
  out << '\n';
  return std::move(out).str();
}

// The calls that are to be run.
class calls {
public:
  calls(command_line const& c, source const& from, ir::program& p, observed& seen)
      : c_(c), from_(from), p_(p), seen_(seen), hosts_(printed_) {
    seen.out = &printed_;
    hosts_.bind(p);
  }

  /// Adds to `out` what they print, what was seen of them, and their results. Whether nothing was thrown.
  bool run(std::string& out) {
    for (std::string const& text : c_.runs) run(text, out);
    return good_;
  }

private:
  [[noreturn]] static void refuse(std::string const& why) {
    throw failure(exit_code::usage, "overdub-opt: --run: " + why);
  }
  static call read(std::string const& text) {
    try {
      return parse_call(text);
    } catch (text_error const& e) {
      refuse(e.what() + ("\n  " + text + "\n  ") + std::string(e.at, ' ') + '^');
    }
  }
  ir::function_id function_of(call const& k) const {
    if (auto const f = p_.find(k.function)) return *f;
    std::string all;
    for (std::uint32_t i = 0; i < p_.functions.size(); ++i)
      if (!p_.is_erased(ir::function_id{i}))
        all += (all.empty() ? "@" : ", @") + std::string(p_.name_of(ir::function_id{i}));
    refuse(
        "the program has no function @" + k.function +
        (c_.steps.empty() ? "" : " behind its passes and contexts") +
        (all.empty() ? "" : "\n  there are: " + all));
  }
  void run(std::string const& text, std::string& out) {
    call const k = read(text);
    ir::function_id const f = function_of(k);
    std::vector<outcome> all;
    std::vector<std::string> texts;
    std::string said;
    for (executor_row const* const executor : executors_called(c_.executor)) {
      printed_.str({});
      all.push_back(execute(*executor, p_, f, k.arguments));
      seen_.report();
      texts.push_back(printed_.str() + text_of(all.back()));
      said += "\n  " + std::string(executor->name) + ": " + texts.back();
    }
    std::string const printed = printed_.str();
    if (!std::ranges::all_of(all, [&](outcome const& o) { return o == all[0]; }))
      return wrong(text + ": executors disagree:" + said);
    out += printed;
    if (all[0].error.empty())
      out += text_of(all[0].values) + '\n';
    else
      wrong(text + ": " + all[0].error + ": " + all[0].message + where(all[0], f, k));
  }
  // The line of the text that throws.
  std::string where(outcome const& thrown, ir::function_id f, call const& k) const {
    ir::place_id const at = place_of_error(thrown, p_, f, k.arguments);
    if (at == ir::nothing) return {};
    ir::diagnostic d{.text = "in an operation of this line", .line = p_[at].line, .column = p_[at].column};
    std::string const file(p_.text(p_[at].file));
    return "\n" + describe({file, file == from_.name ? from_.text : ""}, d);
  }
  void wrong(std::string const& lines) {
    std::cerr << "overdub-opt: " << lines << '\n';
    good_ = false;
  }

  command_line const& c_;
  source const& from_;
  ir::program& p_;
  observed& seen_;
  std::ostringstream printed_;
  host_binder hosts_;
  bool good_ = true;
};

int work_on_program(command_line const& c) {
  source const from = read_source(c.inputs.empty() ? "-" : c.inputs[0]);
  reading read = read_program(from, !c.runs.empty() && !c.places);
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
  bool const good = calls(c, from, p, seen).run(out);
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
