// transformed<"name", T>(f): a function whose program is that of f, transformed by T. It is called like any other function: with
// numbers, in contexts, and while programs are staged.
#pragma once

#include <overdub/compile/compilation.hpp>
#include <overdub/stage/evaluate.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace overdub {

/// The leaves of trees, in order, as types<...>: what an argument becomes as parameters of a program, and a result as results.
template <class... X>
using leaves_of = detail::leaves_t<X...>;
/// The type of a leaf in programs.
template <class T>
inline constexpr ir::type type_in_programs =
    std::is_integral_v<T> && !std::is_same_v<T, bool> ? ir::i64 : detail::ir_type_of<T>;

/// What becomes of a transformed program: it is run as it is, or contexts rewrite it, and it may be transformed again.
enum class program_use { run, rewrite };

inline namespace OVERDUB_EXECUTE_ABI {

/// A program as a function of C++: it looks nothing up, and copies share the program. Thread-safe.
template <class Result, class... A>
class compiled_program {
public:
  using result_type = Result;

  explicit compiled_program(std::shared_ptr<artifact const> made) : artifact_(std::move(made)) {}

  /// Throws what the program throws.
  Result operator()(A const&... x) const {
    return detail::compiled_call<Result, A...>::run(*artifact_, nullptr, x...);
  }
  /// What it was made of: for explain, and for tests.
  artifact const& made() const { return *artifact_; }

private:
  std::shared_ptr<artifact const> artifact_;
};

/// How a compiled program was made: see explain(artifact).
template <class Result, class... A>
std::string explain(compiled_program<Result, A...> const& c) {
  return explain(c.made());
}

} // namespace OVERDUB_EXECUTE_ABI

namespace detail {

// Whether programs are evaluated in all contexts of a stack.
template <class S>
inline constexpr bool evaluates_programs = true;
template <class Level, class... Rest>
inline constexpr bool evaluates_programs<stack<Level, Rest...>> = evaluates_programs<stack<Rest...>>;
template <class Level, class... Rest>
requires requires { Level::context::evaluates_programs; }
inline constexpr bool evaluates_programs<stack<Level, Rest...>> =
    Level::context::evaluates_programs && evaluates_programs<stack<Rest...>>;

// What f is staged for, where the transformed function is called with A...
template <class Transform, class... A>
struct original_arguments {
  using type = types<A...>;
};
template <class Transform, class... A>
requires requires { typename Transform::template arguments<A...>; }
struct original_arguments<Transform, A...> {
  using type = typename Transform::template arguments<A...>;
};

template <class Transform, class F, class... A>
struct transformation {
  using original = compilation<F, typename original_arguments<Transform, A...>::type>;
  using result = typename Transform::template result<typename original::result, A...>;

  static std::string name() {
    std::string text = name_of_callee<F>();
    text += '.';
    text += Transform::name;
    return text;
  }
  // f's program, transformed, and not optimised yet.
  static ir::program program(F const& f, ir::math_mode math, program_use use) {
    ir::program p = original::call::make(f, std::tuple<>(), {}, math);
    Transform::template apply<typename original::result, A...>(p, use);
    return p;
  }
  static std::shared_ptr<artifact const>
  compiled(F const& f, std::string const& name, compile_options const& o) {
    return original::cache_of(o).get({&type_key<transformation>, o.key()}, name, [&] {
      auto const start = std::chrono::steady_clock::now();
      ir::program p = program(f, o.math, program_use::run);
      std::chrono::nanoseconds const taken = std::chrono::steady_clock::now() - start;
      return std::make_shared<artifact const>(
          recipe{.name = name, .staged = std::move(p), .staging_nanoseconds = taken.count(), .options = o});
    });
  }

