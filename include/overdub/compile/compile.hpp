// compile(contexts, f, signature): overdub(contexts, f, x...) as a function that is staged, rewritten by the passes of the
// contexts, optimised and made executable once for each fingerprint of the contexts.
#pragma once

#include <overdub/compile/compilation.hpp>
#include <overdub/compile/context_field.hpp>
#include <overdub/compile/last_answer.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace overdub {

inline namespace OVERDUB_EXECUTE_ABI {

/// overdub(contexts, f, x...), compiled: see `compile`. Calls look nothing up. A plain value: copies share the program and the
/// contexts. Threads may call it at once where they may use its contexts at once, and it may be called while it runs.
template <class F, class Arguments, class Composition>
class compiled;
template <class F, class... A, class... Held>
class compiled<F, types<A...>, composition<Held...>> {
  using compilation = detail::compilation<F, types<A...>, detail::held_context_t<Held>...>;

public:
  using result_type = typename compilation::result;

  /// Throws what the program throws. What context hooks throw, too.
  result_type operator()(A const&... x) const {
    if (global_contexts() != nullptr) [[unlikely]]
      return in_globals(x...);
    return compilation::calls::run(*artifact_, contexts_.data(), x...);
  }

  /// What it was made of: for explain, and for tests.
  artifact const& made() const { return *artifact_; }

  // For compile.
  compiled(std::shared_ptr<artifact const> made, std::shared_ptr<composition<Held...>> owner)
      : artifact_(std::move(made)), owner_(std::move(owner)) {
    std::apply(
        [&](auto&... c) {
          std::size_t i = 0;
          ((contexts_[i++] = &c), ...);
        },
        detail::context_tuple(*owner_));
  }

private:
  [[gnu::noinline]] result_type in_globals(A const&... x) const {
    recipe const& own = artifact_->made_of();
    return compilation::run_in_globals(
        own.name, own.options, [] { return std::string(); },
        [&] {
          return recipe{
              .name = own.name,
              .staged = own.staged,
              .staging_nanoseconds = own.staging_nanoseconds,
              .arguments = own.arguments};
        },
        x...);
  }

  std::shared_ptr<artifact const> artifact_;
  std::shared_ptr<composition<Held...>> owner_;
  std::array<void*, sizeof...(Held)> contexts_{};
};

/// How a compiled function was made: see explain(artifact).
template <class F, class A, class C>
std::string explain(compiled<F, A, C> const& c) {
  return explain(c.made());
}

/// Compiles overdub(contexts, f, x...) for arguments of these types, which are those of that call: T, or tagged<T, M> where
/// metadata are given. The program is made where the cache has none for these types, options and the contexts' fingerprints: f
/// is staged in contexts rebuilt from their fingerprints, their passes run, outermost first, and the default pipeline. A
/// context that is an lvalue is referred to, must live as long, and is the one whose hooks are called and whose fields are
/// read. Throws staging_error, pass_error, what passes throw, not_executable. Thread-safe.
template <class Context, class F, class... A>
auto compile(Context&& context, F const& f, types<A...>, compile_options const& options = {}) {
  auto all = compose(std::forward<Context>(context));
  using Composition = decltype(all);
  using Compiled = compiled<F, types<A...>, Composition>;
  auto owner = std::make_shared<Composition>(std::move(all));
  return std::apply(
      [&]<class... C>(C&... c) {
        using compilation = detail::compilation<F, types<A...>, C...>;
        if constexpr (compilation::allowed()) {
          std::string fingerprints;
          detail::write_fingerprints(fingerprints, c...);
          return Compiled(
              compilation::get(f, compilation::options(options), std::move(fingerprints), c...), owner);
        }
      },
      detail::context_tuple(*owner));
}

} // namespace OVERDUB_EXECUTE_ABI

inline namespace OVERDUB_EXECUTE_ABI {

// What calls of a compilation's types ran last, on this thread.
template <class Compilation, class... C>
OVERDUB_HIDDEN detail::last_answer<C...>& last_answer_of() {
  thread_local detail::last_answer<C...> last;
  return last;
}

} // namespace OVERDUB_EXECUTE_ABI

namespace detail {

// An argument's type in a program: integers of all sizes are i64.
template <class A>
struct parameter_type {
  using type = A;
};
template <std::integral A>
requires(!std::is_same_v<A, bool>) struct parameter_type<A> {
  using type = i64;
};

// overdub(contexts, f, x...), compiled. Each thread remembers what each call of some types ran last: while the fingerprints
// stay the same nothing is looked up, counted or allocated.
template <class Context, class F, class... A>
requires true struct compiled_run<Context, F, A...> {
  static constexpr bool is_included = true;

  static auto call(auto& context, F const& f, A const&... x) {
    if constexpr (is_composition<std::remove_cvref_t<Context>>) {
      auto&& all = changeable(context);
      return call_in(context_tuple(all), f, x...);
    } else
      return call_in(std::tie(context), f, x...);
  }

private:
  template <class... C>
  static auto call_in(std::tuple<C&...> all, F const& f, A const&... x) {
    using compilation =
        detail::compilation<F, types<typename parameter_type<std::remove_cvref_t<A>>::type...>, C...>;
    if constexpr (compilation::allowed())
      return std::apply(
          [&](C&... c) {
            if (global_contexts() != nullptr) [[unlikely]]
              return compilation::run_in_globals(
                  name_of_callee<F>(), {}, [] { return std::string(); }, [] { return recipe(); },
                  static_cast<typename parameter_type<std::remove_cvref_t<A>>::type const&>(x)...);
            auto& last = last_answer_of<compilation, C...>();
            if (!last.is_for(c...)) {
              std::string fingerprints;
              write_fingerprints(fingerprints, c...);
              compile_options const o = compilation::options({});
              last.remember(
                  compilation::get(f, o, fingerprints, c...), fingerprints, o.check_fingerprints, c...);
            }
            std::array<void*, sizeof...(C)> const contexts{&c...};
            typename last_answer<C...>::use const used(last);
            return compilation::calls::run(used.made, contexts.data(), x...);
          },
          all);
    else
      return refused{};
  }
};

} // namespace detail
} // namespace overdub
