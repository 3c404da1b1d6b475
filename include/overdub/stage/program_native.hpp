// Native functions that programs call, as callees of the dispatcher: rules and hooks apply to their calls as to calls of a `leaf`.
//
// A rule or hook that names a native function receives arguments of the types for which it is compiled (program_signatures.hpp). Hooks for
// all native functions receive values with a dynamic type. A rule for all native functions is a template, which need not compile for all
// types: it applies to native functions that no context names only if its context declares answers_any_types.
#pragma once

#include <overdub/call/leaf.hpp>
#include <overdub/core/library.hpp>
#include <overdub/stage/op_code.hpp>
#include <overdub/stage/program_function.hpp>

#include <string_view>
#include <type_traits>
#include <vector>

namespace overdub::detail {

// Whether a host function is a hook (recorder::add_hook), with a name such as "context.before f(f64)".
bool is_name_of_hook(std::string_view name);

// A native function that no context names.
template <effect E>
struct unnamed_native {
  using overdub_callee = kind::leaf;
  static constexpr int depth = 0;
  static constexpr bool is_named = false;
  static constexpr effect effects = E;
  static constexpr std::string_view name() {
    if (std::is_constant_evaluated())
      return name_at_compile_time;
    else
      return called_name();
  }
  // Used to test whether a context has a rule for it; never called. Rules may compute with the result.
  static constexpr refused compute(auto const&...) { return {}; }
  constexpr refused operator()(auto const&...) const { return {}; }
};
template <class Call>
auto with_effect(effect e, Call const& call) {
  switch (e) {
  case effect::pure:
    return call(effects::pure);
  case effect::may_fail:
    return call(effects::may_fail);
  case effect::reads_context:
    return call(effects::reads_context);
  case effect::addressed:
    return call(effects::addressed);
  case effect::accumulates:
    return call(effects::accumulates);
  default:
    return call(effects::ordered);
  }
}

// The result type of a C++ native function for arguments of these types; double, if only its name is known.
template <class F, class... X>
struct native_result {
  using type = double;
};
template <native_leaf F, class... X>
requires requires { typename computed_t<F, X...>; }
struct native_result<F, X...> {
  using type = computed_t<F, X...>;
};
template <class F, class... X>
inline constexpr bool is_native_called_with = true;
template <fixed_string Name, class Body, effect E, class... X>
inline constexpr bool is_native_called_with<leaf_t<Name, Body, E>, X...> =
    std::is_invocable_v<Body const&, X...>;

// The parameter types of a native function, if it is not a template.
template <class F>
struct native_signature {
  using type = types<>;
};
template <class Member>
struct call_operator;
template <class B, class R, class... X>
struct call_operator<R (B::*)(X...) const> {
  using type = types<types<std::remove_cvref_t<X>...>>;
};
template <class B, class R, class... X>
struct call_operator<R (B::*)(X...) const noexcept> : call_operator<R (B::*)(X...) const> {};
template <fixed_string Name, class Body, effect E>
requires requires { typename call_operator<decltype(&Body::operator())>::type; }
struct native_signature<leaf_t<Name, Body, E>> : call_operator<decltype(&Body::operator())> {};

// The result type of an untyped call of a native function without a result.
struct no_cell {};

template <class F>
inline constexpr effect effects_of_native = effect::ordered;
template <native_leaf F>
inline constexpr effect effects_of_native<F> = F::effects;

/// A call of a native function in an evaluation. F is the C++ native function, or the symbol, that contexts receive as the callee; R is the
/// result type.
template <class Stack, class F, class R>
struct program_native : F {
  using overdub_callee = kind::native_of_program;
  using origin = F;
  static constexpr int depth = 0;
  static constexpr bool is_named = named_at_compile_time<F>;
  static constexpr bool is_typed = !std::is_same_v<R, one_cell> && !std::is_same_v<R, no_cell>;
  static constexpr bool returns_nothing = std::is_same_v<R, none> || std::is_same_v<R, no_cell>;
  static constexpr effect effects = effects_of_native<F>;
  static constexpr std::string_view name() { return F::name(); }

