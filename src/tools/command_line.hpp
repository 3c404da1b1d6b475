// The command line of overdub-opt.
#pragma once

#include "steps.hpp"

#include <string>
#include <vector>

namespace overdub::tools {

struct lifting_options {
  bool is_asked = false; // the inputs are bitcode
  bool explain = false;
  std::string embed; // a file
};

struct command_line {
  std::vector<std::string> inputs; // files; empty: the standard input
  std::vector<step> steps;         // in the order of the command line
  std::string output = "-";
  bool print = false;
  bool places = false;
  bool verify = false;
  std::vector<std::string> runs; // calls
  std::string executor = "interpreter";
  bool dot = false;
  bool svg = false;
  std::string graph;
  bool time = false;
  bool test = false;
  lifting_options lift;
};

/// Parses the command line. For help or lists, prints them and sets `done`. Throws failure.
command_line read_command_line(int count, char const* const* words, bool& done);

} // namespace overdub::tools
