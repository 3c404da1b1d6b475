// sample: a random choice of a model, with its address. A model is a function; the operation that runs it determines the values of its
// choices.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/distributions/distribution.hpp>
#include <overdub/models/function_prefix.hpp>
#include <overdub/random.hpp>
#include <overdub/stage/stage.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub {
namespace models {

namespace detail {

// Writes the name of a distribution's type: its family's, and those of the distributions among its parameters, as truncated(normal).
struct name_writer {
  char* to = nullptr;
  std::size_t size = 0;
  constexpr void put(std::string_view text) {
    for (char const c : text) {
      if (to != nullptr) to[size] = c;
      ++size;
    }
  }
};
template <class P>
inline constexpr bool has_distributions = false;
template <class Family, class... P>
inline constexpr bool has_distributions<distributions::distributed<Family, P...>> = true;
template <class... P>
inline constexpr bool has_distributions<std::tuple<P...>> = (has_distributions<P> || ...);

template <class P>
struct writes_name {
  static constexpr void into(name_writer&, bool&) {}
};
template <class... P>
struct writes_name<std::tuple<P...>> {
  static constexpr void into(name_writer& w, bool& first) { (writes_name<P>::into(w, first), ...); }
};
template <class Family, class... P>
struct writes_name<distributions::distributed<Family, P...>> {
  static constexpr void into(name_writer& w, bool& first) {
    if (!first) w.put(", ");
    first = false;
    w.put(Family::name());
    if constexpr ((has_distributions<P> || ...)) {
      w.put("(");
      bool inner_first = true;
      (writes_name<P>::into(w, inner_first), ...);
      w.put(")");
    }
  }
};
template <class D>
constexpr std::size_t put_name(char* to, std::string_view prefix) {
  name_writer w{to};
  bool first = true;
  w.put(prefix);
  writes_name<D>::into(w, first);
  return w.size;
}
// The name with a prefix, as a template argument.
template <class D, auto const& Prefix>
consteval auto name_with_prefix() {
  char text[put_name<D>(nullptr, Prefix) + 1]{};
  put_name<D>(text, Prefix);
  return fixed_string<sizeof text>(text);
}
inline constexpr std::string_view no_prefix = "";
template <class D>
std::string name_of() {
  return std::string(name_with_prefix<D, no_prefix>().view());
}

template <class D>
struct density_body {
  template <class X, class P>
  constexpr auto operator()(X const& x, P const& d) const {
    return log_density(d, x);
  }
};
template <class D>
struct constrain_body {
  template <class Y, class P>
  constexpr auto operator()(Y const& y, P const& d) const {
    auto const s = support(d);
    return std::tuple(s.constrain(y), s.log_abs_det_jacobian(y));
  }
};
template <class D>
struct unconstrain_body {
  template <class X, class P>
  constexpr auto operator()(X const& x, P const& d) const {
    return support(d).unconstrain(x);
  }
};
template <class S>
inline constexpr bool is_interval = false;
template <class L, class H>
inline constexpr bool is_interval<distributions::integer_interval<L, H>> = true;
template <class S>
concept finite_support = is_interval<S> || std::same_as<S, distributions::booleans>;
template <class D>
struct bounds_body {
  template <class P>
  constexpr auto operator()(P const& d) const {
    auto const s = support(d);
    if constexpr (is_interval<std::remove_cvref_t<decltype(s)>>)
      return std::tuple(s.low, s.high);
    else
      return std::tuple(i64{0}, i64{1});
  }
};
template <class D>
inline constexpr fn_t<name_with_prefix<D, function_prefix::log_density>(), density_body<D>> density_of{};
template <class D>
inline constexpr fn_t<name_with_prefix<D, function_prefix::unconstrain>(), unconstrain_body<D>>
    unconstrain_of{};
template <class D>
inline constexpr fn_t<name_with_prefix<D, function_prefix::bounds>(), bounds_body<D>> bounds_of{};
template <class D>
inline constexpr fn_t<name_with_prefix<D, function_prefix::constrain>(), constrain_body<D>> constrain_of{};

// The distribution of plain numbers of a distribution of symbols; the type of its draws; and whether it has a transform to the
// unconstrained space.
struct as_plain {
  template <class X>
  constexpr auto operator()(X const& x) const {
    if constexpr (overdub::detail::is_symbol<X>)
      return typename overdub::detail::symbol_type<X>::type{};
    else if constexpr (overdub::detail::tree<X>)
      return tree_traits<X>::map(*this, x);
    else
      return x;
  }
};
template <class D>
using plain_t = decltype(as_plain{}(std::declval<D const&>()));
template <class D>
using drawn_t = decltype(distributions::draw(std::declval<D const&>(), std::declval<random_generator&>()));
template <class D>
using support_t = decltype(support(std::declval<D const&>()));
template <class D, class X>
concept constrains = requires(D const& d, X const& x) {
  support(d).constrain(x);
  support(d).unconstrain(x);
  support(d).log_abs_det_jacobian(x);
};

// Reads a distribution's parameters, in order.
struct read_parameters {
  void const* const*& next;
  template <class T>
  T operator()(std::type_identity<T>) const {
    if constexpr (overdub::detail::tree<T>)
      return tree_traits<T>::generate(*this);
    else
      return *static_cast<T const*>(*next++);
  }
};
template <class D>
void draw_on_host(void* generator, void const* const* parameters, void* const* results) {
  D const d = read_parameters{parameters}(std::type_identity<D>{});
  *static_cast<drawn_t<D>*>(results[0]) = distributions::draw(d, *static_cast<random_generator*>(generator));
}

// The level of the symbols among a distribution's parameters; that of the staging run where there is none.
template <class... X>
struct level_in {
  using type = level<staging, void>;
};
template <class T, class L, class... More>
struct level_in<tagged<T, symbol_of_value, L>, More...> {
  using type = L;
};
template <class... X, class... More>
struct level_in<std::tuple<X...>, More...> : level_in<X..., More...> {};
template <class Family, class... P, class... More>
struct level_in<distributions::distributed<Family, P...>, More...> : level_in<P..., More...> {};
template <class X, class... More>
struct level_in<X, More...> : level_in<More...> {};

// Adds the functions of a distribution to the program, by calls whose results are discarded. All choices of distributions with the same
// Plain and levels share it, since x and the parameters are values of the levels.
template <class Plain, class S, class X, class D>
void stage_functions(S const& levels, X const& x, D const& like) {
  (void)overdub::detail::call(levels, density_of<Plain>, x, like);
  if constexpr (finite_support<support_t<Plain>>) {
    (void)overdub::detail::call(levels, bounds_of<Plain>, like);
  } else if constexpr (
      !distributions::detail::of_integers<support_t<Plain>> && constrains<Plain, drawn_t<Plain>>) {
    (void)overdub::detail::call(levels, constrain_of<Plain>, x, like);
    (void)overdub::detail::call(levels, unconstrain_of<Plain>, x, like);
  }
}

// Records a zero of each type.
std::vector<ir::value_id> zeros_of(overdub::detail::recorder& r, std::vector<ir::type> const& types);
// Records the operation `sample`, and binds the host function that draws the choice.
ir::value_id stage_choice(
    overdub::detail::recorder& r, std::string_view address, std::string const& distribution,
    std::vector<ir::value_id> const& parameters, void (*draw)(void*, void const* const*, void* const*),
    ir::type type);

template <class S, class D>
auto stage_choice(overdub::detail::recorder& r, S const& levels, std::string_view address, D const& d) {
  using plain = plain_t<D>;
  using X = drawn_t<plain>;
  using level = typename level_in<D>::type;
  std::vector<ir::value_id> const parameters = overdub::detail::flat(d);
  std::vector<ir::type> const types = r.types_of(parameters);
  {
    auto const aside = r.enter(r.scratch());
    auto const zeros = zeros_of(r, types); // of calls whose results are discarded
    std::size_t at = 0;
    auto next = [&] { return zeros[at++]; };
    D const like = overdub::detail::refilled(d, next);
    auto const x =
        overdub::detail::symbol_for<X, level>(zeros_of(r, {overdub::detail::ir_type_of<X>}).front());
    stage_functions<plain>(levels, overdub::detail::wrap(levels, x), overdub::detail::wrap(levels, like));
  }
  return overdub::tag(
      X{},
      symbol_of_value{stage_choice(
          r, address, name_of<plain>(), parameters, &draw_on_host<plain>, overdub::detail::ir_type_of<X>)});
}

} // namespace detail

/// See `sample`.
template <fixed_string Address>
struct sample_t {
  OVERDUB_PRIMITIVE(Address.view(), choice)

