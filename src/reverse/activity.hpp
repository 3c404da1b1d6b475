// Activity analysis (Hascoët and Pascual, The Tapenade automatic differentiation tool, 2013): finds the values that vary with the
// differentiated inputs, by forward data flow along uses.
#pragma once

#include <overdub/implementation/ir/dependents.hpp>
#include <overdub/implementation/ir/value_map.hpp>
#include <overdub/ir/program.hpp>

#include <cstdint>
#include <vector>

namespace overdub::adjoint {

using ir::function;
using ir::function_id;
using ir::is_differentiable;
using ir::node_id;
using ir::op;
using ir::region_id;
using ir::value_id;
using ir::value_map;

/// Whether a type is opaque: host objects and function values may contain numbers.
constexpr bool is_opaque(ir::type t) {
  return t.element == ir::scalar::opaque || t.element == ir::scalar::function;
}

/// How a value varies: it does not vary; it is a number or an array that varies; or it is opaque, and may hide one that varies.
enum class activity_state : std::uint8_t { none, varies, hides };

/// The values of a function that vary with some of its parameters and have derivatives. All results of a callee are assumed
/// to depend on all of its arguments, unless its derivative rule declares it a constant.
class activity {
public:
  /// O(uses of the values that vary).
  activity(ir::program const& p, function_id f, std::vector<bool> const& parameters);
  /// For a function in which no value varies yet.
  explicit activity(function const& f) : of_(f.value_count()) {}

  activity_state of(value_id v) const {
    return index_of(v) < of_.size() ? of_[index_of(v)] : activity_state::none;
  }
  bool varies(value_id v) const { return of(v) == activity_state::varies; }
  /// Sets the activity of a value, which may have been added after the analysis.
  void set(value_id v, activity_state how) {
    if (index_of(v) >= of_.size()) of_.resize(index_of(v) + 1 + of_.size() / 2);
    of_[index_of(v)] = how;
  }
  void set(value_id v, bool does) { set(v, does ? activity_state::varies : activity_state::none); }

private:
  std::vector<activity_state> of_; // by value
};

} // namespace overdub::adjoint
