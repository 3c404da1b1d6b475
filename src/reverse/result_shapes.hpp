// Which parameters determine the shapes of a function's results, found by following their definitions.
#pragma once

#include <overdub/ir/program.hpp>
#include <overdub/ir/regions.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace overdub::adjoint {

class result_shapes {
public:
  /// Parameter indices: integers by value, arrays by shape. No value if something else matters, too.
  using parameters = std::optional<std::vector<std::uint32_t>>;

  explicit result_shapes(ir::program const& p) : p_(&p) {}

  /// O(operations of the shape's definition, and callees that it goes through).
  parameters of(ir::function_id f, std::uint32_t result) const { return of(f, result, maximum_steps); }

private:
  static constexpr int maximum_steps = 12;
  using list = std::vector<std::uint32_t>;

  // Collects what determines the shape of an array, or the value of a number; false if something else than parameters does.
  bool shape(ir::function const& f, ir::value_id v, int steps, list& found) const {
    using ir::op;
    if (f.type_of(v).rank == 0) return true;
    if (f.is_argument(v)) return is_parameter(f, v, found);
    if (steps == 0 || !f.is_result(v)) return false;
    ir::node_id const n = f.node_of(v);
    auto const of = [&](std::uint32_t operand) { return shape(f, f.operand(n, operand), steps - 1, found); };
    auto const size = [&](std::uint32_t operand) {
      return number(f, f.operand(n, operand), steps - 1, found);
    };
    std::uint32_t const i = f[v].index;
    ir::region_flow const flow(f, n);
    if (i < flow.first_yielded()) return of(i);
    if (ir::is_map(f[n].code)) return size(0) && shape(f, flow.yielded(i), steps - 1, found);
    switch (f[n].code) {
    case op::update:
    case op::copy:
      return of(0);
    case op::fill:
      return size(0) && of(1);
    case op::iota:
      return size(0);
    case op::call: {
      auto const inner = this->of(f[n].attributes.callee(), i, steps - 1);
      if (!inner) return false;
      for (std::uint32_t const k : *inner)
        if (f.type_of(f.operand(n, k)).rank > 0 ? !of(k) : !size(k)) return false;
      return true;
    }
    default:
      return false;
    }
  }
  bool number(ir::function const& f, ir::value_id v, int steps, list& found) const {
    if (f.is_literal(v)) return true;
    if (f.is_argument(v)) return is_parameter(f, v, found);
    if (steps == 0 || !f.is_result(v)) return false;
    ir::node_id const n = f.node_of(v);
    if (f[n].code == ir::op::length) return shape(f, f.operand(n, 0), steps - 1, found);
    if (!ir::is_elementwise(f[n].code)) return false;
    for (ir::value_id const operand : f.operands_of(n))
      if (!number(f, operand, steps - 1, found)) return false;
    return true;
  }
  static bool is_parameter(ir::function const& f, ir::value_id v, list& found) {
    if (f.region_of(v) != ir::function::body) return false;
    if (std::find(found.begin(), found.end(), f[v].index) == found.end()) found.push_back(f[v].index);
    return true;
  }
  parameters of(ir::function_id f, std::uint32_t result, int steps) const {
    list found;
    ir::function const& function = (*p_)[f];
    ir::node_id const last = function[ir::function::body].last;
    if (last == ir::nothing || function[last].code != ir::op::yield)
      return {}; // the body is still being generated
    if (!shape(function, function.operand(last, result), steps, found)) return {};
    return found;
  }

  ir::program const* p_;
};

} // namespace overdub::adjoint
