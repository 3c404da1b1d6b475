// The ways to run a program that must agree: the reference, every executor, and programs that mean the same.
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

/// What a run gave: its results, leaf by leaf, or the type of what it threw.
struct outcome {
  std::vector<overdub::datum> results;
  std::string thrown;
  bool operator==(outcome const&) const = default;
};
/// As text, for messages.
std::string text_of(outcome const&);

/// What f() gives, which returns data.
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

/// The meaning of programs: evaluate(program, arguments).
outcome evaluated(overdub::ir::program const&, arguments const&);

/// Another way to run a program. Ways that choose something choose by the seed.
struct way {
  std::string_view name;
  outcome (*run)(overdub::ir::program const&, arguments const&, std::uint64_t seed);
  bool keeps_error; // of several errors that a program may throw, the same one is thrown
  std::uint64_t every; // of how many random programs one is run this way
};
std::span<way const> all();

/// Whether a way gives what it should.
inline bool agrees(way const& w, outcome const& expected, outcome const& given) {
  return given == expected || (!w.keeps_error && !expected.thrown.empty() && !given.thrown.empty());
}

} // namespace executors
