// The adjoints of operations on numbers and arrays.
#pragma once

#include <overdub/implementation/reverse/cotangents.hpp>
#include <overdub/implementation/reverse/emitter.hpp>
#include <overdub/implementation/reverse/linear.hpp>

namespace overdub::adjoint {

/// Writes adjoints of operations without regions. An operation has at most one result with a cotangent.
class data_adjoints : emitter {
public:
  using emitter::values;

  data_adjoints(adjoint_code& code, cotangents& sums) : emitter(code), sums_(sums) {}

  void elementwise(node_id n, value_id cotangent);
  void select_arrays(node_id n, value_id cotangent);
  void row(node_id n);
  bool data(node_id n, value_id cotangent);

private:
  values indices_of(node_id n) const;
  void array(node_id n, value_id cotangent);
  void slice(node_id n, value_id cotangent);
  void gather(node_id n, value_id cotangent);
  void concat(node_id n, value_id cotangent);
  void update(node_id n, value_id cotangent);
  void fill(node_id n, value_id cotangent);

  cotangents& sums_;
};

} // namespace overdub::adjoint
