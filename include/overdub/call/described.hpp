// Structs that are described with Boost.Hana. A class template over its scalar type can hold values in its members, and is a tree. A plain
// struct cannot: in a context it is one value, read by field<&S::member>(x) and constructed by make<S>(...).
#pragma once

#include <overdub/call/dispatch.hpp>
#include <overdub/call/ops.hpp>
#include <overdub/call/value.hpp>

#include <boost/hana/accessors.hpp>
#include <boost/hana/at.hpp>
#include <boost/hana/concept/struct.hpp>
#include <boost/hana/length.hpp>
#include <boost/hana/second.hpp>

#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace overdub {
namespace detail {

// BOOST_HANA_DEFINE_STRUCT describes a class by a macro in its body, which is the only way to describe a template.
template <class S>
concept described_within = requires {
  typename S::hana_accessors_impl;
};

template <class S>
inline constexpr std::size_t member_count = decltype(boost::hana::length(boost::hana::accessors<S>()))::value;

// The I-th member, with the constness and value category of the object.
template <std::size_t I, class X>
OVERDUB_INLINE constexpr decltype(auto) member(X&& x) {
  return boost::hana::second(boost::hana::at_c<I>(boost::hana::accessors<std::remove_cvref_t<X>>()))(
      static_cast<X&&>(x));
}

template <class S, std::size_t... I>
auto member_types(std::index_sequence<I...>)
    -> std::tuple<std::remove_cvref_t<decltype(member<I>(std::declval<S&>()))>...>;
template <class S>
using members_t = decltype(member_types<S>(std::make_index_sequence<member_count<S>>{}));

// The arguments of a class template over types. The structure of its members follows from that of the arguments.
template <class X>
struct template_arguments {};
template <template <class...> class S, class... T>
struct template_arguments<S<T...>> {
  using types = std::tuple<T...>;
  template <class... U>
  using rebind = S<U...>;
};
template <template <class, auto...> class S, class T, auto... N>
requires(sizeof...(N) > 0) struct template_arguments<S<T, N...>> {
  using types = std::tuple<T>;
  template <class... U>
  using rebind = S<std::tuple_element_t<0, std::tuple<U...>>, N...>;
};

template <class S>
concept described_template = described_within<S> && requires {
  typename template_arguments<S>::types;
};

template <class Struct, class Expected, class Given>
consteval bool member_follows() {
  constexpr bool same = std::is_same_v<Expected, Given>;
  static_assert(
      same || is_refused<Given>, "overdub: a member of this described template cannot hold a value of a "
                                 "context, since its type does not depend on T as the value's "
                                 "does: make an array<T> a parameter, template <class Array> struct ...; "
                                 "compute a member of a fixed type, as a size, from the others");
  return same;
}

// Constructs a specialisation of the described template with other arguments.
template <class To, std::size_t... I, class Member>
OVERDUB_INLINE constexpr To rebuild(std::index_sequence<I...>, Member const& member_at) {
  using Members = members_t<To>;
  if constexpr ((member_follows<
                     To, std::tuple_element_t<I, Members>,
                     std::remove_cvref_t<decltype(member_at(std::integral_constant<std::size_t, I>{}))>>() &&
                 ...))
    return To{member_at(std::integral_constant<std::size_t, I>{})...};
  else
    return refused{};
}

template <class S, class T>
struct same_reference {
  using type = T;
};
template <class S, class T>
struct same_reference<S&, T> {
  using type = T&;
};
template <class S, class T>
struct same_reference<S const&, T> {
  using type = T const&;
};

} // namespace detail

template <detail::described_template S>
struct tree_traits<S> {
  using children = detail::members_t<S>;
  using indices = std::make_index_sequence<std::tuple_size_v<children>>;

  template <std::size_t I, class X>
  OVERDUB_INLINE static constexpr auto& child(X& x) {
    return detail::member<I>(x);
  }

  template <class F, class... X>
  OVERDUB_INLINE static constexpr auto map(F const& f, X&&... x) {
    return [&]<std::size_t... A>(std::index_sequence<A...>) OVERDUB_INLINE {
      using To =
          typename detail::template_arguments<S>::template rebind<typename mapped<A, F, X...>::type...>;
      return detail::rebuild<To>(
          indices{}, [&]<std::size_t I>(std::integral_constant<std::size_t, I>)
                         OVERDUB_INLINE { return f(detail::member<I>(static_cast<X&&>(x))...); });
    }
    (arguments{});
  }

