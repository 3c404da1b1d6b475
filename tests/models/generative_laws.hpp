// The laws of the generative function interface (generative_function.hpp), for any model and any kind of trace.
#pragma once

#include "incremental/updates.hpp"

#include <overdub/models/generative_function.hpp>
#include <overdub/models/mutable_trace.hpp>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace generative_laws {

namespace od = overdub;
namespace ms = overdub::models;
using random_program::random_numbers;

/// The violated law; nothing, if all hold.
class verdict {
public:
  void hold(bool law, std::string const& sentence) {
    if (!law && why_.empty()) why_ = sentence;
  }
  // Equal up to rounding of the sums of the log densities of both traces.
  template <class T, class U>
  void
  near(double a, double b, T const& t, U const& other, std::string const& sentence, double error = 1e-12) {
    double const terms = static_cast<double>(t.size() + other.size()),
                 sums = std::abs(t.score()) + std::abs(other.score());
    hold(
        std::abs(a - b) <= error * (1 + terms + sums), sentence + ": " + std::to_string(a) + " and " +
                                                           std::to_string(b) + ", " +
                                                           std::to_string(1e12 * (a - b)) + "e-12 apart");
  }
  std::string const& why() const { return why_; }

private:
  std::string why_;
};

template <ms::model_trace T>
std::vector<ms::address> choices_of(T const& t) {
  std::vector<ms::address> all;
  t.for_each_choice([&](ms::address const& at, od::datum const&) { all.push_back(at); });
  return all;
}
// The choices for which f is true.
template <ms::model_trace T, class F>
ms::selection such(T const& t, F const& f) {
  ms::selection s;
  for (ms::address const& at : choices_of(t))
    if (f(at)) s.add(at);
  return s;
}
// A random subset of the choices of a trace.
template <ms::model_trace T>
ms::selection some(T const& t, random_numbers& random, int percent) {
  ms::selection const s = such(t, [&](auto const&) { return random.chance(percent); });
  return random.chance(20) ? !s : s;
}

/// The operations that read a trace agree with each other, and with those of another kind of trace that has the same choices.
template <ms::model_trace T, ms::model_trace U>
void check_reading(verdict& v, T const& t, U const& like, ms::selection const& s) {
  v.near(t.score(), like.score(), t, like, "the score", 1e-9);
  v.hold(t.size() == like.size(), "the number of choices");
  v.hold(choices_of(t).size() == t.size(), "size is not the number of choices");
  ms::choice_map const all = t.choices();
  t.for_each_choice([&](ms::address const& at, od::datum const& x) {
    std::string const name = ms::text_of(at);
    v.hold(like.find_one(at) == x && like.find(at) == x, "the choice " + name);
    v.hold(t.find_one(at) == x && t.find(at) == x && t.contains(at) && all.find(at) == x, "reading " + name);
    if (x.type() == od::ir::f64) v.hold(od::datum(t.template get<double>(at)) == x, "get " + name);
    ms::address const site(at.site, {});
    v.hold(t.find(site) == like.find(site), "all choices of " + at.site);
    v.hold(at.indices.empty() || !t.find_one(site), "a site for a choice: " + at.site);
    v.hold(t.choices(s).contains(at) == s.contains(at), "choices of a selection: " + name);
  });
  v.near(t.project(ms::selection::all()), t.score(), t, like, "all densities are not the score", 1e-9);
  v.near(t.project(s), like.project(s), t, like, "densities of a selection", 1e-9);
  v.near(
      t.project(s) + t.project(!s), t.score(), t, like, "densities of a selection and its complement", 1e-9);
}

/// How often the laws were about something.
struct counts {
  std::uint64_t choices = 0, flips = 0, untaken = 0, gradients = 0, mutables = 0, kept_observations = 0;
};

/// Checks the laws for the traces of a model by two keys.
template <ms::generative_function Model, bool HasGradients = true>
class laws {
public:
  using trace_type = typename Model::trace_type;

