// The text test format: a program with directives, and expected outputs after it. docs/tools.md describes it.
#pragma once

#include "call.hpp"
#include "source.hpp"
#include "steps.hpp"

#include <overdub/execute/datum.hpp>
#include <overdub/ir/error.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace overdub::tools {

/// `; test: pass cse, dce then context forward`
struct test_command {
  enum kind { print, print_places, verify, run, transform };
  kind what = print;
  std::string text; // "pass cse, dce then context forward": also the key of its expected output
  std::uint32_t line = 0;
  std::vector<step> steps; // of a transformation

  bool has_output() const { return what == print || what == print_places || what == transform; }
  bool has_context() const;
};

/// `; run: @f(1.0) == 2.0`
struct run_line {
  enum kind { ends, equals, is_near, throws, asks, agrees }; // agrees: any result, if all executors agree
  std::uint32_t line = 0;
  std::string on; // an executor; empty: all
  std::string in; // a command; empty: the original program, and the result of each command of passes only
  std::string text;
  tools::call call;
  kind wants = ends;
  std::vector<datum> values;
  std::string error;
  std::string pattern; // contained in the error's message; empty: any
};

/// `; error: pattern`
struct error_line {
  std::uint32_t line = 0; // of the error
  std::string pattern;
};

/// The text after a line `; ---- command`.
struct expected_text {
  std::string command;
  std::string text;
};

struct test_file {
  std::vector<test_command> commands;
  std::vector<run_line> runs;
  std::vector<error_line> errors;
  std::vector<expected_text> outputs;
  std::vector<ir::diagnostic> faults; // of the directives themselves
  std::uint32_t last_line = 0;        // of the program, without error lines

  test_command const* command(std::string_view text) const;
  test_command const* command(test_command::kind what) const;
  std::string const* output(std::string_view command) const;
};

test_file read_test(source const& from);

} // namespace overdub::tools
