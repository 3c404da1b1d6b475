// dynamic_model: a model that is run directly, and not staged. Which choices there are may depend on choices in any way: recursion,
// `while_`, and branches and loops of C++. Each operation runs the function once.
#pragma once

#include <overdub/contexts/inference/run_chains.hpp>
#include <overdub/contexts/models/choosing.hpp>
#include <overdub/contexts/models/typed_choice.hpp>

#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace overdub::models {

/// A run of a dynamic model: its choices by address, what it returned, and the logarithm of the density. A plain value.
template <class Result>
class dynamic_trace {
public:
  dynamic_trace(choice_record made, Result result) : made_(std::move(made)), result_(std::move(result)) {}

  /// The logarithm of the density of all choices.
  double score() const { return made_.score(); }
  Result const& result() const { return result_; }
  /// A choice. Throws model_error where none was made, and type_error where it is no T. O(log n).
  template <datum_type T>
  T get(address const& at) const {
    made_choice const* const choice = made_.find(at);
    if (choice == nullptr)
      throw model_error(message("overdub: there is no choice at the address %.100s", text_of(at).c_str()));
    return choice->value.template as<T>();
  }
  bool contains(address const& at) const { return made_.find(at) != nullptr; }
  /// All choices; or those that are selected. O(choices).
  choice_map choices(selection const& of = selection::all()) const { return made_.choices(of); }
  /// How many choices were made.
  std::size_t size() const { return made_.size(); }
  /// The sum of the log densities of the selected choices.
  double project(selection const& of) const {
    double sum = 0;
    for (auto const& [at, choice] : made_)
      if (of.contains(at)) sum += choice.log_density;
    return sum;
  }
  choice_record const& made() const { return made_; }

private:
  choice_record made_;
  Result result_;
};

template <class Trace>
struct weighted {
  Trace of;
  double weight = 0;
};
template <class Trace>
struct updated {
  Trace of;
  double weight = 0;
  choice_map discard;
};

/// A function that makes random choices, with its arguments. Its operations are those of Gen's generative function interface, as those of
/// `model`, with the same weights, and the same draws from the same keys. It may capture. A plain value; thread-safe where the function is.
template <class F, class... A>
class dynamic_function {
public:
  using result_type = decltype(overdub::overdub(
      std::declval<choosing&>(), std::declval<F const&>(), std::declval<A const&>()...));
  using trace_type = dynamic_trace<result_type>;

  explicit dynamic_function(F f, A... x) : f_(std::move(f)), arguments_(std::move(x)...) {}
  /// The model with other arguments.
  dynamic_function with(A... x) const { return dynamic_function(f_, std::move(x)...); }

  /// Draws all choices.
  trace_type simulate(random_key const& key) const { return run(key, {}); }
  /// Draws what is not constrained. The weight is the log density of the constrained choices: an importance weight. Throws unmade_error
  /// where a constrained choice was not made.
  weighted<trace_type> generate(choice_map const& constraints, random_key const& key) const {
    trace_type t = run(key, [&](address const& at) { return constraints.find(at); });
    t.made().check_all_made(constraints);
    double const weight = t.score() - t.made().drawn_score();
    return {std::move(t), weight};
  }
  /// The trace of choices that are all given. Throws model_error where one is not.
  trace_type assess(choice_map const& choices) const {
    trace_type t = run(random_key(0), [&](address const& at) {
      datum x = choices.find(at);
      if (!x)
        throw model_error(message(
            "overdub: the model samples %.80s, which was given no value; generate(constraints, key) draws "
            "what "
            "is not given",
            text_of(at).c_str()));
      return x;
    });
    t.made().check_all_made(choices);
    return t;
  }
  /// The trace with other choices. Those that the old trace does not have, and that are not given, are drawn. The weight is log p(new) -
  /// log p(old) - log q(drawn); with what is discarded, an update goes back.
  updated<trace_type>
  update(trace_type const& t, choice_map const& changes, random_key const& key = random_key(0)) const {
    trace_type next = run(key, [&](address const& at) {
      datum x = changes.find(at);
      if (x) return x;
      made_choice const* const before = t.made().find(at);
      return before == nullptr ? datum() : before->value;
    });
    next.made().check_all_made(changes);
    choice_map discard;
    for (auto const& [at, choice] : t.made())
      if (next.made().find(at) == nullptr || changes.contains(at)) discard.set(at, choice.value);
    double const weight = next.score() - t.score() - next.made().drawn_score();
    return {std::move(next), weight, std::move(discard)};
  }
  /// The trace with the selected choices drawn anew, each from its distribution. The weight is the logarithm of the acceptance ratio of
  /// Metropolis and Hastings: what all that stays says, now and before.
  updated<trace_type> regenerate(trace_type const& t, selection const& of, random_key const& key) const {
    return regenerate_where(
        t, [&](address const& at) { return of.contains(at); }, key);
  }
  /// The same of the choices of whose address is_selected(address) is true.
  template <class Selected>
  updated<trace_type>
  regenerate_where(trace_type const& t, Selected const& is_selected, random_key const& key) const {
    trace_type next = run(key, [&](address const& at) {
      made_choice const* const before = is_selected(at) ? nullptr : t.made().find(at);
      return before == nullptr ? datum() : before->value;
    });
    double weight = 0;
    choice_map discard;
    for (auto const& [at, choice] : t.made()) {
      made_choice const* const now = next.made().find(at);
      if (now == nullptr || now->is_drawn)
        discard.set(at, choice.value);
      else
        weight += now->log_density - choice.log_density;
    }
    return {std::move(next), weight, std::move(discard)};
  }

private:
  trace_type run(random_key const& key, choosing::source given) const {
    choosing c(key, std::move(given));
    auto result = std::apply([&](A const&... x) { return overdub::overdub(c, f_, x...); }, arguments_);
    return {c.take(), std::move(result)};
  }

