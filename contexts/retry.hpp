// retry: repeats calls that throw.
#pragma once

#include <overdub/call/named_functions.hpp>
#include <overdub/overdub.hpp>

#include <cstddef>
#include <exception>
#include <string_view>
#include <type_traits>
#include <utility>

namespace overdub::contexts {

/// The policy that allows at most N attempts. Any policy is called after each failure with the callee's name, the number of failures of
/// the call, and the exception; it returns whether to repeat the call. It may wait, or write a message. The rejection of a program is not a
/// failure: a rejected_program is rethrown at once.
template <int N>
inline constexpr auto times =
    [](std::string_view, int failures, std::exception_ptr const&) { return failures < N; };

// Repeats attempt() until it succeeds, or the policy ends the attempts.
template <class Policy, class Attempt>
auto attempt_again(Policy const& policy, std::string_view callee, Attempt const& attempt) {
  for (int failures = 0;;) {
    try {
      return attempt();
    } catch (rejected_program const&) { // a further attempt would be rejected, too
      throw;
    } catch (...) {
      if (!policy(callee, ++failures, std::current_exception())) throw;
    }
  }
}

// A native function that repeats the calls of F when a program runs.
template <class F, class Policy>
struct native_retry {
  auto operator()(auto const&... x) const {
    return attempt_again(Policy{}, F::name(), [&] { return F{}.compute(x...); });
  }
};
// Whether a staged program can repeat the call: F is a native function without captures, the call has an argument, whose type is known, the
// policy has no captures, and retry is the innermost context.
template <class F, class Policy, class... X>
consteval bool is_retried_in_program() {
  if constexpr (
      native_leaf<F> && !overdub::detail::is_untyped<F> && !overdub::detail::native_with_symbol<F> &&
      sizeof...(X) > 0 && std::is_empty_v<Policy> && std::is_empty_v<origin_t<F>>)
    return (!in_context<decltype(std::declval<X>().inner())> && ...);
  else
    return false;
}

/// Repeats calls of Callees: see `retry`.
template <class Policy, class... Callees>
struct retried : context {
  static constexpr std::string_view name = "retry";
  using callees = types<Callees...>;
  static constexpr bool answers_any_types = true;
  [[no_unique_address]] Policy policy;

  retried() requires std::default_initializable<Policy>
  = default;
  constexpr explicit retried(Policy p) : policy(std::move(p)) {}

  template <callee F, class... X>
  requires(named_by<F, Callees> || ...) auto overdub(rule_call auto call, F const& f, X... x) {
    constexpr bool staged = overdub::detail::is_symbolic<typename decltype(call)::stack_type>;
    if constexpr (!staged)
      return attempt_again(policy, f.name(), [&] {
        // The arguments of a derived function have metadata of outer contexts, which `fallback` would remove.
        if constexpr (F::depth > 0)
          return call(f, x...);
        else
          return call.fallback(x...);
      });
    else if constexpr (is_retried_in_program<F, Policy, X...>())
      return leaf<overdub::detail::fixed_name_of<F>()>(
          native_retry<origin_t<F>, Policy>{}, effects::constant<F::effects>{})(x...);
    else if constexpr (
        overdub::detail::called_with_symbol<F> || (native_leaf<F> && overdub::detail::is_untyped<F>)) {
      throw rejected_program(message(
          "overdub: retry cannot repeat the call of \"%.*s\" in this program: its C++ function, or the types "
          "of "
          "its arguments, are not known at compile time; stage the C++ function in retry, and name the "
          "native "
          "function by its type",
          static_cast<int>(f.name().size()), f.name().data()));
      return call.fallback(x...);
    } else {
      static_assert(
          !staged,
          "overdub: a program catches no exceptions: retry repeats a call in one only if the callee is "
          "a native function without captures, the call has an argument, the policy has no captures, "
          "and retry is the innermost context; run other calls directly");
      return call.fallback(x...);
    }
  }
};

/// A context that repeats calls of the given functions and native functions when they throw. When the policy returns false, it
/// rethrows the exception. Each attempt is a new call with the same arguments; `retry` does not intercept the attempts. Inner contexts
/// (after it in `compose`) intercept each attempt, and outer contexts intercept the call once.
///   run(retry(times<3>, fetch), program, x)
template <class Policy, callee... Callees>
constexpr auto retry(Policy policy, Callees const&...) {
  static_assert(
      ((function<Callees> || native_leaf<Callees>)&&...) && sizeof...(Callees) > 0,
      "overdub: retry takes functions and native functions after the policy, at least one: retry(times<3>, "
      "fetch)");
  return retried<Policy, Callees...>(std::move(policy));
}

} // namespace overdub::contexts
