// Calls whose callee and argument types are known only when the program runs, as hooks receive them.
#pragma once

#include <overdub/call/callee.hpp>
#include <overdub/call/callee_name.hpp>
#include <overdub/call/extends.hpp>
#include <overdub/call/types.hpp>

#include <cstddef>
#include <exception>
#include <string_view>
#include <type_traits>
#include <utility>

namespace overdub::detail {

/// A callee of a kind. Its name is that of the function that the thread is calling (callee_name.hpp).
template <class Kind>
struct untyped_callee {
  using overdub_callee = Kind;
  static constexpr int depth = 0;
  static constexpr bool is_named = false;
  static constexpr bool is_typed = false;
  static constexpr std::string_view name() {
    if (std::is_constant_evaluated()) return name_at_compile_time;
    return called_name();
  }
};

// Hooks receive at most so many arguments: of longer calls, the last is empty.
inline constexpr std::size_t max_untyped_arguments = 8;

template <class Hook, class C, class F, class Value, class... First, std::size_t... N>
consteval bool hook_takes(types<First...>, std::index_sequence<N...>) {
  return observes<Hook, C, F, First..., std::enable_if_t<(N < max_untyped_arguments), Value>...>;
}
// Whether C has no such hook, or some call of a function or a leaf reaches it.
template <class Hook, class C, class Value, class... First, std::size_t... Count>
consteval bool hook_is_reached(std::index_sequence<Count...>) {
  return !Hook::template declared<C> ||
         (hook_takes<Hook, C, untyped_callee<kind::function>, Value>(
              types<First...>{}, std::make_index_sequence<Count>()) ||
          ...) ||
         (hook_takes<Hook, C, untyped_callee<kind::leaf>, Value>(
              types<First...>{}, std::make_index_sequence<Count>()) ||
          ...);
}
/// Whether calls whose arguments are of the type Value reach each hook that C declares.
template <class C, class Value>
consteval bool hooks_are_reached() {
  constexpr std::make_index_sequence<max_untyped_arguments + 1> counts;
  return hook_is_reached<before_hook, C, Value>(counts) &&
         hook_is_reached<after_hook, C, Value, Value>(counts) &&
         hook_is_reached<failed_hook, C, Value, std::exception_ptr>(counts);
}

/// Calls hook(arguments...).
template <std::size_t N = 0, class Value, class Hook>
void with_untyped_arguments([[maybe_unused]] Value const* arguments, std::size_t count, Hook const& hook) {
  auto const pass = [&]<std::size_t... I>(std::index_sequence<I...>, auto const&... more) {
    hook(arguments[I]..., more...);
  };
  if (count == N)
    pass(std::make_index_sequence<N>());
  else if constexpr (N < max_untyped_arguments)
    with_untyped_arguments<N + 1>(arguments, count, hook);
  else
    pass(std::make_index_sequence<N - 1>(), Value());
}

} // namespace overdub::detail
