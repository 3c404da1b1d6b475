// Reverse-mode differentiation of a function body: visits the operations from last to first, and appends their adjoints to
// it. Each adjoint adds a contribution to the cotangent of each operand.
#pragma once

#include <overdub/implementation/reverse/branch_partials.hpp>
#include <overdub/implementation/reverse/checkpointer.hpp>
#include <overdub/implementation/reverse/data_adjoints.hpp>
#include <overdub/implementation/reverse/reduction_adjoints.hpp>
#include <overdub/implementation/reverse/residual_saver.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace overdub::adjoint {

/// The adjoint of a call. `backward` takes the caller's `arguments` of these indices, then the results (if
/// `takes_results`), the residuals and the cotangents.
struct call_gradient {
  // Returns the results of the callee, then the residuals; nothing: there are no residuals.
  function_id forward = ir::nothing;
  // If this is nothing, the residual is a function value, which is applied to the cotangents.
  function_id backward = ir::nothing;
  std::vector<std::uint32_t> arguments;
  bool takes_results = false;
  std::vector<ir::type> saved;
};
/// Generates gradients of callees; each once for a request.
using gradient_of_call = std::function<call_gradient(function_id callee, gradient_request const&)>;

/// Selects the adjoint of each operation, and writes those of control flow and of calls.
class writer : emitter {
public:
  using emitter::values;

  writer(adjoint_code& code, checkpointing const& limits, gradient_of_call of_callee)
      : emitter(code), sums_(code.at, code.known), data_(code, sums_),
        arrays_(
            code,
            [this](node_id first, node_id second, std::vector<primal_copy>& copies) {
              return residuals_.save(first, second, copies);
            }),
        residuals_(code, arrays_), checkpoints_(code, limits, arrays_),
        partials_(code, sums_, arrays_, [this](std::vector<node_id> const& nodes) { reverse(nodes); }),
        reductions_(code, sums_, [this](std::vector<node_id> const& nodes) { reverse(nodes); }),
        of_callee_(std::move(of_callee)) {}
  writer(writer const&) = delete;
  writer& operator=(writer const&) = delete;

  cotangents& sums() { return sums_; }
  /// Appends the adjoints of consecutive operations.
  void reverse(std::vector<node_id> const& nodes) {
    for (std::size_t i = nodes.size(); i-- > 0;) back(nodes[i]);
  }
  /// Erases what became unused. Dead-code elimination would keep operations that may fail.
  void drop_unused() { erase_unused(unused_); }

private:
  void back(node_id n);
  values cotangents_of(node_id n);
  // ---- control flow
  void if_(node_id n, values const& cotangents);
  void loop(node_id n, values const& cotangents);
  std::vector<std::uint8_t> useful_states(node_id n, values const& cotangents) const;
  void map(node_id n, values const& cotangents);
  bool is_read_at_index(node_id n, value_id array) const;
  void once(node_id n, values const& cotangents, std::uint32_t first);
  void accumulate(node_id n, values const& cotangents);
  void add_to(node_id n);
  bool adds(node_id n) const;
  // ---- calls
  void call(node_id n, values const& cotangents);
  values call_with_residuals(node_id n, call_gradient const& g);

  cotangents sums_;
  data_adjoints data_;
  array_restorer arrays_;
  residual_saver residuals_;
  checkpointer checkpoints_;
  branch_partials partials_;
  reduction_adjoints reductions_;
  gradient_of_call of_callee_;
  std::vector<node_id> unused_;     // candidates for drop_unused
  value_map<value_id> accumulated_; // accumulators of the primal code: the cotangents of their arrays
};

} // namespace overdub::adjoint
