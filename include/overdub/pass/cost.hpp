// An estimate of how long a program runs, in additions: the costs in the table of operations, loops counted as ten turns.
// Passes say whether they lower it; it is compared before and after, and means nothing by itself.
#pragma once

#include <overdub/header_only.hpp>
#include <overdub/pass/words.hpp>

#include <cstdint>
#include <limits>
#include <vector>

namespace overdub::pass {

/// The costs of a program's functions, callees included; a recursive call costs the call alone. O(operations).
class costs {
public:
  /// How often a loop is thought to run.
  static constexpr double turns = 10;
  /// What a function value is thought to cost that comes from elsewhere: it may be any.
  static constexpr double unknown_callee = std::numeric_limits<double>::infinity();

  OVERDUB_DECL explicit costs(program const& p);

  double of(function_id f) const { return of_[index_of(f)]; }
  /// A function that was added costs what another one costs.
  void add(function_id made, function_id like) {
    if (index_of(made) >= of_.size()) of_.resize(index_of(made) + 1);
    of_[index_of(made)] = of(like);
  }
  /// Of what a program does: of its entry, or of all functions.
  OVERDUB_DECL double of(program const& p) const;

private:
  OVERDUB_DECL double of(program const& p, function const& f, node_id n) const;

  static constexpr int deepest = 8; // choices between function values that are looked at
  // Of a function value's function; of the dearest of several. Reabstracted, it reabstracts what it takes and gives.
  OVERDUB_DECL double of_applying(program const& p, function const& f, value_id v, int depth) const;
  OVERDUB_DECL double of_applying_made(program const& p, function const& f, value_id v, int depth) const;

  // What loops stack.
  static double arrays(std::uint32_t count) {
    return static_cast<double>(ir::row_of(op::array).cost) * count;
  }

  std::vector<double> of_;
  std::vector<double> inside_; // of the function that is looked at, by region
};

/// O(operations).
inline double cost(program const& p) { return costs(p).of(p); }

} // namespace overdub::pass

#if OVERDUB_HEADER_ONLY
#include <overdub/pass/cost.ipp>
#endif
