// model: a function that makes random choices, with its arguments, as something to be simulated, conditioned and scored.
#pragma once

#include <overdub/compile/followed_program.hpp>
#include <overdub/contexts/models/operations.hpp>
#include <overdub/contexts/models/sample.hpp>

#include <concepts>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub::models {
inline namespace OVERDUB_EXECUTE_ABI {

/// A model and its arguments. Its operations are those of Gen's generative function interface; they are programs made of the function,
/// which all models of it share. A plain value; thread-safe.
template <class Result, class... A>
class generative_function {
public:
  generative_function(shared_core of, A const&... x) : core_(std::move(of)), arguments_(data_of(x...)) {}
  /// In contexts, whose fields are arguments.
  generative_function(shared_core of, overdub::detail::followed_contexts contexts, A const&... x)
      : core_(std::move(of)), arguments_(data_of(x...)), contexts_(std::move(contexts)) {}

  /// The model with other arguments.
  generative_function with(A const&... x) const { return generative_function(core_, contexts_, x...); }
  template <class... X>
  requires(sizeof...(X) == sizeof...(A)) generative_function with(X const&... x)
  const {
    static_assert(
        (!(std::floating_point<X> && std::integral<A>)&&...),
        "overdub: with(x...) takes what the model's arguments are, and no floating-point number where an "
        "integer stands; convert it");
    return generative_function(core_, contexts_, widened(x)...);
  }

  /// Draws all choices.
  trace simulate(random_key const& key) const {
    return on_inputs([&](auto const& x) { return models::simulate(core_, x, key); });
  }
  /// Draws all choices, for another model.
  proposed_choices<Result> propose(random_key const& key) const {
    trace const t = simulate(key);
    return {t.choices(), t.score(), result(t)};
  }
  /// Draws what is not constrained; with the log density of what is.
  weighted_trace generate(choice_map const& constraints, random_key const& key) const {
    return on_inputs([&](auto const& x) { return models::generate(core_, x, constraints, key); });
  }
  /// The trace of choices that are all given.
  trace assess(choice_map const& choices) const {
    return on_inputs([&](auto const& x) { return models::assess(core_, x, choices); });
  }
  /// Changes choices of a trace of this model; the arguments become those of this one.
  updated_trace
  update(trace const& t, choice_map const& changes, random_key const& key = random_key(0)) const {
    return on_inputs([&](auto const& x) { return models::update(own(t), x, changes, key); });
  }
  /// Draws the selected choices anew.
  updated_trace regenerate(trace const& t, selection const& of, random_key const& key) const {
    return on_inputs([&](auto const& x) { return models::regenerate(own(t), x, of, key); });
  }

  /// The derivatives of the score of a trace of this model by the arguments that the trace has, in their types: 0 by integers and bools, and
  /// an empty array by arrays of them.
  std::tuple<A...> argument_gradients(trace const& t) const {
    return tree_of<std::tuple<A...>>(models::argument_gradients(own(t)));
  }

  /// What the model returned in a trace of its own. Throws model_error for another one's.
  Result result(trace const& t) const { return own(t).template result<Result>(); }

  shared_core const& core() const { return core_; }
  std::vector<datum> const& arguments() const { return arguments_; }
  /// The arguments of its programs: those of the function, and fields of its contexts as they are now.
  std::vector<datum> inputs() const { return contexts_.behind(arguments_); }
  std::vector<site> const& sites() const { return core_->sites(); }

private:
  template <class F>
  auto on_inputs(F const& f) const {
    return contexts_.size() == 0 ? f(arguments_) : f(inputs());
  }
  trace const& own(trace const& t) const {
    if (t.shared_core() != core_)
      throw model_error(message(
          "overdub: the model @%s is given %s; it changes traces of its own function and options",
          core_->name().c_str(),
          t.shared_core() == nullptr ? "no trace" : ("a trace of @" + t.core().name()).c_str()));
    return t;
  }

  shared_core core_;
  std::vector<datum> arguments_;
  overdub::detail::followed_contexts contexts_;
};

// Whether a model's contexts have no hooks.
template <class... C>
consteval bool have_no_hooks() {
  static_assert(
      !((overdub::detail::declares_before<C> || overdub::detail::declares_after<C> ||
         overdub::detail::declares_failed<C>) ||
        ...),
      "overdub: a context with hooks is given to model, whose programs run parts of the function, often more "
      "than once, so that it is undefined which calls the hooks observe; use dynamic_model");
  return true;
}

/// The model overdub(contexts, f, x...): the contexts' rules and passes make the function's program once for each of their
/// fingerprints, as they are now. They rewrite what the model computes; random choices stay. Fields that rules read (context_field) are
/// arguments, too, and each operation has them as they are then. Contexts with such fields that are lvalues are referred to, and must live as
/// long; nothing is asked of others later. The contexts have no hooks.
template <class Context, class F, class... A>
requires(overdub::detail::contexts_to_run_in<Context>) //
    auto model(compile_options const& o, Context&& contexts, F const& f, A const&... x) {
  static_assert(
      std::is_empty_v<F>, "overdub: a model captures nothing; give what it captured as an argument");
  static_assert(
      overdub::detail::outermost_t<A...>::empty, "overdub: model is given a value of a context; give it "
                                                 "concrete(x), and the contexts in which the function "
                                                 "is to run: model(contexts, f, concrete(x))");
  if constexpr (!overdub::detail::outermost_t<A...>::empty)
    return overdub::detail::refused{};
  else {
    using arguments = types<widened_t<A>...>;
    return [&]<class... Held>(composition<Held...> all) {
      using original = overdub::detail::compilation<F, arguments, overdub::detail::held_context_t<Held>...>;
      if constexpr (original::allowed() && have_no_hooks<overdub::detail::held_context_t<Held>...>())
        return overdub::detail::followed_in<model_core const, F, arguments>(
            f, overdub::detail::globals::ignored, o, std::move(all),
            [&](shared_core const& core, overdub::detail::followed_contexts const& in) {
              return generative_function<typename original::result, widened_t<A>...>(core, in, widened(x)...);
            });
    }(compose(std::forward<Context>(contexts)));
  }
}
template <class Context, class F, class... A>
requires(overdub::detail::contexts_to_run_in<Context>) //
    auto model(Context&& contexts, F const& f, A const&... x) {
  return model(compile_options(), std::forward<Context>(contexts), f, x...);
}

/// The model f(x...), of arguments as `widened` has them. The function captures nothing. With an executor among the options, its
/// programs become machine code. Throws staging_error, and model_error where its choices cannot be followed.
template <class F, class... A>
requires(!overdub::detail::contexts_to_run_in<F>) //
    auto model(compile_options const& o, F const& f, A const&... x) {
  return model(o, compose(), f, x...);
}
template <class F, class... A>
requires(!std::same_as<F, compile_options> && !overdub::detail::contexts_to_run_in<F>) //
    auto model(F const& f, A const&... x) {
  return model(compile_options(), compose(), f, x...);
}

} // namespace OVERDUB_EXECUTE_ABI
} // namespace overdub::models
