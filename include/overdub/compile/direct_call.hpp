// Direct calls of machine code through C++ function pointers, with numbers in registers.
#pragma once

#include <overdub/compile/staged_call.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

namespace overdub::detail {

template <class X>
inline constexpr bool is_std_array = false;
template <class T, std::size_t N>
inline constexpr bool is_std_array<std::array<T, N>> = true;

// The types of the leaves of a tree, in order.
template <class X>
consteval auto find_leaves() {
  if constexpr (plain_described<X>) // one value in contexts, but its members in programs
    return []<class... M>(std::tuple<M...>*) {
      return concatenated_t<decltype(find_leaves<M>())...>{};
    }(static_cast<typename plain_members<X>::type*>(nullptr));
  else if constexpr (is_scalar_leaf<X>)
    return types<X>{};
  else if constexpr (is_std_array<X>)
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return concatenated_t<decltype((static_cast<void>(I), find_leaves<typename X::value_type>()))...>{};
    }
  (std::make_index_sequence<std::tuple_size_v<X>>{});
  else if constexpr (tree<X>) return []<class... M>(std::tuple<M...>*) {
    return concatenated_t<decltype(find_leaves<M>())...>{};
  }(static_cast<typename tree_traits<X>::children*>(nullptr));
  else return types<>{};
}
template <class... X>
using leaves_t = concatenated_t<decltype(find_leaves<X>())...>;

// The type of a leaf in registers; void if it is not passed in registers.
template <class X>
using register_t = std::conditional_t<
    std::is_same_v<X, bool> || std::is_same_v<X, float> || std::is_same_v<X, double>, X,
    std::conditional_t<static_cast<bool>(ir_type_of<X>) && std::is_integral_v<X>, i64, void>>;

// A C++ function type with parameters Leaves. One result is returned in a register; several are written to the memory of the last argument,
// one word each (execute::code::target).
template <class Results, class Leaves>
struct direct_signature {
  static constexpr bool exists = false;
};
template <class... R, class... A>
requires((!std::is_void_v<register_t<R>> && ...) && (!std::is_void_v<register_t<A>> && ...)) //
    struct direct_signature<types<R...>, types<A...>> {
  static constexpr bool exists = true;

  /// Calls the function with the leaves of the arguments, and returns the results as a tree.
  template <class Result, class... X>
#if defined(__clang__)
  __attribute__((no_sanitize("function"))) // machine code has no type signature before its entry
#endif
  static Result
  call(void* target, X const&... x) {
    std::array<std::uint64_t, sizeof...(A) + 1> words{};
    std::size_t count = 0;
    auto const put = [&](auto const& leaf) {
      register_t<std::remove_cvref_t<decltype(leaf)>> const as_given = leaf;
      std::memcpy(&words[count++], &as_given, sizeof as_given);
    };
    (for_each_leaf(x, put), ...);
    std::array<std::uint64_t, sizeof...(R) + 1> results{};
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      if constexpr (sizeof...(R) == 0)
        reinterpret_cast<void (*)(register_t<A>...)>(target)(at<A>(words[I])...);
      else if constexpr (sizeof...(R) == 1) {
        using only = register_t<std::tuple_element_t<0, std::tuple<R...>>>;
        only const r = reinterpret_cast<only (*)(register_t<A>...)>(target)(at<A>(words[I])...);
        std::memcpy(&results[0], &r, sizeof r);
      } else
        reinterpret_cast<void (*)(register_t<A>..., std::uint64_t*)>(target)(
            at<A>(words[I])..., results.data());
    }
    (std::index_sequence_for<A...>{});
    count = 0;
    auto const next = [&]<class T>(std::type_identity<T>) { return static_cast<T>(at<T>(results[count++])); };
    return leaf_reader<decltype(next)>{next}(std::type_identity<Result>{});
  }

private:
  template <class T>
  static register_t<T> at(std::uint64_t const& word) {
    register_t<T> x;
    std::memcpy(&x, &word, sizeof x);
    return x;
  }
};

} // namespace overdub::detail