  F f_;
  std::tuple<A...> arguments_;
};

/// The model f(x...), run directly: a function, or a lambda that takes the scope.
///   dynamic_model(walk, 10.0).generate({{"seen", 3.0}}, random_key(7))
template <class F, class... A>
dynamic_function<F, A...> dynamic_model(F const& f, A const&... x) {
  return dynamic_function<F, A...>(f, x...);
}

/// One chain of a dynamic model: in each transition the choices of each selection are drawn anew together, one selection after another,
/// and accepted by Metropolis and Hastings. It is a transition_kernel.
template <class Model>
class resimulation_chain {
public:
  resimulation_chain(
      Model m, typename Model::trace_type start, choice_map observed, std::vector<selection> moved,
      std::vector<address> kept)
      : model_(std::move(m)), trace_(std::move(start)), observed_(std::move(observed)),
        moved_(std::move(moved)), kept_(std::move(kept)) {}

  inference::kernel_statistics transition(random_key const& key) {
    std::size_t accepted = 0;
    for (std::size_t k = 0; k < moved_.size(); ++k) {
      random_key const own = key.at(k);
      auto const is_moved = [&](address const& at) {
        return moved_[k].contains(at) && !observed_.contains(at);
      };
      auto proposed = model_.regenerate_where(trace_, is_moved, own.at("draw"));
      random_generator g(own.at("accept"));
      bool const accept = std::log(g.uniform()) < proposed.weight; // NaN is rejected
      if (accept && observations(proposed.of) == observations(trace_)) {
        trace_ = std::move(proposed.of);
        ++accepted;
      }
    }
    return {
        .log_density = trace_.score(),
        .acceptance =
            moved_.empty() ? 1 : static_cast<double>(accepted) / static_cast<double>(moved_.size())};
  }
  void adapt(std::size_t, std::size_t) {}
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (address const& at : kept_) all.push_back(text_of(at));
    return all;
  }
  /// NaN where a choice was not made.
  void report(std::span<double> out) const {
    for (std::size_t k = 0; k < kept_.size(); ++k) out[k] = number_at(kept_[k]);
  }
  typename Model::trace_type const& state() const { return trace_; }

private:
  // How many of the choices of a trace are observed: what is observed does not vanish.
  std::size_t observations(typename Model::trace_type const& t) const {
    std::size_t count = 0;
    for (auto const& [at, choice] : t.made()) count += observed_.contains(at);
    return count;
  }
  double number_at(address const& at) const {
    made_choice const* const choice = trace_.made().find(at);
    if (choice == nullptr) return std::numeric_limits<double>::quiet_NaN();
    datum const x = detail::given_as(at, choice->value, ir::f64);
    return x.as<double>();
  }

  Model model_;
  typename Model::trace_type trace_;
  choice_map observed_;
  std::vector<selection> moved_;
  std::vector<address> kept_;
};

/// run_chains(resimulation(m, observed, {{"x"}, {"tree/"}}, {"x"}), settings, key): each chain begins with a trace of the observations
/// whose density is finite, moves each of the selections without what is observed, and keeps the choices at these addresses, which are
/// numbers. Throws model_error where 100 traces have none.
template <class F, class... A>
auto resimulation(
    dynamic_function<F, A...> const& m, choice_map const& observed, std::vector<selection> const& moved,
    std::vector<address> const& kept) {
  using model = dynamic_function<F, A...>;
  return [=](std::size_t, random_key const& key) {
    for (i64 attempt = 0; attempt < 100; ++attempt) {
      try {
        auto start = m.generate(observed, key.at(attempt)).of;
        if (std::isfinite(start.score()))
          return resimulation_chain<model>(m, std::move(start), observed, moved, kept);
      } catch (unmade_error const&) { // what was drawn takes another way
      }
    }
    throw model_error(message(
        "overdub: of 100 traces of a dynamic model with these observations none makes them all with a finite "
        "density"));
  };
}

} // namespace overdub::models
