// Effects, costs and result shapes of a program's functions, for reverse mode, which adds functions to the program.
#pragma once

#include <overdub/implementation/ir/shapes.hpp>
#include <overdub/implementation/pass/cost.hpp>
#include <overdub/ir/calls.hpp>
#include <overdub/ir/effects.hpp>

#include <vector>

namespace overdub::adjoint {

/// Computed once, in O(operations); `add` extends them to generated functions, except the result shapes.
class callee_properties {
public:
  explicit callee_properties(ir::program const& p) : effects_(p), costs_(p), shapes_(p) {
    has_side_effects_ =
        ir::functions_with(p, ir::call_components(p), [&](ir::function const& f, ir::node_id n) {
          ir::op const code = f[n].code;
          return code == ir::op::sample || code == ir::op::apply ||
                 (code == ir::op::host && !effects_.of(f, n).can_merge());
        });
  }
  /// Whether a second call of f may have a side effect, or return a different result: f, or a function that it calls, has a random choice,
  /// an `apply`, or a `host` operation whose effects do not permit merging.
  bool has_side_effects(ir::function_id f) const { return has_side_effects_[index_of(f)]; }
  /// Copies the effects and the cost of `like` to `made`, a function that was added, such as the forward pass of `like`.
  void add(ir::function_id made, ir::function_id like) {
    effects_.add(made, like);
    costs_.add(made, like);
    if (index_of(made) >= has_side_effects_.size()) has_side_effects_.resize(index_of(made) + 1);
    has_side_effects_[index_of(made)] = has_side_effects_[index_of(like)];
  }

  /// The parameters that determine the shapes of results.
  ir::result_shapes const& shapes() const { return shapes_; }
  ir::effects const& effects() const { return effects_; }
  pass::costs const& costs() const { return costs_; }

private:
  ir::effects effects_;
  pass::costs costs_;
  ir::result_shapes shapes_;
  std::vector<bool> has_side_effects_;
};

} // namespace overdub::adjoint
