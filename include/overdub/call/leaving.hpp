// Results of a run: values inside of them are stripped of the run's contexts, since a value that outlives its run would call hooks of a
// destroyed context. tree_traits define trees. Optionals, expecteds, variants, sequences, maps, complex numbers and unique pointers are
// rebuilt; concepts recognise them by their members, so that their headers are not included here. Other types are rejected if their
// template arguments show that they hold values. If they do not, checked builds detect a later use (lifetime.hpp).
#pragma once

#include <overdub/call/refused.hpp>
#include <overdub/call/tree.hpp>
#include <overdub/call/types.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace overdub::detail {

// ---- the arguments of a class template over types and values, in any order

struct value_argument {};
// The template arguments of X, with value_argument for values; void if X is not a specialisation of such a template. Templates whose last
// parameter is an empty pack have separate specialisations.
template <class X>
struct find_arguments_in_front {
  using type = void;
};
template <class X>
struct find_held_arguments : find_arguments_in_front<X> {};
// C++ has no template parameter for types and values alike, so that each order has a specialisation: T for a type, V for a value, for up to
// four parameters before a pack of one kind. For example T, V for boost::container::static_vector<double, 4, Options>.
#define OVERDUB_KIND_T class
#define OVERDUB_KIND_V auto
#define OVERDUB_OTHER_T auto
#define OVERDUB_OTHER_V class
#define OVERDUB_ARGUMENT_T(X) X
#define OVERDUB_ARGUMENT_V(X) value_argument
#define OVERDUB_REST_T value_argument
#define OVERDUB_REST_V Rest...
#define OVERDUB_ORDER_1(A)                                                                                   \
  template <template <OVERDUB_KIND_##A, OVERDUB_OTHER_##A...> class C, OVERDUB_KIND_##A X>                   \
  struct find_arguments_in_front<C<X>> {                                                                     \
    using type = types<OVERDUB_ARGUMENT_##A(X)>;                                                             \
  };                                                                                                         \
  template <                                                                                                 \
      template <OVERDUB_KIND_##A, OVERDUB_OTHER_##A...> class C, OVERDUB_KIND_##A X,                         \
      OVERDUB_OTHER_##A... Rest>                                                                             \
  requires(sizeof...(Rest) > 0) struct find_held_arguments<C<X, Rest...>> {                                  \
    using type = types<OVERDUB_ARGUMENT_##A(X), OVERDUB_REST_##A>;                                           \
  };                                                                                                         \
  OVERDUB_ORDER_2(A, T)                                                                                      \
  OVERDUB_ORDER_2(A, V)
#define OVERDUB_ORDER_2(A, B)                                                                                \
  template <                                                                                                 \
      template <OVERDUB_KIND_##A, OVERDUB_KIND_##B, OVERDUB_OTHER_##B...> class C, OVERDUB_KIND_##A X,       \
      OVERDUB_KIND_##B Y>                                                                                    \
  struct find_arguments_in_front<C<X, Y>> {                                                                  \
    using type = types<OVERDUB_ARGUMENT_##A(X), OVERDUB_ARGUMENT_##B(Y)>;                                    \
  };                                                                                                         \
  template <                                                                                                 \
      template <OVERDUB_KIND_##A, OVERDUB_KIND_##B, OVERDUB_OTHER_##B...> class C, OVERDUB_KIND_##A X,       \
      OVERDUB_KIND_##B Y, OVERDUB_OTHER_##B... Rest>                                                         \
  requires(sizeof...(Rest) > 0) struct find_held_arguments<C<X, Y, Rest...>> {                               \
    using type = types<OVERDUB_ARGUMENT_##A(X), OVERDUB_ARGUMENT_##B(Y), OVERDUB_REST_##B>;                  \
  };                                                                                                         \
  OVERDUB_ORDER_3(A, B, T)                                                                                   \
  OVERDUB_ORDER_3(A, B, V)
