// The functions of functions.hpp without their types: staged programs, arguments for them, and what C++ gives.
#pragma once

#include "property.hpp"

#include <overdub/execute/datum.hpp>
#include <overdub/ir/program.hpp>

#include <exception>
#include <functional>
#include <string>
#include <typeinfo>
#include <vector>

namespace cases {

using arguments = std::vector<overdub::datum>;

/// What a run gave: its results, leaf by leaf, or the type of what it threw.
struct outcome {
  std::vector<overdub::datum> results;
  std::string thrown;
  bool operator==(outcome const&) const = default;
};

/// What a run gives that returns data.
template <class F>
outcome outcome_of(F const& run) {
  outcome result;
  try {
    result.results = run();
  } catch (std::exception const& e) {
    result.thrown = typeid(e).name();
  }
  return result;
}

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

/// Checks that f(sample, arguments) is what the function gives as plain C++, on the arguments by hand and on random ones.
template <class F>
void same_as_native(sample const& each, F const& run) {
  INFO(each.name);
  for (arguments const& a : each.by_hand) {
    outcome const native = each.native(a), given = run(each, a);
    INFO("on arguments by hand, number " << &a - each.by_hand.data());
    CHECK(given == native);
  }
  property([&] {
    arguments const a = each.draw();
    RC_ASSERT(run(each, a) == each.native(a));
  });
}

} // namespace cases
