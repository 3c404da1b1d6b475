// reverse: reverse-mode differentiation by source transformation (Griewank and Walther, Evaluating Derivatives, 2008). A
// function becomes a program with a forward pass and a backward pass. The adjoint of an element-wise operation is its tangent in
// core/ops.def, transposed.
#pragma once

#include <overdub/compile/transformed.hpp>
#include <overdub/compile/tree_data.hpp>
#include <overdub/core/exact_math.hpp>
#include <overdub/reverse/gradient_program.hpp>
#include <overdub/reverse/pullback_program.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub {
namespace adjoint {

using overdub::detail::contexts_to_run_in;

template <class... L>
consteval bool has_derivative(types<L...>) {
  return (ir::is_differentiable(type_in_programs<L>) || ...);
}

// Recursive calls are recomputed where contexts rewrite: their saved residuals are function values, which are not differentiated again.
constexpr recursion calls_in(program_use use) {
  return use == program_use::run ? recursion::saved : recursion::recomputed;
}

// The arguments at these indices; without indices, all of A.
template <class Numbers, class... A>
struct chosen;
template <std::size_t... I, class... A>
struct chosen<std::index_sequence<I...>, A...> {
  using all = std::tuple<std::tuple_element_t<I, std::tuple<A...>>...>;
  static constexpr std::size_t count = sizeof...(I);
};
template <class... A>
struct chosen<std::index_sequence<>, A...> {
  using all = std::tuple<A...>;
  static constexpr std::size_t count = sizeof...(A);
};
template <class T>
struct only_one {
  using type = T;
};
template <class T>
struct only_one<std::tuple<T>> {
  using type = T;
};

// What the loops of a gradient save, according to the last argument of `gradient`.
template <class Saves>
consteval checkpointing loops_of() {
  constexpr bool known = requires { Saves::loops; };
  static_assert(
      known,
      "overdub: the argument after the function of a gradient chooses what loops save: save_all(), "
      "memory_limit<bytes> or save_logarithmic; a context comes before the function: gradient(context, f)");
  if constexpr (known)
    return Saves::loops;
  else
    return {};
}

template <bool ReturnsValue, class Saves, std::size_t... I>
struct gradient_of {
  static constexpr std::string_view name = ReturnsValue ? "value_and_gradient" : "gradient";

  template <class... A>
  using gradients = typename only_one<typename chosen<std::index_sequence<I...>, A...>::all>::type;

  template <class R>
  static consteval bool check_result() {
    constexpr bool has_metadata = overdub::detail::is_tagged<R>;
    static_assert(
        !has_metadata, "overdub: in a context with metadata, a function returns `tagged`, a number and its "
                       "metadata, which has no "
                       "gradient; take vector_jacobian_product(context, f) or pullback(context, f), or run "
                       "the gradient in the "
                       "context: run(context, gradient(f), x)");
    static_assert(
        std::floating_point<R> || has_metadata || overdub::detail::is_refused<R>,
        "overdub: a gradient is that of a function which returns one floating-point "
        "number; for others take jacobian(f) or "
        "pullback(f)");
    return true;
  }
  template <class R, class... A>
  static consteval bool check() {
    constexpr bool rising = [] {
      std::size_t next = 0;
      return ((I >= next && (next = I + 1, true)) && ...);
    }();
    static_assert(rising, "overdub: gradient<I...>(f) names each argument once, in their order");
    constexpr bool exist = ((I < sizeof...(A)) && ...);
    static_assert(exist, "overdub: gradient<I...>(f) names an argument that f is not given");
    if constexpr (exist) {
      constexpr bool real = []<class... C>(std::tuple<C...>*) {
        return (has_derivative(leaves_of<C>{}) && ...);
      }(static_cast<typename chosen<std::index_sequence<I...>, A...>::all*>(nullptr));
      static_assert(
          real, "overdub: an argument without floating-point numbers has no gradient; name the arguments "
                "that are wanted, as in "
                "gradient<0, 2>(f)");
      if constexpr (real) return check_result<R>();
    }
    return true;
  }

  template <class R, class... A>
  using result =
      std::conditional_t<check<R, A...>() && ReturnsValue, std::pair<R, gradients<A...>>, gradients<A...>>;

  template <class R, class... A>
  static void apply(ir::program& p, program_use use) {
    std::vector<bool> requested; // for each leaf of the arguments
    std::size_t argument = 0;
    auto const request = [&]<class... L>(types<L...>) {
      bool const is_requested = sizeof...(I) == 0 || ((argument == I) || ...);
      requested.insert(requested.end(), sizeof...(L), is_requested);
      ++argument;
    };
    (request(leaves_of<A>{}), ...);
    differentiate_entry(p, requested, ReturnsValue, {.calls = calls_in(use), .loops = loops_of<Saves>()});
  }
};

template <class X>
inline constexpr bool is_row = false;
template <std::floating_point T>
inline constexpr bool is_row<array<T>> = true;

struct jacobian_of {
  static constexpr std::string_view name = "jacobian";