  template <class F>
  OVERDUB_INLINE static constexpr auto generate(F const& f) {
    return [&]<std::size_t... A>(std::index_sequence<A...>) OVERDUB_INLINE {
      using To = typename detail::template_arguments<S>::template rebind<std::remove_cvref_t<decltype(f(
          std::type_identity<std::tuple_element_t<A, typename detail::template_arguments<S>::types>>{}))>...>;
      return detail::rebuild<To>(
          indices{}, [&]<std::size_t I>(std::integral_constant<std::size_t, I>) OVERDUB_INLINE {
            return f(std::type_identity<std::tuple_element_t<I, children>>{});
          });
    }
    (arguments{});
  }

private:
  using arguments =
      std::make_index_sequence<std::tuple_size_v<typename detail::template_arguments<S>::types>>;
  // The result of f for the A-th template argument. It is not an alias, in which clang 19 fails to expand the pack.
  template <std::size_t A, class F, class... X>
  struct mapped {
    using type = std::remove_cvref_t<decltype(std::declval<F const&>()(
        std::declval<typename detail::same_reference<
            X, std::tuple_element_t<A, typename detail::template_arguments<std::remove_cvref_t<X>>::types>>::
                         type>()...))>;
  };
};

namespace detail {

// A described class that is not a template. In a context it is one value.
template <class S>
concept plain_struct = std::is_class_v<S> && boost::hana::Struct<S>::value && !requires {
  typename template_arguments<S>::types;
};

template <plain_struct S>
struct plain_members<S> {
  using type = members_t<S>;
};

// The index of a member, which is found by comparing addresses in an object that is never read.
template <class S>
OVERDUB_HIDDEN inline S member_probe_object{};

template <auto Member, class S, std::size_t... I>
consteval std::size_t find_member(std::index_sequence<I...>) {
  std::size_t found = sizeof...(I);
  auto test = [&]<std::size_t J>(std::integral_constant<std::size_t, J>) {
    if constexpr (std::is_same_v<
                      decltype(&member<J>(member_probe_object<S>)),
                      decltype(&(member_probe_object<S>.*Member))>)
      if (&member<J>(member_probe_object<S>) == &(member_probe_object<S>.*Member)) found = J;
  };
  (test(std::integral_constant<std::size_t, I>{}), ...);
  return found;
}

template <class M>
struct struct_of;
template <class S, class T>
struct struct_of<T S::*> {
  using type = S;
};

template <auto Member>
consteval std::size_t find_described() {
  using S = typename struct_of<decltype(Member)>::type;
  static_assert(
      plain_struct<S>,
      "overdub: field<&S::member> reads a struct described with BOOST_HANA_ADAPT_STRUCT; a template is "
      "described with BOOST_HANA_DEFINE_STRUCT and its members are read directly, as in x.member");
  constexpr bool is_default_constructible = !plain_struct<S> || std::is_default_constructible_v<S>;
  static_assert(
      is_default_constructible,
      "overdub: field<&S::member> finds the member in an S that is constructed without arguments; give S, "
      "and each class of its members, a default constructor");
  if constexpr (plain_struct<S> && is_default_constructible) {
    constexpr std::size_t index = find_member<Member, S>(std::make_index_sequence<member_count<S>>{});
    static_assert(index < member_count<S>, "overdub: this member is not among those described to Hana");
    return index;
  } else
    return 0;
}
template <auto Member>
inline constexpr std::size_t member_index = find_described<Member>();

} // namespace detail

template <detail::plain_struct S>
inline constexpr bool is_scalar_leaf<S> = true;

/// field<&S::member>(x) returns a member of a plain described struct, with the member's metadata.
template <auto Member>
struct field_t {
  using overdub_callee = kind::data;
  static constexpr int depth = 0;
  static constexpr std::string_view name() { return "field"; }