  // The program on values of contexts, or on symbols: what it computes is computed by them.
  template <class... X>
  static auto on_values(F const& f, X const&... x) {
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
      return evaluated_in(stack_from<S>(x...), f, x...);
  }

private:
  template <class S, class... X>
  static auto evaluated_in(S const& stack, F const& f, X const&... x) {
    return evaluated(rewritable(f), stack, leaves_t<result>{}, lift_leaves(stack, x)...);
  }
  OVERDUB_HIDDEN static ir::program const& rewritable(F const& f) {
    static ir::program const p = program(f, ir::math_mode::exact, program_use::rewrite);
    return p;
  }
  // A tree's leaves as a tuple of values of the stack.
  template <class S, class X>
  static auto lift_leaves(S const& stack, X const& x) {
    if constexpr (is_value<X> || is_carried<X>)
      return std::tuple(wrap(stack, x));
    else if constexpr (is_std_array<X>)
      return std::apply([&](auto const&... each) { return std::tuple_cat(lift_leaves(stack, each)...); }, x);
    else if constexpr (tree<X>)
      return lift_children(
          stack, x, std::make_index_sequence<std::tuple_size_v<typename tree_traits<X>::children>>{});
    else
      return std::tuple<>();
  }
  template <class S, class X, std::size_t... I>
  static auto lift_children(S const& stack, X const& x, std::index_sequence<I...>) {
    return std::tuple_cat(lift_leaves(stack, tree_traits<X>::template child<I>(x))...);
  }
  template <class S, class... L, class... T>
  static auto evaluated(ir::program const& p, S const& stack, types<L...>, T const&... leaves) {
    return std::apply(
        [&](auto const&... x) {
          static_assert(
              sizeof...(L) > 0, "overdub: a transformed function must give a number, or a tree of them");
          if constexpr (sizeof...(L) == 1) {
            auto only = evaluate<L...>(p, x...);
            return rebuild(stack, std::tuple(std::move(only)));
          } else
            return rebuild(stack, evaluate<L...>(p, x...));
        },
        std::tuple_cat(leaves...));
  }
  // A tree like the result, of values.
  template <class S, class All>
  static auto rebuild(S const& stack, All const& all) {
    std::size_t next = 0;
    auto const leaf = [&]<class T>(std::type_identity<T>) {
      std::optional<wrap_t<S, T>> found;
      std::size_t i = 0;
      std::apply(
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
    return like(leaf, result{}, stack);
  }
  template <class Leaf, class X, class S>
  static auto like(Leaf const& leaf, X const& x, S const& stack) {
    if constexpr (is_carried<X>)
      return leaf(std::type_identity<X>{});
    else
      return tree_traits<X>::map([&](auto const& child) { return like(leaf, child, stack); }, x);
  }
};

// A transformed function for arguments of these types, compiled. No member of a class template: clang forgets the visibility of those that
// are templates themselves.
template <class Transformation, class F, class... A>
OVERDUB_HIDDEN auto const& compiled_once(F const& f, types<A...>) {
  static compiled_program<typename Transformation::result, A...> const run(
      Transformation::compiled(f, Transformation::name(), {}));
  return run;
}

// The body of a transformed function.
template <class Transform, class F>
struct transformed_body {
  template <class... X>
  auto operator()(X const&... x) const {
    if constexpr (outermost_t<X...>::empty) {
      auto const& run = compiled_once<transformation<Transform, F, typename parameter_of<X>::type...>>(
          F{}, types<typename parameter_of<X>::type...>{});
      return run(static_cast<typename parameter_of<X>::type const&>(x)...);
    } else
      return transformation<Transform, F, typename unstaged<X>::type...>::on_values(F{}, x...);
  }

private:
  template <class X>
  struct parameter_of {
    using type = X;
  };
  template <std::integral X>
  requires(!std::is_same_v<X, bool>) struct parameter_of<X> {
    using type = i64;
  };
};

} // namespace detail

/// A function whose program is that of f, transformed. `Transform` has
///
///   static constexpr std::string_view name;                                // behind the function's own
///   template <class R, class... A> using result = ...;                     // what it gives, where f gives R of arguments A...
///   template <class R, class... A>                                          // rewrites f's program, whose entry takes the leaves of
///   static void apply(ir::program& p, program_use use);                      // its arguments, into one that takes those of A...
///   template <class... A> using arguments = types<...>;                    // f's arguments, where they are not A...
///
/// Called with numbers, it is compiled once for their types (`compile` chooses how); with values of contexts, or while a program is
/// staged, what it computes is computed by those. f captures nothing. Throws what `apply` throws, staging_error, and what the
/// program throws. Thread-safe.
template <fixed_string Name, class Transform, class F>
constexpr auto transformed(F const&) {
  static_assert(
      std::is_empty_v<F>, "overdub: a function that is transformed captures nothing, since what it captured "
                          "would stay as it was; give it as "
                          "an argument");
  return fn<Name>(detail::transformed_body<Transform, F>{});
}

/// A transformed function, compiled for arguments of these types.
template <fixed_string Name, class Transform, class F, class... A>
auto compile(
    fn_t<Name, detail::transformed_body<Transform, F>> const&, types<A...>,
    compile_options const& options = {}) {
  using made = detail::transformation<Transform, F, A...>;
  return compiled_program<typename made::result, A...>(made::compiled(F{}, made::name(), options));
}

} // namespace overdub
