// lifted<&f>(): a native function whose calls in contexts run the program that was lifted from it. docs/lifting.md describes it.
//
// No LLVM is needed here: overdub-opt --embed writes the program as a source in C++, which is linked with the native function.
#pragma once

#include <overdub/call/leaf.hpp>
#include <overdub/core/error.hpp>
#include <overdub/lifted/call_in_contexts.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace overdub {

/// The argument I of a lifted function, in an extent.
template <std::size_t I>
inline constexpr detail::argument_extent<I> arg{};
/// A constant, in an extent.
template <i64 N>
inline constexpr detail::constant_extent<N> elements{};

/// The number of elements that the pointer of argument I points to: extent<0>(arg<1> * arg<2>).
template <std::size_t I, detail::extent_expression E>
constexpr detail::extent_of<I, E> extent(E) {
  return {};
}

/// How often a lifted function was called in contexts, and ran its program, or the native function.
struct lifted_calls {
  std::uint64_t lifted = 0, native = 0;
};

/// The native function F. With plain arguments it is F. In contexts it runs the program that was lifted from F: contexts intercept the call,
/// by its demangled name, and the functions and operations in it. A function that was not lifted is one call of a leaf.
///
/// Arrays are given as values, or as memory:
///   values  od::array; in contexts without metadata also std::vector and std::span. The arrays of parameters T*, without const, are results,
///           after the returned number: f(y, x, n) is y, or a tuple
///   memory  pointers, each with an extent. The function writes to the memory. Memory has no metadata: in contexts with metadata, pointers
///           that are not const are refused, and all pointers while a function is staged
/// Integers are i64 in contexts. If memory that the function may write memory_overlaps with that of another argument, the native function is called.
/// Throws argument_error if an array is shorter than its extent, rejected_program if the native function would be called in a context with
/// metadata, and the exceptions of evaluate. Thread-safe, if F is.
template <auto F, class... Extents>
class lifted_function {
  using signature = detail::signature_of<decltype(F)>;
  static constexpr std::size_t arity = signature::arity;
  using each = std::make_index_sequence<arity>;

public:
  using prefers_scope = void; // so that calls in contexts are intercepted also if all arguments are plain

  template <class... A>
  requires(sizeof...(A) == arity && !(scope<A> || ...)) auto operator()(A const&... a) const {
    using S = detail::outermost_t<A...>;
    if constexpr (!takes<std::decay_t<A>...>(each{}))
      return detail::refused{};
    else if constexpr (!S::empty)
      return in_contexts(detail::stack_from<S>(a...), std::decay_t<A>(a)...);
    else {
      check_lengths(std::tie(a...), each{});
      return native(std::decay_t<A>(a)...);
    }
  }
  template <scope Scope, class... A>
  requires(sizeof...(A) == arity) auto operator()(Scope& cx, A const&... a) const {
    using S = typename std::remove_const_t<Scope>::stack_type;
    if constexpr (S::empty)
      return (*this)(a...);
    else if constexpr (!takes<std::decay_t<A>...>(each{}))
      return detail::refused{};
    else
      return in_contexts(cx.levels(), std::decay_t<A>(a)...);
  }

  /// Why calls in contexts run the native function; empty if they run the program.
  std::string why_native() const { return find()->why_native; }
  /// The calls in contexts since the program started.
  lifted_calls calls() const {
    auto const found = find();
    return {found->lifted_calls, found->native_calls};
  }

private:
  static constexpr auto native = leaf<detail::native_name<F>()>(detail::native_call<F>{});

  static std::shared_ptr<detail::lifted_program const> find() {
    static constexpr auto parameters = signature::parameter_types();
    return detail::find_lifted(
        reinterpret_cast<void (*)()>(F), {parameters, signature::result_type(), signature::may_write_mask()});
  }
  static std::string name() { return std::string(native.name()); }

  // ---- what is accepted

  template <class... A, std::size_t... I>
  static consteval bool takes(std::index_sequence<I...>) {
    constexpr bool is_mixed = (detail::is_memory<A> || ...) &&
                              ((signature::template is_pointer<I> && !detail::is_memory<A>) || ...);
    static_assert(
        !is_mixed, "overdub: a lifted function is given some of its arrays as pointers and others as values; "
                   "give all of "
                   "them as pointers, or as od::array");
    return signature::is_supported && !is_mixed;
  }
  template <class S, class... A, std::size_t... I>
  static consteval bool takes_in_contexts(std::index_sequence<I...>) {
    constexpr bool has_memory = (detail::is_memory<A> || ...);
    constexpr bool is_staged = has_memory && detail::is_symbolic<S>;
    static_assert(
        !is_staged,
        "overdub: a lifted function is staged with a pointer, and memory is no part of a program; give it an "
        "od::array");
    constexpr bool loses_metadata =
        !is_staged && has_memory && detail::keeps_metadata<S>() && signature::may_write_mask() != 0;
    static_assert(
        !loses_metadata,
        "overdub: a lifted function may write by a pointer in a context with metadata, and memory has none; "
        "give it od::arrays, which are also its results");
    constexpr bool has_extents = ((!detail::is_memory<A> || has_extent<I>)&&...);
    static_assert(
        has_extents, "overdub: a lifted function is given a pointer whose length is unknown: "
                     "lifted<&f>(od::extent<0>(od::arg<1>)) "
                     "says that argument 0 has as many elements as argument 1 says");
    return !is_staged && !loses_metadata && has_extents;
  }