  template <class X>
  OVERDUB_INLINE constexpr auto operator()(X const& x) const {
    return detail::dispatch(*this, x);
  }
  template <class S, class K, class X>
  OVERDUB_INLINE static constexpr auto lower(S const& stack, K const& call_lowered, X const& x) {
    return call_lowered(detail::strip(stack, x));
  }
  template <class X>
  OVERDUB_INLINE static constexpr auto compute(X const& x) {
    if constexpr (detail::is_tagged<X>) {
      auto inner = compute(x.inner);
      auto metadata = std::get<detail::member_index<Member>>(x.metadata);
      return tagged<decltype(inner), decltype(metadata), typename X::level_type>{
          std::move(inner), std::move(metadata)};
    } else
      return x.*Member;
  }
};
template <auto Member>
inline constexpr field_t<Member> field{};

/// make<S>(members...) constructs a plain described struct, with the metadata of the members.
template <detail::plain_struct Struct>
struct make_t {
  using overdub_callee = kind::data;
  static constexpr int depth = 0;
  static constexpr std::string_view name() { return "make"; }

  template <class... X>
  OVERDUB_INLINE constexpr auto operator()(X const&... x) const {
    constexpr bool complete = sizeof...(X) == detail::member_count<Struct>;
    static_assert(
        complete, "overdub: make<S>(...) takes one argument for each described member of S, in their order");
    if constexpr (complete)
      return detail::dispatch(*this, as_object(x)...);
    else
      return detail::refused{};
  }
  template <class S, class K, class... X>
  OVERDUB_INLINE static constexpr auto lower(S const& stack, K const& call_lowered, X const&... x) {
    return call_lowered(lift_member(stack, x)...);
  }
  template <class First, class... X>
  OVERDUB_INLINE static constexpr auto compute(First const& first, X const&... x) {
    if constexpr (detail::is_tagged<First>) {
      auto inner = compute(first.inner, x.inner...);
      std::tuple<decltype(First::metadata), decltype(X::metadata)...> metadata{first.metadata, x.metadata...};
      return tagged<decltype(inner), decltype(metadata), typename First::level_type>{
          std::move(inner), std::move(metadata)};
    } else
      return make_plain(
          std::make_index_sequence<sizeof...(X) + 1>{}, std::tuple<First const&, X const&...>{first, x...});
  }

private:
  // A string literal decays to a pointer.
  template <class X>
  OVERDUB_INLINE static constexpr decltype(auto) as_object(X const& x) {
    if constexpr (std::is_array_v<X>)
      return static_cast<std::decay_t<X const&>>(x);
    else
      return (x);
  }
  // An opaque member without a tag has constant metadata, as in a struct that is passed as a constant.
  template <class S, class X>
  OVERDUB_INLINE static constexpr auto lift_member(S const& stack, X const& x) {
    using C = typename S::context;
    if constexpr (
        !detail::carries_metadata<C> || detail::is_leaf<X> || detail::is_refused<X> || detail::tree<X>)
      return detail::lift_down(stack, x);
    else {
      auto inner = detail::wrap_tagged(stack.rest(), x);
      using I = decltype(inner);
      using M = metadata_t<C, I>;
      M metadata = detail::metadata_of_constant<M>(stack, inner);
      return tagged<I, M, typename S::head>{std::move(inner), std::move(metadata)};
    }
  }
  template <class Given, class Member>
  static consteval bool member_conversion() {
    constexpr bool whole = std::is_same_v<Given, Member> ||
                           (!std::is_arithmetic_v<Member> && std::is_convertible_v<Given, Member>) ||
                           detail::lossless<Given, Member>();
    static_assert(
        whole, "overdub: make<S>(...) would lose part of a number; write overdub::convert<T>(x) around it");
    return whole;
  }
  template <std::size_t... I, class Tuple>
  static constexpr Struct make_plain(std::index_sequence<I...>, Tuple const& x) {
    using Members = detail::members_t<Struct>;
    if constexpr ((member_conversion<
                       std::remove_cvref_t<std::tuple_element_t<I, Tuple>>,
                       std::tuple_element_t<I, Members>>() &&
                   ...))
      return Struct{static_cast<std::tuple_element_t<I, Members>>(std::get<I>(x))...};
    else
      return Struct{};
  }
};
template <class S>
inline constexpr make_t<S> make{};

} // namespace overdub
