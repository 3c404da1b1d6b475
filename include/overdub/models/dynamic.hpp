// dynamic_model: a model that is run directly, and not staged. Recursion, `while_`, and control flow of C++ may determine which choices are
// made. Each operation of the generative function interface runs the function once.
#pragma once

#include <overdub/array/owned.hpp>
#include <overdub/models/choosing.hpp>
#include <overdub/models/generating.hpp>
#include <overdub/models/generative_function.hpp>
#include <overdub/models/typed_choice.hpp>

#include <concepts>
#include <cstddef>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

namespace overdub::models {

/// A trace of a dynamic model: its choices by address, its result, and its log density. A plain value.
template <class Result>
class dynamic_trace {
public:
  dynamic_trace(choice_record made, Result result) : made_(std::move(made)), result_(std::move(result)) {}

  /// The log density of all choices.
  double score() const { return made_.score(); }
  template <std::same_as<Result> R = Result>
  R const& result() const {
    return result_;
  }
  /// A choice: get<double>("theta[2]"); or all choices below an address, get<array<double>>("theta"). Throws model_error where none was
  /// made, and type_error where it is no T. O(log n + choices below the address).
  template <class T>
  T get(address const& at) const {
    return detail::choice_as<T>(at, made_.existing(at));
  }
  datum find(address const& at) const { return made_.value(at); }
  datum find_one(address const& at) const {
    made_choice const* const choice = made_.find(at);
    return choice == nullptr ? datum() : choice->value;
  }
  bool contains(address const& at) const { return static_cast<bool>(find(at)); }
  /// All choices; or those that are selected. O(choices).
  choice_map choices(selection const& of = selection::all()) const { return made_.choices(of); }
  template <class F>
  void for_each_choice(F const& f) const {
    for (auto const& [at, choice] : made_) f(at, choice.value);
  }
  /// The number of choices.
  std::size_t size() const { return made_.size(); }
  /// The sum of the log densities of the selected choices.
  double project(selection const& of) const { return made_.project(of); }
  choice_record const& made() const { return made_; }

private:
  choice_record made_;
  Result result_;
};

/// Throws model_error where a trace does not make an observed choice, or makes it with another value.
template <class Result>
void check_observed(dynamic_trace<Result> const& t, choice_map const& observed) {
  t.made().check_observed(observed);
}

/// A function that makes random choices, with its arguments. Its operations are those of Gen's generative function interface, as those of
/// `model`, with the same weights, and the same draws from the same keys. It may capture. A plain value; thread-safe where the function is.
template <class F, class... A>
class dynamic_function {
public:
  using result_type = decltype(overdub::overdub(
      std::declval<choosing&>(), std::declval<F const&>(), std::declval<A const&>()...));
  using trace_type = dynamic_trace<result_type>;

  /// The model owns its arguments: borrowed arrays are copied.
  explicit dynamic_function(F f, A const&... x)
      : f_(std::move(f)), arguments_(overdub::detail::owned(x)...) {}
  /// The model with other arguments.
  dynamic_function with(A const&... x) const { return dynamic_function(f_, x...); }