  template <class R, class... A>
  static consteval bool check() {
    static_assert(
        sizeof...(A) == 1 && (is_row<A> && ...) && (is_row<R> || overdub::detail::is_refused<R>),
        "overdub: a Jacobian is that of a function of one array of numbers, which returns one; for others "
        "take pullback(f)");
    return true;
  }
  template <class R, class... A>
  requires(check<R, A...>()) using result = array<std::tuple_element_t<0, std::tuple<A...>>>;

  template <class R, class... A>
  static void apply(ir::program& p, program_use use) {
    take_jacobian(p, {.calls = calls_in(use), .loops = {}});
  }
};

// The type `tagged` without the context level that made it, also inside its parts.
template <class X>
struct as_written {
  using type = X;
};
template <class T, class M, class Level>
struct as_written<tagged<T, M, Level>> {
  using type = tagged<typename as_written<T>::type, typename as_written<M>::type>;
};

// The arguments without the last one, the cotangent.
template <class Arguments>
struct without_last;
template <class... A>
struct without_last<std::tuple<A...>> {
  template <std::size_t... I>
  static types<std::tuple_element_t<I, std::tuple<A...>>...> first(std::index_sequence<I...>);
  using type = decltype(first(std::make_index_sequence<sizeof...(A) - 1>{}));
};
struct transpose_of {
  static constexpr std::string_view name = "transposed";

  template <class... A>
  using arguments = typename without_last<std::tuple<A...>>::type;

  template <class R, class... A>
  struct cotangents_of {
    static_assert(
        std::is_same_v<
            typename as_written<R>::type,
            typename as_written<std::tuple_element_t<sizeof...(A) - 1, std::tuple<A...>>>::type>,
        "overdub: a pullback takes a cotangent of the type that the function returns");
    template <class... X>
    static std::tuple<X...> as_tuple(types<X...>);
    using type = typename only_one<decltype(as_tuple(arguments<A...>{}))>::type;
  };
  template <class R, class... A>
  using result = typename cotangents_of<R, A...>::type;

  template <class R, class... A>
  static void apply(ir::program& p, program_use use) {
    transpose_entry(p, {.calls = calls_in(use), .loops = {}});
  }
};

// Leaves the function unchanged, apart from its contexts.
struct identity_transformation {
  static constexpr std::string_view name = "in_contexts";

  template <class R, class... A>
  using result = R;
  template <class R, class... A>
  static void apply(ir::program&, program_use) {}
};

template <class... L>
consteval std::ptrdiff_t count_of(types<L...>) {
  return sizeof...(L);
}
template <class X>
using parameter = std::conditional_t<std::integral<X> && !std::same_as<X, bool>, i64, X>;

template <bool Forward>
struct pass_of {
  static constexpr std::string_view name = Forward ? "first_half" : "second_half";

  template <class R, class... A>
  using result = R; // unused: the passes run on data
  template <class R, class... A>
  static void apply(ir::program& p, program_use) {
    if constexpr (Forward)
      to_forward_pass(p);
    else
      to_backward_pass(p);
  }
};

// Runs a program that was compiled in contexts, in those and in the thread's global ones.
template <class Contexts>
std::vector<datum> run_on_data(
    artifact const& a, overdub::detail::held_contexts<Contexts> const& contexts, std::span<datum const> x) {
  return overdub::detail::apply_to(
      [&](auto&... c) {
        std::array<void*, sizeof...(c)> const objects{&c...};
        return overdub::detail::global_call_on_data(a, objects, x);
      },
      contexts.all());
}

} // namespace adjoint

/// What counted loops save for the backward pass. `save_all`: whatever is cheapest in time; memory grows with the trip
/// count.
struct save_all {
  static constexpr checkpointing loops = {};
};
/// Checkpointing with a memory limit in bytes, which all outermost loops share. Some iterations save their loop-carried values, and the
/// backward pass recomputes the iterations between. There are at least two checkpoints; more checkpoints mean less recomputation. Loops
/// with side effects, and loops that carry arrays whose shapes change, are not limited.
template <std::int64_t Bytes>
struct memory_limit_t {
  static_assert(Bytes > 0, "overdub: memory_limit takes a number of bytes");
  static constexpr checkpointing loops{.kind = checkpointing::strategy::memory_limit, .bytes = Bytes};
};
template <std::int64_t Bytes>
inline constexpr memory_limit_t<Bytes> memory_limit{};
/// Checkpointing with about log2(n) checkpoints for n iterations: each iteration is recomputed about log2(n) / 2 times.
struct save_logarithmic_t {
  static constexpr checkpointing loops{.kind = checkpointing::strategy::logarithmic, .bytes = 0};
};
inline constexpr save_logarithmic_t save_logarithmic{};

