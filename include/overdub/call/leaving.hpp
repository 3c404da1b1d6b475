// What leaves a run: values are taken out of the run's contexts, wherever they are held, since one that outlives its run would
// call hooks of a context that is gone. Trees are known by tree_traits. Of other containers, optionals, expecteds, variants, sequences, maps,
// complex numbers and unique pointers are rebuilt; they are recognised by what they can do, so that no header of theirs is needed here. The
// rest is refused where the type tells that values are in it. Where it does not, checked builds find their use (lifetime.hpp).
#pragma once

#include <overdub/call/refused.hpp>
#include <overdub/call/tree.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace overdub::detail {

// Whether X is a closure with captures, or another function object with members, that takes or returns values of contexts that are none
// of Below's. What it captured is not to be seen.
template <class Below, class X>
consteval bool is_closure_of_values();

// Whether X is a value of contexts that are none of Below's, or holds some: among its children, or by the arguments of its template.
template <class Below, class X>
inline constexpr bool holds_values = is_closure_of_values<Below, X>();

template <class Below, class... X>
consteval bool any_holds_values(std::tuple<X...>*) {
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
// As std::span, and matrices of a fixed size.
template <class Below, template <class, std::size_t> class C, class T, std::size_t N>
requires(!tree<C<T, N>>) inline constexpr bool holds_values<Below, C<T, N>> =
    holds_values<Below, std::remove_cv_t<T>>;
template <class Below, template <class, int...> class C, class T, int... N>
requires(sizeof...(N) > 0 && !tree<C<T, N...>>) inline constexpr bool holds_values<Below, C<T, N...>> =
    holds_values<Below, std::remove_cv_t<T>>;
// As arguments of templates: std::unique_ptr<T[]>, std::function<T()>.
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

// Whether some of these are in a container that is no tree.
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
  // The alternative from the N-th on that x holds. The result is made in one place, since it need not be assignable.
  auto const from = [&]<std::size_t N>(auto const& self, std::integral_constant<std::size_t, N>) -> R {
    if constexpr (N + 1 == sizeof...(T))
      return R(std::in_place_index<N>, f(get<N>(std::move(x))));
    else
      return x.index() == N ? R(std::in_place_index<N>, f(get<N>(std::move(x))))
                            : self(self, std::integral_constant<std::size_t, N + 1>{});
  };
  return from(from, std::integral_constant<std::size_t, 0>{});
}
// Deleters and allocators are templates of the element, which are made anew.
template <class F, template <class, class> class C, class T, template <class> class Deleter>
requires owning_pointer<C<T, Deleter<T>>>
constexpr auto rebuilt(F const& f, C<T, Deleter<T>>&& x) {
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
// Keys stay as they are: what orders or hashes them is of their type.
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

// What f is, for the question whether a container is rebuilt.
struct any_element {
  template <class X>
  none operator()(X&&) const {
    return {}; // defined, since clang warns of undefined functions of types in unnamed namespaces
  }
};
template <class X>
concept rebuildable = requires(X x) {
  rebuilt(any_element{}, std::move(x));
};

} // namespace overdub::detail
