// What a test of a derivative is asked, and what it found.
#pragma once

#include <overdub/core/requirements.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace overdub::contexts {

/// How a derivative is tested.
struct derivative_test {
  /// Of derivatives by differences, in proportion to the numbers that are compared, or to 1. Where an input is a float, it is 1e-2
  /// at least.
  double tolerance = 1e-6;
  /// How many numbers of the inputs are changed one at a time; then all are changed at once, twice.
  int directions = 6;
  std::uint64_t seed = 1; // of the directions
  /// How many allocations were made so far, as allocations_of_thread of contexts/profile/allocations.hpp counts them: gradients of
  /// numbers make none then. Without it they are not counted.
  long (*allocations)() = nullptr;
};

/// What was found. It is true where nothing is wrong.
class derivative_report {
public:
  int checks = 0; // how many comparisons were made
  std::vector<std::string>
      failures; // sentences: what was compared, by which input, what was expected and what came

  explicit operator bool() const { return failures.empty(); }
  /// A line for each failure; or how much was compared.
  std::string text() const {
    if (failures.empty()) return std::to_string(checks) + " comparisons hold\n";
    std::string all;
    for (std::string const& each : failures) all += each + '\n';
    return all;
  }
};

} // namespace overdub::contexts
