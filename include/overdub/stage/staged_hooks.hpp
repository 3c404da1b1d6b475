// How a program that is staged calls hooks around an operation, and what runs in it when an exception leaves one.
#pragma once

#include <overdub/core/function_view.hpp>
#include <overdub/stage/recorder.hpp>

#include <span>
#include <string_view>
#include <vector>

namespace overdub::detail {

// An operation `protect`: what is staged by `compute`, which gives the symbols, and by `fail` when an exception leaves that. Returns
// the symbols behind it.
ir::id_range<ir::value_id>
stage_protect(recorder& r, function_view<std::vector<ir::value_id>()> compute, function_view<void()> fail);

/// The hooks that one context has for an operation; null, where it has none.
struct observation {
  using hook = void (*)(void* context, void const* const* arguments, void* const*);
  std::string_view context;
  std::string_view operation;
  bool has_state = false;
  hook before = nullptr;
  hook after = nullptr;
  hook failed = nullptr;
};

/// Stages an operation between calls of the hooks of contexts, the outermost first; `objects` are the contexts. `stage` stages the operation
/// alone, and gives its result, as this does. O(contexts).
ir::value_id stage_observed(
    recorder& r, std::span<observation const> contexts, std::span<void* const> objects,
    std::span<ir::value_id const> operands, function_view<ir::value_id()> stage);

} // namespace overdub::detail

#if OVERDUB_HEADER_ONLY
#include <overdub/stage/staged_hooks.ipp>
#endif