#define OVERDUB_ORDER_3(A, B, D)                                                                             \
  template <                                                                                                 \
      template <OVERDUB_KIND_##A, OVERDUB_KIND_##B, OVERDUB_KIND_##D, OVERDUB_OTHER_##D...> class C,         \
      OVERDUB_KIND_##A X, OVERDUB_KIND_##B Y, OVERDUB_KIND_##D Z>                                            \
  struct find_arguments_in_front<C<X, Y, Z>> {                                                               \
    using type = types<OVERDUB_ARGUMENT_##A(X), OVERDUB_ARGUMENT_##B(Y), OVERDUB_ARGUMENT_##D(Z)>;           \
  };                                                                                                         \
  template <                                                                                                 \
      template <OVERDUB_KIND_##A, OVERDUB_KIND_##B, OVERDUB_KIND_##D, OVERDUB_OTHER_##D...> class C,         \
      OVERDUB_KIND_##A X, OVERDUB_KIND_##B Y, OVERDUB_KIND_##D Z, OVERDUB_OTHER_##D... Rest>                 \
  requires(sizeof...(Rest) > 0) struct find_held_arguments<C<X, Y, Z, Rest...>> {                            \
    using type =                                                                                             \
        types<OVERDUB_ARGUMENT_##A(X), OVERDUB_ARGUMENT_##B(Y), OVERDUB_ARGUMENT_##D(Z), OVERDUB_REST_##D>;  \
  };                                                                                                         \
  OVERDUB_ORDER_4(A, B, D, T)                                                                                \
  OVERDUB_ORDER_4(A, B, D, V)
#define OVERDUB_ORDER_4(A, B, D, E)                                                                          \
  template <                                                                                                 \
      template <                                                                                             \
          OVERDUB_KIND_##A, OVERDUB_KIND_##B, OVERDUB_KIND_##D, OVERDUB_KIND_##E, OVERDUB_OTHER_##E...>      \
      class C,                                                                                               \
      OVERDUB_KIND_##A X, OVERDUB_KIND_##B Y, OVERDUB_KIND_##D Z, OVERDUB_KIND_##E W>                        \
  struct find_arguments_in_front<C<X, Y, Z, W>> {                                                            \
    using type = types<                                                                                      \
        OVERDUB_ARGUMENT_##A(X), OVERDUB_ARGUMENT_##B(Y), OVERDUB_ARGUMENT_##D(Z), OVERDUB_ARGUMENT_##E(W)>; \
  };                                                                                                         \
  template <                                                                                                 \
      template <                                                                                             \
          OVERDUB_KIND_##A, OVERDUB_KIND_##B, OVERDUB_KIND_##D, OVERDUB_KIND_##E, OVERDUB_OTHER_##E...>      \
      class C,                                                                                               \
      OVERDUB_KIND_##A X, OVERDUB_KIND_##B Y, OVERDUB_KIND_##D Z, OVERDUB_KIND_##E W,                        \
      OVERDUB_OTHER_##E... Rest>                                                                             \
  requires(sizeof...(Rest) > 0) struct find_held_arguments<C<X, Y, Z, W, Rest...>> {                         \
    using type = types<                                                                                      \
        OVERDUB_ARGUMENT_##A(X), OVERDUB_ARGUMENT_##B(Y), OVERDUB_ARGUMENT_##D(Z), OVERDUB_ARGUMENT_##E(W),  \
        OVERDUB_REST_##E>;                                                                                   \
  };
OVERDUB_ORDER_1(T)
OVERDUB_ORDER_1(V)
#undef OVERDUB_ORDER_1
#undef OVERDUB_ORDER_2
#undef OVERDUB_ORDER_3
#undef OVERDUB_ORDER_4
#undef OVERDUB_KIND_T
#undef OVERDUB_KIND_V
#undef OVERDUB_OTHER_T
#undef OVERDUB_OTHER_V
#undef OVERDUB_ARGUMENT_T
#undef OVERDUB_ARGUMENT_V
#undef OVERDUB_REST_T
#undef OVERDUB_REST_V

template <class X>
using held_arguments = typename find_held_arguments<X>::type;
template <class X>
inline constexpr bool has_held_arguments = !std::is_void_v<held_arguments<X>>;

// ---- whether a type holds values

// Whether X is a closure with captures, or another function object with members, that takes or returns values of contexts outside of Below.
// Captures cannot be inspected.
template <class Below, class X>
consteval bool is_closure_of_values();

// Whether X is a value of contexts outside of Below, or holds one, according to its children or its template arguments.
template <class Below, class X>
inline constexpr bool holds_values = is_closure_of_values<Below, X>();

