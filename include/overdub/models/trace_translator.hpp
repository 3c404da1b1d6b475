// trace_translator: maps a trace of one model to a weighted trace of another one, by a transform of choices (Cusumano-Towner, Bichsel,
// Gehr, Vechev and Mansinghka, Incremental Inference for Probabilistic Programs, PLDI 2018; Gen's trace translators).
#pragma once

#include <overdub/models/choice_transform.hpp>

#include <utility>

namespace overdub::models {

namespace detail {

// The choices of a trace that are not observed.
template <class Trace>
struct unobserved {
  Trace const& of;
  choice_map const& observed;

  template <class F>
  void for_each_choice(F const& f) const {
    of.for_each_choice([&](address const& at, datum const& x) {
      if (!observed.contains(at)) f(at, x);
    });
  }
};

} // namespace detail

/// Translates traces t of a first model to traces u of a second one. `forward_of(t)` and `backward_of(u)` are auxiliary models; each may be
/// no_auxiliary. `transform(x)` is a bijection: it reads the choices of t and of the forward model, and writes all choices of u that are
/// not observed, and those of the backward model. A weighted trace of the first model's posterior, with its weight multiplied by
/// exp(weight), is a weighted trace of the second model's posterior.
template <generative_function Model, class Forward, class Backward, class F>
class trace_translator {
public:
  /// `observed` are observations of the second model, and `before` those of the first one, which the transform need not read.
  trace_translator(
      Model to, choice_map observed, Forward forward_of, Backward backward_of, F transform,
      choice_map before = {})
      : to_(std::move(to)), observed_(std::move(observed)), before_(std::move(before)),
        forward_of_(std::move(forward_of)), backward_of_(std::move(backward_of)),
        transform_(std::move(transform)) {}

  /// Throws model_error where the transform does not write all choices of the second model, writes observed ones, loses continuous
  /// choices, or writes more or fewer numbers than it reads. Runs the second model once, both auxiliary ones, and the transform once for
  /// eight numbers. Works on traces of `model` and of `dynamic_model`. The weight is the logarithm of the incremental importance weight.
  template <model_trace Trace>
  weighted<typename Model::trace_type> operator()(Trace const& t, random_key const& key) const {
    return translate(t, forward_of_(t).simulate(key.at("proposal"))).first;
  }

  /// The same, and translates back by the inverse transform. Throws model_error where that does not restore the trace.
  template <class Inverse, model_trace Trace>
  weighted<typename Model::trace_type>
  checked(Inverse const& inverse, Trace const& t, random_key const& key, double tolerance = 1e-6) const {
    auto const auxiliary = forward_of_(t).simulate(key.at("proposal"));
    auto made = translate(t, auxiliary);
    detail::transformed const reverse(inverse, made.first.of, made.second);
    detail::check_restored(
        detail::unobserved<Trace>{t, before_}, reverse.model(), detail::model_side, tolerance);
    detail::check_restored(auxiliary, reverse.auxiliary(), detail::auxiliary_side, tolerance);
    return std::move(made.first);
  }

private:
  template <class Trace, class Auxiliary>
  auto translate(Trace const& t, Auxiliary const& auxiliary) const {
    detail::transformed const forward(transform_, t, auxiliary);
    detail::unobserved<Trace>{t, before_}.for_each_choice([&](address const& at, datum const& x) {
      forward.reject_unused({detail::model_side, at}, x);
    });
    forward.reject_unused_auxiliary(auxiliary);
    forward.reject_observed(observed_);
    choice_map all = observed_;
    for (auto const& [at, x] : forward.model()) all.set(at, x);
    auto of = to_.assess(all);
    auto reverse = backward_of_(of).assess(forward.auxiliary());
    double const weight = of.score() - t.score() + reverse.score() - auxiliary.score() +
                          forward.log_determinant([&](address const& at) { return !before_.contains(at); });
    return std::pair(weighted<decltype(of)>{std::move(of), weight}, std::move(reverse));
  }

  Model to_;
  choice_map observed_, before_;
  Forward forward_of_;
  Backward backward_of_;
  F transform_;
};

} // namespace overdub::models
