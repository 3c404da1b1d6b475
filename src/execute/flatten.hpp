// Inlines functions that maps call for each element: a body is vectorised only if it contains no calls.
#pragma once

#include <overdub/execute/code.hpp>
#include <overdub/implementation/pass/replace_call.hpp>
#include <overdub/ir/calls.hpp>
#include <overdub/ir/cursor.hpp>
#include <overdub/ir/regions.hpp>
#include <overdub/ir/walk.hpp>

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace overdub::execute {

/// Whether the iterations of an operation are independent, so that it may be vectorised.
inline bool has_elements(ir::function const& f, ir::node_id n) {
  return ir::is_counted(f[n].code) && ir::region_flow(f, n).carried() == 0 && !f[n].attributes.is_reversed();
}

class flattening {
public:
  explicit flattening(ir::program const& p) : calls_(p), p_(p) {}

  /// The program with calls in maps inlined, within a limit; nothing if there are none. Recursive functions are not inlined.
  /// O(operations of the program, and copied ones).
  std::optional<ir::program> run() {
    for (int round = 0; round < deepest && into_all(); ++round) {
    }
    if (!copy_) return {};
    return std::move(*copy_);
  }

private:
  static constexpr std::size_t maximum_copied = 20'000; // operations
  static constexpr int deepest = 16;                    // calls in copies

  ir::program const& here() const { return copy_ ? *copy_ : p_; }

  bool into_all() {
    bool changed = false;
    for (ir::function_id const f : calls_.order())
      for (ir::node_id const call : calls_in_maps(f)) changed = inline_call(f, call) || changed;
    return changed;
  }
  std::vector<ir::node_id> calls_in_maps(ir::function_id id) const {
    std::vector<ir::node_id> found;
    ir::function const& f = here()[id];
    int maps = 0;
    ir::walk(
        f, ir::function::body,
        [&](ir::node_id n) {
          if (has_elements(f, n)) ++maps;
          if (maps > 0 && f[n].code == ir::op::call && !calls_.is_recursive(f[n].attributes.callee()))
            found.push_back(n);
        },
        [&](ir::node_id n) {
          if (has_elements(f, n)) --maps;
        });
    return found;
  }
  // Inlines a call, unless the limit is reached.
  bool inline_call(ir::function_id f, ir::node_id call) {
    copied_ += here()[here()[f][call].attributes.callee()].node_count();
    if (copied_ > maximum_copied) return false;
    if (!copy_) copy_ = p_;
    ir::cursor c(*copy_, f);
    c.to_before(call);
    replace_(c, call);
    return true;
  }

  ir::call_components calls_;
  ir::program const& p_;
  std::optional<ir::program> copy_;
  pass::call_replacement replace_;
  std::size_t copied_ = 0;
};

} // namespace overdub::execute
