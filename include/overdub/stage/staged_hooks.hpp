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

/// The hooks that one context has for a callee; null, where it has none.
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
  function_view<std::vector<ir::value_id>(ir::value_id result)> operands_after;
  function_view<ir::value_id()>
      stage; // stages the call alone, and returns its result; nothing, where there is none
};

/// Stages the call between calls of the hooks of its contexts. Returns its result. O(contexts).
ir::value_id stage_observed(recorder& r, observed_call const& call);

} // namespace overdub::detail

#if OVERDUB_HEADER_ONLY
#include <overdub/stage/staged_hooks.ipp>
#endif
