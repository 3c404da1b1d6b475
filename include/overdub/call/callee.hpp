// What can be called in a context: concepts over callees.
#pragma once

#include <overdub/core/requirements.hpp>

#include <concepts>
#include <string_view>
#include <type_traits>

namespace overdub {

/// The kinds of callees, as tags: each callee has a member type `overdub_callee` that is one of these or
/// derives from one.
namespace kind {
struct any {};
struct primitive : any {};         // computes natively when no context is left
struct elementwise : primitive {}; // scalars in, one scalar out
struct arithmetic : elementwise {};
struct comparison : elementwise {};
struct logical : elementwise {};
struct bitwise : elementwise {};
struct math : elementwise {};
struct indexed : math {}; // one of the arguments is an integer by its meaning
struct conversion : elementwise {};
struct data : primitive {};         // only moves data: metadata goes where the data goes
struct control : primitive {};      // takes functions
struct leaf : primitive {};         // a user's native function
struct choice : primitive {};       // a random choice, which whoever runs the program makes
struct function : any {};           // has a body: a user's fn, or one in a context
struct of_program : function {};    // a function of a program
struct native_of_program : leaf {}; // a native function that a program calls
} // namespace kind

template <class F>
using kind_of = typename std::remove_cvref_t<F>::overdub_callee;

namespace detail {
template <class F, class Kind>
concept of_kind = requires {
  typename std::remove_cvref_t<F>::overdub_callee;
}
&&std::derived_from<kind_of<F>, Kind>;
} // namespace detail

// What every primitive says of itself.
#define OVERDUB_PRIMITIVE(NAME, KIND)                                                                        \
  using overdub_callee = kind::KIND;                                                                         \
  static constexpr int depth = 0;                                                                            \
  static constexpr std::string_view name() { return NAME; }

/// Anything that a context sees being called. Constrain the first parameter of a family of rules with this
/// concept, or with one that includes it.
template <class F>
concept callee = detail::of_kind<F, kind::any>;
template <class F>
concept primitive = callee<F> && detail::of_kind<F, kind::primitive>;
template <class F>
concept elementwise = primitive<F> && detail::of_kind<F, kind::elementwise>;
template <class F>
concept arithmetic = elementwise<F> && detail::of_kind<F, kind::arithmetic>;
template <class F>
concept comparison = elementwise<F> && detail::of_kind<F, kind::comparison>;
template <class F>
concept math = elementwise<F> && detail::of_kind<F, kind::math>;
template <class F>
concept data_movement = primitive<F> && detail::of_kind<F, kind::data>;
template <class F>
concept control = primitive<F> && detail::of_kind<F, kind::control>;
template <class F>
concept native_leaf = primitive<F> && detail::of_kind<F, kind::leaf>;
template <class F>
concept random_choice = primitive<F> && detail::of_kind<F, kind::choice>;
/// A callee with a body: a `fn`, or a `fn` in outer contexts (a derived function).
template <class F>
concept function = callee<F> && detail::of_kind<F, kind::function>;

namespace detail {
/// A callee that an evaluator has come to in a program, whose types are found at run time.
template <class F>
concept called_in_program = of_kind<F, kind::of_program> || of_kind<F, kind::native_of_program>;

template <class F>
struct origin {
  using type = F;
};
template <class F>
requires requires { typename F::origin; }
struct origin<F> {
  using type = typename F::origin;
};
} // namespace detail

// A call of a function of a program on values whose types are found at run time: hooks observe it, and rules that say so replace it,
//   static constexpr bool answers_any_types = true;
// since they do nothing with the arguments and the result but hand them on.
namespace detail {
template <class F>
inline constexpr bool is_untyped = false;
template <class F>
requires requires { F::is_typed; }
inline constexpr bool is_untyped<F> = !F::is_typed;

template <class C>
concept answers_any_types = requires {
  requires C::answers_any_types;
};
} // namespace detail

/// The callee that the user wrote: `norm` for "norm in forward in log"; itself for every other callee.
template <class F>
using origin_t = typename detail::origin<std::remove_cvref_t<F>>::type;

/// Whether a function stands in a context whose members may decide its results: one with state and with rules,
/// metadata or `enter`. Hooks decide no results.
template <class F>
inline constexpr bool depends_on_state = false;
template <class F>
requires requires { F::depends_on_state; }
inline constexpr bool depends_on_state<F> = F::depends_on_state;

/// Callees are equal when they have one definition, in whatever contexts they stand.
template <callee F, callee G>
constexpr bool operator==(F const&, G const&) {
  return std::same_as<origin_t<F>, origin_t<G>>;
}

} // namespace overdub