  template <class... D>
  constexpr auto operator()(D const&...) const {
    constexpr bool in_scope = sizeof...(D) == ~std::size_t{};
    static_assert(
        in_scope,
        "overdub: a random choice is made through the scope, since its address and its distribution "
        "need not be values: [](overdub::scope auto& cx, ...) { ... cx(overdub::sample<\"x\">, d) "
        "... }");
    return overdub::detail::refused{};
  }
  template <class... D>
  constexpr auto compute(D const&...) const {
    constexpr bool has_runner = sizeof...(D) == ~std::size_t{};
    static_assert(
        has_runner, "overdub: a function that makes random choices is called outside of a model; run it as a "
                    "model: overdub::models::model(f, x...).simulate(key)");
    return overdub::detail::refused{};
  }

  /// Records an operation `sample`, and the functions of its distribution.
  template <rule_call Call, class... D>
  auto stage(Call const& call, D const&... d) const {
    constexpr bool one = sizeof...(D) == 1 && (distributions::a_distribution<D> && ...);
    static_assert(one, "overdub: a random choice is given one distribution: cx(sample<\"x\">, normal(0, 1))");
    if constexpr (one)
      return detail::stage_choice(call.context().recorder(), call.levels(), Address.view(), d...);
    else
      return overdub::detail::refused{};
  }
};

namespace detail {
template <class F>
struct within_body {
  template <scope Scope, class... X>
  constexpr auto operator()(Scope& cx, X const&... x) const {
    return cx(F{}, x...);
  }
};
template <fixed_string Prefix>
consteval auto with_slash() {
  return overdub::detail::joined_names<Prefix, "/">();
}
} // namespace detail
} // namespace models

/// cx(sample<"mu">, distribution): a random choice. Its address is the name, with an index for each enclosing `map` and `loop`: theta[3].
/// The operation that runs the model determines whether it is drawn or given.
template <fixed_string Address>
inline constexpr models::sample_t<Address> sample{};

/// cx(within<"left">(part), x...): calls a model in a model. The addresses of its choices begin with left/.
template <fixed_string Prefix, function F>
constexpr auto within(F const&) {
  static_assert(std::is_empty_v<F>, "overdub: a model in a model captures nothing; give it arguments");
  return fn_t<models::detail::with_slash<Prefix>(), models::detail::within_body<F>>{};
}

} // namespace overdub
