// A leaf with a dynamic type, one of several: the values on which programs are evaluated. For the dispatcher it is a tree with one
// child.
#pragma once

#include <overdub/array/elements.hpp>
#include <overdub/call/tree.hpp>
#include <overdub/core/config.hpp>
#include <overdub/core/error.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace overdub {
namespace detail {

// The operations on an object of some type at an address.
struct functions_of_type {
  void (*copy)(void* to, void const* from);
  void (*move)(void* to, void* from);
  void (*destroy)(void* at);
};
template <class T>
OVERDUB_HIDDEN inline constexpr functions_of_type functions_of{
    [](void* to, void const* from) { ::new (to) T(*static_cast<T const*>(from)); },
    [](void* to, void* from) { ::new (to) T(std::move(*static_cast<T*>(from))); },
    [](void* at) { static_cast<T*>(at)->~T(); }};

/// A value of one of several types, or nothing. The types must be different, and their moves must not throw. std::variant would instantiate
/// ten times as many functions: a program in two contexts, with a dozen types each, took 1.4 times as long to compile with it.
template <class... T>
class any_of {
  static_assert((std::is_nothrow_move_constructible_v<T> && ...));

public:
  any_of() = default;
  template <class X>
  requires(std::is_same_v<std::remove_cvref_t<X>, T> || ...) any_of(X&& x) {
    ::new (static_cast<void*>(storage_)) std::remove_cvref_t<X>(std::forward<X>(x));
    index_ = index_of_type<std::remove_cvref_t<X>>();
  }
  any_of(any_of const& other) {
    if (other) functions[other.index_ - 1]->copy(storage_, other.storage_);
    index_ = other.index_;
  }
  any_of(any_of&& other) noexcept { take(other); }
  any_of& operator=(any_of const& other) {
    if (this != &other) *this = any_of(other);
    return *this;
  }
  any_of& operator=(any_of&& other) noexcept {
    if (this == &other) return *this;
    reset();
    take(other);
    return *this;
  }
  ~any_of() { reset(); }

  template <class X>
  X const* get() const {
    return index_ == index_of_type<X>() ? &held<X>(*this) : nullptr;
  }
  template <class X>
  X* get() {
    return index_ == index_of_type<X>() ? &held<X>(*this) : nullptr;
  }
  explicit operator bool() const { return index_ != 0; }
  /// The number, if the value is a plain number. Throws error otherwise.
  operator double() const requires(std::is_same_v<T, double> || ...) {
    if (index_ == 0) throw_no_number();
    return visit([](auto const& x) -> double {
      if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(x)>>)
        return static_cast<double>(x);
      else
        throw_no_number();
    });
  }

  // Calls f with the value. There must be one.
  template <class F>
  decltype(auto) visit(F const& f) & {
    return visited(f, *this);
  }
  template <class F>
  decltype(auto) visit(F const& f) const& {
    return visited(f, *this);
  }
  template <class F>
  decltype(auto) visit(F const& f) && {
    return visited(f, std::move(*this));
  }

private:
  // The position of a type, from 1 on.
  template <class X>
  requires(std::is_same_v<X, T> || ...) static consteval std::uint8_t index_of_type() {
    std::uint8_t i = 0;
    (void)((++i, std::is_same_v<X, T>) || ...);
    return i;
  }
  OVERDUB_HIDDEN static constexpr functions_of_type const* functions[] = {&functions_of<T>...};

  template <class X, class Self>
  static auto& held(Self& self) {
    using Held = std::conditional_t<std::is_const_v<Self>, X const, X>;
    return *std::launder(reinterpret_cast<Held*>(self.storage_));
  }
  void take(any_of& other) noexcept {
    if (other) functions[other.index_ - 1]->move(storage_, other.storage_);
    index_ = other.index_;
  }
  void reset() noexcept {
    if (index_ != 0) functions[index_ - 1]->destroy(storage_);
    index_ = 0;
  }

