// The signatures for which contexts are compiled to intercept functions of programs, whose types are known only at run time: calls
// with f64 numbers; signatures that a context or a symbol lists; and signatures that the parameters of rules and hooks state by their
// types or constraints. A rule with unconstrained parameters is a template, which need not compile for arrays, and is not
// instantiated for them.
#pragma once

#include <overdub/call/hook.hpp>
#include <overdub/call/named_functions.hpp>
#include <overdub/core/library.hpp>
#include <overdub/stage/cell.hpp>

#include <cstddef>
#include <exception>
#include <string>
#include <type_traits>
#include <vector>

namespace overdub::detail {

// The result type of an untyped call: a cell, which is empty if there are several results.
struct one_cell {};

/// A signature: arguments of these types, and a result, which is a number, an array, a tree of them, or a cell.
template <class R, class... X>
struct called_with {};

inline constexpr std::size_t max_typed = 8; // the maximum number of arguments of a call with f64 numbers

template <class X, std::size_t>
using repeated = X;
template <class X, class>
using one_for_each = X;
template <class X, std::size_t... I>
auto list_of(std::index_sequence<I...>) -> types<repeated<X, I>...>;
template <class X, std::size_t N>
using list_of_t = decltype(list_of<X>(std::make_index_sequence<N>{}));

template <class... X>
auto call_of_reals(types<X...>) -> called_with<double, X...>;
template <std::size_t... N>
auto find_calls_of_reals(std::index_sequence<N...>)
    -> types<decltype(call_of_reals(list_of_t<double, N>{}))...>;
using calls_of_reals = decltype(find_calls_of_reals(std::make_index_sequence<max_typed + 1>{}));

template <class List, class X>
inline constexpr bool is_listed = false;
template <class... L, class X>
inline constexpr bool is_listed<types<L...>, X> = (std::is_same_v<L, X> || ...);

// ---- C++ types and types of programs

template <class X>
inline constexpr bool is_cell_type = is_listed<concatenated_t<scalar_types, vector_types, matrix_types>, X>;

// Appends the types of a result's leaves. Returns false if a leaf has no type in programs.
template <class R>
bool append_leaf_types(std::vector<ir::type>& all) {
  if constexpr (is_cell_type<R>)
    return all.push_back(ir_type_of<R>), true;
  else if constexpr (generated_tree<R>) {
    bool has_all = true;
    for_each_child_type<R>(
        [&]<class Child>(std::type_identity<Child>) { has_all = append_leaf_types<Child>(all) && has_all; });
    return has_all;
  } else
    return false;
}

// The C++ spelling of a signature of a program, for messages.
std::string signature_in_cpp(std::vector<ir::type> const& parameters, std::vector<ir::type> const& results);

// ---- listed signatures

template <class Signature>
struct written_signature {
  static_assert(
      std::is_function_v<Signature>, "overdub: the signatures of a context, or of a symbol, are types of "
                                     "functions: double(overdub::array<double>)");
  using type = types<>;
};
template <class R, class... X>
struct written_signature<R(X...)> {
  static constexpr bool takes_cells = (is_cell_type<std::remove_cvref_t<X>> && ...);
  static_assert(
      takes_cells,
      "overdub: a signature of functions of programs takes bool, i64, float, double, and arrays of them up "
      "to rank 2");
  using type = keep<takes_cells, called_with<R, std::remove_cvref_t<X>...>>;
};
template <class List>
struct written_signatures;
template <class... Signature>
struct written_signatures<types<Signature...>> {
  using type = concatenated_t<typename written_signature<Signature>::type...>;
};

// ---- arguments that parameters of rules and hooks state

// Calls with one argument, and with two, of these types are tested. Others must be listed, since each test takes about 20 ms to compile.
using types_of_one = types<bool, i64, float, double, array<double>, array<array<double>>>;
using types_of_two = types<double, array<double>>;

template <class... X, class... Y>
consteval auto find_argument_lists(types<X...>, types<Y...>) {
  constexpr auto pairs = []<class First>(std::type_identity<First>) { return types<types<First, Y>...>{}; };
  return concatenated_t<types<types<X>...>, decltype(pairs(std::type_identity<Y>{}))...>{};
}
using argument_lists = decltype(find_argument_lists(types_of_one{}, types_of_two{}));

template <class List>
inline constexpr bool all_reals = false;
template <class... X>
inline constexpr bool all_reals<types<X...>> = (std::is_same_v<X, double> && ...);

// An argument that only an unconstrained parameter accepts.
struct unlike_all {};

// Whether the context of S has a rule for F whose parameters state that it accepts X....
template <class S, class F, class... X, std::size_t... I>
consteval bool says_it_takes(types<X...>, std::index_sequence<I...> each) {
  using C = typename S::context;
  if constexpr (!named_at<C, F, open_t<S, wrap_t<S, X>>...>)
    return false;
  else {
    constexpr auto is_said = []<std::size_t... K, std::size_t J>(
        std::index_sequence<K...>, std::integral_constant<std::size_t, J>) {
      return !named_at<C, F, std::conditional_t<K == J, unlike_all, open_t<S, wrap_t<S, X>>>...>;
    };
    return ((std::is_same_v<X, double> || is_said(each, std::integral_constant<std::size_t, I>{})) && ...);
  }
}
// Whether a hook of the context accepts X..., with a parameter that states a type or a constraint.
template <class S, class F, class... X>
consteval bool observes_types(types<X...>) {
  constexpr auto hooks_observe_it = []<class Result, class... Y>(types<Result, Y...>) {
    return find_hook<before_hook, S, F, Y...>() != hook_kind::never ||
           find_hook<after_hook, S, F, Result, Y...>() != hook_kind::never ||
           find_hook<failed_hook, S, F, std::exception_ptr, Y...>() != hook_kind::never;
  };
  if constexpr (hooks_observe_it(types<cell<S>, one_for_each<unlike_all, X>...>{}))
    return false;
  else
    return hooks_observe_it(types<cell<S>, wrap_t<S, X>...>{});
}

} // namespace overdub::detail
