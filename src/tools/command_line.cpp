#include "command_line.hpp"

#include "executors.hpp"
#include "failure.hpp"
#include "hosts.hpp"

#include <overdub/version.hpp>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <span>

namespace overdub::tools {
namespace {

template <class Row>
void list(std::string_view title, std::span<Row const> rows) {
  std::cout << title << '\n';
  for (Row const& row : rows)
    std::cout << "  " << row.name
              << std::string(std::max<std::size_t>(14, row.name.size() + 1) - row.name.size(), ' ')
              << row.what << '\n';
}

void list_all() {
  list("passes, for --pass:", passes());
  std::cout << "  --pipeline is";
  for (pass_row const& row : pipeline_passes()) std::cout << ' ' << row.name;
  std::cout << '\n';
  list("contexts, for --context:", contexts());
  list("executors, for --executor:", executors());
  list("host functions that programs can call:", host_functions());
}

} // namespace

command_line read_command_line(int count, char const* const* words, bool& done) {
  command_line c;
  bool lists = false;
  CLI::App app(
      "Transforms a program of overdub, and prints, runs, draws or tests it. Without options of output or\n"
      "runs, overdub-opt prints the program. It applies passes and contexts in the order of the options.",
      "overdub-opt");
  app.footer(
      "Examples:\n"
      "  overdub-opt loss.od --pass fold,cse,dce           print the program after the passes\n"
      "  overdub-opt loss.od --run '@f(1.0, [1.0, 2.0])'   run a function\n"
      "  overdub-opt loss.od --pipeline --time             print the time of each standard pass\n"
      "  overdub-opt loss.od --svg --graph @f -o f.svg     draw a function\n"
      "  overdub-opt --test tests/programs/*.od            run text tests\n\n"
      "Exit codes: 0 success, 1 the program is invalid, 2 the command line is invalid, 3 a run threw or\n"
      "executors disagree, 4 a file or a program is missing, 5 a test failed, 6 a pass is wrong,\n"
      "7 the program exceeds a limit of a compared executor.");
  app.set_help_flag("--help,-h", "Print this help");
  app.set_version_flag(
      "--version",
      "overdub-opt " + std::to_string(OVERDUB_VERSION_MAJOR) + '.' + std::to_string(OVERDUB_VERSION_MINOR) +
          '.' + std::to_string(OVERDUB_VERSION_PATCH),
      "Print the version");
  app.add_option("FILE", c.inputs, "Read the program from this file; - or no file is the standard input")
      ->type_name("");

  auto const more = [&](std::vector<step> const& steps) {
    c.steps.insert(c.steps.end(), steps.begin(), steps.end());
  };
  app.add_option_function<std::string>(
         "--pass", [&](std::string const& names) { more(pass_steps(names)); },
         "Run passes, as in --pass cse,dce")
      ->type_name("NAMES")
      ->trigger_on_parse();
  app.add_flag_callback(
         "--pipeline", [&] { more(pipeline_steps()); }, "Run the standard passes")
      ->trigger_on_parse();
  app.add_option_function<std::string>(
         "--context", [&](std::string const& names) { more(context_steps(names)); },
         "Rewrite the program in contexts; the first is the outermost one")
      ->type_name("NAMES")
      ->trigger_on_parse();
  app.add_flag("--lift", c.lift.is_asked, "Lift the functions of LLVM bitcode of C or C++ into a program");
  app.add_flag(
      "--explain", c.lift.explain, "Print the functions that --lift cannot lift, and why, as comments");
  app.add_option(
         "--embed", c.lift.embed,
         "Write the program of --lift as a C++ source that defines it for overdub::lifted")
      ->type_name("FILE");
  app.add_flag("--list", lists, "List the passes, contexts, executors and host functions");

  app.add_flag("--print", c.print, "Print the program")->group("Output");
  app.add_flag("--places", c.places, "Print the program with source locations")->group("Output");
  app.add_flag("--verify", c.verify, "Check the program, and print only its errors")->group("Output");
  app.add_flag("--dot", c.dot, "Write a graph in the DOT language of Graphviz")->group("Output");
  app.add_flag("--svg", c.svg, "Write a graph as an SVG image")->group("Output");
  app.add_option(
         "--graph", c.graph,
         "Choose the graph: @function for its data dependences, or calls for the call graph")
      ->type_name("NAME")
      ->group("Output");
  app.add_flag("--time", c.time, "Print a table of the times of the passes and contexts")->group("Output");
  app.add_option("--output,-o", c.output, "Write to this file; replace it only when the output is complete")
      ->type_name("FILE")
      ->group("Output");

  app.add_option("--run", c.runs, "Call a function: --run '@f(1.0, [1, 2])'; repeat --run for several calls")
      ->type_name("CALL")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->group("Runs and tests");
  app.add_option(
         "--executor", c.executor,
         "Run the calls on this executor; all runs them on each and compares the results [interpreter]")
      ->type_name("NAME")
      ->group("Runs and tests");
  app.add_flag(
         "--test", c.test, "Run the text tests in the files; OVERDUB_BLESS=1 rewrites their expected output")
      ->group("Runs and tests");

  auto const refuse = [](std::string const& why) {
    throw failure(exit_code::usage, "overdub-opt: " + why + "\n  overdub-opt --help lists the options");
  };
  try {
    app.parse(count, words);
    (void)executors_called(c.executor);
  } catch (failure const& e) {
    throw failure(e.code, std::string("overdub-opt: ") + e.what());
  } catch (CLI::CallForHelp const&) {
    std::cout << app.help();
    done = true;
    return c;
  } catch (CLI::CallForVersion const& e) {
    std::cout << e.what() << '\n';
    done = true;
    return c;
  } catch (CLI::ParseError const& e) {
    refuse(e.what());
  }
  if (lists) {
    list_all();
    done = true;
    return c;
  }
  if (c.inputs.size() > 1 && !c.test && !c.lift.is_asked)
    refuse("several files need --test or --lift; name one file, or add --test or --lift");
  if (c.test && c.inputs.empty()) refuse("--test tests files, and none is named; name one or more");
  bool const transforms =
      !c.steps.empty() || !c.runs.empty() || c.print || c.places || c.verify || c.dot || c.svg || c.time;
  if (c.test && transforms)
    refuse("the files of --test contain the commands to run; leave the other options out");
  if (c.test && c.lift.is_asked)
    refuse("--test reads the text of programs, and --lift reads bitcode; use only one of them");
  if (c.lift.explain && !c.lift.is_asked) refuse("--explain needs --lift; add --lift");
  if (!c.lift.embed.empty() && !c.lift.is_asked) refuse("--embed needs --lift; add --lift");
  if (c.dot && c.svg) refuse("--dot and --svg exclude each other; write one of them");
  if (!c.graph.empty() && !c.dot && !c.svg) refuse("--graph needs --dot or --svg; add one of them");
  return c;
}

} // namespace overdub::tools