template <class Below, class... X>
consteval bool any_holds_values(std::tuple<X...>*) {
  return (holds_values<Below, std::remove_cvref_t<X>> || ...);
}
template <class Below, class... X>
consteval bool any_holds_values(types<X...>) {
  return (holds_values<Below, std::remove_cvref_t<X>> || ...);
}
template <class Below, class X>
requires(
    !std::is_same_v<X, std::remove_cv_t<X>> ||
    (std::is_pointer_v<X> && !std::is_function_v<std::remove_pointer_t<X>>)) //
    inline constexpr bool holds_values<Below, X> =
        holds_values<Below, std::remove_cv_t<std::remove_pointer_t<X>>>;
template <class Below, class T, class C, class R>
inline constexpr bool holds_values<Below, value<T, C, R>> =
    !is_refused<value<T, C, R>> && !is_suffix<stack_of_t<value<T, C, R>>, Below>;
template <class Below, tree X>
requires(!is_value<X>) inline constexpr bool holds_values<Below, X> =
    any_holds_values<Below>(static_cast<typename tree_traits<X>::children*>(nullptr));
template <class Below, template <class...> class C, class... X>
requires(!tree<C<X...>> && !is_value<C<X...>>) inline constexpr bool holds_values<Below, C<X...>> =
    (holds_values<Below, std::remove_cvref_t<X>> || ...);
template <class Below, class X>
requires(has_held_arguments<X> && !tree<X> && !is_value<X>) inline constexpr bool holds_values<Below, X> =
    any_holds_values<Below>(held_arguments<X>{}) || is_closure_of_values<Below, X>();
// For template arguments: std::unique_ptr<T[]>, std::function<T()>.
template <class Below, class T>
inline constexpr bool holds_values<Below, T[]> = holds_values<Below, std::remove_cv_t<T>>;
template <class Below, class T, std::size_t N>
inline constexpr bool holds_values<Below, T[N]> = holds_values<Below, std::remove_cv_t<T>>;
#define OVERDUB_FUNCTION_TYPE(...)                                                                           \
  template <class Below, class R, class... A>                                                                \
  inline constexpr bool holds_values<Below, R(A...) __VA_ARGS__> =                                           \
      holds_values<Below, std::remove_cvref_t<R>> || (holds_values<Below, std::remove_cvref_t<A>> || ...);
OVERDUB_FUNCTION_TYPE()
OVERDUB_FUNCTION_TYPE(const)
OVERDUB_FUNCTION_TYPE(noexcept)
OVERDUB_FUNCTION_TYPE(const noexcept)
#undef OVERDUB_FUNCTION_TYPE

template <class Below, class Operator>
inline constexpr bool takes_values = false;
template <class Below, class Function, class X>
inline constexpr bool takes_values<Below, Function X::*> = holds_values<Below, Function>;
template <class Below, class X>
consteval bool is_closure_of_values() {
  if constexpr (!std::is_class_v<X> || std::is_empty_v<X>)
    return false;
  else if constexpr (requires { &X::operator(); })
    return takes_values<Below, decltype(&X::operator())>;
  else
    return false;
}

// Whether X holds values in a container that is not a tree.
template <class Below, class X>
consteval bool holds_values_apart() {
  if constexpr (is_value<X>)
    return false;
  else if constexpr (tree<X>)
    return []<class... Child>(std::tuple<Child...>*) {
      return (holds_values_apart<Below, std::remove_cvref_t<Child>>() || ...);
    }(static_cast<typename tree_traits<X>::children*>(nullptr));
  else
    return holds_values<Below, X>;
}

// ---- containers that are rebuilt: rebuilt(f, x) is the container of f(element of x)

template <class X>
concept optional_like = requires(X const& x) {
  { x.has_value() } -> std::same_as<bool>;
  *x;
};
template <class X>
concept expected_like = optional_like<X> && requires(X& x) {
  x.error();
  typename X::unexpected_type;
};
template <class X>
concept complex_like = requires(X const& x) {
  X(x.real(), x.imag());
};
template <class X>
concept variant_like = requires(X const& x) {
  { x.valueless_by_exception() } -> std::same_as<bool>;
  x.index();
};
template <class X>
concept owning_pointer = requires(X& x) {
  x.release();
  x.get();
};
template <class X>
concept map_like = requires(X const& x) {
  typename X::mapped_type;
  x.begin();
};
template <class X>
concept sequence_like = requires(X& x) {
  x.push_back(std::move(x.front()));
  x.begin();
};

