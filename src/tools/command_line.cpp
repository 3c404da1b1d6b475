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
      "Reads a program of overdub's, transforms it, and prints, runs, draws or tests it. Without another "
      "wish\n"
      "the program is printed. Passes and contexts take effect in the order in which they are named.",
      "overdub-opt");
  app.footer(
      "Examples:\n"
      "  overdub-opt loss.od --pass fold,cse,dce           print what the passes make of it\n"
      "  overdub-opt loss.od --run '@f(1.0, [1.0, 2.0])'   run a function\n"
      "  overdub-opt loss.od --pipeline --time             print the time of each standard pass\n"
      "  overdub-opt loss.od --svg --graph @f -o f.svg     draw a function\n"
      "  overdub-opt --test tests/programs/*.od            run text tests\n\n"
      "Exit codes: 0 done, 1 the program is not valid, 2 the command line, 3 a run threw or executors\n"
      "disagree, 4 a file or a program is missing, 5 a test failed, 6 a pass is wrong,\n"
      "7 an executor that is compared has a limit that the program exceeds.");
  app.set_help_flag("--help,-h", "Print this");
  app.set_version_flag(
      "--version",
      "overdub-opt " + std::to_string(OVERDUB_VERSION_MAJOR) + '.' + std::to_string(OVERDUB_VERSION_MINOR) +
          '.' + std::to_string(OVERDUB_VERSION_PATCH),
      "Print the version");
  app.add_option("FILE", c.inputs, "The text of a program; - or none is the standard input")->type_name("");

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
         "Rewrite in contexts; of several the first is closest to the program")
      ->type_name("NAMES")
      ->trigger_on_parse();
  app.add_flag(
      "--lift", c.lift.is_asked, "The files are LLVM bitcode of C or C++; their functions become a program");
  app.add_flag("--explain", c.lift.explain, "With --lift: print what is not lifted, and why, as comments");
  app.add_option(
         "--embed", c.lift.embed,
         "With --lift: write a C++ source that defines the program for overdub::lifted")
      ->type_name("FILE");
  app.add_flag("--list", lists, "List the passes, contexts, executors and host functions");

  app.add_flag("--print", c.print, "Print the program")->group("Output");
  app.add_flag("--places", c.places, "Print it with source locations")->group("Output");
  app.add_flag("--verify", c.verify, "Only say whether the program is valid")->group("Output");
  app.add_flag("--dot", c.dot, "Write a graph in Graphviz's language")->group("Output");
  app.add_flag("--svg", c.svg, "Write a graph as a picture")->group("Output");
  app.add_option("--graph", c.graph, "Which graph: @function, its data dependence, or calls")
      ->type_name("NAME")
      ->group("Output");
  app.add_flag("--time", c.time, "Say how long each pass and context took, in a table")->group("Output");
  app.add_option(
         "--output,-o", c.output, "Write to this file; it is replaced only when the output is complete")
      ->type_name("FILE")
      ->group("Output");

  app.add_option("--run", c.runs, "Call a function: --run '@f(1.0, [1, 2])'; may be repeated")
      ->type_name("CALL")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->group("Runs and tests");
  app.add_option(
         "--executor", c.executor,
         "The executor that runs the calls; all compares the executors [interpreter]")
      ->type_name("NAME")
      ->group("Runs and tests");
  app.add_flag("--test", c.test, "Run the text tests in the files; OVERDUB_BLESS=1 rewrites what they expect")
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
    refuse("several files are named; name one, or test several with --test");
  if (c.test && c.inputs.empty()) refuse("--test tests files; name one or more");
  bool const transforms =
      !c.steps.empty() || !c.runs.empty() || c.print || c.places || c.verify || c.dot || c.svg || c.time;
  if (c.test && transforms)
    refuse("--test takes everything that it does from the files; leave the other options out");
  if (c.test && c.lift.is_asked) refuse("--test takes texts of programs; lift a file alone");
  if (c.lift.explain && !c.lift.is_asked) refuse("--explain says what --lift refuses; write it, too");
  if (!c.lift.embed.empty() && !c.lift.is_asked) refuse("--embed is for a program of --lift; write it, too");
  if (c.dot && c.svg) refuse("--dot and --svg are two forms of one graph; write one of them");
  if (!c.graph.empty() && !c.dot && !c.svg)
    refuse("--graph names what --dot or --svg draw; write one of them, too");
  return c;
}

} // namespace overdub::tools
