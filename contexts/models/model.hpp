// model: a function that makes random choices, with its arguments, as something to be simulated, conditioned and scored.
#pragma once

#include <overdub/compile/compilation.hpp>
#include <overdub/contexts/models/operations.hpp>
#include <overdub/contexts/models/sample.hpp>

#include <concepts>
#include <map>
#include <memory>
#include <mutex>
#include <string>
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

  /// The model with other arguments.
  generative_function with(A const&... x) const { return generative_function(core_, x...); }
  template <class... X>
  requires(sizeof...(X) == sizeof...(A)) generative_function with(X const&... x)
  const {
    static_assert(
        (!(std::floating_point<X> && std::integral<A>)&&...),
        "overdub: with(x...) takes what the model's arguments are, and no floating-point number where an "
        "integer stands; convert it");
    return generative_function(core_, widened(x)...);
  }

  /// Draws all choices.
  trace simulate(random_key const& key) const { return models::simulate(core_, arguments_, key); }
  /// Draws all choices, for another model.
  proposed_choices<Result> propose(random_key const& key) const {
    trace const t = simulate(key);
    return {t.choices(), t.score(), result(t)};
  }
  /// Draws what is not constrained; with the log density of what is.
  weighted_trace generate(choice_map const& constraints, random_key const& key) const {
    return models::generate(core_, arguments_, constraints, key);
  }
  /// The trace of choices that are all given.
  trace assess(choice_map const& choices) const { return models::assess(core_, arguments_, choices); }
  /// Changes choices of a trace of this model; the arguments become those of this one.
  updated_trace
  update(trace const& t, choice_map const& changes, random_key const& key = random_key(0)) const {
    return models::update(own(t), arguments_, changes, key);
  }
  /// Draws the selected choices anew.
  updated_trace regenerate(trace const& t, selection const& of, random_key const& key) const {
    return models::regenerate(own(t), arguments_, of, key);
  }

  /// The derivatives of the score of a trace of this model by the arguments that the trace has, in their types: 0 by integers and truths, and
  /// an empty array by arrays of them.
  std::tuple<A...> argument_gradients(trace const& t) const {
    return tree_of<std::tuple<A...>>(models::argument_gradients(own(t)));
  }

  /// What the model returned in a trace of its own. Throws model_error for another one's.
  Result result(trace const& t) const { return own(t).template result<Result>(); }

  shared_core const& core() const { return core_; }
  std::vector<datum> const& arguments() const { return arguments_; }
  std::vector<site> const& sites() const { return core_->sites(); }

private:
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
};

// The programs of a function of these arguments in contexts C, one core for each of their fingerprints, which the whole process shares.
template <class F, class A, class... C>
OVERDUB_HIDDEN shared_core core_for(F const& f, compile_options const& o, C&... c) {
  using original = overdub::detail::compilation<F, A, C...>;
  static std::mutex mutex;
  static std::map<std::string, shared_core> all;
  std::string key;
  overdub::detail::write_fingerprints(key, c...);
  key += o.key();
  std::lock_guard const lock(mutex);
  auto& found = all[key];
  if (found == nullptr)
    found = std::make_shared<model_core const>(original::program_without_contexts(f, o, c...), o);
  return found;
}

/// The model overdub(contexts, f, x...): the contexts' rules and passes make the function's program once for each of their
/// fingerprints, as they are now, and nothing is asked of the contexts later. They rewrite what the model computes; random choices
/// stay. The contexts have no hooks, no fields that rules read, and no pass `after_optimise`.
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
    auto all = compose(std::forward<Context>(contexts));
    return std::apply(
        [&]<class... C>(C&... c) {
          using original = overdub::detail::compilation<F, types<widened_t<A>...>, C...>;
          if constexpr (original::allowed() && overdub::detail::only_rewrite<C...>())
            return generative_function<typename original::result, widened_t<A>...>(
                core_for<F, types<widened_t<A>...>>(f, original::options(o), c...), widened(x)...);
        },
        overdub::detail::context_tuple(all));
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
