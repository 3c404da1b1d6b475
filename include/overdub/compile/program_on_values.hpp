// Calls of a program with values of contexts, or with symbolic values: evaluates the program on these.
#pragma once

#include <overdub/compile/artifact.hpp>
#include <overdub/compile/direct_call.hpp>
#include <overdub/compile/fingerprint.hpp>
#include <overdub/core/mutex.hpp>
#include <overdub/stage/evaluate.hpp>

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace overdub::detail {

// Programs of functions in contexts, one for each of their fingerprints. They are never freed. Thread-safe.
class programs_by_fingerprint {
public:
  template <class Make, class... C>
  ir::program const& get(Make const& make, C const&... contexts) {
    std::string fingerprints;
    write_fingerprints(fingerprints, contexts...);
    {
      mutex_lock const lock(mutex_);
      if (auto const known = all_.find(fingerprints); known != all_.end()) return known->second;
    }
    ir::program made = make(); // may recursively request others
    mutex_lock const lock(mutex_);
    return all_.try_emplace(std::move(fingerprints), std::move(made)).first->second;
  }

private:
  mutex mutex_;
  std::map<std::string, ir::program> all_;
};
template <class Key>
OVERDUB_HIDDEN programs_by_fingerprint& programs_of() {
  static programs_by_fingerprint all;
  return all;
}

// Binds a program to context objects, which a call would otherwise pass.
template <class... C>
ir::program with_contexts_of_call(ir::program p, std::tuple<C&...> const& contexts) {
  overdub::detail::apply_to(
      [&](C&... c) {
        std::array<void*, sizeof...(C)> const objects{&c...};
        for (ir::host_binding& h : p.hosts)
          if (h.context != ir::host_binding::no_context) {
            h.object = objects[h.context];
            h.context = ir::host_binding::no_context;
          }
      },
      contexts);
  return p;
}

// The program of an artifact, for evaluation in enclosing contexts: the staged program, with its declared derivatives, if no pass rewrote
// it.
inline ir::program const& program_to_evaluate(artifact const& a) {
  return a.made_of().passes.empty() ? a.made_of().staged : a.program();
}

// Whether X holds a plain struct, which is one value in contexts, but its members in programs.
template <class X>
consteval bool holds_plain_struct() {
  if constexpr (plain_described<bottom_t<X>>)
    return true;
  else if constexpr (tree<X>)
    return []<class... T>(std::tuple<T...>*) {
      return (holds_plain_struct<std::remove_cvref_t<T>>() || ...);
    }(static_cast<typename tree_traits<X>::children*>(nullptr));
  else
    return false;
}

// Calls programs with the result type Result in the contexts of S.
template <class S, class Result>
class program_on_values {
public:
  explicit program_on_values(S const& stack) : stack_(stack_of_run(stack, "a compiled function")) {}

  // Runs a program that was compiled for the given contexts. Throws the exceptions of evaluate, and staging_error if a program that is
  // being compiled calls it, but is not compiled for these contexts.
  template <class... C, class... X>
  auto run(ir::program const& p, std::tuple<C&...> const& contexts, X const&... x) const {
    constexpr bool by_leaves = !(holds_plain_struct<Result>() || ... || holds_plain_struct<X>());
    static_assert(
        by_leaves,
        "overdub: a function whose program is called in a context takes and returns no plain struct; give "
        "its members, or make it a template that is described from within");
    if constexpr (by_leaves) {
      bool asks_contexts = false;
      for (ir::host_binding const& h : p.hosts)
        asks_contexts = asks_contexts || h.context != ir::host_binding::no_context;
      if (!asks_contexts) return evaluated(p, leaves_t<Result>{}, lifted(x)...);
      ir::program const here = with_contexts_of_call(p, contexts);
      if constexpr (is_symbolic<S>) check_known(here);
      return evaluated(here, leaves_t<Result>{}, lifted(x)...);
    } else
      return refused{};
  }

private:
  // Rejects a program that is being compiled: its calls supply other context objects than its compilation, so that it cannot be bound to
  // the present ones.
  void check_known(ir::program const& p) const requires is_symbolic<S> {
    recorder const& r = recorder_of(stack_);
    for (ir::host_binding const& h : p.hosts)
      if (h.object != nullptr && !r.contexts.empty() && r.context_at(h.object) == r.contexts.size())
        throw staging_error(message(
            "overdub: a compiled program calls @%s in a context of its own with data (%s), and is not "
            "compiled "
            "for this context; compile the whole in it",
            std::string(p.entry == ir::nothing ? "" : p.name_of(p.entry)).c_str(),
            std::string(p.text(h.name)).c_str()));
  }
  // Integers are i64 in programs. Contexts with metadata intercept the conversion.
  template <class X>
  static constexpr bool is_narrow =
      std::is_integral_v<plain_t<X>> && !std::is_same_v<plain_t<X>, bool> && !std::is_same_v<plain_t<X>, i64>;
  template <class X>
  static auto widened_value(X const& x) {
    if constexpr (is_value<X> && keeps_metadata<S>())
      return convert<i64>(x);
    else
      return static_cast<i64>(concrete(x));
  }
  // The leaves of a tree as a tuple of values of the stack.
  template <class X>
  auto lifted(X const& x) const {
    if constexpr (is_narrow<X>)
      return std::tuple(wrap(stack_, widened_value(x)));
    else if constexpr (is_value<X> || is_scalar_leaf<X>)
      return std::tuple(wrap(stack_, x));
    else if constexpr (is_std_array<X>)
      return overdub::detail::apply_to(
          [&](auto const&... each) { return std::tuple_cat(lifted(each)...); }, x);
    else if constexpr (tree<X>)
      return lifted_children(
          x, std::make_index_sequence<std::tuple_size_v<typename tree_traits<X>::children>>{});
    else
      return std::tuple<>();
  }
  template <class X, std::size_t... I>
  auto lifted_children(X const& x, std::index_sequence<I...>) const {
    return std::tuple_cat(lifted(tree_traits<X>::template child<I>(x))...);
  }
  template <class... L, class... T>
  auto evaluated(ir::program const& p, types<L...>, T const&... leaves) const {
    return overdub::detail::apply_to(
        [&](auto const&... x) {
          static_assert(
              sizeof...(L) > 0, "overdub: a function whose program is called in a context must give a "
                                "number, or a tree of them");
          if constexpr (sizeof...(L) == 1) {
            auto only = evaluate<L...>(p, x...);
            return rebuilt_result(std::tuple(std::move(only)));
          } else
            return rebuilt_result(evaluate<L...>(p, x...));
        },
        std::tuple_cat(leaves...));
  }
  // Rebuilds the tree of the result from values.
  template <class All>
  auto rebuilt_result(All const& all) const {
    std::size_t next = 0;
    auto const leaf = [&]<class T>(std::type_identity<T>) {
      std::optional<wrap_t<S, T>> found;
      std::size_t i = 0;
      overdub::detail::apply_to(
          [&]<class... V>(V const&... v) {
            auto const look = [&]<class X>(X const& x) {
              if constexpr (std::is_same_v<X, wrap_t<S, T>>)
                if (i == next) found.emplace(x);
              ++i;
            };
            (look(v), ...);
          },
          all);
      ++next;
      return *found;
    };
    return like(leaf, Result{});
  }
  template <class Leaf, class X>
  static auto like(Leaf const& leaf, X const& x) {
    if constexpr (is_scalar_leaf<X>)
      return leaf(std::type_identity<X>{});
    else
      return tree_traits<X>::map([&](auto const& child) { return like(leaf, child); }, x);
  }

  S const& stack_;
};

} // namespace overdub::detail