  laws(Model m, std::function<Model(random_numbers&)> with_others, std::uint64_t seed, counts& all)
      : random_(seed), all_(all), m_(std::move(m)), with_others_(std::move(with_others)), key_(seed),
        t_(m_.simulate(key_.at(1))), other_(m_.simulate(key_.at(2))) {}

  std::string why() {
    all_.choices += t_.size();
    check_reading(v_, t_, t_, some(t_, random_, 40));
    for (auto const law :
         {&laws::simulated, &laws::generated, &laws::updated, &laws::regenerated, &laws::observed})
      (this->*law)();
    if constexpr (HasGradients) differentiated();
    return v_.why();
  }

private:
  void near(double a, double b, std::string const& sentence, trace_type const& other) {
    v_.near(a, b, t_, other, sentence);
  }

  void simulated() {
    trace_type const again = m_.simulate(key_.at(1));
    v_.hold(again.choices() == t_.choices() && again.score() == t_.score(), "one key gives two traces");
    auto const p = m_.propose(key_.at(1));
    v_.hold(p.choices == t_.choices() && p.weight == t_.score(), "propose gives other choices than simulate");
    trace_type const a = m_.assess(t_.choices());
    v_.hold(a.score() == t_.score(), "assess gives another score than simulate");
    v_.hold(a.choices() == t_.choices(), "assess gives other choices");
    v_.hold(m_.result(a) == m_.result(t_) && p.result == m_.result(t_), "assess gives another result");
  }
  void generated() {
    ms::selection const s = some(t_, random_, 40);
    auto const [same, weight] = m_.generate(t_.choices(s), key_.at(1));
    v_.hold(same.choices() == t_.choices(), "what is not given is not what simulate draws");
    near(weight, t_.project(s), "the weight of generate", t_);
    try {
      ms::choice_map const given = other_.choices(s);
      auto const g = m_.generate(given, key_.at(1));
      near(
          g.weight, g.of.project(such(g.of, [&](auto const& at) { return given.contains(at); })),
          "the weight of generate, of other choices", g.of);
    } catch (ms::unmade_error const&) { // in a branch that is not taken
      ++all_.untaken;
    }
  }
  void updated() {
    bool const is_other = with_others_ && random_.chance(40);
    Model const others = is_other ? with_others_(random_) : m_;
    ms::choice_map changes;
    for (ms::address const& at : choices_of(t_))
      if (other_.find_one(at) && random_.chance(20)) changes.set(at, other_.find_one(at));
    if (is_other && random_.chance(50)) changes = {};
    try {
      updated(others, changes, is_other);
    } catch (ms::unmade_error const&) {
      ++all_.untaken;
    } catch (ms::model_error const& e) {
      v_.hold(is_other, e.what()); // choices beyond the end of a plate are not made, either
    }
  }
  void updated(Model const& others, ms::choice_map const& changes, bool is_other) {
    auto const u = others.update(t_, changes, key_.at(3).at("appearing"));
    ms::selection const drawn =
        such(u.of, [&](auto const& at) { return !t_.find_one(at) && !changes.contains(at); });
    all_.flips += !drawn.addresses().empty();
    double const of_drawn = u.of.project(drawn);
    near(u.weight, u.of.score() - t_.score() - of_drawn, "the weight of update", u.of);
    for (ms::address const& at : choices_of(u.of))
      v_.hold(
          u.of.find_one(at) == (changes.contains(at) ? changes.find(at)
                                : t_.find_one(at)    ? t_.find_one(at)
                                                     : u.of.find_one(at)),
          "update changes " + ms::text_of(at));
    auto const back = m_.update(u.of, u.discard, key_.at(4));
    v_.hold(back.of.choices() == t_.choices(), "update with what was discarded does not go back");
    v_.hold(back.of.score() == t_.score(), "update with what was discarded gives another score");
    near(u.weight + back.weight, -of_drawn, "the weights there and back", u.of);
    if constexpr (std::same_as<trace_type, ms::trace>)
      if (!is_other) updated_in_place(changes, u);
  }
  // The same in mutable traces, incremental and re-executed, of models that have them.
  void updated_in_place(ms::choice_map const& changes, ms::updated<trace_type> const& u) {
    auto const has_many_indices = [](auto const& each) { return each.first.indices.size() > 3; };
    if (std::any_of(u.discard.begin(), u.discard.end(), has_many_indices)) return;
    try {
      ms::followed_trace const f(t_);
    } catch (ms::model_error const&) {
      return;
    }
    ++all_.mutables;
    updated_in_place(ms::followed_trace(t_), changes, u);
    updated_in_place(ms::reexecuted_trace(t_), changes, u);
  }
  template <ms::mutable_model_trace T>
  void updated_in_place(T now, ms::choice_map const& changes, ms::updated<trace_type> const& u) {
    ms::selection const s = some(t_, random_, 40);
    check_reading(v_, now, t_, s);
    ms::selection const vanished = such(t_, [&](auto const& at) { return !u.of.find_one(at); });
    double const weight = u.weight + t_.project(vanished);
    now.set(changes);
    v_.near(now.propose(key_.at(3)), weight, t_, u.of, "the weight of a proposal", 1e-9);
    now.rollback();
    v_.hold(now.choices() == t_.choices() && now.propose() == 0, "a proposal is not rolled back");
    now.set(changes);
    v_.near(now.propose(key_.at(3)), weight, t_, u.of, "the weight of a second proposal", 1e-9);
    v_.near(now.proposed_score(), u.of.score(), t_, u.of, "the score of a proposal", 1e-9);
    now.commit();
    check_reading(v_, now, u.of, s);
    v_.hold(now.choices() == u.of.choices(), "a commit is another trace than an update");
    v_.hold(now.as_trace().choices() == u.of.choices(), "as_trace has other choices");
    now.set(u.discard);
    now.propose();
    now.commit();
    v_.hold(now.choices() == t_.choices(), "a commit of what was discarded does not go back");
  }
  void regenerated() {
    ms::selection const s = some(t_, random_, 40);
    auto const r = m_.regenerate(t_, s, key_.at(2));
    auto const stays = [&](ms::address const& at) {
      return t_.find_one(at) && r.of.find_one(at) && !s.contains(at);
    };
    near(
        r.weight, r.of.project(such(r.of, stays)) - t_.project(such(t_, stays)), "the weight of regenerate",
        r.of);
    for (ms::address const& at : choices_of(t_)) {
      if (stays(at)) v_.hold(r.of.find_one(at) == t_.find_one(at), "regenerate changes " + ms::text_of(at));
      v_.hold(
          r.discard.contains(at) == !stays(at),
          "regenerate discards not what it changes: " + ms::text_of(at));
    }
    auto const none = m_.regenerate(t_, {}, key_.at(2));
    near(none.weight, 0, "the weight of regenerating nothing", t_);
    v_.hold(
        none.of.choices() == t_.choices() && none.of.score() == t_.score(),
        "regenerating nothing changes the trace");
    auto const all = m_.regenerate(t_, ms::selection::all(), key_.at(2));
    v_.hold(all.weight == 0 && all.of.choices() == other_.choices(), "regenerating all is not simulating");
  }
  // regenerate with observations, which are kept.
  void observed() {
    ms::selection const s = some(t_, random_, 60);
    ms::choice_map const seen = t_.choices(some(t_, random_, 30));
    try {
      auto const r = m_.regenerate(t_, s, seen, key_.at(5));
      auto const is_given = [&](ms::address const& at) {
        return seen.contains(at) || (t_.find_one(at) && !s.contains(at));
      };
      auto const stays = [&](ms::address const& at) { return is_given(at) && r.of.find_one(at); };
      near(
          r.weight, r.of.project(such(r.of, is_given)) - t_.project(such(t_, stays)),
          "the weight of regenerate with observations", r.of);
      for (ms::address const& at : choices_of(t_)) {
        bool const kept = seen.contains(at);
        all_.kept_observations += kept && s.contains(at);
        v_.hold(
            !kept || r.of.find_one(at) == t_.find_one(at),
            "regenerate changes the observed " + ms::text_of(at));
        v_.hold(r.discard.contains(at) == !stays(at), "regenerate discards not what it changes");
      }
    } catch (ms::unmade_error const&) {
      ++all_.untaken;
    }
  }
  void differentiated() {
    ms::selection continuous;
    std::vector<ms::address> all;
    t_.for_each_choice([&](ms::address const& at, od::datum const& x) {
      if (x.type().element != od::ir::scalar::f64) return;
      continuous.add(ms::address(at.site, {}));
      if (x.type().rank == 0) all.push_back(at);
    });
    ms::choice_map const gradients = choice_gradients(m_, t_, continuous);
    for (int k = 0; k < 3 && !all.empty(); ++k) {
      ms::address const& at = all[random_.below(all.size())];
      double const x = t_.template get<double>(at), h = 1e-6 * std::max(0.01, std::abs(x));
      if (x < 2 * h && x > 0) continue; // at the edge of an exponential distribution
      auto const score = [&](double y) { return m_.update(t_, {{at, y}}, key_.at(5)).of.score(); };
      double const difference = (score(x + h) - score(x - h)) / (2 * h),
                   derivative = gradients.get<double>(at);
      v_.hold(
          std::abs(derivative - difference) <=
              1e-4 * (1 + std::abs(derivative)) + 1e-14 * std::abs(t_.score()) / h,
          "the derivative by " + ms::text_of(at) + " is " + std::to_string(derivative) +
              ", differences give " + std::to_string(difference));
      ++all_.gradients;
    }
  }

