// retry: calls that fail are made again.
#pragma once

#include <overdub/overdub.hpp>

#include <concepts>
#include <cstddef>
#include <exception>
#include <string_view>
#include <type_traits>
#include <utility>

namespace overdub::contexts {

/// A policy: a call is made at most N times. Policies are called after each failure with the callee's name, the number of its
/// failures, and the exception, and return whether the call is made again. They may wait, or write what happened. What rejects a program
/// is no failure: a rejected_program goes on at once.
template <int N>
inline constexpr auto times =
    [](std::string_view, int failures, std::exception_ptr const&) { return failures < N; };

// What the attempts of a call have in common.
template <class Policy, class Attempt>
auto attempt_again(Policy const& policy, std::string_view callee, Attempt const& attempt) {
  for (int failures = 0;;) {
    try {
      return attempt();
    } catch (rejected_program const&) { // as it would be again
      throw;
    } catch (...) {
      if (!policy(callee, ++failures, std::current_exception())) throw;
    }
  }
}

// A native function that is called again itself, when a program runs.
template <class F, class Policy>
struct native_retry {
  auto operator()(auto const&... x) const {
    return attempt_again(Policy{}, F::name(), [&] { return F{}.compute(x...); });
  }
};
// Whether a program can call it again: a native function with arguments, by a policy without captures, in the innermost context.
template <class F, class Policy, class... X>
consteval bool is_retried_in_program() {
  if constexpr (
      native_leaf<F> && !overdub::detail::is_untyped<F> && sizeof...(X) > 0 && std::is_empty_v<Policy> &&
      std::is_empty_v<origin_t<F>>)
    return (!in_context<decltype(std::declval<X>().inner())> && ...);
  else
    return false;
}

template <class F>
consteval auto name_of_callee() {
  char text[F::name().size() + 1]{};
  for (std::size_t i = 0; i < F::name().size(); ++i) text[i] = F::name()[i];
  return fixed_string<F::name().size() + 1>(text);
}

/// Makes calls of Callees again: see `retry`.
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
  requires(std::same_as<origin_t<F>, Callees> || ...) auto overdub(rule_call auto call, F const& f, X... x) {
    constexpr bool staged = overdub::detail::is_symbolic<typename decltype(call)::stack_type>;
    if constexpr (!staged)
      return attempt_again(policy, f.name(), [&] {
        if constexpr (F::depth > 0) // what outer contexts made of a function takes their metadata along
          return call(f, x...);
        else
          return call.fallback(x...);
      });
    else if constexpr (is_retried_in_program<F, Policy, X...>())
      return leaf<name_of_callee<F>()>(native_retry<origin_t<F>, Policy>{}, effects::constant<F::effects>{})(
          x...);
    else if constexpr (native_leaf<F> && overdub::detail::is_untyped<F>) { // of a program
      throw rejected_program(message(
          "overdub: retry calls \"%.*s\" again in programs for arguments of the types that it is declared "
          "with, and "
          "this program gives it others; stage the function of C++ in the context",
          static_cast<int>(f.name().size()), f.name().data()));
      return call.fallback(x...);
    } else {
      static_assert(
          !staged, "overdub: retry catches exceptions, which programs do not: only native functions with an "
                   "argument are "
                   "retried in a program, by a retry that is the innermost context; run the others directly");
      return call.fallback(x...);
    }
  }
};

/// A context that makes calls of some functions and native functions again when they throw, if the policy says so; else the
/// exception goes on. An attempt is a call with the same arguments, outside of this context: inner contexts see each.
///   run(retry(times<3>, fetch), program, x)
template <class Policy, callee... Callees>
constexpr auto retry(Policy policy, Callees const&...) {
  static_assert(
      ((function<Callees> || native_leaf<Callees>)&&...) && sizeof...(Callees) > 0,
      "overdub: retry is told which functions and native functions it calls again: retry(times<3>, fetch)");
  return retried<Policy, Callees...>(std::move(policy));
}

} // namespace overdub::contexts
