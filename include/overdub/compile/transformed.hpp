// transformed<"name", T>(f): a function that runs the program that T makes of the program of f, such as its gradient. It is called like any
// function: with numbers, in contexts, and during staging.
#pragma once

#include <overdub/compile/compilation.hpp>
#include <overdub/compile/global.hpp>
#include <overdub/compile/held_contexts.hpp>
#include <overdub/compile/inline_cache.hpp>
#include <overdub/compile/program_on_values.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace overdub {

/// The types of the leaves of X..., in order, as types<...>: the parameters of a program for arguments X..., or its results.
template <class... X>
using leaves_of = detail::leaves_t<X...>;
/// The type in programs of a leaf of type T; i64 for all integers except bool.
template <class T>
inline constexpr ir::type type_in_programs =
    std::is_integral_v<T> && !std::is_same_v<T, bool> ? ir::i64 : detail::ir_type_of<T>;

/// What a transformed program is made for. `run`: it is executed. `rewrite`: it is evaluated in contexts, and may be transformed again.
enum class program_use { run, rewrite };

/// A compiled program as a function object. Calls need no look-up outside of a scoped_global; copies share the program. Thread-safe.
template <class Result, class... A>
class compiled_program {
public:
  using result_type = Result;

  explicit compiled_program(std::shared_ptr<artifact const> made) : artifact_(std::move(made)) {}

  /// Throws the exceptions of the program.
  Result operator()(A const&... x) const {
    return detail::global_call<Result, A...>::run(*artifact_, {}, x...);
  }
  /// For values of contexts: evaluates the program in these contexts.
  template <class... X>
  requires(sizeof...(X) == sizeof...(A) && !detail::outermost_t<X...>::empty) //
      auto
      operator()(X const&... x) const {
    using S = detail::outermost_t<X...>;
    return detail::program_on_values<S, Result>(detail::stack_from<S>(x...))
        .run(detail::program_to_evaluate(*artifact_), std::tuple<>(), x...);
  }
  /// The artifact: for explain, and for tests.
  artifact const& made() const { return *artifact_; }

private:
  std::shared_ptr<artifact const> artifact_;
};

/// Describes the compilation: see explain(artifact).
template <class Result, class... A>
std::string explain(compiled_program<Result, A...> const& c) {
  return explain(c.made());
}

/// A function compiled in contexts, as a function object. It refers to contexts that were given as lvalues, and owns others.
template <class Composition, class Result, class... A>
class compiled_program_in {
public:
  using result_type = Result;

  compiled_program_in(std::shared_ptr<artifact const> made, detail::held_contexts<Composition> contexts)
      : artifact_(std::move(made)), contexts_(std::move(contexts)) {}

  /// Throws the exceptions of the program and of hooks.
  Result operator()(A const&... x) const {
    return overdub::detail::apply_to(
        [&](auto&... c) {
          std::array<void*, sizeof...(c)> const objects{&c...};
          return detail::global_call<Result, A...>::run(*artifact_, objects, x...);
        },
        contexts_.all());
  }
  template <class... X>
  requires(sizeof...(X) == sizeof...(A) && !detail::outermost_t<X...>::empty) //
      auto
      operator()(X const&... x) const {
    using S = detail::outermost_t<X...>;
    return detail::program_on_values<S, Result>(detail::stack_from<S>(x...))
        .run(detail::program_to_evaluate(*artifact_), contexts_.all(), x...);
  }
  /// The artifact: for explain, and for tests.
  artifact const& made() const { return *artifact_; }

private:
  std::shared_ptr<artifact const> artifact_;
  [[no_unique_address]] detail::held_contexts<Composition> contexts_;
};
template <class Composition, class Result, class... A>
std::string explain(compiled_program_in<Composition, Result, A...> const& c) {
  return explain(c.made());
}