  random_numbers random_;
  counts& all_;
  Model m_;
  std::function<Model(random_numbers&)> with_others_;
  od::random_key key_;
  trace_type t_, other_;
  verdict v_;
};

/// Two models of one function, as a staged and a dynamic one, make the same traces with the same weights.
template <ms::generative_function A, ms::generative_function B>
std::string why_different(A const& a, B const& b, std::uint64_t seed) {
  verdict v;
  random_numbers random(seed);
  od::random_key const key(seed);
  auto const same = [&](auto const& t, auto const& u, double of_t, double of_u, std::string const& what) {
    check_reading(v, t, u, some(t, random, 40));
    v.near(of_t, of_u, t, u, "the weight of " + what, 1e-12);
  };
  auto const t = a.simulate(key), other = a.simulate(key.at(1));
  auto const u = b.simulate(key);
  same(t, u, 0, 0, "simulate");
  v.hold(std::abs(a.result(t) - b.result(u)) <= 1e-12 * (1 + std::abs(a.result(t))), "the result");
  v.near(a.propose(key).weight, b.propose(key).weight, t, u, "the weight of propose");
  same(a.assess(u.choices()), b.assess(t.choices()), 0, 0, "assess");

  ms::choice_map changes;
  for (ms::address const& at : choices_of(t))
    if (other.find_one(at) && random.chance(20)) changes.set(at, other.find_one(at));
  ms::selection const s = some(t, random, 40);
  // The operation of both models, which may both fail, where a given choice is in a branch that is not taken.
  auto const compare = [&](auto const& run, std::string const& what) {
    int unmade = 0;
    try {
      (void)run(a, t);
    } catch (ms::unmade_error const&) {
      ++unmade;
    }
    try {
      (void)run(b, u);
    } catch (ms::unmade_error const&) {
      --unmade;
    }
    v.hold(unmade == 0, what + " fails for one model");
    try {
      auto const x = run(a, t);
      auto const y = run(b, u);
      same(x.of, y.of, x.weight, y.weight, what);
      if constexpr (requires { x.discard; }) v.hold(x.discard == y.discard, what + " discards");
    } catch (ms::unmade_error const&) {
    }
  };
  compare([&](auto const& m, auto const&) { return m.generate(changes, key.at(2)); }, "generate");
  compare([&](auto const& m, auto const& of) { return m.update(of, changes, key.at(3)); }, "update");
  compare([&](auto const& m, auto const& of) { return m.regenerate(of, s, key.at(4)); }, "regenerate");
  compare(
      [&](auto const& m, auto const& of) { return m.regenerate(of, s, changes, key.at(5)); },
      "regenerate with observations");
  return v.why();
}

} // namespace generative_laws
