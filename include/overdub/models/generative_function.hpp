// The generative function interface of Gen (Cusumano-Towner, Saad, Lew and Mansinghka, Gen: A General-Purpose Probabilistic Programming
// System with Programmable Inference, PLDI 2019) as concepts of models and of their traces, and the results of its operations.
#pragma once

#include <overdub/models/choices.hpp>
#include <overdub/random.hpp>

#include <concepts>
#include <cstddef>
#include <string>

namespace overdub::models {

/// A trace, and the logarithm of its weight.
template <class Trace>
struct weighted {
  Trace of;
  double weight = 0;
};
/// A trace, the logarithm of its weight, and the choices of the old trace that it does not have, or has with another value. An update by
/// these restores the old trace.
template <class Trace>
struct updated {
  Trace of;
  double weight = 0;
  choice_map discard;
};
/// Drawn choices, their log density, and the result of the model.
template <class Result>
struct proposed_choices {
  choice_map choices;
  double weight = 0;
  Result result;
};

/// The choices of a run of a model, and their log density.
///
///   score()                    the log density of all choices. O(1).
///   get<T>(a)                  a choice; or an array of all choices whose addresses begin with a, with 0 for those that were not made.
///                              Throws model_error where there is none, and type_error where it is no T.
///   find(a), contains(a)       the same as a datum, or nothing; whether there is one. Traces of staged models throw model_error for a
///                              site that no run of the model has.
///   find_one(a)                a choice, by all its indices; nothing, where it was not made
///   size()                     the number of choices
///   choices(s), choices()      the selected choices; or all. Staged models store a site as one array, dynamic ones each choice.
///   for_each_choice(f)         calls f(address, datum) for each choice
///   project(s)                 the sum of the log densities of the selected choices
///
/// Laws: project(selection::all()) is score(), and project(s) + project(!s) is, up to rounding. choices().find(a) is
/// find(a) for each choice.
template <class T>
concept model_trace = std::copy_constructible<T> &&
    requires(T const& t, address const& a, selection const& s, void (*f)(address const&, datum const&)) {
  { t.score() } -> std::same_as<double>;
  { t.template get<double>(a) } -> std::same_as<double>;
  { t.find(a) } -> std::same_as<datum>;
  { t.find_one(a) } -> std::same_as<datum>;
  { t.contains(a) } -> std::same_as<bool>;
  { t.size() } -> std::same_as<std::size_t>;
  { t.choices() } -> std::same_as<choice_map>;
  { t.choices(s) } -> std::same_as<choice_map>;
  { t.project(s) } -> std::same_as<double>;
  t.for_each_choice(f);
};

/// A trace that is updated in place: `set` changes choices of a proposal, `propose` returns its weight, `commit` and `rollback` end it.
///
/// Laws: the reading operations return the committed choices. set(changes), propose(key) and commit() make the trace that
/// update(t, changes, key.at("appearing")) returns. The weight is that of `update` plus project(t, choices that vanish). rollback()
/// restores the committed trace, and propose() without changes is 0.
template <class T>
concept mutable_model_trace = model_trace<T> &&
    requires(T& t, T const& committed, choice_map const& changes, random_key const& key) {
  t.set(changes);
  { t.propose(key) } -> std::same_as<double>;
  { t.propose() } -> std::same_as<double>;
  { t.proposed_score() } -> std::same_as<double>;
  t.commit();
  t.rollback();
  { committed.as_trace() } -> model_trace;
};

/// A model with its arguments. p(t; S) is the log density of the choices of t in S.
///
///   simulate(key)                  a trace whose choices are all drawn
///   propose(key)                   its choices, their log density p(t), and its result
///   generate(given, key)           a trace with the given choices, and all others drawn; the weight is p(t; given)
///   assess(choices)                the trace of these choices
///   update(t, changes, key)        t with changed choices; choices that are neither in t nor changed are drawn. The weight is
///                                  p(new) - p(t) - p(new; drawn)
///   regenerate(t, s, key)          t with the selected choices drawn again, and those that appear. The weight is
///                                  p(new; kept) - p(t; kept), the logarithm of the Metropolis-Hastings acceptance ratio
///   regenerate(t, s, observed, key)  the same; observed choices are kept, and given where they appear. The weight has their density
///   result(t)                      the result of the model
///   name()                         the model's name in messages
///
/// They throw model_error where a choice is missing, cannot be drawn, or is given another type or size, and unmade_error where the run does
/// not make a given choice.
///
/// Laws: one key draws one value for each address, whichever the operation and the kind of model. assess(t.choices()) is t.
/// generate(t.choices(s), key) is simulate(key) if t is. update(u.of, u.discard) restores the trace that u is an update of; the weights
/// there and back sum to -p(new; drawn). regenerate of nothing is the same trace with the weight 0, and of all choices is simulate.
template <class M>
concept generative_function = model_trace<typename M::trace_type> && requires(
    M const& m, typename M::trace_type const& t, choice_map const& choices, selection const& s,
    random_key const& key) {
  typename M::result_type;
  { m.simulate(key) } -> std::same_as<typename M::trace_type>;
  { m.propose(key) } -> std::same_as<proposed_choices<typename M::result_type>>;
  { m.generate(choices, key) } -> std::same_as<weighted<typename M::trace_type>>;
  { m.assess(choices) } -> std::same_as<typename M::trace_type>;
  { m.update(t, choices) } -> std::same_as<updated<typename M::trace_type>>;
  { m.update(t, choices, key) } -> std::same_as<updated<typename M::trace_type>>;
  { m.regenerate(t, s, key) } -> std::same_as<updated<typename M::trace_type>>;
  { m.regenerate(t, s, choices, key) } -> std::same_as<updated<typename M::trace_type>>;
  { m.result(t) } -> std::convertible_to<typename M::result_type>;
  { m.name() } -> std::same_as<std::string>;
};

/// The sum of the log densities of the selected choices.
template <model_trace T>
double project(T const& t, selection const& of) {
  return t.project(of);
}

} // namespace overdub::models
