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

template <class E, class T>
constexpr E element_in_program(T x) {
  if constexpr (std::is_same_v<T, E>)
    return x;
  else
    return sign_extended(x);
}

// The elements from `first` on as an array of the program, for a parameter T*. O(count).
template <class T, class X>
array<program_element<T>> copied_to_program(X const* first, std::size_t count) {
  using E = program_element<T>;
  std::vector<E> copy(count);
  for (std::size_t i = 0; i < count; ++i) copy[i] = element_in_program<E>(first[i]);
  return array<E>::copy_of(std::span<E const>(copy));
}
template <class T, class X>
array<program_element<T>> array_of_program(X const& x) {
  if constexpr (std::is_same_v<X, array<program_element<T>>>)
    return x;
  else
    return copied_to_program<T>(x.data(), static_cast<std::size_t>(x.size()));
}
// An array of the program as memory of a parameter T*. O(elements).
template <class T>
void copy_to_memory(array<program_element<T>> const& from, T* to) {
  for (i64 i = 0; i < from.size(); ++i) to[i] = static_cast<T>(from.data()[i]);
}

// One object, or a tuple of several; `none` for no object.
template <class... X>
auto only_or_all(std::tuple<X...> all) {
  if constexpr (sizeof...(X) == 1)
    return std::get<0>(std::move(all));
  else
    return all;
}

template <auto F>
struct native_call {
  using signature = signature_of<decltype(F)>;

  template <class... A>
  auto operator()(A const&... a) const {
    if constexpr ((is_memory<A> || ...))
      return F(a...);
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
    template <class A>
    explicit argument(A const& a) : given(array_of_program<T>(a)) {
      if constexpr (!is_borrowed) {
        memory.reset(new element[static_cast<std::size_t>(given.size())]);
        copy_to_memory<element>(given, memory.get());
      }
    }
    T* passed() {
      if constexpr (is_borrowed)
        return given.data();
      else
        return memory.get();
    }
    array<program_element<T>> written() const {
      return copied_to_program<T>(memory.get(), static_cast<std::size_t>(given.size()));
    }

    static constexpr bool is_borrowed = std::is_const_v<T> && std::is_same_v<element, program_element<T>>;
    array<program_element<T>> given;
    std::unique_ptr<element[]> memory;
  };

  template <std::size_t... I, class... A>
  static auto on_arrays(std::index_sequence<I...>, A const&... a) {
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
