// The functions of functions.hpp without their types: staged programs, arguments for them, and what C++ gives.
#pragma once

#include "laws/support/executors.hpp"

#include <overdub/ir/program.hpp>

#include <functional>
#include <string>
#include <vector>

namespace cases {

using executors::arguments;
using executors::outcome;

/// A function, and what it is staged to.
struct sample {
  std::string name;
  overdub::ir::program program;
  std::vector<arguments> by_hand;
  std::function<arguments()> draw; // random ones, inside of property()
  std::function<outcome(arguments const&)> native;
};

/// All of them; staged once.
std::vector<sample> const& all();

} // namespace cases
