// Constructs contexts from a context: one with other state, one without hooks.
#pragma once

#include <overdub/call/context.hpp>

#include <string_view>
#include <type_traits>
#include <utility>

namespace overdub {

/// Returns C{state...}: a context of the same type with other state.
template <is_context C, class... State>
constexpr C similar(C const&, State&&... state) {
  if constexpr (std::is_constructible_v<C, State...>)
    return C(std::forward<State>(state)...);
  else
    return C{{}, std::forward<State>(state)...};
}

/// A copy of a context without hooks, with its rules and metadata.
template <class C>
struct hookless : C {
  static constexpr std::string_view name = detail::context_name_v<C>;
  void before() = delete;
  void after() = delete;
  void failed() = delete;
};
template <is_context C>
constexpr hookless<C> without_hooks(C context) {
  return {std::move(context)};
}

} // namespace overdub
