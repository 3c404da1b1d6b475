// slice: a program without its effects. They are dropped, or kept in their order, to be done later.
#pragma once

#include <overdub/array/owned.hpp>
#include <overdub/call/named_functions.hpp>
#include <overdub/overdub.hpp>

#include <concepts>
#include <cstddef>
#include <deque>
#include <functional>
#include <iterator>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace overdub::contexts {

/// The native functions whose calls are effects: those that accumulate, or are ordered. Of Callees alone, if there are any.
template <class F, class... Callees>
concept sliced = native_leaf<F> &&(F::effects >= effect::accumulates) &&
                 (sizeof...(Callees) == 0 || (named_by<F, Callees> || ...));

/// Removes effects: a native function that returns nothing is not called.
template <class... Callees>
struct dropped_effects : context {
  static constexpr std::string_view name = "slice";
  using callees = types<Callees...>;
  static constexpr bool answers_any_types = true;

  template <class F, class... X>
  requires(
      sliced<F, Callees...> && (overdub::detail::is_untyped<F> ||
                                overdub::detail::native_with_symbol<F>)) none overdub(F const& f, X const&...)
  const {
    if constexpr (!F::returns_nothing)
      throw rejected_program(message(
          "overdub: slice removes the calls of \"%.*s\", but this function returns a result, which the "
          "program "
          "needs; name the functions to remove, which return nothing, or replace the function by a mock: "
          "compose(mock(read, ...), slice())",
          static_cast<int>(f.name().size()), f.name().data()));
    return {};
  }
  template <class F, class... X>
  requires sliced<F, Callees...> none overdub(F const&, X const&...)
  const {
    using R = std::remove_cvref_t<decltype(std::declval<F const&>().compute(
        concrete(std::declval<X const&>())...))>;
    static_assert(
        std::same_as<R, none> || overdub::detail::is_refused<R>,
        "overdub: slice removes the calls of a native function, but this function returns a result, which "
        "the "
        "program needs; name the functions to remove, which return nothing, dropped_effects<decltype(print)> "
        "or "
        "deferred_effects<decltype(print)>, or replace the function by a mock: compose(mock(read, ...), "
        "slice())");
    static_assert(
        std::is_empty_v<origin_t<F>> || !is_staged<X...>,
        "overdub: a native function that is staged captures nothing; give what it captures as an argument");
    return {};
  }
};

/// Keeps the calls of effects, with their arguments, in the order in which they were made. It only observes: in
/// `slice`, a dropped_effects inside it removes the calls.
template <class... Callees>
struct deferred_effects : context {
  static_assert(
      !(overdub::detail::is_symbol_name<std::remove_cv_t<Callees>> || ...),
      "overdub: deferred_effects calls native functions later, and a symbol has none; name the function by "
      "its type: deferred_effects<decltype(print)>");
  static constexpr std::string_view name = "deferred";
  using callees = types<Callees...>;
  // It keeps calls of functions of C++, with their types: a program that calls others is rejected, unless callees are chosen.
  static constexpr bool is_for_native_functions = sizeof...(Callees) == 0;

  std::size_t size() const { return waiting_.size(); }

  /// Makes the deferred calls in order, outside of all contexts. A call is removed from the list before it is made, so that one that
  /// throws leaves the later ones.
  void replay() {
    while (!waiting_.empty()) {
      auto const next = std::move(waiting_.front());
      waiting_.pop_front();
      next();
    }
  }
  void clear() { waiting_.clear(); }

  template <class F, class... X>
  requires(
      sliced<F, Callees...> && !overdub::detail::is_untyped<F> &&
      overdub::detail::named_at_compile_time<F>) void before(F const& f, X const&... x) {
    waiting_.emplace_back(
        [f, kept = std::tuple<X...>(overdub::detail::owned(x)...)] { std::apply(f, kept); });
  }

  deferred_effects fork() { return {}; }
  void join(deferred_effects&& other) {
    waiting_.insert(
        waiting_.end(), std::move_iterator(other.waiting_.begin()), std::move_iterator(other.waiting_.end()));
  }

private:
  std::deque<std::function<void()>> waiting_;
};

/// The program without effects.
constexpr dropped_effects<> slice() { return {}; }

/// The program without the effects that `later` keeps, which must outlive the runs:
///   deferred_effects later;  run(slice(later), f, x);  later.replay();
template <class... Callees>
constexpr auto slice(deferred_effects<Callees...>& later) {
  return compose(later, dropped_effects<Callees...>{});
}

} // namespace overdub::contexts
