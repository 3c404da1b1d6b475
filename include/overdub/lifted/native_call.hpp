// The native function as a leaf: on pointers, and on arrays, which it returns as its program does.
#pragma once

#include <overdub/lifted/native_signature.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub::detail {

template <class A>
inline constexpr bool is_memory = std::is_pointer_v<A>;

// Whether X is an array of plain numbers, with the elements T or those of the program for T*.
template <class X, class T>
concept array_for = requires(X const& x) {
  x.size();
  requires std::is_same_v<std::remove_cvref_t<decltype(*x.data())>, std::remove_const_t<T>> ||
      std::is_same_v<std::remove_cvref_t<decltype(*x.data())>, program_element<T>>;
};

// Arrays have the numbers of the native function; the program's are sign-extended from the width of their elements, also if they are unsigned.
template <class T>
inline constexpr bool is_number_in_program = std::is_floating_point_v<T> || sizeof(T) == 8;

// The elements from `first` on as T, and as an array of the program. O(count).
template <class T, class X>
array<program_element<T>> copied_to_program(X const* first, std::size_t count) {
  using E = program_element<T>;
  std::vector<E> copy(count);
  for (std::size_t i = 0; i < count; ++i) {
    auto const x = static_cast<std::remove_const_t<T>>(first[i]);
    if constexpr (std::is_floating_point_v<T>)
      copy[i] = x;
    else
      copy[i] = sign_extended(x);
  }
  return array<E>::copy_of(std::span<E const>(copy));
}
template <class T, class X>
array<program_element<T>> array_of_program(X const& x) {
  if constexpr (std::is_same_v<X, array<program_element<T>>> && is_number_in_program<T>)
    return x;
  else
    return copied_to_program<T>(x.data(), static_cast<std::size_t>(x.size()));
}
// Elements of memory, or of a program's array, as numbers of the native function. O(count).
template <class T, class X>
array<program_element<T>> numbers_of(X const* first, std::size_t count) {
  using E = program_element<T>;
  std::vector<E> copy(count);
  for (std::size_t i = 0; i < count; ++i)
    copy[i] = static_cast<E>(static_cast<std::remove_const_t<T>>(first[i]));
  return array<E>::copy_of(std::span<E const>(copy));
}
// An array as memory of a parameter T*. O(elements).
template <class T, class X>
void copy_to_memory(X const& from, T* to) {
  auto const count = static_cast<std::size_t>(from.size());
  for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<T>(from.data()[i]);
}

// One object, or a tuple of several.
template <class... X>
auto only_or_all(std::tuple<X...> all) {
  if constexpr (sizeof...(X) == 1)
    return std::get<0>(std::move(all));
  else
    return all;
}

/// Calls F. On arrays, it returns the number, if there is one, as programs have it, and then the arrays by which F may write. Otherwise it returns what
/// F returns, or, if IsStaged, that number as programs have it.
template <auto F, bool IsStaged, class... Extents>
struct native_call {
  using signature = signature_of<decltype(F)>;

  template <class... A>
  auto operator()(A const&... a) const {
    if constexpr ((is_memory<A> || ...) || signature::pointers == 0)
      return returned < IsStaged && !(is_memory<A> || ...) > (std::index_sequence_for<A...>{}, a...);
    else
      return on_arrays(std::index_sequence_for<A...>{}, a...);
  }

private:
  // An argument of the native function, with the memory that it may write.
  template <class P>
  struct argument {
    template <class A>
    explicit argument(A const& a) : number(static_cast<P>(a)) {}
    P number;
    P passed() { return number; }
  };
  template <class T>
  struct argument<T*> {
    using element = std::remove_const_t<T>;
    static constexpr bool is_borrowed = std::is_const_v<T> && std::is_same_v<element, program_element<T>>;

    template <class A>
    explicit argument(A const& a) : size(static_cast<std::size_t>(a.size())) {
      if constexpr (is_borrowed)
        given = array_of_program<T>(a);
      else {
        memory.reset(new element[size]);
        copy_to_memory(a, memory.get());
      }
    }
    T* passed() {
      if constexpr (is_borrowed)
        return given.data();
      else
        return memory.get();
    }
    array<program_element<T>> written() const { return numbers_of<T>(memory.get(), size); }

    std::size_t size;
    array<program_element<T>> given;
    std::unique_ptr<element[]> memory;
  };

  template <bool AsInProgram, std::size_t... I, class... A>
  static auto returned(std::index_sequence<I...>, A const&... a) {
    using R = typename signature::result;
    if constexpr (AsInProgram)
      return static_cast<program_number<R>>(F(static_cast<typename signature::template parameter<I>>(a)...));
    else
      return F(static_cast<typename signature::template parameter<I>>(a)...);
  }
  template <std::size_t... I, class... A>
  static auto on_arrays(std::index_sequence<I...> each, A const&... a) {
    check_lengths<signature, Extents...>(native_name_view<F>(), each, std::tie(a...));
    std::tuple<argument<typename signature::template parameter<I>>...> all(a...);
    auto const arrays = [&] { return std::tuple_cat(written<I>(std::get<I>(all))...); };
    if constexpr (std::is_void_v<typename signature::result>) {
      F(std::get<I>(all).passed()...);
      return only_or_all(arrays());
    } else {
      auto const r = static_cast<program_number<typename signature::result>>(F(std::get<I>(all).passed()...));
      return only_or_all(std::tuple_cat(std::tuple(r), arrays()));
    }
  }
  template <std::size_t I, class Argument>
  static auto written(Argument const& a) {
    if constexpr (signature::template may_write<I>)
      return std::tuple(a.written());
    else
      return std::tuple<>();
  }
};

} // namespace overdub::detail
