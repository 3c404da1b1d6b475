// Which operations of a function are live: they have side effects or may fail, or live values depend on them. Their users write live
// operations as they are, so that all operands and results of these are live. dce.cpp also erases single results, and what only they need.
#pragma once

#include <overdub/pass/ir_names.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace overdub::pass::detail {

/// O(operations); recursive over the depth of regions.
class liveness {
public:
  liveness(function const& f, std::span<effect_set const> known)
      : f_(f), effects_(known), alive_(f.node_count()) {
    look_at(function::body);
  }
  std::span<std::uint8_t const> alive() const { return alive_; }

private:
  void look_at(region_id r) { // backwards: uses come after definitions
    for (node_id n = f_[r].last; n != nothing; n = f_[n].previous) {
      std::uint8_t& alive = alive_[index_of(n)];
      if (!alive && f_[n].code != op::yield && effects_[index_of(n)].can_drop()) continue;
      alive = 1;
      for (value_id const v : f_.operands_of(n))
        if (f_.is_result(v)) alive_[index_of(f_.node_of(v))] = 1;
      for (std::uint32_t i = f_[n].region_count; i-- > 0;) look_at(f_.region_at(n, i));
    }
  }

  function const& f_;
  std::span<effect_set const> effects_;
  std::vector<std::uint8_t> alive_;
};

} // namespace overdub::pass::detail
