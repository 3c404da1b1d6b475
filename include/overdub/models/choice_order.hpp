// The partial order of a model's choices: a choice may depend on those before it.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/models/model_core.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace overdub::models {

/// The order of the choices of a model. It does not depend on the model's arguments.
class choice_order {
public:
  explicit choice_order(model_core const& m);

  /// Whether the choice of site a with the indices at_a is made before that of site b with at_b, which may depend on it. Iterations of a
  /// map do not depend on each other. O(depth).
  bool
  is_before(std::uint32_t a, std::span<i64 const> at_a, std::uint32_t b, std::span<i64 const> at_b) const;

private:
  struct enclosing_loop { // a map or a loop that encloses a site
    ir::node_id node;
    bool is_loop, is_reversed;
  };
  static std::vector<enclosing_loop> enclosing_loops_of(model_core const& m, site const& s);

  std::vector<std::vector<enclosing_loop>> loops_; // by site, outermost first
};

} // namespace overdub::models