  evaluation_state<Stack>* evaluation = nullptr;
  ir::function::node const* node = nullptr;
  std::vector<ir::type> const* results = nullptr; // the types of the results

  /// Calls it with plain numbers, outside of all contexts.
  template <class... X>
  auto compute(X const&... x) const {
    std::vector<void const*> given;
    (given.push_back(address_of(x)), ...);
    if constexpr (std::is_same_v<R, one_cell>) {
      return with_type(results->front(), [&]<class T>(std::type_identity<T>) {
        T made{};
        run_native(*evaluation, *node, given, &made);
        return cell<overdub::stack<>>(std::move(made));
      });
    } else if constexpr (returns_nothing) {
      run_native(*evaluation, *node, given, nullptr);
      return none{};
    } else {
      R made{};
      run_native(*evaluation, *node, given, &made);
      return made;
    }
  }

  /// Stages the operation.
  template <class S, class... X>
  auto stage(S const& contexts, X const&... x) const {
    std::vector<ir::value_id> operands;
    (operands.push_back(symbol_of(contexts, x)), ...);
    auto const made = stage_native(*evaluation, *node, operands, *results);
    if constexpr (std::is_same_v<R, one_cell>) {
      return with_type(results->front(), [&]<class T>(std::type_identity<T>) {
        return cell<S>(symbol_in<T>(contexts, made));
      });
    } else if constexpr (returns_nothing)
      return none{};
    else
      return symbol_in<R>(contexts, made);
  }

private:
  template <class X>
  static void const* address_of(X const& x) {
    if constexpr (is_any_of<X>)
      return x.visit([](auto const& held) -> void const* { return &held; });
    else
      return &x;
  }
  template <class S, class X>
  static ir::value_id symbol_of(S const& contexts, X const& x) {
    if constexpr (is_any_of<X>)
      return x.visit([&](auto const& held) { return symbol_of(contexts, held); });
    else
      return wrap(contexts, x).metadata().id;
  }
};

// ---- contexts for native functions

// Whether a context of S has a rule for all native functions of this effect.
template <class S, effect E>
consteval bool has_native_rule() {
  if constexpr (S::empty)
    return false;
  else if constexpr (symbolic<typename S::context>)
    return false;
  else
    return has_rule<S, unnamed_native<E>, wrap_t<S, double>>() || has_native_rule<typename S::tail, E>();
}
// Whether a context has such a rule, and no rule for operations: its rules are for native functions only.
template <class S, effect E>
consteval bool answers_natives_alone() {
  if constexpr (S::empty)
    return false;
  else if constexpr (symbolic<typename S::context>)
    return false;
  else if constexpr (has_rule<S, sin_t, wrap_t<S, double>>())
    return answers_natives_alone<typename S::tail, E>();
  else
    return has_rule<S, unnamed_native<E>, wrap_t<S, double>>() ||
           answers_natives_alone<typename S::tail, E>();
}
// A context declares is_for_native_functions if its hooks are only for C++ native functions, with C++ types.
template <class C>
concept says_it_is_for_natives = requires {
  requires C::is_for_native_functions;
};
// Whether such a context of S does not name the native function of this effect, type and name.
template <class S>
bool misses_native(effect e, void const* origin_in_cpp, std::string_view name) {
  if constexpr (S::empty)
    return false;
  else if constexpr (symbolic<typename S::context>)
    return false;
  else {
    if constexpr (says_it_is_for_natives<typename S::context>) {
      bool const is_named = [&]<class... F>(types<F...>) {
        return (is_called_as<F>(origin_in_cpp, name) || ...);
      }(typename level_names<S>::type{});
      if (e != effect::pure && !is_named) return true;
    }
    return misses_native<typename S::tail>(e, origin_in_cpp, name);
  }
}

// ---- the native functions that contexts name, by type or by symbol

template <class... F>
auto natives_among(types<F...>) -> concatenated_t<keep<native_leaf<F>, F>..., keep<is_symbol_name<F>, F>...>;
template <class S>
using named_natives_t = decltype(natives_among(find_named_functions<S>()));

} // namespace overdub::detail
