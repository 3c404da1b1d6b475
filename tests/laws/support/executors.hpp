// The executors of a program, which must agree: the reference, each executor, and equivalent programs.
#pragma once

#include <overdub/execute/datum.hpp>
#include <overdub/ir/program.hpp>

#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <typeinfo>
#include <vector>

namespace executors {

using arguments = std::vector<overdub::datum>;

/// The outcome of a run: its results, leaf by leaf, or the type of its exception.
struct outcome {
  std::vector<overdub::datum> results;
  std::string thrown;
  bool operator==(outcome const&) const = default;
};
/// As text, for messages.
std::string text_of(outcome const&);

/// The outcome of f(), which returns data.
template <class F>
outcome outcome_of(F const& f) {
  outcome result;
  try {
    result.results = f();
  } catch (std::exception const& e) {
    result.thrown = typeid(e).name();
  }
  return result;
}

/// The reference: evaluate(program, arguments).
outcome evaluated(overdub::ir::program const&, arguments const&);

/// A way to run a program. Random decisions depend on the seed.
struct way {
  std::string_view name;
  outcome (*run)(overdub::ir::program const&, arguments const&, std::uint64_t seed);
  bool keeps_error;    // if a program may throw several errors, the same one is thrown
  std::uint64_t every; // runs one of this many random programs
};
std::span<way const> all();

/// Whether an outcome is the expected one.
inline bool agrees(way const& w, outcome const& expected, outcome const& given) {
  return given == expected || (!w.keeps_error && !expected.thrown.empty() && !given.thrown.empty());
}

} // namespace executors