namespace detail {

// Whether programs can be evaluated in all contexts of a stack: contexts say otherwise by a member evaluates_programs.
template <class S>
inline constexpr bool evaluates_programs = true;
template <class Level, class... Rest>
inline constexpr bool evaluates_programs<stack<Level, Rest...>> = evaluates_programs<stack<Rest...>>;
template <class Level, class... Rest>
requires requires { Level::context::evaluates_programs; }
inline constexpr bool evaluates_programs<stack<Level, Rest...>> =
    Level::context::evaluates_programs && evaluates_programs<stack<Rest...>>;

// The types for which f is staged if the transformed function is called with A...: Transform::arguments<A...>, if there is one.
template <class Transform, class... A>
struct original_arguments {
  using type = types<A...>;
};
template <class Transform, class... A>
requires requires { typename Transform::template arguments<A...>; }
struct original_arguments<Transform, A...> {
  using type = typename Transform::template arguments<A...>;
};

// The transformed program of f in contexts C, for arguments of types A.
template <class Transform, class F, class A, class... C>
struct transformation;
template <class Transform, class F, class... A, class... C>
struct transformation<Transform, F, types<A...>, C...> {
  using original = compilation<F, typename original_arguments<Transform, A...>::type, C...>;
  using result = typename Transform::template result<typename original::result, A...>;

  static std::string name() {
    std::string text = name_of_callee<F>();
    text += '.';
    text += Transform::name;
    return text;
  }
  static compile_options options(compile_options o) { return original::options(std::move(o)); }
  // Stages f, runs the contexts' passes except `after_optimise`, and transforms the program. It is not yet optimised.
  static recipe recipe_of(F const& f, compile_options const& o, program_use use, C&... c) {
    recipe r = original::recipe_of(f, name(), o, c...);
    run_early_passes(r);
    std::int64_t const start = steady_nanoseconds();
    transform(r.staged, use);
    r.staging_nanoseconds += steady_nanoseconds() - start;
    return r;
  }
  // Exceptions of overdub and std::bad_alloc pass; Transform's others become pass_error, with the original nested.
  static void transform(ir::program& p, program_use use) {
    auto const throw_pass_error = [](char const* why) {
      std::throw_with_nested(pass_error(
          message(
              "overdub: the transformation %.160s(%.60s) threw: %s", name().c_str(),
              names_of_types<A...>().c_str(), why),
          {}));
    };
    try {
      Transform::template apply<typename original::result, A...>(p, use);
    } catch (error const&) {
      throw;
    } catch (std::bad_alloc const&) {
      throw;
    } catch (std::exception const& e) {
      throw_pass_error(e.what());
    } catch (...) {
      throw_pass_error("an exception that is no std::exception");
    }
  }
  // The artifact for these fingerprints of the contexts, from the cache, or compiled.
  static std::shared_ptr<artifact const>
  get(F const& f, compile_options const& o, std::string fingerprints, C&... c) {
    fingerprints += o.key();
    auto made = original::cache_of(o).get({&type_key<transformation>, std::move(fingerprints)}, name(), [&] {
      return std::make_shared<artifact const>(recipe_of(f, o, program_use::run, c...));
    });
    if (o.check_fingerprints) check_same(*made, recipe_of(f, o, program_use::run, c...));
    return made;
  }

  // Evaluates the program on values of contexts, or on symbols.
  template <class... X>
  static auto on_values(F const& f, std::tuple<C&...> const& contexts, X const&... x) {
    using S = outermost_t<X...>;
    constexpr bool is_evaluated = evaluates_programs<S>;
    static_assert(
        is_evaluated,
        "overdub: a gradient, or another transformed function, is a program, and forward_along<N>, N above "
        "1, evaluates "
        "none; take one direction a run, as forward_gradient<1>(f, xs) does, or a gradient of the gradient");
    if constexpr (!is_evaluated)
      return result{};
    else
      return program_on_values<S, result>(stack_from<S>(x...)).run(rewritable(f, contexts), contexts, x...);
  }

private:
  // The program to evaluate in contexts, made once for each fingerprint, and kept.
  OVERDUB_HIDDEN static ir::program const& rewritable(F const& f, std::tuple<C&...> const& contexts) {
    return overdub::detail::apply_to(
        [&](C&... c) -> ir::program const& {
          return programs_of<transformation>().get(
              [&] { return recipe_of(f, options({}), program_use::rewrite, c...).staged; }, c...);
        },
        contexts);
  }
};

// The transformed function, compiled for arguments of these types. It is no member, since clang ignores the visibility of member
// templates.
template <class Transformation, class F, class... A>
OVERDUB_HIDDEN auto const& compiled_once(F const& f, types<A...>) {
  static compiled_program<typename Transformation::result, A...> const run(Transformation::get(f, {}, {}));
  return run;
}

// Runs the compiled program for plain arguments, and evaluates it for values of contexts.
template <class Transform, class F>
struct transformed_body {
  template <class... X>
  auto operator()(X const&... x) const {
    if constexpr (outermost_t<X...>::empty) {
      using A = types<typename parameter_type<X>::type...>;
      auto const& run = compiled_once<transformation<Transform, F, A>>(F{}, A{});
      return run(static_cast<typename parameter_type<X>::type const&>(x)...);
    } else
      return transformation<Transform, F, types<typename unstaged<X>::type...>>::on_values(
          F{}, std::tuple<>(), x...);
  }
};

// The same in contexts.
template <class Transform, class F, class Composition>
struct transformed_in_body;
template <class Transform, class F, class... Held>
struct transformed_in_body<Transform, F, composition<Held...>> {
  [[no_unique_address]] held_contexts<composition<Held...>> contexts;

