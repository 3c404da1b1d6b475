// model: a staged generative function with its arguments, and the operations of the generative function interface on it.
#pragma once

#include <overdub/compile/session_program.hpp>
#include <overdub/models/operations.hpp>
#include <overdub/models/sample.hpp>

#include <concepts>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub::models {

/// A model and its arguments. Its operations are those of Gen's generative function interface. They run programs that are staged from the
/// function, and shared by all of its models. A plain value; thread-safe. The operations of a moved-from model throw model_error.
template <class Result, class... A>
class staged_function {
public:
  using result_type = Result;
  using trace_type = trace;

  staged_function(shared_core of, A const&... x) : core_(std::move(of)), arguments_(data_of(x...)) {}
  /// The model in contexts, whose fields are arguments of its programs.
  staged_function(shared_core of, overdub::detail::session_contexts contexts, A const&... x)
      : core_(std::move(of)), arguments_(data_of(x...)), contexts_(std::move(contexts)) {}

  /// The model with other arguments.
  staged_function with(A const&... x) const { return staged_function(core(), contexts_, x...); }
  template <class... X>
  requires(sizeof...(X) == sizeof...(A)) staged_function with(X const&... x)
  const {
    static_assert(
        (!(std::floating_point<X> && std::integral<A>)&&...),
        "overdub: with(x...) takes what the model's arguments are, and no floating-point number for an "
        "integer; convert it");
    return staged_function(core(), contexts_, widened(x)...);
  }

  /// Draws all choices.
  trace simulate(random_key const& key) const {
    return on_inputs([&](auto const& x) { return models::simulate(core(), x, key); });
  }
  /// Draws all choices, as a proposal for another model.
  proposed_choices<Result> propose(random_key const& key) const {
    trace const t = simulate(key);
    return {t.choices(), t.score(), result(t)};
  }
  /// Draws the choices without a constraint. The weight is the log density of the constrained ones.
  weighted_trace generate(choice_map const& constraints, random_key const& key) const {
    return on_inputs([&](auto const& x) { return models::generate(core(), x, constraints, key); });
  }
  /// The trace of these choices.
  trace assess(choice_map const& choices) const {
    return on_inputs([&](auto const& x) { return models::assess(core(), x, choices); });
  }
  /// Changes choices of a trace of this function; its arguments become those of this model.
  updated_trace
  update(trace const& t, choice_map const& changes, random_key const& key = random_key(0)) const {
    return on_inputs([&](auto const& x) { return models::update(own(t), x, changes, key); });
  }
  /// Draws the selected choices again.
  updated_trace regenerate(trace const& t, selection const& of, random_key const& key) const {
    return on_inputs([&](auto const& x) { return models::regenerate(own(t), x, of, key); });
  }
  /// The same for a trace of observations: they are kept, and one that appears is not drawn. Throws unmade_error where one was not made.
  updated_trace
  regenerate(trace const& t, selection const& of, choice_map const& observed, random_key const& key) const {
    return on_inputs([&](auto const& x) { return models::regenerate(own(t), x, of, observed, key); });
  }

  /// The derivatives of a trace's score by the trace's arguments, in their types: 0 by integers and bools, and an empty array by arrays of
  /// them.
  std::tuple<A...> argument_gradients(trace const& t) const {
    return tree_of<std::tuple<A...>>(models::argument_gradients(own(t)));
  }
  /// As of dynamic models.
  friend std::tuple<A...> argument_gradients(staged_function const& m, trace const& t) {
    return m.argument_gradients(t);
  }
  friend choice_map choice_gradients(staged_function const& m, trace const& t, selection const& of) {
    return models::choice_gradients(m.own(t), of);
  }

  /// The result of the model in a trace. Throws model_error for a trace of another model.
  Result result(trace const& t) const { return own(t).template result<Result>(); }

  /// For messages.
  std::string name() const { return "@" + core()->name(); }
  shared_core const& core() const {
    if (core_ == nullptr) [[unlikely]]
      throw_moved_model();
    return core_;
  }
  std::vector<datum> const& arguments() const { return (void)core(), arguments_; }
  /// The arguments of its programs: those of the function, and the present values of fields of its contexts.
  std::vector<datum> inputs() const { return contexts_.with_fields(arguments()); }
  std::vector<site> const& sites() const { return core()->sites(); }

private:
  template <class F>
  auto on_inputs(F const& f) const {
    return contexts_.size() == 0 ? f(arguments_) : f(inputs());
  }
  trace const& own(trace const& t) const {
    if (t.shared_core() != core())
      throw model_error(message(
          "overdub: the model @%s is given %s; it changes traces of its own function and options",
          core_->name().c_str(),
          t.shared_core() == nullptr ? "no trace" : ("a trace of @" + t.core().name()).c_str()));
    return t;
  }

  shared_core core_;
  std::vector<datum> arguments_;
  overdub::detail::session_contexts contexts_;
};

// Rejects contexts with hooks.
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

/// The model overdub(contexts, f, x...). The contexts' rules and passes transform the function's program, once for each fingerprint of the
/// contexts; random choices are not transformed. Fields that rules read (context_field) are arguments, and each operation reads their
/// present values. Lvalue contexts with such fields are referred to, and must live as long; other contexts are used here alone. The
/// contexts have no hooks.
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
        return overdub::detail::session_in<model_core const, F, arguments>(
            f, overdub::detail::globals::ignored, o, std::move(all),
            [&](shared_core const& core, overdub::detail::session_contexts const& in) {
              return staged_function<typename original::result, widened_t<A>...>(core, in, widened(x)...);
            });
    }(compose(std::forward<Context>(contexts)));
  }
}
template <class Context, class F, class... A>
requires(overdub::detail::contexts_to_run_in<Context>) //
    auto model(Context&& contexts, F const& f, A const&... x) {
  return model(compile_options(), std::forward<Context>(contexts), f, x...);
}

/// The model f(x...), with arguments converted by `widened`. The function captures nothing. With an executor among the options, its
/// programs are compiled to machine code. Throws staging_error, and model_error where the addresses of its choices cannot be determined.
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

} // namespace overdub::models

namespace overdub {
using models::model;
} // namespace overdub
