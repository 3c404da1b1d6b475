// Stages calls of hooks around an operation, and the operation `protect`.
#pragma once

#include <overdub/core/function_view.hpp>
#include <overdub/stage/recorder.hpp>

#include <span>
#include <string_view>
#include <vector>

namespace overdub::detail {

// Stages an operation `protect`. `compute` stages the first region and returns the yielded symbols; `fail` stages the second one. Returns
// the symbols of the results.
ir::id_range<ir::value_id>
stage_protect(recorder& r, function_view<std::vector<ir::value_id>()> compute, function_view<void()> fail);

/// The hooks of a context for a callee; null for those that it does not have.
struct observation {
  using hook = void (*)(void* context, void const* const* arguments, void* const*);
  std::string_view context;
  bool has_state = false;
  hook before = nullptr;
  hook after = nullptr;
  hook failed = nullptr;
};

/// A call of a callee that contexts observe, and do not replace.
struct observed_call {
  std::string_view name;
  std::span<observation const> contexts;  // the outermost first
  std::span<void* const> objects;         // the contexts
  std::span<ir::value_id const> operands; // of `before` and `failed`
  function_view<std::vector<ir::value_id>(std::span<ir::value_id const> results)> operands_after;
  function_view<std::vector<ir::value_id>()> stage; // stages the call itself, and returns its results
};

/// Stages the call between calls of the contexts' hooks. Returns its results. O(contexts).
std::vector<ir::value_id> stage_observed(recorder& r, observed_call const& call);

} // namespace overdub::detail
