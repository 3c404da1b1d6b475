// value<T, C, Run>: a T in the context C, with C's metadata. T may itself be a value of an inner context. A value of a stateless context
// without metadata has the size of its T.
#pragma once

#include <overdub/call/context.hpp>
#include <overdub/call/metadata.hpp>
#include <overdub/call/native.hpp>
#include <overdub/call/scalar_leaf.hpp>
#include <overdub/call/stack.hpp>

#include <concepts>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <utility>

namespace overdub {
namespace detail {

// The members of a value. Specialisations omit empty metadata and references to stateless contexts. [[no_unique_address]] does not suffice:
// two members of one empty type need different addresses, so that nested values would grow.
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

// Rejects an implicit conversion of a symbol to bool, as algorithms of the standard library do it with comparisons.
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

// Rejects a conversion of a symbol to a plain number, as an index or by a cast, and each cast to a floating-point number.
template <class N, class S>
consteval bool is_known_number() {
  static_assert(
      !is_symbolic<S>,
      "overdub: a value of a program that is being staged is used as a plain number or index, and is not "
      "known yet; write overdub::convert<T>(x) for a cast, and index an overdub::array");
  static_assert(
      is_symbolic<S> || std::is_integral_v<N>,
      "overdub: a cast of a value to a plain floating-point number, which contexts no longer see; write "
      "overdub::convert<double>(x), or overdub::concrete(x) for the number alone");
  return !is_symbolic<S> && std::is_integral_v<N>;
}
// The types of indices and sizes of containers. A diagnostic rejects an implicit conversion of a value to one of them: the index would lose
// its contexts, and overload resolution could choose the constructor for a size where the plain number chooses another one.
template <class N>
inline constexpr bool is_index = std::is_same_v<N, unsigned long> || std::is_same_v<N, unsigned long long>;
template <class N>
inline constexpr bool is_integer = std::is_integral_v<N> && !std::is_same_v<N, bool>;
template <class N, class S>
consteval bool is_plain_index() {
  constexpr bool is_given = std::is_same_v<S, void>;
  static_assert(
      is_given,
      "overdub: a value of a context is used as a plain index or size, which contexts do not see; write "
      "static_cast<std::size_t>(i), or index an overdub::array");
  return is_given;
}
// The types of sizes and of pointer differences.
template <class N>
inline constexpr bool is_size = std::is_same_v<N, std::size_t> || std::is_same_v<N, std::ptrdiff_t>;

// Whether To can represent every number of type From.
template <class From, class To>
consteval bool lossless() {
  if constexpr (!std::is_arithmetic_v<From> || !std::is_arithmetic_v<To>)
    return true;
  else {
    using f = std::numeric_limits<From>;
    using t = std::numeric_limits<To>;
    if (std::is_floating_point_v<From> && !std::is_floating_point_v<To>) return false;
    return f::digits <= t::digits && (!f::is_signed || t::is_signed);
  }
}

// Whether a number of type U converts to a value whose number has type To, and whether it does so implicitly. A bool is a number only
// explicitly, since a comparison is rarely meant as one. Integers convert implicitly from an int and from the types of sizes, as in T s = 0
// and T n = v.size(), whatever their own type is: the conversion throws if the number is not representable.
template <class U, class To>
concept constant_of = std::is_arithmetic_v<U> && std::is_arithmetic_v<To> &&
    (std::is_same_v<U, bool> || !std::is_same_v<To, bool>);
template <class U, class To>
inline constexpr bool converts_constant = std::is_same_v<U, To> ||
                                          (!std::is_same_v<U, bool> &&
                                           (std::is_floating_point_v<To> || lossless<U, To>() ||
                                            std::is_same_v<U, int> || is_size<U>));
// Whether a conversion between these integer types may change the number, by wrapping modulo 2^n.
template <class From, class To>
inline constexpr bool wraps =
    std::is_integral_v<From>&& std::is_integral_v<To> && !std::is_same_v<To, bool> &&
    !std::is_same_v<From, bool> && !lossless<From, To>();
template <class To, class U>
constexpr To converted_constant(U constant) {
  if constexpr (std::is_integral_v<U> && std::is_integral_v<To> && !lossless<U, To>()) {
    To const converted = static_cast<To>(constant);
    if (static_cast<U>(converted) != constant || (converted < To{}) != (constant < U{}))
      throw_narrowed_constant();
    return converted;
  } else if constexpr (std::is_floating_point_v<U> && !std::is_floating_point_v<To>)
    return native::convert<To>(constant);
  else
    return static_cast<To>(constant);
}

// Whether From is another value of the contexts of value<T, C, Run>, with a number of another type, and whether it converts implicitly.
template <class From, class T, class C, class Run>
concept converts_value =
    is_value<From> && std::is_arithmetic_v<bottom_t<T>> && std::is_arithmetic_v<bottom_t<From>> &&
    !std::is_same_v<bottom_t<From>, bottom_t<T>> &&
    !std::is_same_v<bottom_t<T>, bool> &&
    std::is_same_v<stack_of_t<From>, push_t<level<C, Run>, stack_of_t<T>>>;
template <class From, class To>
inline constexpr bool widens = !std::is_same_v<From, bool> && lossless<From, To>();

// A number as a constant: a value of type V that belongs to no run.
template <class V, class N>
constexpr V constant_value(N const& number);

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
  using metadata_type = metadata_t<C, T>;
  using stack_type = detail::push_t<level<C, Run>, detail::stack_of_t<T>>;

