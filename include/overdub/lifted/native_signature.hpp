// The type of a native function that is lifted, the types that its program has for it, and the extents of its pointers.
#pragma once

#include <overdub/array/array.hpp>
#include <overdub/call/lift.hpp>
#include <overdub/call/name.hpp>
#include <overdub/call/value.hpp>
#include <overdub/core/library.hpp>
#include <overdub/stage/symbol.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace overdub::detail {

// ---- numbers

template <class T>
inline constexpr bool is_lifted_number = std::is_same_v<T, double> || std::is_same_v<T, float>;
template <class T>
requires std::is_integral_v<T>
inline constexpr bool is_lifted_number<T> = sizeof(T) <= 8;
template <class P>
inline constexpr bool is_lifted_pointer = false;
template <class T>
inline constexpr bool is_lifted_pointer<T*> =
    is_lifted_number<std::remove_const_t<T>> && !std::is_volatile_v<T>;

// The type of a number in programs, and of an element of memory.
template <class T>
using program_number = std::conditional_t<std::is_floating_point_v<T> || std::is_same_v<T, bool>, T, i64>;
template <class T>
using program_element = std::conditional_t<std::is_floating_point_v<T>, std::remove_const_t<T>, i64>;

// An integer as programs have it: sign-extended from its width, also if it is unsigned.
template <class T>
constexpr i64 sign_extended(T x) {
  if constexpr (std::is_same_v<T, bool>)
    return x ? 1 : 0;
  else
    return static_cast<i64>(static_cast<std::make_signed_t<T>>(x));
}

// ---- functions

template <class R, class... P>
struct signature_of_native {
  static constexpr std::size_t arity = sizeof...(P);
  using result = R;
  template <std::size_t I>
  using parameter = std::tuple_element_t<I, std::tuple<P...>>;
  template <std::size_t I>
  static constexpr bool is_pointer = std::is_pointer_v<parameter<I>>;
  template <std::size_t I>
  static constexpr bool may_write = is_pointer<I> && !std::is_const_v<std::remove_pointer_t<parameter<I>>>;

  static consteval std::uint64_t pointer_mask() {
    std::uint64_t mask = 0, bit = 1;
    ((mask |= std::is_pointer_v<P> ? bit : 0, bit <<= 1), ...);
    return mask;
  }
  static constexpr std::size_t pointers = (std::size_t{std::is_pointer_v<P>} + ... + 0);
  // How many numbers and arrays its program returns.
  static constexpr std::size_t results =
      (std::size_t{std::is_pointer_v<P> && !std::is_const_v<std::remove_pointer_t<P>>} + ... +
       std::size_t{!std::is_void_v<R>});

  static consteval std::uint64_t may_write_mask() {
    std::uint64_t mask = 0, bit = 1;
    ((mask |= std::is_pointer_v<P> && !std::is_const_v<std::remove_pointer_t<P>> ? bit : 0, bit <<= 1), ...);
    return mask;
  }
  // Written as assertions, so that an unsupported function is refused by one sentence.
  static consteval bool check() {
    static_assert(arity <= 64, "overdub: lifted<&f>: f has more than 64 parameters");
    constexpr bool takes_numbers = ((is_lifted_number<P> || is_lifted_pointer<P>)&&...);
    static_assert(
        takes_numbers,
        "overdub: lifted<&f> takes a function of numbers and of pointers to numbers; f has another "
        "parameter: write a function with these parameters that calls it, and lift that");
    constexpr bool returns_number = std::is_void_v<R> || is_lifted_number<R>;
    static_assert(
        returns_number,
        "overdub: lifted<&f> takes a function that returns a number or nothing: write one that "
        "calls f, and lift that");
    constexpr bool has_result =
        !std::is_void_v<R> || ((is_lifted_pointer<P> && !std::is_const_v<std::remove_pointer_t<P>>) || ...);
    static_assert(has_result, "overdub: lifted<&f>: f returns nothing, and has no pointer to write by");
    return takes_numbers && returns_number && has_result && arity <= 64;
  }
  static constexpr bool is_supported = check();

  static constexpr std::array<ir::type, arity> parameter_types() { return {type_in_program<P>()...}; }
  static constexpr std::optional<ir::type> result_type() {
    if constexpr (std::is_void_v<R>)
      return {};
    else
      return type_in_program<R>();
  }

private:
  template <class T>
  static constexpr ir::type type_in_program() {
    if constexpr (std::is_pointer_v<T>)
      return ir_type_of<array<program_element<std::remove_pointer_t<T>>>>;
    else
      return ir_type_of<program_number<T>>;
  }
};
template <class F>
struct signature_of {
  static constexpr bool is_function = sizeof(F) == 0;
  static_assert(is_function, "overdub: lifted<&f> takes the address of a function, and no object or member");
};
template <class R, class... P>
struct signature_of<R (*)(P...)> : signature_of_native<R, P...> {};
template <class R, class... P>
struct signature_of<R (*)(P...) noexcept> : signature_of_native<R, P...> {};