  // One function for all types, so that the compiler instantiates few functions.
  template <class F, class Self>
  static decltype(auto) visited(F const& f, Self&& self) {
    static_assert(sizeof...(T) <= 12);
#define OVERDUB_ALTERNATIVE(I)                                                                               \
  if constexpr (sizeof...(T) == (I) + 1)                                                                     \
    return f(forwarded<I>(std::forward<Self>(self)));                                                        \
  else if constexpr (sizeof...(T) > (I))                                                                     \
    if (self.index_ == (I) + 1) return f(forwarded<I>(std::forward<Self>(self)))
    OVERDUB_ALTERNATIVE(0);
    OVERDUB_ALTERNATIVE(1);
    OVERDUB_ALTERNATIVE(2);
    OVERDUB_ALTERNATIVE(3);
    OVERDUB_ALTERNATIVE(4);
    OVERDUB_ALTERNATIVE(5);
    OVERDUB_ALTERNATIVE(6);
    OVERDUB_ALTERNATIVE(7);
    OVERDUB_ALTERNATIVE(8);
    OVERDUB_ALTERNATIVE(9);
    OVERDUB_ALTERNATIVE(10);
    OVERDUB_ALTERNATIVE(11);
#undef OVERDUB_ALTERNATIVE
  }
  template <std::size_t I, class Self>
  static decltype(auto) forwarded(Self&& self) {
    using X = std::tuple_element_t<I, std::tuple<T...>>;
    if constexpr (std::is_lvalue_reference_v<Self>)
      return held<X>(self);
    else
      return std::move(held<X>(self));
  }

  static constexpr std::size_t maximum_size = [] {
    std::size_t most = 0;
    for (std::size_t const each : {sizeof(T)...}) most = each > most ? each : most;
    return most;
  }();
  alignas(T...) std::byte storage_[maximum_size];
  std::uint8_t index_ = 0; // 0 is nothing
};

template <class X>
inline constexpr bool is_any_of = false;
template <class... T>
inline constexpr bool is_any_of<any_of<T...>> = true;

} // namespace detail

template <class... T>
struct tree_traits<detail::any_of<T...>> {
  using children = std::tuple<T...>;
  // Moves the child from an rvalue.
  template <class F, class X>
  static auto map(F const& f, X&& x) {
    constexpr bool kept = std::is_lvalue_reference_v<X>;
    using Out = detail::any_of<
        std::remove_cvref_t<decltype(f(std::declval<std::conditional_t<kept, T const&, T>>()))>...>;
    if (!x) return Out{};
    if constexpr (kept)
      return std::as_const(x).visit([&](auto const& child) { return Out(f(child)); });
    else
      return std::move(x).visit(
          [&]<class Child>(Child&& child) { return Out(f(std::forward<Child>(child))); });
  }
  template <class F, class X>
  static void each(F const& f, X& x) {
    if (x) x.visit([&](auto& child) { f(child); });
  }
};

namespace detail {

// Builds an array of elements with a dynamic type, that of the first element. Without elements, the result is empty.
template <class... T>
class any_builder {
public:
  void put(i64 size, i64 i, any_of<T...> const& element) {
    element.visit([&]<class X>(X const& x) {
      using B = decltype(make_builders<X>(size));
      if (i == 0) builder_.template emplace<B>(make_builders<X>(size));
      put_element(std::get<B>(builder_), i, x);
    });
  }
  auto finish(i64 size) {
    using Out = any_of<decltype(finish_elements(make_builders<T>(0), 0))...>;
    return std::visit(
        [&]<class B>(B& builder) {
          if constexpr (std::is_same_v<B, std::monostate>)
            return Out{};
          else
            return Out(finish_elements(std::move(builder), size));
        },
        builder_);
  }

private:
  std::variant<std::monostate, decltype(make_builders<T>(0))...> builder_;
};

// Builds an array for each member of lists of values with dynamic types. Without elements, the list is empty.
template <class... T>
class any_list_builder {
public:
  explicit any_list_builder(i64 size) : size_(size) {}
  void put(i64 i, std::vector<any_of<T...>> const& elements) {
    if (i == 0) builders_.resize(elements.size());
    for (std::size_t k = 0; k < builders_.size(); ++k) builders_[k].put(size_, i, elements[k]);
  }
  auto finish(i64 size) {
    std::vector<decltype(std::declval<any_builder<T...>&>().finish(size))> arrays;
    for (auto& builder : builders_) arrays.push_back(builder.finish(size));
    return arrays;
  }

private:
  i64 size_;
  std::vector<any_builder<T...>> builders_;
};
template <class... T>
struct own_builder<std::vector<any_of<T...>>> {
  using type = any_list_builder<T...>;
};

} // namespace detail
} // namespace overdub