  constexpr value(T inner, metadata_type metadata, detail::ref<C> context)
      : storage{std::move(inner), std::move(metadata), context} {}

  /// A constant: it belongs to no run until it meets a value in a call. Conversions that may lose a number are explicit, but for those from
  /// int, from the types of sizes, and between floating-point numbers. Throws type_error if an integer does not represent the number.
  template <detail::constant_of<detail::bottom_t<T>> U>
  explicit(!detail::converts_constant<U, detail::bottom_t<T>>) constexpr value(U constant);
  /// Converts the number of another value of these contexts, implicitly if no number is lost. Contexts intercept the conversion.
  template <class From>
  requires detail::converts_value<From, T, C, Run>
  explicit(!detail::widens<detail::bottom_t<From>, detail::bottom_t<T>>) constexpr value(From const& x);
  constexpr value() requires std::is_arithmetic_v<detail::bottom_t<T>> : value(detail::bottom_t<T>{}) {}

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

  /// Converts to a plain integer, by an operation that contexts intercept.
  template <class N>
  requires(
      std::is_arithmetic_v<N> && !std::is_same_v<N, bool> && !detail::is_index<N> &&
      std::is_arithmetic_v<detail::bottom_t<T>>) //
      explicit constexpr
      operator N() const {
    return plain<N>();
  }
  explicit constexpr operator unsigned long() const requires std::is_arithmetic_v<detail::bottom_t<T>> {
    return plain<unsigned long>();
  }
  explicit constexpr operator unsigned long long() const requires std::is_arithmetic_v<detail::bottom_t<T>> {
    return plain<unsigned long long>();
  }
  // Implicit use as an index of a container, which is rejected.
  template <class N>
  requires(detail::is_index<N>&& detail::is_integer<detail::bottom_t<T>>) constexpr operator N() const {
    return detail::is_plain_index<N, stack_type>();
  }

#define OVERDUB_ASSIGNMENT(SIGN)                                                                             \
  template <class B>                                                                                         \
  constexpr value& operator SIGN##=(B const& b) {                                                            \
    return assign(*this SIGN b);                                                                             \
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
  constexpr value operator++(int) {
    value before = *this;
    ++*this;
    return before;
  }
  constexpr value operator--(int) {
    value before = *this;
    --*this;
    return before;
  }

  template <class I>
  constexpr auto operator[](I const& index) const;

private:
  template <class N>
  constexpr N plain() const;
  // As in C++, compound assignment converts the result to the type of the variable.
  template <class X>
  constexpr value& assign(X const& x);
};

} // namespace values

using values::value;

} // namespace overdub

/// The limits of the innermost number type, as constants, which belong to no run.
template <class T, class C, class Run>
class std::numeric_limits<overdub::value<T, C, Run>>
    : public std::numeric_limits<overdub::detail::bottom_t<T>> {
  using number = std::numeric_limits<overdub::detail::bottom_t<T>>;
  using constant = overdub::value<T, C, Run>;

public:
  static constexpr constant min() { return number::min(); }
  static constexpr constant max() { return number::max(); }
  static constexpr constant lowest() { return number::lowest(); }
  static constexpr constant epsilon() { return number::epsilon(); }
  static constexpr constant round_error() { return number::round_error(); }
  static constexpr constant infinity() { return number::infinity(); }
  static constexpr constant quiet_NaN() { return number::quiet_NaN(); }
  static constexpr constant signaling_NaN() { return number::signaling_NaN(); }
  static constexpr constant denorm_min() { return number::denorm_min(); }
};