// The name of a function, without its parameters.
template <auto F>
consteval std::string_view native_name_view() {
  std::string_view text = __PRETTY_FUNCTION__;
  auto const begin = text.find("F = ") + 4;
  auto end = text.find(';', begin); // in g++'s text "; std::string_view = ..." follows
  if (end == text.npos) end = text.rfind(']');
  text = text.substr(begin, end - begin);
  if (text.starts_with('&')) text.remove_prefix(1);
  return text;
}
template <auto F>
consteval auto native_name() {
  constexpr std::string_view view = native_name_view<F>();
  char text[view.size() + 1]{};
  for (std::size_t i = 0; i < view.size(); ++i) text[i] = view[i];
  return fixed_string<view.size() + 1>(text);
}

// ---- extents

// The number of elements behind a pointer, as an expression of the arguments.
struct extent_expression_base {};
template <class E>
concept extent_expression = std::is_base_of_v<extent_expression_base, E>;

[[noreturn]] void throw_extent_overflow();

template <std::size_t I>
struct argument_extent : extent_expression_base {
  template <class Signature, class All>
  static i64 of(All const& all) {
    using P = typename Signature::template parameter<I>;
    static_assert(
        std::is_integral_v<P>,
        "overdub: the extent of a lifted function's pointer is given by an argument that is no integer");
    return static_cast<i64>(static_cast<P>(concrete(std::get<I>(all))));
  }
};
template <i64 N>
struct constant_extent : extent_expression_base {
  template <class, class All>
  static i64 of(All const&) {
    return N;
  }
};
template <class A, class B>
struct extent_product : extent_expression_base {
  template <class Signature, class All>
  static i64 of(All const& all) {
    i64 n = 0;
    if (__builtin_mul_overflow(A::template of<Signature>(all), B::template of<Signature>(all), &n))
      throw_extent_overflow();
    return n;
  }
};
template <class A, class B>
struct extent_sum : extent_expression_base {
  template <class Signature, class All>
  static i64 of(All const& all) {
    i64 n = 0;
    if (__builtin_add_overflow(A::template of<Signature>(all), B::template of<Signature>(all), &n))
      throw_extent_overflow();
    return n;
  }
};
template <extent_expression A, extent_expression B>
constexpr extent_product<A, B> operator*(A, B) {
  return {};
}
template <extent_expression A, extent_expression B>
constexpr extent_sum<A, B> operator+(A, B) {
  return {};
}

// The extent of argument I.
template <std::size_t I, class E>
struct extent_of : E {
  static constexpr std::size_t argument = I;
};

template <std::size_t I, class... Extents>
inline constexpr bool has_extent = ((Extents::argument == I) || ...);

// The number of elements that argument I is said to have. Throws argument_error if it is negative.
[[noreturn]] void throw_negative_length(std::string_view function, std::size_t argument, i64 length);
[[noreturn]] void throw_short_array(std::string_view function, std::size_t argument, i64 size, i64 length);
template <class Signature, class... Extents, std::size_t I, class All>
i64 length_of_argument(std::string_view function, std::integral_constant<std::size_t, I>, All const& all) {
  i64 n = 0;
  ((Extents::argument == I ? void(n = Extents::template of<Signature>(all)) : void()), ...);
  if (n < 0) throw_negative_length(function, I, n);
  return n;
}

template <class X>
i64 size_of_array(X const& x) {
  if constexpr (is_value<X>)
    return static_cast<i64>(concrete(x).size());
  else
    return static_cast<i64>(x.size());
}
// Throws argument_error if an array that is given as a value is shorter than its extent.
template <class Signature, class... Extents, std::size_t... I, class All>
void check_lengths(std::string_view function, std::index_sequence<I...>, [[maybe_unused]] All const& all) {
  [[maybe_unused]] auto const check = [&]<std::size_t K>(std::integral_constant<std::size_t, K> k) {
    if constexpr (
        has_extent<K, Extents...> && !std::is_pointer_v<std::decay_t<std::tuple_element_t<K, All>>>) {
      i64 const n = length_of_argument<Signature, Extents...>(function, k, all),
                size = size_of_array(std::get<K>(all));
      if (size < n) throw_short_array(function, K, size, n);
    }
  };
  (check(std::integral_constant<std::size_t, I>{}), ...);
}

} // namespace overdub::detail
