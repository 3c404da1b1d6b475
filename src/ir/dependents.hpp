// Forward dependence analysis: which values of a function depend on given ones. A dependence passes from operands to results and through
// regions, along uses, to a fixpoint (Kildall, A unified approach to global program optimization, 1973).
#pragma once

#include <overdub/core/function_view.hpp>
#include <overdub/core/library.hpp>
#include <overdub/ir/function.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace overdub::ir {

/// A rule without exceptions.
inline constexpr auto always = [](auto const&) { return true; };

/// What counts as a dependence.
struct dependence_rules {
  /// Whether control counts. If it does, an operation with regions that uses a dependent value, itself or in a region, depends as a whole:
  /// its results, and the arguments of its regions except indices. If it does not, values depend on the data that flows into them.
  bool has_control = false;
  /// Whether the size of an array depends apart from its elements. `length` reads the size alone. Requires `has_control`.
  bool has_sizes = false;
  /// Whether a dependence passes through an operation.
  overdub::detail::function_view<bool(node_id)> passes = always;
  /// Whether values of a type may depend.
  overdub::detail::function_view<bool(type)> carries = always;
};

/// The values that depend on sources. A snapshot: later edits are not in it.
class dependents {
public:
  /// What the others depend on: values, with `has_sizes` their elements; and, with `has_sizes`, the sizes of arrays.
  struct sources {
    std::span<value_id const> values, sizes = {};
  };

  /// O(uses of dependent values, times the depth of regions if control counts).
  dependents(function const& f, sources const& from, dependence_rules const& rules);

  /// Whether a value depends on a source. False for literals.
  bool of(value_id v) const { return values_[index_of(v)]; }
  /// Whether the size of an array does. False without `has_sizes`.
  bool of_size(value_id v) const { return !sizes_.empty() && sizes_[index_of(v)]; }

private:
  class solver;
  std::vector<bool> values_, sizes_; // by value
};

} // namespace overdub::ir
