// A call of a lifted function in contexts: its arguments become those of the program, and results of the program those of the function.
#pragma once

#include <overdub/call/operators.hpp>
#include <overdub/call/scope.hpp>
#include <overdub/lifted/native_call.hpp>
#include <overdub/lifted/registry.hpp>
#include <overdub/stage/evaluate.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

namespace overdub::detail {

// ---- arguments

// Whether operations on integers are part of what a run computes: metadata follow them, and symbols have no numbers.
template <class S>
inline constexpr bool follows_integers = is_symbolic<S> || keeps_metadata<S>();

// A number for a parameter P, as programs have it: an integer of the width of P, sign-extended. Where integers are followed, a signed one is
// expected to be in the range of P.
template <class P, class S, class A>
auto number_for(S const& stack, A const& a) {
  using E = program_number<P>;
  if constexpr (!std::is_same_v<E, i64>) {
    if constexpr (std::is_same_v<bottom_t<A>, E>)
      return wrap(stack, a);
    else
      return wrap(stack, convert<E>(a));
  } else if constexpr (!is_value<A>)
    return wrap(stack, sign_extended(static_cast<P>(a)));
  else if constexpr (!follows_integers<S>)
    return wrap(stack, sign_extended(static_cast<P>(concrete(a))));
  else if constexpr (std::is_same_v<bottom_t<A>, i64> && (std::is_signed_v<P> || sizeof(P) == 8))
    return wrap(stack, a);
  else if constexpr (std::is_signed_v<P> || sizeof(P) == 8)
    return wrap(stack, cast<i64>(a));
  else {
    constexpr i64 unused = 64 - 8 * static_cast<i64>(sizeof(P));
    return wrap(stack, shift_right(shift_left(cast<i64>(a), unused), unused));
  }
}

// Whether X is an array in a context.
template <class X>
inline constexpr bool is_array_value = false;
template <class T, class C, class R>
inline constexpr bool is_array_value<value<T, C, R>> = is_array_value<T>;
template <class T>
inline constexpr bool is_array_value<array<T>> = true;

template <class X>
concept range_of_values = requires(X const& x) {
  x.size();
  requires is_value<std::remove_cvref_t<decltype(*x.data())>>;
};

// An array for a parameter T*.
template <class T, class S, class A>
auto array_for_program(S const& stack, A const& a) {
  using E = program_element<T>;
  if constexpr (is_value<A> && is_array_value<A>) {
    constexpr bool has_elements = std::is_same_v<bottom_t<A>, array<E>>;
    static_assert(
        has_elements, "overdub: a lifted function is given an array of another type than its parameter "
                      "points to; integers of all widths "
                      "are i64 in programs");
    if constexpr (!has_elements)
      return wrap(stack, array<E>());
    else if constexpr (is_number_in_program<T> || follows_integers<S>)
      return wrap(stack, a);
    else
      return wrap(stack, array_of_program<T>(concrete(a)));
  } else if constexpr (array_for<A, T>) {
    return wrap(stack, array_of_program<T>(a));
  } else if constexpr (range_of_values<A> && !follows_integers<S>) {
    using Given = std::remove_cvref_t<decltype(concrete(*a.data()))>;
    auto const count = static_cast<std::size_t>(a.size());
    auto const given = std::make_unique<Given[]>(count);
    for (std::size_t i = 0; i < count; ++i) given[i] = concrete(a.data()[i]);
    return wrap(stack, copied_to_program<T>(given.get(), count));
  } else {
    constexpr bool is_accepted = !range_of_values<A>;
    static_assert(
        is_accepted, "overdub: a lifted function is given a std::vector of values; where a context has "
                     "metadata, or a function is "
                     "staged, give it an od::array");
    constexpr bool is_array = range_of_values<A>;
    static_assert(
        is_array, "overdub: a lifted function is given no array where it has a pointer: give an od::array, "
                  "or a std::vector or "
                  "std::span, of the type that it points to, or a pointer");
    return wrap(stack, array<E>());
  }
}

template <class P, class S, class A>
auto given_to_program(S const& stack, A const& a, [[maybe_unused]] i64 length) {
  if constexpr (!std::is_pointer_v<P>)
    return number_for<P>(stack, a);
  else if constexpr (is_memory<A>)
    return wrap(stack, copied_to_program<std::remove_pointer_t<P>>(a, static_cast<std::size_t>(length)));
  else
    return array_for_program<std::remove_pointer_t<P>>(stack, a);
}

// ---- results

// An integer that a program returns, as the native function's: an unsigned one was sign-extended.
template <class R, class S, class X>
auto number_from(S const& stack, X const& x) {
  if constexpr (std::is_integral_v<R> && std::is_unsigned_v<R> && !std::is_same_v<R, bool> && sizeof(R) < 8) {
    constexpr i64 mask = (i64{1} << (8 * sizeof(R))) - 1;
    if constexpr (follows_integers<S>)
      return wrap(stack, bit_and(x, mask));
    else
      return wrap(stack, static_cast<i64>(concrete(x)) & mask);
  } else
    return x;
}
// The same for an array of a parameter T*. Where integers are followed, its elements stay as they are.
template <class T, class S, class X>
auto array_from(S const& stack, X const& x) {
  if constexpr (is_number_in_program<T> || std::is_signed_v<T> || follows_integers<S>)
    return x;
  else {
    auto const a = concrete(x);
    return wrap(stack, numbers_of<T>(a.data(), static_cast<std::size_t>(a.size())));
  }
}

// Runs the program of a lifted function. Returns a tuple of the number that the function returns, if it does, and of the array of each parameter by
// which it may write.
template <class Signature, class S, std::size_t... I, class... X>
auto lifted_results(S const& stack, lifted_program const& lifted, std::index_sequence<I...>, X const&... x) {
  ir::program const& p = lifted.program;
  auto const cells = results_in(stack, p, p.entry, x...);
  [[maybe_unused]] std::size_t next = 0;
  auto const number = [&] {
    using R = typename Signature::result;
    if constexpr (std::is_void_v<R>)
      return std::tuple<>();
    else
      return std::tuple(
          number_from<R>(stack, result_as<S, program_number<R>>(stack, p, p.entry, cells[next++])));
  };
  [[maybe_unused]] auto const array_at =
      [&]<std::size_t K, class A>(std::integral_constant<std::size_t, K>, A const& given) {
        if constexpr (Signature::template may_write<K>) {
          bool const is_returned = (lifted.returned >> K & 1) != 0;
          using T = std::remove_pointer_t<typename Signature::template parameter<K>>;
          return std::tuple<A>(array_from<T>(
              stack, is_returned ? A(result_as<S, bottom_t<A>>(stack, p, p.entry, cells[next++])) : given));
        } else
          return std::tuple<>();
      };
  auto first = number();
  // A braced list is evaluated in its order.
  std::tuple<decltype(array_at(std::integral_constant<std::size_t, I>{}, x))...> arrays{
      array_at(std::integral_constant<std::size_t, I>{}, x)...};
  return std::tuple_cat(std::move(first), std::move(std::get<I>(arrays))...);
}

// ---- memory

// Whether the memory of a parameter by which the function may write overlaps with that of another one. `length[i]` counts elements.
template <class Signature, std::size_t... I, class All>
bool memory_overlaps(std::index_sequence<I...>, All const& all, i64 const* length) {
  struct range {
    std::uintptr_t begin = 0, end = 0;
    bool is_written = false;
  };
  [[maybe_unused]] auto const range_at = [&]<std::size_t K>(std::integral_constant<std::size_t, K>) {
    range r;
    if constexpr (is_memory<std::remove_cvref_t<std::tuple_element_t<K, All>>>) {
      auto const* const at = std::get<K>(all);
      r.begin = reinterpret_cast<std::uintptr_t>(at);
      r.end = reinterpret_cast<std::uintptr_t>(at + length[K]);
      r.is_written = Signature::template may_write<K>;
    }
    return r;
  };
  range const ranges[] = {range_at(std::integral_constant<std::size_t, I>{})..., range{}};
  for (range const& a : ranges)
    for (range const& b : ranges)
      if (&a != &b && a.is_written && a.begin < b.end && b.begin < a.end) return true;
  return false;
}

// Writes the arrays that the program returned to the memory of their parameters: bit i of `returned` stands for parameter i. Returns the number, if
// there is one.
template <class Signature, std::size_t... I, class All, class Results>
auto written_back(
    std::index_sequence<I...>, All const& all, Results const& results,
    [[maybe_unused]] std::uint64_t returned) {
  constexpr bool returns = !std::is_void_v<typename Signature::result>;
  [[maybe_unused]] auto const write = [&]<std::size_t K, std::size_t At>(std::index_sequence<K, At>) {
    if constexpr (Signature::template may_write<K>)
      if ((returned >> K & 1) != 0) copy_to_memory(concrete(std::get<At>(results)), std::get<K>(all));
  };
  constexpr auto position = [](std::size_t k) {
    std::size_t at = returns ? 1 : 0;
    for (std::size_t i = 0; i < k; ++i) at += Signature::may_write_mask() >> i & 1;
    return at;
  };
  (write(std::index_sequence<I, position(I)>{}), ...);
  if constexpr (returns) return std::get<0>(results);
}

} // namespace overdub::detail
