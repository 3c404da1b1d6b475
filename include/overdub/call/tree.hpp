// Trees of values (pytrees in JAX): tuples, pairs, std::array, std::vector, tagged pairs and described struct templates hold leaves. The
// dispatcher applies its conversions to each leaf.
#pragma once

#include <overdub/call/metadata.hpp>
#include <overdub/call/tagged.hpp>
#include <overdub/core/config.hpp>
#include <overdub/core/error.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdlib>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub {

/// Specialise for a type that holds leaves:
///   using children = std::tuple<...>   the types of its children; one type when all are alike
///   child<I>(x)                        a reference to the child of the I-th type
///   each(f, x, rest...)                calls f(child of x, child of each rest...), if children and types are
///                                      not one to one
///   map(f, x, rest...)                 the tree of f(child of x, child of each rest...)
///   generate(f)                        the tree of f(std::type_identity<child>{}), if the type determines
///   their number
///   whole_in_arrays                    (optional) whether arrays store it as one element, and not as a tree of arrays
template <class X>
struct tree_traits {};

namespace detail {

template <class X>
concept tree = requires {
  typename tree_traits<std::remove_cvref_t<X>>::children;
};

// Calls f on the I-th elements, which are moved if the tree is an rvalue.
template <std::size_t I, class F, class... X>
OVERDUB_INLINE constexpr auto at_index(F const& f, X&&... x) {
  using std::get;
  return f(get<I>(std::forward<X>(x))...);
}

// An element of a container, which is moved if the container is an rvalue.
template <class X>
using element_of_t = std::conditional_t<
    std::is_lvalue_reference_v<X>, decltype(std::declval<X&>()[0]),
    std::remove_reference_t<decltype(std::declval<X&>()[0])>&&>;

// Checks that vectors that are traversed together have equal sizes.
constexpr void check_sizes(std::size_t size, std::same_as<std::size_t> auto... others) {
  for (std::size_t other : {size, others...})
    if (other != size)
      throw_sizes("std::vector", static_cast<long long>(size), static_cast<long long>(other));
}

} // namespace detail

template <class... T>
struct tree_traits<std::tuple<T...>> {
  using children = std::tuple<T...>;
  template <class F, class... X>
  OVERDUB_INLINE static constexpr auto map(F const& f, X&&... x) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) OVERDUB_INLINE {
      return std::tuple<decltype(detail::at_index<I>(f, std::forward<X>(x)...))...>{
          detail::at_index<I>(f, std::forward<X>(x)...)...};
    }
    (std::index_sequence_for<T...>{});
  }
  template <std::size_t I, class X>
  OVERDUB_INLINE static constexpr auto& child(X& x) {
    return std::get<I>(x);
  }
  template <class F>
  OVERDUB_INLINE static constexpr auto generate(F const& f) {
    return std::tuple<decltype(f(std::type_identity<T>{}))...>{f(std::type_identity<T>{})...};
  }
};

template <class T, class U>
struct tree_traits<std::pair<T, U>> {
  using children = std::tuple<T, U>;
  template <class F, class... X>
  OVERDUB_INLINE static constexpr auto map(F const& f, X&&... x) {
    using A = std::remove_cvref_t<decltype(f(std::forward<X>(x).first...))>;
    using B = std::remove_cvref_t<decltype(f(std::forward<X>(x).second...))>;
    return std::pair<A, B>{f(std::forward<X>(x).first...), f(std::forward<X>(x).second...)};
  }
  template <class F>
  OVERDUB_INLINE static constexpr auto generate(F const& f) {
    return std::pair<decltype(f(std::type_identity<T>{})), decltype(f(std::type_identity<U>{}))>{
        f(std::type_identity<T>{}), f(std::type_identity<U>{})};
  }
  template <std::size_t I, class X>
  OVERDUB_INLINE static constexpr auto& child(X& x) {
    return std::get<I>(x);
  }
};

