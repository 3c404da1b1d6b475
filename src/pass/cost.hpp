// An estimate of the run time of code, in additions: the sum of the costs in the table of operations, with an assumed trip count for what
// repeats. Tests compare it before and after a pass, reverse mode compares it with the cost of saving a value, and incremental computation
// counts with it what it does not count exactly. Its absolute value has no meaning.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/pass/ir_names.hpp>

#include <cassert>
#include <cstdint>
#include <limits>
#include <vector>

namespace overdub::pass {

/// The costs of a program's functions, and of code that calls them. Refers to the program.
class costs {
public:
  /// The assumed trip count of regions that repeat, and the assumed length of an array.
  static constexpr double assumed_trip_count = 10;
  /// The assumed number of runs of a recursive function for each call from outside. Inside, a recursive call has the cost of a call only.
  static constexpr double assumed_recursive_calls = 1000;
  /// The cost of applying a function value from outside of the program.
  static constexpr double unknown_callee = std::numeric_limits<double>::infinity();

  /// O(operations); recursive over the depth of regions.
  explicit costs(program const& p);

  /// A function, with its callees.
  double of(function_id f) const {
    assert(index_of(f) < of_.size());
    return of_[index_of(f)];
  }
  /// An operation, with its regions and callees. The function may be one that is being written, if the costs of those that it calls are
  /// known. O(operations inside); recursive over the depth of regions.
  double of(function const& f, node_id n) const;
  /// One run of a region.
  double of(function const& f, region_id r) const;
  /// The runs of the regions of an operation, all together.
  double of_regions(function const& f, node_id n) const;
  /// An operation with its callees, without its regions.
  double of_own(function const& f, node_id n) const;
  /// The program: its entry, or all functions if it has no entry.
  double of_program() const;

  /// Assigns the cost of a function to an added function.
  void add(function_id made, function_id like) {
    if (index_of(made) >= of_.size()) of_.resize(index_of(made) + 1);
    of_[index_of(made)] = of(like);
  }

private:
  static constexpr int deepest = 8; // levels of selections between function values that are searched
  // The cost of the function of a function value; the maximum over several. Includes the reabstraction of arguments and
  // results.
  double of_applying(function const& f, value_id v, int depth) const;
  double of_applying_made(function const& f, value_id v, int depth) const;

  program const& p_;
  std::vector<double> of_; // by function
};

/// O(operations).
inline double cost(program const& p) { return costs(p).of_program(); }

} // namespace overdub::pass
