// memoize: caches the results of functions by their arguments.
#pragma once

#include <overdub/array/owned.hpp>
#include <overdub/call/keep_loaded.hpp>
#include <overdub/core/exact_math.hpp>
#include <overdub/overdub.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>

namespace overdub::contexts {

/// Caches the results of all functions (not of primitives) by the types and bit patterns of their arguments: -0 differs from 0, and NaN
/// equals itself. The functions must not have side effects. In a composition it must be the innermost context. It does not cache the
/// results of a function with captures, or in a context whose members may affect them, nor results that cannot be copied. Memory grows with each new argument, until clear().
/// A function of a program is identified by the program, which memoize keeps alive, and by its name; results of functions with several
/// results, function values or more than eight arguments are not cached.
struct memoize : context {
  static constexpr bool answers_any_types = true;
  std::size_t entries = 0;
  std::size_t hits = 0;

  memoize() = default;
  memoize(memoize&&) = default;
  memoize& operator=(memoize&&) = default;

  template <rule_call Call, function F, class... X>
  requires(std::is_empty_v<origin_t<F>> && !depends_on_state<F> && !(in_context<X> || ...))
      recurse_t<Call, F, X...> overdub(Call call, F, X... x) {
    if constexpr (!std::is_copy_constructible_v<recurse_t<Call, F, X...>>)
      return call.recurse(x...);
    else
      return cached<F>(call, x...);
  }

  template <rule_call Call, function F, class... X>
  requires(in_context<X> || ...) recurse_t<Call, F, X...> overdub(Call call, F, X... x) {
    constexpr bool innermost = !is_allowed_to_run<!is_staged<X...>>() || !(in_context<X> || ...);
    static_assert(
        innermost, "overdub: memoize compares plain numbers and must be the innermost context; write "
                   "compose(others..., memoize)");
    return call.recurse(x...);
  }

  void clear() {
    tables_.clear();
    programs_.reset();
    entries = hits = 0;
  }

private:
  // One message for all signatures.
  template <bool Runs>
  static consteval bool is_allowed_to_run() {
    static_assert(
        Runs,
        "overdub: memoize caches the results of calls that run, and does not apply to a function that is "
        "staged, nor to a program that is rewritten: run the function, or evaluate the program, in "
        "memoize: overdub::run(memoize, f, x), overdub::evaluate(memoize, program, arguments)");
    return Runs;
  }

  template <class R>
  using results_of = std::unordered_map<std::string, R>;

  template <class F, class Call, class... X>
  recurse_t<Call, F, X...> cached(Call call, X const&... x) {
    using R = recurse_t<Call, F, X...>;
    std::string key;
    if constexpr (detail::of_kind<F, kind::of_program>) {
      auto const& g = call.callee().call_of_program();
      if (!g.is_seen_whole(x...)) return call.recurse(x...);
      g.append_identity(key, programs_);
    }
    (append(key, x), ...);
    auto& results = table<R, F, X...>();
    if (auto const found = results.find(key); found != results.end()) {
      ++hits;
      return found->second;
    }
    R result = call.recurse(x...);
    entries += results.emplace(std::move(key), detail::owned(result)).second;
    return result;
  }

  template <class R, class F, class... X>
  OVERDUB_HIDDEN results_of<R>& table() {
    auto& slot = tables_[&detail::type_key<R, F, X...>];
    if (!slot) {
      detail::keep_loaded(); // the table is destroyed by code of this shared object
      slot = std::make_shared<results_of<R>>();
    }
    return *static_cast<results_of<R>*>(slot.get());
  }

  // Appends the bits of an argument's leaves, and the sizes of its arrays and vectors.
  template <class X>
  static void append(std::string& key, X const& x) {
    constexpr bool tree = requires { typename tree_traits<X>::children; };
    if constexpr (std::is_arithmetic_v<X>)
      key.append(reinterpret_cast<char const*>(&x), sizeof x);
    else if constexpr (requires { x.visit([](auto const&) {}); }) // its type depends on the program
      x.visit([&](auto const& held) { append(key, held); });
    else if constexpr (requires { x.span(); } || (tree && requires { x.size(), *x.begin(); })) {
      append(key, x.size());
      for (auto const& element : x) append(key, element);
    } else if constexpr (tree)
      append_children(
          key, x, std::make_index_sequence<std::tuple_size_v<typename tree_traits<X>::children>>{});
    else
      static_assert(
          std::is_empty_v<X>,
          "overdub: memoize compares numbers, arrays and trees of them; this function has "
          "an argument of another type");
  }
  template <class X, std::size_t... I>
  static void append_children(std::string& key, X const& x, std::index_sequence<I...>) {
    (append(key, tree_traits<X>::template child<I>(x)), ...);
  }

  std::unordered_map<void const*, std::shared_ptr<void>> tables_;
  std::shared_ptr<void> programs_; // the programs of cached functions
};

} // namespace overdub::contexts
