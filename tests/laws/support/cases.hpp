// The functions of functions.hpp without their types: staged programs, arguments for them, and the results of C++.
#pragma once

#include "laws/support/executors.hpp"

#include <overdub/ir/program.hpp>

#include <functional>
#include <string>
#include <vector>

namespace cases {

using executors::arguments;
using executors::outcome;

/// A function and its staged program.
struct sample {
  std::string name;
  overdub::ir::program program;
  std::vector<arguments> by_hand;
  std::function<arguments()> draw; // random arguments, inside of property()
  std::function<outcome(arguments const&)> native;
};

/// All functions, which are staged once.
std::vector<sample> const& all();

} // namespace cases
