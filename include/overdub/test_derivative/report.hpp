// The settings and the report of a test of derivatives.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/core/requirements.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace overdub {

/// Settings of a test of derivatives.
struct derivative_test {
  /// The tolerance of comparisons with finite differences, relative to the numbers that are compared, or to 1 if that is larger. If an
  /// input is a float, it is at least 1e-2.
  double tolerance = 1e-6;
  /// The maximum number of directions in which one number of the inputs varies. Two more directions vary all numbers at once.
  int directions = 6;
  std::uint64_t seed = 1; // of the random directions
  /// Returns the number of allocations so far, such as allocations_of_thread of contexts/profile/allocations.hpp. The test then checks that
  /// gradients of functions of numbers do not allocate. If it is null, allocations are not counted.
  long (*allocations)() = nullptr;
};

/// The result of a test. It converts to true if all comparisons hold.
class derivative_report {
public:
  int checks = 0; // the number of comparisons
  std::vector<std::string>
      failures; // a sentence for each: the derivative, the input, the value and the expected value

  explicit operator bool() const { return failures.empty(); }
  /// A line for each failure; or the number of comparisons if there are none.
  std::string text() const;
};

} // namespace overdub
