// overdub-opt: reads the text of a program, transforms it by passes and contexts, and prints, runs, draws or tests it.
// docs/tools.md describes it.
#include "call.hpp"
#include "command_line.hpp"
#include "draw.hpp"
#include "executors.hpp"
#include "failure.hpp"
#include "hosts.hpp"
#include "lift.hpp"
#include "run_test.hpp"
#include "source.hpp"

#include <overdub/io/number_text.hpp>
#include <overdub/ir/print.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <sstream>
#include <utility>
#include <vector>

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
  using io::left_aligned, io::right_aligned, io::number_text;
  std::size_t width = 8;
  for (step_time const& t : times) width = std::max(width, t.name.size() + 1);
  auto const milliseconds = [](double x) { return right_aligned(number_text(x, io::decimals(3)), 10); };
  std::string out = left_aligned("step", width) + right_aligned("ms", 10) + right_aligned("ops before", 12) +
                    right_aligned("ops after", 12) + '\n';
  double total = 0;
  for (step_time const& t : times) {
    out += left_aligned(t.name, width) + milliseconds(t.milliseconds) +
           right_aligned(number_text(t.before), 12) + right_aligned(number_text(t.after), 12) + '\n';
    total += t.milliseconds;
  }
  return out + left_aligned("total", width) + milliseconds(total) + '\n';
}

// The calls to run.
class calls {
public:
  calls(command_line const& c, source const& from, ir::program& p, observed& seen)
      : c_(c), from_(from), p_(p), seen_(seen), hosts_(printed_) {
    seen.out = &printed_;
    hosts_.bind(p);
  }

  /// Appends their output, observations of contexts, and results to `out`. Returns `run` if one throws, and `limit` if
  /// executors are compared and one reached a limit.
  exit_code run(std::string& out) {
    for (std::string const& text : c_.runs) run(text, out);
    return code_;
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
        (c_.steps.empty() ? "" : " after its passes and contexts") +
        (all.empty() ? "" : "\n  there are: " + all));
  }
  // The outcome of a call on an executor.
  struct result {
    executor_row const* executor;
    outcome came;
    std::string printed;
    std::string text() const { return "\n  " + std::string(executor->name) + ": " + printed + text_of(came); }
  };
  void run(std::string const& text, std::string& out) {
    call const k = read(text);
    ir::function_id const f = function_of(k);
    std::vector<result> done, limited; // an executor that reached a limit is not compared
    for (executor_row const* const executor : executors_called(c_.executor)) {
      printed_.str({});
      outcome came = execute(*executor, p_, f, k.arguments);
      seen_.report();
      (came.is_limit ? limited : done).push_back({executor, std::move(came), printed_.str()});
    }
    bool const all_alike =
        std::ranges::all_of(limited, [&](result const& r) { return r.came == limited[0].came; });
    if (done.empty() && all_alike)
      done = std::exchange(limited, {}); // all agree: it may be a limit of the program
    std::string said;
    bool const agree = std::ranges::all_of(done, [&](result const& r) {
      return r.came == done[0].came && (r.came.is_limit || r.printed == done[0].printed);
    });
    if (!agree) {
      for (result const& r : done) said += r.text();
      wrong(text + ": executors disagree:" + said);
    } else if (!done.empty()) {
      outcome const& came = done[0].came;
      out += done[0].printed;
      if (came.error.empty())
        out += text_of(came.values) + '\n';
      else
        wrong(text + ": " + came.error + ": " + came.message + where(came, f, k));
    }
    if (limited.empty()) return;
    said.clear();
    for (result const& r : limited) said += r.text();
    wrong(
        text + ": some executors reached a limit, which is no disagreement:" + said,
        done.empty() ? exit_code::run : exit_code::limit);
  }
  // The line of the text whose operation throws.
  std::string where(outcome const& thrown, ir::function_id f, call const& k) const {
    ir::place_id const at = place_of_error(thrown, p_, f, k.arguments);
    seen_.report(); // discards observations of this evaluation
    if (at == ir::nothing) return {};
    ir::diagnostic d{.text = "in an operation of this line", .line = p_[at].line, .column = p_[at].column};
    std::string const file(p_.text(p_[at].file));
    return "\n" + describe({file, file == from_.name ? from_.text : ""}, d);
  }
  void wrong(std::string const& lines, exit_code how = exit_code::run) {
    std::cerr << "overdub-opt: " << printable(lines) << '\n';
    if (code_ != exit_code::run) code_ = how;
  }

  command_line const& c_;
  source const& from_;
  ir::program& p_;
  observed& seen_;
  std::ostringstream printed_;
  host_binder hosts_;
  exit_code code_ = exit_code::done;
};

int work_on_program(command_line const& c) {
  std::string const path = c.inputs.empty() ? "-" : c.inputs[0];
  source const from = c.lift.is_asked ? source{path, {}} : read_source(path);
  lifted_files lifted = c.lift.is_asked ? lift_program(c.inputs) : lifted_files{};
  reading read = c.lift.is_asked ? reading{std::move(lifted.program), {}}
                                 : read_program(from, !c.runs.empty() && !c.places);
  refuse(from, read.faults);
  ir::program& p = read.program;
  for (embedded_native_symbol const& n : lifted.natives) host_binder::bind_missing(p, n.name);
  observed seen(std::cout);
  std::vector<step_time> times;
  try {
    run_steps(p, c.steps, seen, &times);
  } catch (failure const& e) {
    throw failure(e.code, from.name + ": " + e.what());
  }

  std::string out;
  bool const nothing_else =
      c.runs.empty() && !c.dot && !c.svg && !c.time && !c.verify && c.lift.embed.empty();
  if (c.print || c.places || nothing_else) out += ir::print(p, {.places = c.places});
  if (c.lift.explain) out += lifted.refusals;
  if (c.time) out += table_of(times);
  if (c.dot || c.svg) {
    std::string const graph = graph_of(p, c.graph);
    out += c.svg ? svg_of(graph) : graph;
  }
  if (!c.lift.embed.empty()) write_text(c.lift.embed, embedding_source(p, lifted));
  exit_code const code = calls(c, from, p, seen).run(out);
  if (!out.empty()) write_text(c.output, out);
  return static_cast<int>(code);
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
    std::cerr << "overdub-opt: " << printable(e.what()) << '\n';
    return static_cast<int>(exit_code::defect);
  }
}