  template <class... A>
  using transformation = detail::transformation<Transform, F, types<A...>, held_context_t<Held>...>;

  template <class... X>
  auto operator()(X const&... x) const {
    if constexpr (outermost_t<X...>::empty)
      return run_by_fingerprints<transformation<typename parameter_type<X>::type...>>(
          F{}, contexts.all(), static_cast<typename parameter_type<X>::type const&>(x)...);
    else
      return transformation<typename unstaged<X>::type...>::on_values(F{}, contexts.all(), x...);
  }
};

} // namespace detail

/// Returns a function that runs the program that Transform::apply makes of the program of f. `Transform` has
///
///   static constexpr std::string_view name;                                // the suffix of the program's name
///   template <class R, class... A> using result = ...;                     // the result type; R is f's, for arguments A...
///   template <class R, class... A>                                          // rewrites the program of f; the parameters of its
///   static void apply(ir::program& p, program_use use);                      // entry are the leaves of f's arguments
///   template <class... A> using arguments = types<...>;                    // (optional) f's arguments, if they are not A...
///
/// The first call with plain arguments compiles the program for their types, with default options; `compile` takes others. A call with
/// values of contexts, or with symbols, evaluates it. f must not have captures. Throws pass_error if `apply` throws an exception that
/// is not overdub's, staging_error, and the exceptions of the program. Thread-safe.
template <fixed_string Name, class Transform, class F>
constexpr auto transformed(F const&) {
  static_assert(
      std::is_empty_v<F>, "overdub: a function that is transformed must not have captures, since the "
                          "program would keep their first values; "
                          "pass them as arguments");
  return fn<Name>(detail::transformed_body<Transform, F>{});
}

/// The same for f in contexts, overdub(contexts, f, x...). The contexts' rules and their passes before optimisation rewrite the program of
/// f; then Transform is applied; then the passes `after_optimise` run. It is compiled once for each fingerprint and list of argument
/// types. It refers to contexts that are lvalues, which must outlive it, and owns others; their hooks observe the calls that the
/// transformed program makes.
template <fixed_string Name, class Transform, detail::contexts_to_run_in Context, class F>
constexpr auto transformed(Context&& contexts, F const&) {
  static_assert(
      std::is_empty_v<F>, "overdub: a function that is transformed must not have captures, since the "
                          "program would keep their first values; "
                          "pass them as arguments");
  auto all = compose(std::forward<Context>(contexts));
  using body = detail::transformed_in_body<Transform, F, decltype(all)>;
  return fn<Name>(body{detail::held_contexts<decltype(all)>(std::move(all))});
}

/// Compiles a transformed function for arguments of these types.
template <fixed_string Name, class Transform, class F, class... A>
auto compile(
    fn_t<Name, detail::transformed_body<Transform, F>> const&, types<A...>,
    compile_options const& options = {}) {
  using made = detail::transformation<Transform, F, types<A...>>;
  return compiled_program<typename made::result, A...>(made::get(F{}, options, {}));
}
/// Compiles a transformed function in contexts. It holds the contexts as the transformed function does.
template <fixed_string Name, class Transform, class F, class Composition, class... A>
auto compile(
    fn_t<Name, detail::transformed_in_body<Transform, F, Composition>> const& f, types<A...>,
    compile_options const& options = {}) {
  using body = detail::transformed_in_body<Transform, F, Composition>;
  using made = typename body::template transformation<A...>;
  return overdub::detail::apply_to(
      [&](auto&... c) {
        std::string fingerprints;
        detail::write_fingerprints(fingerprints, c...);
        return compiled_program_in<Composition, typename made::result, A...>(
            made::get(F{}, made::options(options), std::move(fingerprints), c...), f.body.contexts);
      },
      f.body.contexts.all());
}

} // namespace overdub
