// refused: what a call gives after its sentence, the static_assert that says what is wrong with it. It goes
// along with everything that is done with it, so that one mistake is one error.
#pragma once

#include <overdub/call/metadata.hpp>

namespace overdub {
namespace detail {
struct wrong {};
} // namespace detail

/// Never made in a program that compiles. A value by its name alone, so that the operators and functions of
/// values take it; for the dispatcher it is opaque.
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

// What the operators of values take for one.
template <class X>
inline constexpr bool is_named_value = is_value<X> || is_refused<X>;

} // namespace detail
} // namespace overdub