template <class T, class M, class L>
struct tree_traits<tagged<T, M, L>> {
  using children = std::tuple<T, M>;
  template <class F, class... X>
  OVERDUB_INLINE static constexpr auto map(F const& f, X&&... x) {
    using A = decltype(f(std::forward<X>(x).inner...));
    using B = decltype(f(std::forward<X>(x).metadata...));
    return tagged<A, B, L>{f(std::forward<X>(x).inner...), f(std::forward<X>(x).metadata...)};
  }
  template <class F>
  OVERDUB_INLINE static constexpr auto generate(F const& f) {
    return tagged<decltype(f(std::type_identity<T>{})), decltype(f(std::type_identity<M>{})), L>{
        f(std::type_identity<T>{}), f(std::type_identity<M>{})};
  }
  template <std::size_t I, class X>
  OVERDUB_INLINE static constexpr auto& child(X& x) {
    if constexpr (I == 0)
      return x.inner;
    else
      return x.metadata;
  }
};

template <class T, std::size_t N>
struct tree_traits<std::array<T, N>> {
  using children = std::tuple<T>;
  template <class F, class... X>
  OVERDUB_INLINE static constexpr auto map(F const& f, X&&... x) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) OVERDUB_INLINE {
      using E = std::remove_cvref_t<decltype(f(std::declval<detail::element_of_t<X>>()...))>;
      return std::array<E, N>{detail::at_index<I>(f, std::forward<X>(x)...)...};
    }
    (std::make_index_sequence<N>{});
  }
  template <class F>
  OVERDUB_INLINE static constexpr auto generate(F const& f) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) OVERDUB_INLINE {
      return std::array<decltype(f(std::type_identity<T>{})), N>{((void)I, f(std::type_identity<T>{}))...};
    }
    (std::make_index_sequence<N>{});
  }
  template <std::size_t, class X>
  OVERDUB_INLINE static constexpr auto& child(X& x) {
    return x[0];
  }
  template <class F, class X, class... Rest>
  OVERDUB_INLINE static constexpr void each(F const& f, X& x, Rest&... rest) {
    for (std::size_t i = 0; i < N; ++i) f(x[i], rest[i]...);
  }
};

// A tree with a dynamic number of leaves. A std::vector<bool> holds no objects, and is opaque.
template <class T, class Allocator>
requires(!std::is_same_v<T, bool>) struct tree_traits<std::vector<T, Allocator>> {
  using children = std::tuple<T>;
  template <class F, class X, class... Rest>
  static constexpr auto map(F const& f, X&& x, Rest&&... rest) {
    using E = std::remove_cvref_t<decltype(f(
        std::declval<detail::element_of_t<X>>(), std::declval<detail::element_of_t<Rest>>()...))>;
    detail::check_sizes(x.size(), rest.size()...);
    std::vector<E> out;
    out.reserve(x.size());
    for (std::size_t i = 0; i < x.size(); ++i)
      out.push_back(
          f(static_cast<detail::element_of_t<X>>(x[i]), static_cast<detail::element_of_t<Rest>>(rest[i])...));
    return out;
  }
  template <std::size_t, class X>
  static constexpr auto& child(X& x) {
    return x.at(0);
  }
  template <class F, class X, class... Rest>
  static constexpr void each(F const& f, X& x, Rest&... rest) {
    detail::check_sizes(x.size(), rest.size()...);
    for (std::size_t i = 0; i < x.size(); ++i) f(x[i], rest[i]...);
  }
};

namespace detail {

// std::apply without its exception specification, which takes as long to compile as the call.
template <class F, class Tuple>
OVERDUB_INLINE constexpr decltype(auto) apply_to(F&& f, Tuple&& all) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) OVERDUB_INLINE->decltype(auto) {
    return static_cast<F&&>(f)(std::get<I>(static_cast<Tuple&&>(all))...);
  }
  (std::make_index_sequence<std::tuple_size_v<std::remove_cvref_t<Tuple>>>{});
}

