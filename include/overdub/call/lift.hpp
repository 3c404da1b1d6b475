// Conversion of trees between levels: into the contexts of a stack (`wrap`), out of its outermost context (`strip`, `open`, `inner`), or
// out of all contexts (`concrete`). Lifting adds contexts and never converts a scalar.
#pragma once

#include <overdub/call/refused.hpp>
#include <overdub/call/tree.hpp>

#include <type_traits>
#include <utility>

namespace overdub {

namespace detail {

// An array with the shape of `inner`, filled with metadata of type E that are converted from z; defined in control/map.hpp.
template <class E, class S, class T, class Z>
constexpr auto fill_metadata(S const& rest, T const& inner, Z const& z);

template <class X>
inline constexpr bool is_leaf = is_value<X> || is_scalar_leaf<X>;

// A leaf whose contexts are a suffix of S: it is a constant for the contexts that it lacks.
template <class X, class S>
concept liftable = is_leaf<X> && is_suffix<stack_of_t<X>, S>;

// Whether X is an opaque object with metadata that was stripped of the outermost context of S.
template <class X, class S>
inline constexpr bool is_tagged_object = false;
template <class T, class M, class L, class... Rest>
inline constexpr bool is_tagged_object<tagged<T, M, L>, stack<L, Rest...>> = !is_leaf<T> && !tree<T>;

// The same, for a context outside of those of a stack.
template <class X>
inline constexpr bool is_tagged_above = false;
template <class T, class M, class L>
requires(!std::is_void_v<L>) inline constexpr bool is_tagged_above<tagged<T, M, L>> = !is_leaf<T> && !tree<T>;

// Converts an array of metadata trees, one for each element, to the array's metadata, a tree of arrays; defined in control/map.hpp.
template <class Z>
constexpr auto split_metadata(Z const& z);

// Whether E is the metadata tree of one element of the array T, whose metadata are M.
template <class M, class E, class T>
concept metadata_of_one_element =
    is_array<bottom_t<T>> && tree<E> && tree<M> && !std::is_same_v<std::remove_cvref_t<E>, M> &&
    std::is_same_v<array_of_t<std::remove_cvref_t<E>>, M>;
// Whether Z is an array of such trees.
template <class M, class Z, class T>
inline constexpr bool metadata_by_element = false;
template <class M, class E, class T>
requires(tree<E>&& is_array<bottom_t<T>>) inline constexpr bool metadata_by_element<M, array<E>, T> =
    std::is_same_v<array_of_t<E>, M>;

// Converts metadata of a constant, of the type Z of the context's choice, to the metadata type M of `inner`.
template <class M, class S, class Z, class T>
constexpr M become(S const& rest, Z&& z, T const& inner);

template <class C, class X>
OVERDUB_INLINE constexpr auto constant_metadata([[maybe_unused]] ref<C> const& context, X const& x) {
  if constexpr (requires(C & c) { c.constant(x); })
    return context.get().constant(x);
  else
    return none{};
}
// Whether the metadata of a constant are made by the context's object: then those of a value with a null reference are unknown, and made
// when the value meets one whose reference is not null.
template <class C, class I>
concept makes_constants = !std::is_empty_v<C> && carries_metadata<C> && requires(C & c, I const& x) {
  c.constant(x);
};
template <class M, class S, class I>
OVERDUB_INLINE constexpr M metadata_of_constant(S const& stack, I const& inner) {
  if constexpr (makes_constants<typename S::context, I>)
    if (stack.top().is_null()) return become<M>(stack.rest(), none{}, inner);
  return become<M>(stack.rest(), constant_metadata(stack.top(), inner), inner);
}
// The metadata of a value in the outermost context of S.
template <class S, class V>
OVERDUB_INLINE constexpr decltype(auto) metadata_in([[maybe_unused]] S const& stack, V const& x) {
  using M = typename V::metadata_type;
  if constexpr (makes_constants<typename S::context, typename V::inner_type>)
    return x.context().is_null() ? metadata_of_constant<M>(stack, x.inner()) : M(x.metadata());
  else
    return x.metadata();
}

// ---- wrap: into all contexts of S

template <class S, class X>
OVERDUB_INLINE constexpr auto wrap(S const& stack, X&& x);

template <class S>
struct wrapper {
  S const& stack;
  template <class X>
  OVERDUB_INLINE constexpr auto operator()(X&& x) const {
    return wrap(stack, static_cast<X&&>(x));
  }
};

template <class S, class T>
OVERDUB_INLINE constexpr auto wrap_constant(S const& stack, T&& inner) {
  using C = typename S::context;
  using I = std::remove_cvref_t<T>;
  using M = metadata_t<C, I>;
  using V = value<I, C, typename S::head::run>;
  if constexpr (std::is_same_v<M, none>)
    return V(static_cast<T&&>(inner), none{}, stack.top());
  else {
    M metadata = metadata_of_constant<M>(stack, inner);
    return V(static_cast<T&&>(inner), std::move(metadata), stack.top());
  }
}

// The same for an object that will be tagged: an opaque object is also wrapped into the contexts inside of the tag's.
template <class S, class X>
OVERDUB_INLINE constexpr auto wrap_tagged(S const& stack, X&& x) {
  using T = std::remove_cvref_t<X>;
  if constexpr (S::empty || is_leaf<T> || tree<T>)
    return wrap(stack, static_cast<X&&>(x));
  else
    return wrap_constant(stack, wrap_tagged(stack.rest(), static_cast<X&&>(x)));
}

// Whether a value is a constant of a program that is being staged, which has no symbol yet.
template <class X>
constexpr bool lacks_symbol(X const& x) {
  if constexpr (symbolic<typename X::context_type>)
    return x.context().is_null();
  else
    return lacks_symbol(x.inner());
}
// A constant becomes a literal of the program that the stack stages.
template <class S, class X>
[[gnu::cold, gnu::noinline]] constexpr X with_literal(S const& stack, X const& x) {
  if constexpr (!std::is_same_v<S, stack_of_t<X>>)
    return X(with_literal(stack, x.inner()), x.metadata(), x.context());
  else if constexpr (symbolic<typename X::context_type>)
    return stack.top().is_null() ? x : wrap(stack, x.inner());
  else
    return X(with_literal(stack.rest(), x.inner()), wrap(stack.rest(), x.metadata()), x.context());
}

template <class S, class X>
OVERDUB_INLINE constexpr auto wrap(S const& stack, X&& x) {
  using T = std::remove_cvref_t<X>;
  if constexpr (S::empty)
    return T(static_cast<X&&>(x));
  else if constexpr (is_leaf<T>) {
    if constexpr (is_value<T> && is_suffix<S, stack_of_t<T>> && is_symbolic<S>)
      return lacks_symbol(x) ? with_literal(stack, x) : T(static_cast<X&&>(x));
    else if constexpr (is_suffix<S, stack_of_t<T>>)
      return T(static_cast<X&&>(x));
    else {
      if constexpr (!related_contexts<S, stack_of_t<T>>())
        return refused{};
      else if constexpr (!std::is_same_v<stack_of_t<T>, typename S::tail>)
        return wrap_constant(stack, wrap(stack.rest(), static_cast<X&&>(x)));
      else if constexpr (!carries_metadata<typename S::context>)
        return value<T, typename S::context, typename S::head::run>(static_cast<X&&>(x), none{}, stack.top());
      else
        return wrap_constant(stack, static_cast<X&&>(x));
    }
  } else if constexpr (is_tagged<T>) {
    using C = typename S::context;
    if constexpr (
        carries_metadata<C> &&
        (liftable<std::remove_cvref_t<decltype(T::inner)>, typename S::tail> || is_tagged_object<T, S>)) {
      auto inner = wrap_tagged(stack.rest(), static_cast<X&&>(x).inner);
      using I = decltype(inner);
      using V = value<I, C, typename S::head::run>;
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(x.metadata)>, metadata_t<C, I>>)
        return V(std::move(inner), static_cast<X&&>(x).metadata, stack.top());
      else {
        auto metadata = become<metadata_t<C, I>>(stack.rest(), static_cast<X&&>(x).metadata, inner);
        return V(std::move(inner), std::move(metadata), stack.top());
      }
    } else if constexpr (is_tagged_above<T>) {
      auto inner = wrap_tagged(stack, static_cast<X&&>(x).inner);
      auto metadata = wrap(stack, static_cast<X&&>(x).metadata);
      return tagged<decltype(inner), decltype(metadata), typename T::level_type>{
          std::move(inner), std::move(metadata)};
    } else
      return tree_traits<T>::map(wrapper<S>{stack}, static_cast<X&&>(x));
  } else if constexpr (tree<T>)
    return tree_traits<T>::map(wrapper<S>{stack}, static_cast<X&&>(x));
  else
    return T(static_cast<X&&>(x));
}

// ---- strip, open, inner: out of the outermost context of S

enum class view {
  strip, // values become inner values, tagged if the context has metadata; constants are unchanged
  open,  // as strip, and constants are tagged with the context's constant metadata
  inner  // values become inner values, without metadata
};

template <view V, class S>
struct unwrapper;

// Returns unchanged objects and inner values as references for lvalues, and moves them for rvalues.
template <class X>
OVERDUB_INLINE constexpr auto as_given(std::remove_reference_t<X>& x) -> std::conditional_t<
    std::is_lvalue_reference_v<X>, std::remove_cvref_t<X> const&, std::remove_cvref_t<X>> {
  return static_cast<X&&>(x);
}

template <view V, class S, class X>
OVERDUB_INLINE constexpr decltype(auto) unwrap(S const& stack, X&& x) {
  using T = std::remove_cvref_t<X>;
  using C = typename S::context;
  if constexpr (is_value<T> && std::is_same_v<stack_of_t<T>, S>) {
    using I = typename T::inner_type;
    using M = typename T::metadata_type;
    if constexpr (V == view::inner || !carries_metadata<C>) {
      if constexpr (V == view::open || !std::is_lvalue_reference_v<X>)
        return I(static_cast<X&&>(x).inner());
      else
        return x.inner();
    } else if constexpr (V == view::strip && std::is_lvalue_reference_v<X> && !std::is_empty_v<M>) {
      if constexpr (symbolic<C>)
        return tagged<I, M, typename S::head>{x.inner(), metadata_in(stack, x)};
      else if constexpr (makes_constants<C, I>)
        return tagged<I const&, M, typename S::head>{x.inner(), metadata_in(stack, x)};
      else
        return tagged<I const&, M const&, typename S::head>{x.inner(), x.metadata()};
    } else {
      M metadata = metadata_in(stack, x);
      return tagged<I, M, typename S::head>{static_cast<X&&>(x).inner(), std::move(metadata)};
    }
  } else if constexpr (V == view::open && carries_metadata<C> && is_leaf<T> && is_suffix<stack_of_t<T>, S>) {
    using Z = decltype(constant_metadata(stack.top(), x));
    return tagged<T, Z, typename S::head>{x, constant_metadata(stack.top(), x)};
  } else if constexpr (tree<T>)
    return tree_traits<T>::map(unwrapper<V, S>{stack}, static_cast<X&&>(x));
  else if constexpr (V == view::open)
    return T(static_cast<X&&>(x));
  else
    return as_given<X>(x);
}

template <view V, class S>
struct unwrapper {
  S const& stack;
  template <class X>
  OVERDUB_INLINE constexpr decltype(auto) operator()(X&& x) const {
    return unwrap<V>(stack, static_cast<X&&>(x));
  }
};

template <class S, class X>
OVERDUB_INLINE constexpr decltype(auto) strip(S const& stack, X&& x) {
  return unwrap<view::strip>(stack, static_cast<X&&>(x));
}
template <class S, class X>
OVERDUB_INLINE constexpr auto open(S const& stack, X&& x) {
  return unwrap<view::open>(stack, static_cast<X&&>(x));
}
template <class S, class X>
OVERDUB_INLINE constexpr decltype(auto) inner(S const& stack, X&& x) {
  return unwrap<view::inner>(stack, static_cast<X&&>(x));
}

// The condition or count of a control primitive: the inner value, since the outermost context does not affect control flow. A symbolic
// context needs the value itself.
template <class S, class X>
OVERDUB_INLINE constexpr decltype(auto) decisive(S const& stack, X&& x) {
  return unwrap < symbolic<typename S::context> ? view::open : view::inner > (stack, static_cast<X&&>(x));
}

// Wraps into the contexts of S and strips one level, so that constants have metadata, too.
template <class S, class X>
OVERDUB_INLINE constexpr auto lift_down(S const& stack, X&& x) {
  using T = std::remove_cvref_t<X>;
  if constexpr (is_value<T> && std::is_same_v<stack_of_t<T>, S>)
    return unwrap<view::strip>(stack, T(static_cast<X&&>(x)));
  else
    return strip(stack, wrap(stack, static_cast<X&&>(x)));
}

// Checks, for a function that ran on constants of the outermost context, that its result has no reference to that context, which would be
// lost: the function captured a value of a run.
template <class S, class X>
[[gnu::cold, gnu::noinline]] constexpr void check_constants(X const& x) {
  if constexpr (is_value<X>) {
    if constexpr (std::is_same_v<stack_of_t<X>, S>)
      if (!x.context().is_null()) throw_captured_value(context_name_v<typename S::context>);
  } else if constexpr (tree<X>) {
    if constexpr (is_suffix<S, stack_in_t<X>>)
      each_child([](auto const& child) { check_constants<S>(child); }, x);
  }
}
template <class S, class X>
OVERDUB_INLINE constexpr decltype(auto) strip_result(S const& stack, X&& x) {
  if constexpr (!std::is_empty_v<typename S::context>)
    if (stack.top().is_null()) [[unlikely]]
      check_constants<S>(x);
  return strip(stack, static_cast<X&&>(x));
}

template <class S, class X>
using wrap_t = decltype(wrap(std::declval<S const&>(), std::declval<X>()));
template <class S, class X>
using strip_t = decltype(strip(std::declval<S const&>(), std::declval<X>()));
template <class S, class X>
using open_t = decltype(open(std::declval<S const&>(), std::declval<X>()));
template <class S, class X>
using inner_t = decltype(inner(std::declval<S const&>(), std::declval<X>()));

// Copies a tree whose leaves `strip` may have returned as references.
struct make_owned {
  template <class X>
  OVERDUB_INLINE constexpr auto operator()(X&& x) const {
    using T = std::remove_cvref_t<X>;
    if constexpr (tree<T>)
      return tree_traits<T>::map(*this, static_cast<X&&>(x));
    else
      return T(static_cast<X&&>(x));
  }
};
template <class X>
OVERDUB_INLINE constexpr auto owned_tree(X&& x) {
  return make_owned{}(static_cast<X&&>(x));
}

// Whether a type and its parts can be copied: std::vector<T> has a copy constructor also where T has none.
template <class T>
consteval bool can_be_copied() {
  if constexpr (!std::is_copy_constructible_v<T>)
    return false;
  else if constexpr (tree<T>)
    return []<class... Child>(std::tuple<Child...>*) {
      return (can_be_copied<std::remove_cvref_t<Child>>() && ...);
    }(static_cast<typename tree_traits<T>::children*>(nullptr));
  else
    return true;
}

// ---- concrete: out of all contexts, for hooks. A leaf is not copied; a tree is rebuilt from copies of its leaves, if they can be copied.

struct make_concrete {
  template <class X>
  OVERDUB_INLINE constexpr decltype(auto) operator()(X const& x) const;
};
struct copy_concrete {
  template <class X>
  OVERDUB_INLINE constexpr auto operator()(X const& x) const {
    return make_concrete{}(x);
  }
};

template <class X>
OVERDUB_INLINE constexpr decltype(auto) make_concrete::operator()(X const& x) const {
  if constexpr (is_value<X>)
    return (*this)(x.inner());
  else if constexpr (is_tagged<X>)
    return (*this)(x.inner);
  else if constexpr (tree<X> && !can_be_copied<X>())
    return static_cast<X const&>(x);
  else if constexpr (tree<X>)
    return tree_traits<X>::map(copy_concrete{}, x);
  else
    return static_cast<X const&>(x);
}

template <class M, class S, class Z, class T>
constexpr M become(S const& rest, Z&& z, T const& inner) {
  using X = std::remove_cvref_t<Z>;
  using B = bottom_t<M>;
  // Metadata of a type without contexts are the same in all of them.
  [[maybe_unused]] auto place = [&](auto&& x) {
    if constexpr (stack_in_t<M>::empty)
      return static_cast<decltype(x)>(x);
    else
      return wrap(rest, static_cast<decltype(x)>(x));
  };
  if constexpr (std::is_same_v<X, M>)
    return static_cast<Z&&>(z);
  else if constexpr (stack_in_t<M>::empty && !stack_in_t<X>::empty)
    return become<M>(rest, copy_concrete{}(z), inner);
  else if constexpr (array_inside<T> && is_array<B> && !is_array<bottom_t<X>>)
    return fill_metadata<array_element_t<M>>(rest, inner, z);
  else if constexpr (tree<M> && std::is_same_v<X, decltype(copy_concrete{}(std::declval<M>()))>) {
    constexpr bool follows = std::is_same_v<decltype(tree_traits<M>::map(wrapper<S>{rest}, z)), M>;
    static_assert(
        follows, "overdub: the metadata of an outer context have a member whose type does not depend on the "
                 "number's type T, and one whose type does; make all members T, or none");
    return tree_traits<M>::map(wrapper<S>{rest}, z);
  } else if constexpr (metadata_of_one_element<M, decltype(place(static_cast<Z&&>(z))), T>)
    return fill_metadata<std::remove_cvref_t<decltype(place(static_cast<Z&&>(z)))>>(rest, inner, z);
  else if constexpr (metadata_by_element<decltype(copy_concrete{}(std::declval<M>())), X, T>)
    return wrap(rest, split_metadata(z));
  else if constexpr (generated_tree<M> && !tree<X>)
    return tree_traits<M>::generate(
        [&]<class Child>(std::type_identity<Child>) { return become<Child>(rest, z, inner); });
  else if constexpr (std::is_same_v<X, none>)
    return place(B{});
  else if constexpr (stack_of_t<X>::empty && !tree<X>) {
    constexpr bool converts = requires { static_cast<B>(static_cast<Z&&>(z)); };
    static_assert(
        converts,
        "overdub: this metadata does not convert to the context's metadata<T> for a value of this type; "
        "return metadata<T> from the rule (a differentiator has none for an integer: write 2.0 for 2)");
    if constexpr (converts)
      return place(static_cast<B>(static_cast<Z&&>(z)));
    else
      return place(B{});
  } else {
    constexpr bool fits = std::is_convertible_v<decltype(place(static_cast<Z&&>(z))), M>;
    static_assert(
        fits, "overdub: this metadata has another structure than the context's metadata<T> for a value of "
              "this type; tag the members of a tuple or of a struct template one by one");
    return place(static_cast<Z&&>(z));
  }
}

template <class X>
using concrete_t = std::remove_cvref_t<decltype(make_concrete{}(std::declval<X const&>()))>;

} // namespace detail

/// The value without any context: scalars, array handles, trees of them.
template <class X>
constexpr auto concrete(X const& x) {
  return detail::make_concrete{}(x);
}

/// Whether one of these values is staged: for rules with C++ side effects, which must reject staging.
template <class... X>
inline constexpr bool is_staged = detail::is_symbolic<detail::outermost_t<X...>>;

} // namespace overdub