/// The gradient of f, a function that returns one floating-point number. gradient(f)(x, y) is a tuple of the derivatives with
/// respect to x and y, in the types of x and y; for a function of one argument, it is the derivative. gradient<1>(f)(x, y) is the
/// derivative with respect to y alone. Arguments are numbers, arrays, tuples and described structs, and contain a floating-point
/// number. Inside of an argument, the derivative is 0 for an integer, and an empty array for an array of integers.
///
/// The program is generated once for each list of argument types (`compile(gradient(f), signature<double>, options)`
/// selects the executor). It takes the time of a few runs of f, independently of the number of arguments. A limit bounds
/// the memory for loops: gradient(f, memory_limit<1'000'000>). In other functions, and in contexts, it is called like any
/// function: gradients nest. Throws differentiation_error where an active value has no derivative. Thread-safe.
template <std::size_t... I, class F, class Saves = save_all>
requires(!adjoint::contexts_to_run_in<F>) constexpr auto gradient(F const& f, Saves const& = {}) {
  return transformed<"gradient", adjoint::gradient_of<false, Saves, I...>>(f);
}
/// The gradient of f as it runs in a context, or in a composition of contexts: the rules and passes of the contexts transform f,
/// and the result is differentiated. In a context with metadata, f returns `tagged`, which is not a number: use
/// `vector_jacobian_product` instead. See `transformed` for the state of contexts.
///   gradient(single_precision(), f)(2.0)
template <std::size_t... I, class Context, class F, class Saves = save_all>
requires adjoint::contexts_to_run_in<Context>
constexpr auto gradient(Context&& contexts, F const& f, Saves const& = {}) {
  return transformed<"gradient", adjoint::gradient_of<false, Saves, I...>>(
      std::forward<Context>(contexts), f);
}
/// A pair of the value and the gradient.
template <std::size_t... I, class F, class Saves = save_all>
requires(!adjoint::contexts_to_run_in<F>) constexpr auto value_and_gradient(F const& f, Saves const& = {}) {
  return transformed<"value_and_gradient", adjoint::gradient_of<true, Saves, I...>>(f);
}
template <std::size_t... I, class Context, class F, class Saves = save_all>
requires adjoint::contexts_to_run_in<Context>
constexpr auto value_and_gradient(Context&& contexts, F const& f, Saves const& = {}) {
  return transformed<"value_and_gradient", adjoint::gradient_of<true, Saves, I...>>(
      std::forward<Context>(contexts), f);
}

/// The Jacobian of f, a function from an array to an array: jacobian(f)(xs) has a row for each element of f(xs). It
/// takes the time of one gradient for each row.
template <class F>
constexpr auto jacobian(F const& f) {
  return transformed<"jacobian", adjoint::jacobian_of>(f);
}
template <class Context, class F>
requires adjoint::contexts_to_run_in<Context>
constexpr auto jacobian(Context&& contexts, F const& f) {
  return transformed<"jacobian", adjoint::jacobian_of>(std::forward<Context>(contexts), f);
}

/// vector_jacobian_product(f)(x..., c): the cotangents of f's arguments, in the types of `gradient`, for a cotangent c of
/// the result, in the type of the result. f may return a number, an array, or a tree of them.
template <class F>
constexpr auto vector_jacobian_product(F const& f) {
  return transformed<"vector_jacobian_product", adjoint::transpose_of>(f);
}
template <class Context, class F>
requires adjoint::contexts_to_run_in<Context>
constexpr auto vector_jacobian_product(Context&& contexts, F const& f) {
  return transformed<"vector_jacobian_product", adjoint::transpose_of>(std::forward<Context>(contexts), f);
}

/// The backward pass of f at some arguments: maps a cotangent of the result to cotangents of the arguments. It owns the
/// residuals and the contexts that were given as rvalues, and refers to the others. It may be called many times, in any thread.
template <class Result, class Cotangents, class Contexts = composition<>>
class pullback_function {
public:
  pullback_function(
      std::shared_ptr<artifact const> backward, std::vector<datum> residuals,
      overdub::detail::held_contexts<Contexts> contexts = {})
      : backward_(std::move(backward)), residuals_(std::move(residuals)), contexts_(std::move(contexts)) {}