// Calls f on the children of trees of one shape.
template <class F, class X, class... Rest>
OVERDUB_INLINE constexpr void each_child(F const& f, X& x, Rest&... rest) {
  using traits = tree_traits<std::remove_cvref_t<X>>;
  if constexpr (requires { traits::each(f, x, rest...); })
    traits::each(f, x, rest...);
  else
    [&]<std::size_t... I>(std::index_sequence<I...>) OVERDUB_INLINE {
      auto one = [&]<std::size_t J>(std::integral_constant<std::size_t, J>) OVERDUB_INLINE {
        f(traits::template child<J>(x), tree_traits<std::remove_cvref_t<Rest>>::template child<J>(rest)...);
      };
      (one(std::integral_constant<std::size_t, I>{}), ...);
    }
  (std::make_index_sequence<std::tuple_size_v<typename traits::children>>{});
}

// Generates the same tree again, for a test that is never run. Other children than the tree's own might not be members that a described
// struct accepts. (Clang warns of a call operator without a body if T is local to a translation unit.)
struct same_child {
  template <class T>
  [[noreturn]] T operator()(std::type_identity<T>) const {
    std::abort();
  }
};
// A tree whose type determines its leaves: a tuple, but not a vector.
template <class M>
concept generated_tree = tree<M> && requires {
  tree_traits<M>::generate(same_child{});
};
// Calls f(std::type_identity<child>{}) for each child, in order.
template <generated_tree M, class F>
constexpr void for_each_child_type(F const& f) {
  (void)tree_traits<M>::generate([&]<class Child>(std::type_identity<Child> type) {
    f(type);
    if constexpr (std::default_initializable<Child>)
      return Child{};
    else
      return none{};
  });
}

// A tree that arrays store as a tree of arrays (structure of arrays).
template <class M>
concept tree_of_arrays = generated_tree<M> && !requires {
  tree_traits<M>::whole_in_arrays;
};
struct array_of_child {
  template <class T>
  typename array_of<T>::type operator()(std::type_identity<T>) const;
};
template <tree_of_arrays M>
requires(!std::is_empty_v<M>) struct array_of<M> {
  using type = decltype(tree_traits<M>::generate(array_of_child{}));
};

// The join of the stacks of all leaves.
template <class X>
struct stack_in {
  using type = stack_of_t<X>;
};
template <class Children>
struct stack_in_children;
template <class... T>
struct stack_in_children<std::tuple<T...>> {
  using type = join_t<typename stack_in<std::remove_cvref_t<T>>::type...>;
};
template <tree X>
struct stack_in<X> : stack_in_children<typename tree_traits<X>::children> {};
template <class X>
using stack_in_t = typename stack_in<std::remove_cvref_t<X>>::type;

// The join of the stacks of all arguments of a call.
template <class... A>
using outermost_t = join_t<stack_in_t<A>...>;

template <class S, class... T>
consteval std::size_t first_with_stack(std::tuple<T...>*) {
  std::size_t index = 0;
  (void)((std::is_same_v<stack_in_t<T>, S> || (++index, false)) || ...);
  return index;
}

// The references of the stack S, from the first leaf that has all its contexts.
template <class S, class X, class... Rest>
OVERDUB_INLINE constexpr S first_stack(X const& x, Rest const&... rest) {
  if constexpr (!std::is_same_v<stack_in_t<X>, S>)
    return first_stack<S>(rest...);
  else if constexpr (!tree<X>)
    return x.stack();
  else if constexpr (requires { x.visit([](auto const&) {}); })
    return x.visit([](auto const& held) { return first_stack<S>(held); });
  else {
    using traits = tree_traits<X>;
    if constexpr (requires { x.empty(); } && (std::is_same_v<stack_in_t<Rest>, S> || ...))
      if (x.empty()) return first_stack<S>(rest...);
    return first_stack<S>(
        traits::template child<first_with_stack<S>(static_cast<typename traits::children*>(nullptr))>(x));
  }
}

