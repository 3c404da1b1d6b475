// The adjoints of reductions. That of a sum broadcasts one number. Others are written as a loop over the reduction tree,
// whose adjoint is that of any loop.
#pragma once

#include <overdub/implementation/reverse/cotangents.hpp>
#include <overdub/implementation/reverse/emitter.hpp>

#include <utility>

namespace overdub::adjoint {

/// Writes adjoints of reductions.
class reduction_adjoints : emitter {
public:
  using emitter::values;

  reduction_adjoints(adjoint_code& code, cotangents& sums, reverse_all reverse)
      : emitter(code), sums_(sums), reverse_(std::move(reverse)) {}

  void reduce(node_id n, values const& cotangents);

private:
  void sum(node_id n, value_id cotangent);
  void extreme(node_id n, value_id cotangent);
  struct pairs {
    value_id left, right; // the numbers of the two nodes that each step combines
  };
  pairs tree_of(value_id size, value_id steps);
  values combined(node_id n, values const& left, values const& right);

  cotangents& sums_;
  reverse_all reverse_;
};

} // namespace overdub::adjoint
