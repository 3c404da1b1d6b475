// Properties of a program's functions, while functions are added to it.
#pragma once

#include <overdub/ir/calls.hpp>
#include <overdub/ir/effects.hpp>
#include <overdub/pass/cost.hpp>
#include <overdub/reverse/result_shapes.hpp>

#include <cstdint>
#include <vector>

namespace overdub::adjoint {

/// Effects, costs and result shapes of functions. O(operations).
class callee_properties {
public:
  explicit callee_properties(ir::program const& p)
      : effects_(p), costs_(p), shapes_(p), is_recursive_(p.functions.size()) {
    ir::call_components const calls(p);
    has_side_effects_.resize(p.functions.size());
    for (std::uint32_t i = 0; i < is_recursive_.size(); ++i)
      is_recursive_[i] = calls.is_recursive(ir::function_id{i});
    for (std::size_t i = 0; i < calls.size(); ++i) {
      bool has_side_effects = false;
      for (ir::function_id const f : calls[i])
        ir::walk(p[f], ir::function::body, [&](ir::node_id n) {
          has_side_effects = has_side_effects || has_effect(p[f], n);
        });
      for (ir::function_id const f : calls[i]) has_side_effects_[index_of(f)] = has_side_effects;
    }
  }
  /// Whether a function has side effects, or may return something else in a second call: by host calls, random choices and
  /// function values.
  bool has_side_effects(ir::function_id f) const { return has_side_effects_[index_of(f)]; }
  /// Declares that an added function does what another one does, and returns more.
  void add(ir::function_id made, ir::function_id like) {
    effects_.add(made, like);
    costs_.add(made, like);
    if (index_of(made) >= is_recursive_.size()) is_recursive_.resize(index_of(made) + 1);
    is_recursive_[index_of(made)] = is_recursive_[index_of(like)];
    if (index_of(made) >= has_side_effects_.size()) has_side_effects_.resize(index_of(made) + 1);
    has_side_effects_[index_of(made)] = has_side_effects_[index_of(like)];
  }

  /// Which parameters determine the shape of a result.
  result_shapes::parameters shape_of(ir::function_id f, std::uint32_t result) const {
    return shapes_.of(f, result);
  }
  ir::effects const& effects() const { return effects_; }
  /// In additions, as in the table of operations.
  double cost_of_calling(ir::function_id f) const {
    constexpr double deep = 1000; // the assumed number of calls in a recursion
    return costs_.of(f) * (is_recursive_[index_of(f)] ? deep : 1);
  }

private:
  bool has_effect(ir::function const& f, ir::node_id n) const {
    ir::op const code = f[n].code;
    if (code == ir::op::call) return has_side_effects_[index_of(f[n].attributes.callee())];
    return code == ir::op::sample || code == ir::op::apply ||
           (code == ir::op::host && !effects_.of(f, n).can_merge());
  }

  ir::effects effects_;
  pass::costs costs_;
  result_shapes shapes_;
  std::vector<bool> is_recursive_, has_side_effects_;
};

} // namespace overdub::adjoint
