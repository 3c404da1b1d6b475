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

template <std::size_t I, class N>
requires(!detail::extent_expression<N>) constexpr detail::extent_of<I, detail::constant_extent<0>> extent(N) {
  static_assert(
      detail::extent_expression<N>, "overdub: an extent is an expression of the function's arguments, as "
                                    "arg<1> * arg<2>, or a constant, elements<4>");
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
///           after the returned number: f(y, x, n) is y, or a tuple. In results with arrays, integers are i64
///   memory  pointers, each with an extent. The function writes to the memory. Memory has no metadata: in contexts with metadata, pointers
///           that are not const are refused, and all pointers while a function is staged
/// Integers are i64 in contexts. If memory that the function may write overlaps with that of another argument, the native function is called.
/// In a context with metadata, or while a function is staged, integers must be in the range of their parameters, and elements of arrays of
/// unsigned integers are sign-extended from their width.
///
/// Throws argument_error if an array is shorter than its extent, rejected_program if the native function would be called in a context with
/// metadata, or is staged and has several results, and the exceptions of evaluate. Calls with arrays as values are thread-safe if F is.
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
    else
      return native(std::decay_t<A>(a)...);
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
  static constexpr auto native = leaf<detail::native_name<F>()>(detail::native_call<F, false, Extents...>{});
  static constexpr auto native_in_contexts =
      leaf<detail::native_name<F>()>(detail::native_call<F, true, Extents...>{});

  static std::shared_ptr<detail::lifted_program const> find() {
    static constexpr auto parameters = signature::parameter_types();
    return detail::find_lifted(
        reinterpret_cast<void (*)()>(F), {parameters, signature::result_type(), signature::may_write_mask()});
  }

  // ---- what is accepted

  template <class... A, std::size_t... I>
  static consteval bool takes(std::index_sequence<I...>) {
    constexpr bool is_mixed = (detail::is_memory<A> || ...) &&
                              ((signature::template is_pointer<I> && !detail::is_memory<A>) || ...);
    static_assert(
        !is_mixed, "overdub: a lifted function is given some of its arrays as pointers and others as values; "
                   "give all of them as pointers, or as od::array");
    constexpr bool fits =
        ((!detail::is_memory<A> || std::is_convertible_v<A, typename signature::template parameter<I>>)&&...);
    static_assert(fits, "overdub: a lifted function is given a pointer of another type than its parameter");
    return signature::is_supported && extents_fit() && !is_mixed && fits;
  }
  static consteval bool extents_fit() {
    constexpr bool of_pointers = [] {
      std::size_t const of[] = {Extents::argument..., 0};
      bool fit = true;
      for (std::size_t i = 0; i < sizeof...(Extents); ++i) {
        fit = fit && of[i] < arity && (signature::pointer_mask() >> of[i] & 1) != 0;
        for (std::size_t k = 0; k < i; ++k) fit = fit && of[k] != of[i];
      }
      return fit;
    }();
    static_assert(
        of_pointers, "overdub: lifted<&f>(od::extent<I>(...)): argument I is no pointer, or has two extents");
    return of_pointers;
  }
  template <class S, class... A, std::size_t... I>
  static consteval bool takes_in_contexts(std::index_sequence<I...>) {
    constexpr bool has_memory = (detail::is_memory<A> || ...);
    constexpr bool is_staged = has_memory && detail::is_symbolic<S>;
    static_assert(
        !is_staged, "overdub: a lifted function is staged with a pointer, and memory is no part of a "
                    "program; give it an od::array");
    constexpr bool loses_metadata =
        !is_staged && has_memory && detail::keeps_metadata<S>() && signature::may_write_mask() != 0;
    static_assert(
        !loses_metadata, "overdub: a lifted function may write by a pointer in a context with metadata, and "
                         "memory has none; give it od::arrays, which are also its results");
    constexpr bool has_extents = ((!detail::is_memory<A> || detail::has_extent<I, Extents...>)&&...);
    static_assert(
        has_extents, "overdub: a lifted function is given a pointer whose length is unknown: "
                     "lifted<&f>(od::extent<0>(od::arg<1>)) says that argument 0 has as many elements as "
                     "argument 1 says");
    return !is_staged && !loses_metadata && has_extents;
  }

  // ---- calls in contexts

  template <class S, class... A>
  static auto in_contexts(S const& given, A const&... a) {
    if constexpr (!takes_in_contexts<S, A...>(each{}))
      return detail::refused{};
    else {
      auto const all = std::tie(a...);
      if constexpr (!detail::is_symbolic<S>)
        detail::check_lengths<signature, Extents...>(native.name(), each{}, all);
      return run(detail::stack_of_run(given, "a lifted function"), all, each{});
    }
  }
  template <std::size_t I, class All>
  static i64 length_of_memory(All const& all) {
    if constexpr (detail::is_memory<std::remove_cvref_t<std::tuple_element_t<I, All>>>)
      return detail::length_of_argument<signature, Extents...>(
          native.name(), std::integral_constant<std::size_t, I>{}, all);
    else
      return 0;
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
        return detail::written_back<signature>(each{}, all, results, found->returned);
      else
        return detail::only_or_all(results);
    }
    ++found->native_calls;
    constexpr bool is_too_much_to_stage = detail::is_symbolic<S> && signature::results > 1;
    if constexpr (detail::keeps_metadata<S>() || is_too_much_to_stage) {
      throw rejected_program(message(
          is_too_much_to_stage
              ? "overdub: %s is staged, and its native function has several results, which a program cannot "
                "call: %s"
              : "overdub: %s is called in a context with metadata, and the native function has none: %s",
          std::string(native.name()).c_str(),
          found->why_native.empty() ? "memory that it may write overlaps with that of another argument"
                                    : found->why_native.c_str()));
    } else if constexpr (!has_memory) {
      using result = decltype(detail::only_or_all(
          detail::lifted_results<signature>(stack, *found, each{}, std::get<I>(given)...)));
      return result(detail::wrap(
          stack, detail::call_in(stack, native_in_contexts, values_for_native<I>(stack, all, given)...)));
    } else if constexpr (std::is_void_v<typename signature::result>)
      detail::call_in(stack, native, std::get<I>(all)...);
    else
      return detail::wrap(
          stack, static_cast<detail::program_number<typename signature::result>>(
                     concrete(detail::call_in(stack, native, std::get<I>(all)...))));
  }
  // An argument of the native function: a number as it was given, an array as one value.
  template <std::size_t I, class S, class All, class Given>
  static auto values_for_native(S const&, All const& all, Given const& given) {
    if constexpr (signature::template is_pointer<I>)
      return std::get<I>(given);
    else
      return std::get<I>(all);
  }
};

/// The lifted function of the native function F: inline constexpr auto norm = lifted<&::norm>(extent<0>(arg<1>)).
template <auto F, class... Extents>
requires(requires { Extents::argument; } && ...) constexpr lifted_function<F, Extents...> lifted(Extents...) {
  return {};
}

} // namespace overdub
