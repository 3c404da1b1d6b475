// Calls that contexts observe and do not replace. The staged program has the operation, between calls of the hooks. The hooks are data,
// computed from the types, so that a translation unit has little code for each operation.
#pragma once

#include <overdub/call/intercepts.hpp>
#include <overdub/stage/hooks.hpp>
#include <overdub/stage/staged_hooks.hpp>

#include <array>
#include <cstddef>
#include <exception>
#include <type_traits>

namespace overdub::detail {

// Whether a context of S, except `staging`, declares rules.
template <class S>
consteval bool any_declares_rules() {
  if constexpr (!has_contexts<S>())
    return false;
  else
    return declares_rules<typename S::context> || any_declares_rules<typename S::tail>();
}
// Whether a context of S, except `staging`, has a rule for a call of F with these arguments, which returns an R.
template <class S, class F, class R, class... X>
consteval bool any_rule();
template <class S, class F, class R, class... X>
consteval bool any_rule(types<X...>) {
  return any_rule<S, F, R, X...>();
}
template <class S, class F, class R, class... X>
consteval bool any_rule() {
  if constexpr (!any_declares_rules<S>())
    return false;
  else if constexpr (has_rule<S, F, X...>())
    return true;
  else if constexpr (!any_declares_rules<typename S::tail>())
    return false;
  else
    return any_rule<typename S::tail, F, inner_t<S, R>>(arguments_inside_t<S, F, X...>{});
}

template <class Hook, class S, class F, class... X>
consteval observation::hook observing_hook() {
  constexpr hook_kind how = [] {
    if constexpr (std::is_same_v<Hook, failed_hook>)
      return find_hook<Hook, S, F, std::exception_ptr, X...>();
    else
      return find_hook<Hook, S, F, X...>();
  }();
  refuse_raw_hook<how>();
  if constexpr (how == hook_kind::never)
    return nullptr;
  else
    return hook_runner<Hook, typename S::context, callee_at_run_time_t<F>, hooked_t<X>...>();
}

// The hooks of the outermost context of S for calls of F with these arguments, which return an R.
template <class S, class F, class R, class... X>
consteval observation find_observation() {
  using C = typename S::context;
  observation found{context_name_v<C>, !std::is_empty_v<C>};
  if constexpr (declares_before<C>) found.before = observing_hook<before_hook, S, F, X...>();
  if constexpr (declares_after<C>) found.after = observing_hook<after_hook, S, F, R, X...>();
  if constexpr (declares_failed<C>) found.failed = observing_hook<failed_hook, S, F, X...>();
  return found;
}
// The same of all contexts of S, except `staging`.
template <class S, class F, class R, class... X>
constexpr void find_observations(observation* next) {
  if constexpr (!symbolic<typename S::context>) {
    *next = find_observation<S, F, R, X...>();
    if constexpr (has_contexts<typename S::tail>())
      find_observations<typename S::tail, F, inner_t<S, R>, inner_t<S, X>...>(next + 1);
  }
}
template <class S, class F, class R, class... X>
OVERDUB_HIDDEN inline constexpr auto observations = [] {
  std::array<observation, S::depth - 1> all{};
  find_observations<S, F, R, X...>(all.data());
  return all;
}();

// The context objects of S, except `staging`.
template <class S>
std::array<void*, S::depth - 1> objects_of(S const& contexts) {
  std::array<void*, S::depth - 1> all{};
  std::size_t next = 0;
  auto const find = [&](auto const& self, auto const& each) -> void {
    if constexpr (!symbolic<typename std::remove_cvref_t<decltype(each)>::context>) {
      if (each.top().is_null())
        throw_constants("a hook", context_name_v<typename std::remove_cvref_t<decltype(each)>::context>);
      all[next++] = const_cast<void*>(static_cast<void const*>(&each.top().get()));
      self(self, each.rest());
    }
  };
  find(find, contexts);
  return all;
}

} // namespace overdub::detail
