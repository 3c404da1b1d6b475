// The kinds of callees, and concepts for families of them.
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
struct primitive : any {};         // runs its own implementation when no context remains
struct elementwise : primitive {}; // scalars in, one scalar out
struct arithmetic : elementwise {};
struct comparison : elementwise {};
struct logical : elementwise {};
struct bitwise : elementwise {};
struct math : elementwise {};
struct indexed : math {}; // has an argument that is an integer, such as an exponent
struct conversion : elementwise {};
struct data : primitive {};         // makes, reads and copies arrays, with their metadata
struct control : primitive {};      // takes functions
struct leaf : primitive {};         // a user's native function
struct choice : primitive {};       // a random choice, which the executor draws
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

// The members of every primitive.
#define OVERDUB_PRIMITIVE(NAME, KIND)                                                                        \
  using overdub_callee = kind::KIND;                                                                         \
  static constexpr int depth = 0;                                                                            \
  static constexpr std::string_view name() { return NAME; }

/// Any callee that a context can intercept. Constrain the first parameter of a rule or hook for a family with this concept, or with one
/// that subsumes it.
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
/// A callee with a body: a `fn`, or a `fn` transformed by outer contexts (a derived function).
template <class F>
concept function = callee<F> && detail::of_kind<F, kind::function>;

namespace detail {
/// A callee of a program that is being evaluated; its signature is known only at run time.
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

// A callee is untyped if the types of its arguments are known only at run time: a function of a program, on values with a dynamic type.
// Hooks observe its calls. Rules replace them only if the context declares
//   static constexpr bool answers_any_types = true;
// which is right if its rules do no more than forward the arguments and the result.
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

/// The callee without contexts: of the function that is derived from `norm` in the contexts `forward` and `log`, it is `norm`. A callee
/// that is not derived is its own origin.
template <class F>
using origin_t = typename detail::origin<std::remove_cvref_t<F>>::type;

/// Whether the results of a derived function may depend on data members of one of its contexts: of a context that has data members, and has
/// rules, metadata or `enter`. Hooks do not affect results.
template <class F>
inline constexpr bool depends_on_state = false;
template <class F>
requires requires { F::depends_on_state; }
inline constexpr bool depends_on_state<F> = F::depends_on_state;

/// Callees are equal if they have the same definition, regardless of contexts and captures.
template <callee F, callee G>
constexpr bool operator==(F const&, G const&) {
  return std::same_as<origin_t<F>, origin_t<G>>;
}

} // namespace overdub