  /// Draws all choices.
  trace_type simulate(random_key const& key) const { return run(key, {}); }
  /// Draws all choices, as a proposal for another model.
  proposed_choices<result_type> propose(random_key const& key) const {
    trace_type const t = simulate(key);
    return {t.choices(), t.score(), t.result()};
  }
  /// Draws the choices without a constraint. The weight is the log density of the constrained choices: an importance weight. Throws
  /// unmade_error where a constrained choice was not made.
  weighted<trace_type> generate(choice_map const& constraints, random_key const& key) const {
    trace_type t = run(key, detail::constrained(constraints));
    t.made().check_all_made(constraints);
    double const weight = t.made().given_score();
    return {std::move(t), weight};
  }
  /// The trace of these choices. Throws model_error where one is missing.
  trace_type assess(choice_map const& choices) const {
    trace_type t = run(random_key(0), detail::required(choices));
    t.made().check_all_made(choices);
    return t;
  }
  /// The trace with changed choices. A choice that is neither given nor in the old trace with this type is drawn. The weight is log p(new)
  /// - log p(old) - log q(drawn). An update by the discarded choices restores the old trace.
  updated<trace_type>
  update(trace_type const& t, choice_map const& changes, random_key const& key = random_key(0)) const {
    trace_type next = run(key, detail::replayed(t.made(), changes));
    next.made().check_all_made(changes);
    record_change change = detail::update_of(t.made(), next.made(), changes);
    return {std::move(next), change.weight, std::move(change.discard)};
  }
  /// The trace with the selected choices drawn again, each from its distribution. The weight is the logarithm of the Metropolis-Hastings
  /// acceptance ratio: the log ratio of the densities of the choices that are kept, in the new and in the old trace.
  updated<trace_type> regenerate(trace_type const& t, selection const& of, random_key const& key) const {
    return regenerate(t, of, {}, key);
  }
  /// The same for a trace of observations: they are kept, and one that appears is not drawn. Throws unmade_error where one was not made.
  updated<trace_type> regenerate(
      trace_type const& t, selection const& of, choice_map const& observed, random_key const& key) const {
    trace_type next = run(key, detail::redrawn(t.made(), of, observed));
    next.made().check_all_made(observed);
    record_change change = detail::regeneration_of(t.made(), next.made(), observed);
    return {std::move(next), change.weight, std::move(change.discard)};
  }
  result_type const& result(trace_type const& t) const { return t.result(); }

  /// Runs the function in contexts, of which one makes the choices.
  template <class C>
  auto run_in(C&& contexts) const {
    return std::apply([&](A const&... x) { return run_with(std::forward<C>(contexts), x...); }, arguments_);
  }
  /// The same with other arguments, which may be values of contexts.
  template <class C, class... X>
  auto run_with(C&& contexts, X const&... x) const {
    return overdub::overdub(std::forward<C>(contexts), f_, x...);
  }
  std::tuple<A...> const& arguments() const { return arguments_; }
  /// For messages.
  static std::string name() { return "a dynamic model"; }

private:
  trace_type run(random_key const& key, choosing::source given) const {
    choosing c(key, std::move(given));
    auto result = run_in(c);
    return {c.take(), std::move(result)};
  }

  F f_;
  std::tuple<A...> arguments_;
};

namespace detail {

// f in contexts that enclose `choosing`.
template <class Composition, class F>
struct in_contexts {
  std::shared_ptr<Composition> contexts;
  F f;
  template <scope Scope, class... X>
  auto operator()(Scope& cx, X const&... x) const {
    return overdub::overdub(*contexts, cx, f, x...);
  }
};

} // namespace detail

/// The model f(x...), run directly: a function, or a lambda that takes the scope.
///   dynamic_model(walk, 10.0).generate({{"seen", 3.0}}, random_key(7))
template <class F, class... A>
requires(!overdub::detail::contexts_to_run_in<F>) //
    dynamic_function<F, A...> dynamic_model(F const& f, A const&... x) {
  return dynamic_function<F, A...>(f, x...);
}
namespace detail {
// Whether no context of a composition has a pass.
template <class Composition>
struct run_directly;
template <class... Held>
struct run_directly<composition<Held...>>
    : std::bool_constant<(!has_pass<overdub::detail::held_context_t<Held>> && ...)> {};
} // namespace detail

/// The model overdub(contexts, f, x...), run directly: the contexts intercept f's calls, its choices too, and their hooks observe each run.
/// Contexts that are lvalues are referred to, and must live as long. Thread-safe where they are. They keep no metadata, and have no passes.
template <class Context, class F, class... A>
requires overdub::detail::contexts_to_run_in<Context>
auto dynamic_model(Context&& contexts, F const& f, A const&... x) {
  auto all = compose(std::forward<Context>(contexts));
  using Composition = decltype(all);
  static_assert(
      detail::run_directly<Composition>::value,
      "overdub: a context with a pass is given to dynamic_model, whose function runs directly and makes "
      "random choices, which are in "
      "no compiled program; use model");
  using In = detail::in_contexts<Composition, F>;
  return dynamic_function<In, A...>(In{std::make_shared<Composition>(std::move(all)), f}, x...);
}

} // namespace overdub::models