  // ---- lengths

  template <std::size_t I>
  static constexpr bool has_extent = ((Extents::argument == I) || ...);
  template <std::size_t I, class All>
  static i64 extent_at(All const& all) {
    i64 n = 0;
    ((Extents::argument == I ? void(n = Extents::of(all)) : void()), ...);
    if (n < 0)
      throw argument_error(message(
          "overdub: %s: the length of argument %zu is %lld", name().c_str(), I, static_cast<long long>(n)));
    return n;
  }
  template <std::size_t I, class All>
  static i64 length_of_memory(All const& all) {
    if constexpr (detail::is_memory<std::remove_cvref_t<std::tuple_element_t<I, All>>>)
      return extent_at<I>(all);
    else
      return 0;
  }
  // Compares arrays that are given as values with their extents.
  template <class All, std::size_t... I>
  static void check_lengths([[maybe_unused]] All const& all, std::index_sequence<I...>) {
    (check_length<I>(all), ...);
  }
  template <std::size_t I, class All>
  static void check_length(All const& all) {
    if constexpr (has_extent<I> && !detail::is_memory<std::decay_t<std::tuple_element_t<I, All>>>) {
      i64 const n = extent_at<I>(all);
      auto const have = static_cast<i64>(detail::size_of_array(std::get<I>(all)));
      if (have < n)
        throw argument_error(message(
            "overdub: %s: argument %zu has %lld elements, and is given the length %lld", name().c_str(), I,
            static_cast<long long>(have), static_cast<long long>(n)));
    }
  }

  // ---- calls in contexts

  template <class S, class... A>
  static auto in_contexts(S const& given, A const&... a) {
    if constexpr (!takes_in_contexts<S, A...>(each{}))
      return detail::refused{};
    else {
      auto const all = std::tie(a...);
      if constexpr (!detail::is_symbolic<S>) check_lengths(all, each{});
      return run(detail::stack_of_run(given, "a lifted function"), all, each{});
    }
  }
  template <class S, class... A, std::size_t... I>
  static auto run(S const& stack, std::tuple<A const&...> const& all, std::index_sequence<I...>) {
    constexpr bool has_memory = (detail::is_memory<A> || ...);
    i64 const lengths[] = {length_of_memory<I>(all)..., 0};
    auto const given = std::tuple(detail::given_to_program<typename signature::template parameter<I>>(
        stack, std::get<I>(all), lengths[I])...);
    auto const found = find();
    if (found->why_native.empty() && !detail::memory_overlaps<signature>(each{}, all, lengths)) {
      ++found->lifted_calls;
      auto const results = detail::lifted_results<signature>(stack, *found, each{}, std::get<I>(given)...);
      if constexpr (has_memory)
        return detail::written_back<signature>(each{}, all, results);
      else
        return detail::only_or_all(results);
    }
    ++found->native_calls;
    if constexpr (detail::keeps_metadata<S>()) {
      throw rejected_program(message(
          "overdub: %s is called in a context with metadata, and the native function has none: %s",
          name().c_str(),
          found->why_native.empty() ? "memory that it may write overlaps with that of another argument"
                                    : found->why_native.c_str()));
    } else if constexpr (!has_memory) {
      using result = decltype(detail::only_or_all(
          detail::lifted_results<signature>(stack, *found, each{}, std::get<I>(given)...)));
      return result(detail::wrap(stack, detail::call_in(stack, native, std::get<I>(given)...)));
    } else if constexpr (std::is_void_v<typename signature::result>)
      detail::call_in(stack, native, std::get<I>(all)...);
    else
      return detail::wrap(
          stack, convert<detail::program_number<typename signature::result>>(
                     detail::call_in(stack, native, std::get<I>(all)...)));
  }
};

/// The lifted function of the native function F: inline constexpr auto norm = lifted<&::norm>(extent<0>(arg<1>)).
template <auto F, class... Extents>
requires(requires { Extents::argument; } && ...) constexpr lifted_function<F, Extents...> lifted(Extents...) {
  return {};
}

} // namespace overdub