template <class F, template <class> class C, class T>
requires optional_like<C<T>>
constexpr auto rebuilt(F const& f, C<T>&& x) {
  using R = C<decltype(f(*std::move(x)))>;
  return x.has_value() ? R(f(*std::move(x))) : R();
}
template <class F, template <class, class> class C, class T, class E>
requires expected_like<C<T, E>>
constexpr auto rebuilt(F const& f, C<T, E>&& x) {
  using R = C<decltype(f(*std::move(x))), decltype(f(std::move(x.error())))>;
  return x.has_value() ? R(f(*std::move(x))) : R(typename R::unexpected_type(f(std::move(x.error()))));
}
template <class F, template <class> class C, class T>
requires complex_like<C<T>>
constexpr auto rebuilt(F const& f, C<T>&& x) { return C<decltype(f(x.real()))>(f(x.real()), f(x.imag())); }
template <class F, template <class...> class C, class... T>
requires variant_like<C<T...>>
constexpr auto rebuilt(F const& f, C<T...>&& x) {
  using std::get;
  using R = C<decltype(f(std::declval<T>()))...>;
  // Finds the alternative of x, from the N-th on. The result is constructed once, since it need not be assignable.
  auto const from = [&]<std::size_t N>(auto const& self, std::integral_constant<std::size_t, N>) -> R {
    if constexpr (N + 1 == sizeof...(T))
      return R(std::in_place_index<N>, f(get<N>(std::move(x))));
    else
      return x.index() == N ? R(std::in_place_index<N>, f(get<N>(std::move(x))))
                            : self(self, std::integral_constant<std::size_t, N + 1>{});
  };
  return from(from, std::integral_constant<std::size_t, 0>{});
}
// Deleters and allocators are templates over the element type, and are default-constructed for the new type. A pointer to an array does not
// know its length.
template <class F, template <class, class> class C, class T, template <class> class Deleter>
requires(owning_pointer<C<T, Deleter<T>>> && !std::is_array_v<T>) constexpr auto rebuilt(
    F const& f, C<T, Deleter<T>>&& x) {
  using U = decltype(f(std::move(*x)));
  using R = C<U, Deleter<U>>;
  return x.get() == nullptr ? R() : R(new U(f(std::move(*x))));
}
template <class F, template <class, class> class C, class T, template <class> class Allocator>
requires sequence_like<C<T, Allocator<T>>>
constexpr auto rebuilt(F const& f, C<T, Allocator<T>>&& x) {
  using U = decltype(f(std::declval<T>()));
  C<U, Allocator<U>> made;
  for (T& element : x) made.push_back(f(std::move(element)));
  return made;
}
// Keys are not stripped: the comparator or hash function is for their type.
template <
    class F, template <class, class, class, class> class C, class K, class T, class Order,
    template <class> class Allocator>
requires map_like<C<K, T, Order, Allocator<std::pair<K const, T>>>>
constexpr auto rebuilt(F const& f, C<K, T, Order, Allocator<std::pair<K const, T>>>&& x) {
  using U = decltype(f(std::declval<T>()));
  C<K, U, Order, Allocator<std::pair<K const, U>>> made(x.key_comp());
  for (auto& [key, element] : x) made.emplace(key, f(std::move(element)));
  return made;
}
template <
    class F, template <class, class, class, class, class> class C, class K, class T, class Hash, class Equal,
    template <class> class Allocator>
requires map_like<C<K, T, Hash, Equal, Allocator<std::pair<K const, T>>>>
constexpr auto rebuilt(F const& f, C<K, T, Hash, Equal, Allocator<std::pair<K const, T>>>&& x) {
  using U = decltype(f(std::declval<T>()));
  C<K, U, Hash, Equal, Allocator<std::pair<K const, U>>> made(
      x.bucket_count(), x.hash_function(), x.key_eq());
  for (auto& [key, element] : x) made.emplace(key, f(std::move(element)));
  return made;
}

template <class Below, class X>
inline constexpr bool has_values_as_keys = false;
template <class Below, map_like X>
inline constexpr bool has_values_as_keys<Below, X> = holds_values<Below, typename X::key_type>;

// A stand-in for f in the test whether a container is rebuilt.
struct any_element {
  template <class X>
  none operator()(X&&) const {
    return {}; // never called; clang warns of undefined functions of types in unnamed namespaces
  }
};
template <class X>
concept rebuildable = requires(X x) {
  rebuilt(any_element{}, std::move(x));
};

} // namespace overdub::detail
