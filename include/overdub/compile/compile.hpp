// compile(contexts, f, signature): overdub(contexts, f, x...) as a function that is staged, rewritten by the passes of the
// contexts, optimised and made executable once for each fingerprint of the contexts.
#pragma once

#include <overdub/compile/compilation.hpp>
#include <overdub/compile/context_field.hpp>
#include <overdub/compile/inline_cache.hpp>
#include <overdub/compile/program_on_values.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace overdub {

/// overdub(contexts, f, x...), compiled: see `compile`. Calls need no look-up. Copies share the program and the contexts. Threads may call
/// it concurrently if they may use its contexts concurrently; it is reentrant.
template <class F, class Arguments, class Composition>
class compiled;
template <class F, class... A, class... Held>
class compiled<F, types<A...>, composition<Held...>> {
  using compilation = detail::compilation<F, types<A...>, detail::held_context_t<Held>...>;

public:
  using result_type = typename compilation::result;

  /// Throws the exceptions of the program and of hooks.
  result_type operator()(A const&... x) const {
    return detail::global_call<result_type, A...>::run(*artifact_, contexts_, x...);
  }
  /// For arguments in contexts: evaluates its program in these contexts.
  template <class... X>
  requires(sizeof...(X) == sizeof...(A) && !detail::outermost_t<X...>::empty) //
      auto
      operator()(X const&... x) const {
    using S = detail::outermost_t<X...>;
    return detail::program_on_values<S, result_type>(detail::stack_from<S>(x...))
        .run(detail::program_to_evaluate(*artifact_), detail::context_tuple(*owner_), x...);
  }

  /// The artifact: for explain, and for tests.
  artifact const& made() const { return *artifact_; }

  // For compile.
  compiled(std::shared_ptr<artifact const> made, std::shared_ptr<composition<Held...>> owner)
      : artifact_(std::move(made)), owner_(std::move(owner)) {
    overdub::detail::apply_to(
        [&](auto&... c) {
          std::size_t i = 0;
          ((contexts_[i++] = &c), ...);
        },
        detail::context_tuple(*owner_));
  }

private:
  std::shared_ptr<artifact const> artifact_;
  std::shared_ptr<composition<Held...>> owner_;
  std::array<void*, sizeof...(Held)> contexts_{};
};

/// Describes the compilation: see explain(artifact).
template <class F, class A, class C>
std::string explain(compiled<F, A, C> const& c) {
  return explain(c.made());
}

/// Compiles overdub(contexts, f, x...) for the argument types of that call: T, or tagged<T, M> for an argument with metadata. If the cache
/// has no program for these types, options and fingerprints of the contexts, f is staged in contexts that are constructed from their
/// fingerprints; then the contexts' passes run, outermost first, and the pipeline. The result refers to a context that is an lvalue, which
/// must outlive it, and whose hooks are called and fields read. Throws staging_error, pass_error, the exceptions of passes, and
/// not_executable. Thread-safe.
template <class Context, class F, class... A>
auto compile(Context&& context, F const& f, types<A...>, compile_options const& options = {}) {
  constexpr bool is_function = !detail::contexts_to_run_in<F>;
  static_assert(
      is_function, "overdub: compile is given a context in the place of the function; write compile(context, "
                   "f, signature<...>), "
                   "and compose several contexts: compile(compose(a, b), f, signature<...>)");
  if constexpr (!is_function)
    return detail::refused{};
  else {
    auto all = compose(std::forward<Context>(context));
    using Composition = decltype(all);
    using Compiled = compiled<F, types<A...>, Composition>;
    auto owner = std::make_shared<Composition>(std::move(all));
    return overdub::detail::apply_to(
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
}

namespace detail {

// overdub(contexts, f, x...), compiled. Each thread has an inline cache for each call type: while the fingerprints are unchanged, a call
// looks nothing up, counts nothing and allocates nothing.
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

  // Nested in other contexts' runs: the program is compiled in these contexts, and evaluated in those of the stack.
  template <class S>
  static auto call_inside(S const& stack, auto& context, F const& f, A const&... x) {
    if constexpr (is_composition<std::remove_cvref_t<Context>>) {
      auto&& all = changeable(context);
      return call_inside_in(stack, context_tuple(all), f, x...);
    } else
      return call_inside_in(stack, std::tie(context), f, x...);
  }

private:
  template <class S, class... C>
  static auto call_inside_in(S const& stack, std::tuple<C&...> const& all, F const& f, A const&... x) {
    using compilation = detail::compilation<
        F, types<typename parameter_type<typename unstaged<std::remove_cvref_t<A>>::type>::type...>, C...>;
    if constexpr (compilation::allowed()) {
      ir::program const& p = overdub::detail::apply_to(
          [&](C&... c) -> ir::program const& {
            return programs_of<compilation>().get(
                [&] {
                  recipe r = compilation::recipe_of(f, name_of_callee<F>(), compilation::options({}), c...);
                  for (compilation_stage const at :
                       {compilation_stage::after_inference, compilation_stage::before_optimise,
                        compilation_stage::after_optimise})
                    run_passes(r, at);
                  return std::move(r.staged);
                },
                c...);
          },
          all);
      return program_on_values<S, typename compilation::result>(stack).run(p, all, x...);
    } else
      return refused{};
  }
  template <class... C>
  static auto call_in(std::tuple<C&...> all, F const& f, A const&... x) {
    using compilation =
        detail::compilation<F, types<typename parameter_type<std::remove_cvref_t<A>>::type...>, C...>;
    if constexpr (compilation::allowed())
      return run_by_fingerprints<compilation>(
          f, all, static_cast<typename parameter_type<std::remove_cvref_t<A>>::type const&>(x)...);
    else
      return refused{};
  }
};

} // namespace detail
} // namespace overdub
