// Symbols, which represent values while a program is staged; and trees of symbols, converted to and from lists.
#pragma once

#include <overdub/array/elements.hpp>
#include <overdub/call/described.hpp>
#include <overdub/call/lift.hpp>
#include <overdub/call/ops.hpp>
#include <overdub/ir/id.hpp>
#include <overdub/ir/type.hpp>
#include <overdub/ir/type_of_cpp.hpp>

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace overdub {

/// The symbol of a value: its id in the function that is being staged. The value itself is not known during staging.
struct symbol_of_value {
  ir::value_id id = ir::nothing;
};

namespace detail {

// The type in programs of values of the C++ type T: i64 for all signed integers of 64 bits. Shorter integers can only be
// literals.
template <class T>
constexpr ir::type ir_type_of = type_of_cpp<T>;
template <class T>
requires(std::is_integral_v<T>&& std::is_signed_v<T> && sizeof(T) == 8 && !std::is_same_v<T, i64>) //
    constexpr ir::type ir_type_of<T> = ir::i64;

// Rejects C++ types that programs do not have: they have integers of 64 bits, float and double.
template <class T>
consteval bool has_ir_type() {
  constexpr bool has = static_cast<bool>(ir_type_of<T>);
  static_assert(
      has || !std::is_integral_v<T>, "overdub: staged programs compute with integers of 64 bits; write "
                                     "overdub::convert<overdub::i64>(n), or i64{1} for 1");
  static_assert(
      has || std::is_integral_v<T>,
      "overdub: staged programs compute with bool, i64, float, double and arrays of them; this type is none");
  return has;
}

// Whether X is a leaf of the trees that rules of `staging` receive.
template <class X>
inline constexpr bool is_symbol = false;
template <class T, class L>
inline constexpr bool is_symbol<tagged<T, symbol_of_value, L>> = true;

template <class X>
struct symbol_type;
template <class T, class L>
struct symbol_type<tagged<T, symbol_of_value, L>> {
  using type = T;
  using level = L;
};

template <class T, class L = void>
constexpr tagged<T, symbol_of_value, L> symbol_for(ir::value_id v) {
  return {T{}, {v}};
}

// Whether X is a plain described struct with the symbols of its members.
template <class X>
inline constexpr bool is_struct_of_symbols = false;
template <class T, class... M, class L>
inline constexpr bool is_struct_of_symbols<tagged<T, std::tuple<M...>, L>> = plain_described<T>;

// Whether T is default constructible, as a described struct of a compiled or staged function must be: its values are made in programs
// from their members. A function of its own, so that one class has one message.
template <class T>
consteval bool is_made_of_members() {
  constexpr bool made = std::default_initializable<T>;
  static_assert(
      made, "overdub: a described struct that a staged or compiled function takes, makes or returns is first "
            "constructed without arguments; give the struct, and each class of its members, a default "
            "constructor");
  return made;
}

template <class T, class L>
constexpr tagged<T, symbol_of_value, L> symbol_at(symbol_of_value metadata) {
  if constexpr (is_made_of_members<T>())
    return {T{}, metadata};
  else
    return same_child{}(std::type_identity<tagged<T, symbol_of_value, L>>{});
}

// Replaces each symbol of such metadata by f(symbol).
template <class T, class L, class M, class F>
constexpr M map_members(M const& metadata, F const& f) {
  if constexpr (std::is_same_v<M, symbol_of_value>)
    return f(symbol_at<T, L>(metadata)).metadata;
  else
    return [&]<class... Member, std::size_t... I>(std::tuple<Member...>*, std::index_sequence<I...>) {
      return M{map_members<Member, L>(std::get<I>(metadata), f)...};
    }(static_cast<typename plain_members<T>::type*>(nullptr),
           std::make_index_sequence<std::tuple_size_v<M>>{});
}

// Replaces each symbol of a tree by f(symbol). Empty objects are unchanged.
template <class F>
struct symbol_mapper {
  F const& f;
  template <class X>
  constexpr auto operator()(X const& x) const {
    if constexpr (is_symbol<X>)
      return f(x);
    else if constexpr (is_struct_of_symbols<X>) {
      X copy = x;
      copy.metadata =
          map_members<std::remove_cvref_t<decltype(x.inner)>, typename X::level_type>(x.metadata, f);
      return copy;
    } else if constexpr (tree<X>)
      return tree_traits<X>::map(*this, x);
    else {
      static_assert(
          std::is_empty_v<X>, "overdub: a value of this type cannot be staged: programs hold bool, i64, "
                              "float, double, arrays and trees of them; make "
                              "it an argument of a leaf's own, or describe its struct");
      return x;
    }
  }
};
template <class F, class X>
constexpr auto map_symbols(F const& f, X const& x) {
  return symbol_mapper<F>{f}(x);
}

// The values of a tree, in order.
template <class... X>
std::vector<ir::value_id> flat(X const&... x) {
  std::vector<ir::value_id> all;
  [[maybe_unused]] auto take = [&](auto const& s) {
    all.push_back(s.metadata.id);
    return s;
  };
  (static_cast<void>(map_symbols(take, x)), ...);
  return all;
}

// A tree of the structure of x, with the values that next() returns in order.
template <class X, class Next>
auto refilled(X const& x, Next& next) {
  return map_symbols(
      [&](auto const& s) {
        auto copy = s;
        copy.metadata.id = next();
        return copy;
      },
      x);
}
template <class X>
auto refilled(X const& x, ir::id_range<ir::value_id> values, std::size_t first = 0) {
  auto next = [&] { return values[first++]; };
  return refilled(x, next);
}

// Creates a tree of type X without symbols, for calls of functions whose bodies are still being staged.
struct make_symbols {
  template <class X>
  constexpr X operator()(std::type_identity<X>) const {
    if constexpr (is_symbol<X>)
      return X{};
    else if constexpr (is_struct_of_symbols<X>) {
      if constexpr (is_made_of_members<bottom_t<X>>())
        return X{};
      else
        return same_child{}(std::type_identity<X>{});
    } else if constexpr (tree<X>) {
      constexpr bool known = generated_tree<X>;
      static_assert(
          known, "overdub: a function that calls itself while it is staged returns a tree of unknown size; "
                 "return a tuple, a "
                 "std::array or an array");
      if constexpr (known)
        return tree_traits<X>::generate(*this);
      else
        return {};
    } else
      return {};
  }
};

} // namespace detail
} // namespace overdub