// Replaces null references of a stack by those of the leaves of x.
template <class S, class X>
OVERDUB_INLINE constexpr void fill_from(S& found, X const& x) {
  if constexpr (is_value<X>) {
    if constexpr (is_suffix<stack_of_t<X>, S>) found = filled_with(found, x.stack());
  } else if constexpr (tree<X> && !std::is_empty_v<stack_in_t<X>>) {
    if constexpr (requires { x.visit([](auto const&) {}); })
      x.visit([&](auto const& held) { fill_from(found, held); });
    else
      each_child(
          [&](auto const& child) {
            if (has_null(found)) fill_from(found, child);
          },
          x);
  }
}
template <class S, class... X>
OVERDUB_INLINE constexpr S filled_from(S found, X const&... x) {
  (fill_from(found, x), ...);
  return found;
}
template <class S, class... X>
[[gnu::cold, gnu::noinline]] constexpr S filled_from_trees(S const& found, X const&... x) {
  return filled_from(found, x...);
}

// The stack of a scope or a rule for a call of other arguments.
template <class S, class... X>
OVERDUB_INLINE constexpr S stack_with(S const& stack, X const&... x) {
  if constexpr (std::is_empty_v<S> || (std::is_empty_v<stack_in_t<X>> && ...))
    return stack;
  else {
    if (!has_null(stack)) [[likely]]
      return stack;
    return filled_from_trees(stack, x...);
  }
}

// The references of the stack S, each from the first leaf in which it is not null.
template <class S, class... X>
OVERDUB_INLINE constexpr S stack_from(X const&... x) {
  if constexpr (std::is_empty_v<S>)
    return {};
  else {
    S const first = first_stack<S>(x...);
    if constexpr ((tree<X> || ...)) {
      if (has_null(first)) [[unlikely]]
        return filled_from_trees(first, x...);
    } else if constexpr ((0 + ... + !std::is_empty_v<stack_in_t<X>>) > 1)
      return filled_from(first, x...);
    return first;
  }
}

// Checked builds: checks for a call of F that the run of a stack, or of a value, has not ended. Only the innermost run is checked: it is
// nested in the others, and a use of their contexts checks again (ref).
template <class F, class C>
OVERDUB_INLINE constexpr void check_run_of_context(ref<C> const& context) {
  if (!context.of_run().is_over()) return;
  if constexpr (requires { F::name(); })
    throw_outlived(F::name(), context_name_v<C>);
  else
    throw_outlived(context_name_v<C>);
}
template <class F, class S>
OVERDUB_INLINE constexpr void check_run(S const& stack) {
  if constexpr (OVERDUB_CHECKED && !S::empty) {
    if constexpr (keeps_lifetime<typename S::context>)
      check_run_of_context<F>(stack.top());
    else
      check_run<F>(stack.rest());
  }
}
template <class F, class X>
OVERDUB_INLINE constexpr void check_run_of_value(X const& x) {
  if constexpr (OVERDUB_CHECKED && is_value<X>) {
    if constexpr (keeps_lifetime<typename X::context_type>)
      check_run_of_context<F>(x.context());
    else
      check_run_of_value<F>(x.inner());
  }
}

} // namespace detail

/// The type under all contexts, without a reference: double for value<value<double, A>, B> const&.
template <class T>
using plain_t = detail::bottom_t<std::remove_cvref_t<T>>;

/// The type of an array's elements, in the contexts of the array.
template <class A>
using element_t = detail::array_element_t<A>;

/// Whether a T, or a leaf of it, is a value of a context.
template <class T>
inline constexpr bool in_context = !detail::stack_in_t<T>::empty;

/// Calls f for each leaf of a tree: scalars, arrays, and other objects that are not trees.
template <class F, class X>
constexpr void each_leaf(F const& f, X const& x) {
  if constexpr (detail::tree<X>)
    detail::each_child([&](auto const& child) { each_leaf(f, child); }, x);
  else
    f(x);
}

} // namespace overdub
