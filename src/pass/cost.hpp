// An estimate of the run time of a program, in additions: the sum of the costs in the table of operations, with an assumed
// trip count for loops. Tests compare it before and after a pass; its absolute value has no meaning.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/pass/ir_names.hpp>

#include <cstdint>
#include <limits>
#include <vector>

namespace overdub::pass {

/// The costs of a program's functions, including their callees. A recursive call has the cost of a call only. O(operations).
class costs {
public:
  /// The assumed trip count of a loop.
  static constexpr double assumed_trip_count = 10;
  /// The cost of applying a function value from outside of the program.
  static constexpr double unknown_callee = std::numeric_limits<double>::infinity();

  explicit costs(program const& p);

  double of(function_id f) const { return of_[index_of(f)]; }
  /// Assigns the cost of a function to an added function.
  void add(function_id made, function_id like) {
    if (index_of(made) >= of_.size()) of_.resize(index_of(made) + 1);
    of_[index_of(made)] = of(like);
  }
  /// The cost of a program: that of its entry, or of all functions if it has no entry.
  double of(program const& p) const;

private:
  double of(program const& p, function const& f, node_id n) const;

  static constexpr int deepest = 8; // levels of selections between function values that are searched
  // The cost of the function of a function value; the maximum over several. Includes the reabstraction of arguments and
  // results.
  double of_applying(program const& p, function const& f, value_id v, int depth) const;
  double of_applying_made(program const& p, function const& f, value_id v, int depth) const;

  // The cost of stacking results.
  static double arrays(std::uint32_t count) {
    return static_cast<double>(ir::row_of(op::array).cost) * count;
  }

  std::vector<double> of_;
  std::vector<double> inside_; // for each region of the current function
};

/// O(operations).
inline double cost(program const& p) { return costs(p).of(p); }

} // namespace overdub::pass
