// A leaf whose type is chosen at run time among several: what programs are evaluated on. To the dispatcher it is a tree with
// one child.
#pragma once

#include <overdub/array/elements.hpp>
#include <overdub/call/tree.hpp>

#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace overdub {
namespace detail {

/// One of several types, or nothing. Alternatives are different types.
template <class... T>
class any_of {
public:
  any_of() = default;
  template <class X>
  requires(std::is_same_v<std::remove_cvref_t<X>, T> || ...) any_of(X&& x) : held_(std::forward<X>(x)) {}

  template <class X>
  X const* get() const {
    return std::get_if<X>(&held_);
  }
  template <class X>
  X* get() {
    return std::get_if<X>(&held_);
  }
  explicit operator bool() const { return held_.index() != 0; }

  // f on what is held; nothing may not be asked.
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
  // One function for all alternatives: compilers take long for one each.
  template <class F, class Self>
  static decltype(auto) visited(F const& f, Self&& self) {
    static_assert(sizeof...(T) <= 12);
    std::size_t const at = self.held_.index();
#define OVERDUB_ALTERNATIVE(I)                                                                               \
  if constexpr (sizeof...(T) == (I))                                                                         \
    return f(std::get<I>(std::forward<Self>(self).held_));                                                   \
  else if constexpr (sizeof...(T) > (I))                                                                     \
    if (at == (I)) return f(std::get<I>(std::forward<Self>(self).held_))
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
    OVERDUB_ALTERNATIVE(12);
#undef OVERDUB_ALTERNATIVE
  }

  std::variant<std::monostate, T...> held_;
};

template <class X>
inline constexpr bool is_any_of = false;
template <class... T>
inline constexpr bool is_any_of<any_of<T...>> = true;

} // namespace detail

template <class... T>
struct tree_traits<detail::any_of<T...>> {
  using children = std::tuple<T...>;
  // A child is consumed where the leaf is an rvalue.
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

// Arrays of what is chosen at run time: the first element tells of what; there is none where there are no elements.
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

// The same of a list: an array for each of its members; no array at all where there are no elements.
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