  /// Throws what the program throws.
  Cotangents operator()(typename adjoint::as_written<Result>::type const& cotangent) const {
    std::vector<datum> arguments = residuals_;
    std::ranges::move(data_of(cotangent), std::back_inserter(arguments));
    return tree_of<Cotangents>(adjoint::run_on_data(*backward_, contexts_, arguments));
  }
  /// The size of the residuals.
  std::size_t bytes() const {
    std::size_t all = 0;
    for (datum const& d : residuals_) all += d.bytes();
    return all;
  }

private:
  std::shared_ptr<artifact const> backward_;
  std::vector<datum> residuals_;
  [[no_unique_address]] overdub::detail::held_contexts<Contexts> contexts_;
};

namespace adjoint {

// The artifacts of the forward pass, which also returns the residuals, and of the backward pass.
struct pullback_passes {
  std::shared_ptr<artifact const> forward, backward;
};
template <class F, class A, class... C>
struct passes_of {
  template <bool Forward>
  using pass = overdub::detail::transformation<pass_of<Forward>, F, A, C...>;
  using result = typename pass<true>::result;

  // For the fingerprints that the contexts have now.
  static pullback_passes get(C&... c) {
    std::string fingerprints;
    overdub::detail::write_fingerprints(fingerprints, c...);
    compile_options const o = pass<true>::options({});
    return {pass<true>::get(F{}, o, fingerprints, c...), pass<false>::get(F{}, o, fingerprints, c...)};
  }
};
template <class F, class A>
OVERDUB_HIDDEN pullback_passes const& passes_without_contexts() {
  static pullback_passes const made = passes_of<F, A>::get();
  return made;
}

// The function in contexts, whose pullback is taken in them.
template <class F, class Contexts>
struct pulled_back;
template <class F, class... Held>
struct pulled_back<F, composition<Held...>> {
  [[no_unique_address]] overdub::detail::held_contexts<composition<Held...>> contexts;

  template <class... X>
  auto operator()(X const&... x) const {
    if constexpr (overdub::detail::outermost_t<X...>::empty) {
      using A = types<parameter<X>...>;
      using Cotangents = typename only_one<std::tuple<parameter<X>...>>::type;
      using Result = typename passes_of<F, A, overdub::detail::held_context_t<Held>...>::result;
      pullback_passes const made = get<A>();
      std::vector<datum> all = run_on_data(*made.forward, contexts, data_of(x...));
      auto const values = all.begin() + count_of(leaves_of<Result>{});
      auto value = tree_of<Result>({all.begin(), values});
      return std::pair(
          std::move(value), pullback_function<Result, Cotangents, composition<Held...>>(
                                made.backward, {values, all.end()}, contexts));
    } else if constexpr (sizeof...(Held) == 0) {
      return std::pair(
          F{}(x...), [=](auto const& cotangent) { return vector_jacobian_product(F{})(x..., cotangent); });
    } else {
      auto const value = fn<"in_contexts">(in_contexts<identity_transformation>{contexts});
      auto const back = fn<"vector_jacobian_product">(in_contexts<transpose_of>{contexts});
      return std::pair(value(x...), [=](auto const& cotangent) { return back(x..., cotangent); });
    }
  }

private:
  template <class Transform>
  using in_contexts = overdub::detail::transformed_in_body<Transform, F, composition<Held...>>;

  template <class A>
  pullback_passes get() const {
    if constexpr (sizeof...(Held) == 0)
      return passes_without_contexts<F, A>();
    else
      return overdub::detail::apply_to(
          [](auto&... c) { return passes_of<F, A, std::remove_reference_t<decltype(c)>...>::get(c...); },
          contexts.all());
  }
};

} // namespace adjoint

/// pullback(f)(x...): a pair of f(x...) and a pullback_function. For plain arguments f runs once, and the forward
/// pass saves the residuals of the backward pass. For values of contexts and symbols, the second element is a function that runs f again.
template <class F>
constexpr auto pullback(F const&) {
  static_assert(
      std::is_empty_v<F>,
      "overdub: a function that is pulled back captures nothing; give it what it captured as an argument");
  return adjoint::pulled_back<F, composition<>>{};
}
/// The pullback of f as it runs in contexts, as `gradient` has it. Rules read the fields of contexts when f is called, and
/// hooks observe the calls that f makes.
template <class Context, class F>
requires adjoint::contexts_to_run_in<Context>
constexpr auto pullback(Context&& contexts, F const&) {
  static_assert(
      std::is_empty_v<F>,
      "overdub: a function that is pulled back captures nothing; give it what it captured as an argument");
  auto all = compose(std::forward<Context>(contexts));
  using held = overdub::detail::held_contexts<decltype(all)>;
  return adjoint::pulled_back<F, decltype(all)>{held(std::move(all))};
}

} // namespace overdub
