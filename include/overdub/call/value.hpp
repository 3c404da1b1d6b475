// value<T, C, Run>: a T in the context C, with C's metadata. T may itself be a value of an inner context. A value of a stateless context
// without metadata has the size of its T.
#pragma once

#include <overdub/call/context.hpp>
#include <overdub/call/metadata.hpp>
#include <overdub/call/scalar_leaf.hpp>
#include <overdub/call/stack.hpp>

#include <concepts>
#include <type_traits>
#include <utility>

namespace overdub {
namespace detail {

// Empty metadata and stateless contexts take no space. By specialisation: two [[no_unique_address]] members
// of one empty type may not share an address, and a nested value would grow.
template <class T, class C, class M, bool = std::is_empty_v<M>, bool = std::is_empty_v<C>>
struct value_storage {
  constexpr value_storage(T&& inner, M&& metadata, ref<C> context)
      : inner_(std::move(inner)), metadata_(std::move(metadata)), context_(context) {}
  T inner_;
  M metadata_;
  ref<C> context_;
  constexpr M const& metadata() const { return metadata_; }
  constexpr ref<C> context() const { return context_; }
};
template <class T, class C, class M>
struct value_storage<T, C, M, true, false> {
  constexpr value_storage(T&& inner, M&&, ref<C> context) : inner_(std::move(inner)), context_(context) {}
  T inner_;
  ref<C> context_;
  static constexpr M metadata() { return {}; }
  constexpr ref<C> context() const { return context_; }
};
template <class T, class C, class M>
struct value_storage<T, C, M, false, true> {
  constexpr value_storage(T&& inner, M&& metadata, ref<C>)
      : inner_(std::move(inner)), metadata_(std::move(metadata)) {}
  T inner_;
  M metadata_;
  constexpr M const& metadata() const { return metadata_; }
  static constexpr ref<C> context() { return {}; }
};
template <class T, class C, class M>
struct value_storage<T, C, M, true, true> {
  constexpr value_storage(T&& inner, M&&, ref<C>) : inner_(std::move(inner)) {}
  T inner_;
  static constexpr M metadata() { return {}; }
  static constexpr ref<C> context() { return {}; }
};

template <class T, class S>
consteval bool bool_of() {
  static_assert(
      !is_symbolic<S>,
      "overdub: a branch on a value of a program that is being staged, which is not known yet; use "
      "overdub::if_(condition, then, otherwise), or loop and while_ for a loop");
  static_assert(
      has_bool<T> || !std::is_arithmetic_v<T>,
      "overdub: a branch on a value that is no boolean; write x != 0, or overdub::if_(x != 0, ...)");
  static_assert(
      has_bool<T> || std::is_arithmetic_v<T>,
      "overdub: a branch on a value whose type has no bool; use overdub::if_(condition, then, otherwise)");
  return has_bool<T> && !is_symbolic<S>;
}

// The same for an implicit conversion to bool, as algorithms of the standard library need it for comparisons.
template <class S>
consteval bool is_known_bool() {
  static_assert(
      !is_symbolic<S>,
      "overdub: a comparison of values of a program that is being staged is used as a plain bool, as "
      "std::sort, "
      "other algorithms of the standard library and parameters of type bool do; it is not known yet: use "
      "overdub::min, overdub::max and overdub::if_, or sort in an overdub::leaf");
  return !is_symbolic<S>;
}

// Whether a constant of type U converts implicitly to a value of T in C, which requires that no context of the stack has state.
template <class U, class T, class C, class Run>
concept constant_of = std::is_arithmetic_v<U> && std::is_same_v<bottom_t<T>, U> &&
    std::is_empty_v<push_t<level<C, Run>, stack_of_t<T>>>;

} // namespace detail

// Operators and <cmath> functions on values are in this namespace, so that argument-dependent lookup finds them; the function objects of
// the same names are in overdub.
namespace values {

template <class T, class C, class Run = void>
class value : detail::value_storage<T, C, metadata_t<C, T>> {
  using storage = detail::value_storage<T, C, metadata_t<C, T>>;

public:
  using inner_type = T;
  using context_type = C;
  using run_type = Run;
  using metadata_type = metadata_t<C, T>;
  using stack_type = detail::push_t<level<C, Run>, detail::stack_of_t<T>>;

  constexpr value(T inner, metadata_type metadata, detail::ref<C> context)
      : storage{std::move(inner), std::move(metadata), context} {}

  /// Converts a constant. Only if no context of the stack has state, since a value must refer to a context with state.
  template <class U>
  requires detail::constant_of<U, T, C, Run>
  constexpr value(U constant);
  constexpr value() requires detail::constant_of<detail::bottom_t<T>, T, C, Run>
      : value(detail::bottom_t<T>{}) {}

  constexpr T const& inner() const& { return this->inner_; }
  constexpr T&& inner() && { return std::move(this->inner_); }
  constexpr decltype(auto) metadata() const { return storage::metadata(); }
  constexpr detail::ref<C> context() const { return storage::context(); }
  constexpr stack_type stack() const {
    if constexpr (detail::stack_of_t<T>::empty)
      return {context(), {}};
    else
      return {context(), inner().stack()};
  }

  explicit constexpr operator bool() const {
    if constexpr (detail::bool_of<detail::bottom_t<T>, stack_type>())
      return static_cast<bool>(inner());
    else
      return false;
  }

  /// Converts a comparison to a plain bool, for std::sort and other algorithms. Contexts intercept the comparison.
  template <std::same_as<bool> B>
  requires std::is_same_v < detail::bottom_t<T>,
  bool > constexpr operator B() const {
    if constexpr (detail::is_known_bool<stack_type>())
      return static_cast<bool>(inner());
    else
      return false;
  }

#define OVERDUB_ASSIGNMENT(SIGN)                                                                             \
  template <class B>                                                                                         \
  constexpr value& operator SIGN##=(B const& b) {                                                            \
    return *this = *this SIGN b;                                                                             \
  }
  OVERDUB_ASSIGNMENT(+)
  OVERDUB_ASSIGNMENT(-)
  OVERDUB_ASSIGNMENT(*)
  OVERDUB_ASSIGNMENT(/)
  OVERDUB_ASSIGNMENT(%)
  OVERDUB_ASSIGNMENT(&)
  OVERDUB_ASSIGNMENT(|)
  OVERDUB_ASSIGNMENT(^)
  OVERDUB_ASSIGNMENT(<<)
  OVERDUB_ASSIGNMENT(>>)
#undef OVERDUB_ASSIGNMENT
  constexpr value& operator++() { return *this += detail::bottom_t<T>{1}; }
  constexpr value& operator--() { return *this -= detail::bottom_t<T>{1}; }
  constexpr value operator++(int) { return std::exchange(*this, *this + detail::bottom_t<T>{1}); }
  constexpr value operator--(int) { return std::exchange(*this, *this - detail::bottom_t<T>{1}); }

  template <class I>
  constexpr auto operator[](I const& index) const;
};

} // namespace values

using values::value;

} // namespace overdub
