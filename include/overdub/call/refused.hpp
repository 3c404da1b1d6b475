// refused: the result type of a call that failed a static_assert. All further operations accept it, so that one mistake causes one error
// message.
#pragma once

#include <overdub/call/metadata.hpp>

namespace overdub {
namespace detail {
struct wrong {};
} // namespace detail

/// Never constructed in a program that compiles. It is a specialisation of `value`, so that operators and functions of values accept it;
/// the dispatcher treats it as opaque.
template <>
class values::value<detail::wrong, detail::wrong, void> {
public:
  static value const inner;
  static value const metadata;

  template <class T>
  operator T() const;
  template <class... X>
  constexpr value operator()(X&&...) const {
    return {};
  }
  template <class I>
  constexpr value operator[](I const&) const {
    return {};
  }
};

namespace detail {

using refused = value<wrong, wrong, void>;

template <class X>
inline constexpr bool is_refused = false;
template <>
inline constexpr bool is_refused<refused> = true;
template <>
inline constexpr bool is_value<refused> = false;
template <>
struct stack_of<refused> {
  using type = stack<>;
};

// The types that the operators of values accept as values.
template <class X>
inline constexpr bool is_named_value = is_value<X> || is_refused<X>;

} // namespace detail
} // namespace overdub
