// Random models satisfy the laws of the generative function interface. OVERDUB_PROGRAMS=100000 tests more models.
#include "catch.hpp"
#include "models/example_models.hpp"
#include "models/random_models.hpp"

#include <overdub/ir/print.hpp>
#if OVERDUB_TESTS_JIT
#include <overdub/jit/executor.hpp>
#endif

#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace example_models;
using incremental_updates::programs;
using random_models::random_model;
using random_program::random_numbers;

// Checks the laws for one random model.
struct counts {
  std::uint64_t choices = 0, conditional = 0, flips = 0, untaken = 0, gradients = 0;
};

class judgement {
public:
  judgement(std::uint64_t seed, counts& all)
      : random_(~seed), all_(all),
        m_(std::make_shared<ms::model_core const>(random_model(seed).make(), od::compile_options())) {}

  // The violated law; nothing, if all hold.
  std::string why() {
    arguments_ = random_models::arguments(random_);
    t_ = ms::simulate(m_, arguments_, od::random_key(1));
    other_ = ms::simulate(m_, arguments_, od::random_key(2));
    all_.choices += t_.size();
    for (ms::site const& s : m_->sites()) all_.conditional += s.is_conditional;
    for (auto const law :
         {&judgement::simulated, &judgement::projected, &judgement::generated, &judgement::updated,
          &judgement::regenerated, &judgement::differentiated})
      (this->*law)();
    return why_;
  }

private:
  void hold(bool law, std::string const& sentence) {
    if (!law && why_.empty()) why_ = sentence;
  }
  // Equal up to rounding of the sums of the log densities of both traces.
  void near(double a, double b, std::string const& sentence, ms::trace const& other) {
    double const terms = static_cast<double>(t_.size() + other.size()),
                 sums = std::abs(t_.score()) + std::abs(other.score());
    hold(
        std::abs(a - b) <= 1e-12 * (1 + terms + sums), sentence + ": " + std::to_string(a) + " and " +
                                                           std::to_string(b) + ", " +
                                                           std::to_string(1e12 * (a - b)) + "e-12 apart");
  }
  void near(double a, double b, std::string const& sentence) { near(a, b, sentence, t_); }
  // A random subset of the choices of a trace.
  std::vector<ms::address> choices_of(ms::trace const& t) const {
    std::vector<ms::address> all;
    for (std::uint32_t s = 0; s < m_->sites().size(); ++s)
      t.for_each(s, [&](std::vector<i64> const& at) { all.emplace_back(m_->sites()[s].address, at); });
    return all;
  }
  ms::selection some(int percent) {
    ms::selection s;
    for (ms::address const& at : choices_of(t_))
      if (random_.chance(percent)) s.add(at);
    return random_.chance(20) ? !s : s;
  }
  // The choices for which f is true.
  template <class F>
  ms::selection such(ms::trace const& t, F const& f) const {
    ms::selection s;
    for (ms::address const& at : choices_of(t))
      if (f(at)) s.add(at);
    return s;
  }

  void simulated() {
    ms::trace const again = ms::simulate(m_, arguments_, od::random_key(1));
    hold(again.choices() == t_.choices() && again.score() == t_.score(), "one key gives two traces");
    ms::trace const a = ms::assess(m_, arguments_, t_.choices());
    hold(a.score() == t_.score(), "assess gives another score than simulate");
    hold(a.choices() == t_.choices(), "assess gives other choices");
    hold(
        a.result<std::tuple<double, double>>() == t_.result<std::tuple<double, double>>(),
        "assess gives another result");
    hold(choices_of(t_).size() == t_.size(), "size is not the number of choices");
  }
  void projected() {
    near(ms::project(t_, ms::selection::all()), t_.score(), "all densities are not the score");
    ms::selection const s = some(40);
    near(
        ms::project(t_, s) + ms::project(t_, !s), t_.score(),
        "densities of a selection and of its complement");
  }
  void generated() {
    ms::selection const s = some(40);
    auto const [same, weight] = ms::generate(m_, arguments_, t_.choices(s), od::random_key(1));
    hold(same.choices() == t_.choices(), "what is not given is not what simulate draws");
    near(weight, ms::project(t_, s), "the weight of generate");
    try {
      ms::choice_map const given = other_.choices(s);
      auto const g = ms::generate(m_, arguments_, given, od::random_key(1));
      near(
          g.weight, ms::project(g.of, such(g.of, [&](auto const& at) { return given.contains(at); })),
          "the weight of generate, of other choices", g.of);
    } catch (ms::model_error const& e) {
      is_untaken(e);
    }
  }
  void is_untaken(ms::model_error const& e) {
    hold(std::string(e.what()).ends_with("it is nested in a branch that was not taken"), e.what());
    ++all_.untaken;
  }
  void updated() {
    std::vector<od::datum> const others = random_.chance(40) ? random_models::arguments(random_) : arguments_;
    ms::choice_map changes;
    for (ms::address const& at : choices_of(t_))
      if (other_.contains(at) && random_.chance(20)) changes.set(at, other_.find(at));
    if (others != arguments_ && random_.chance(50)) changes = {};
    ms::updated_trace u;
    try {
      u = ms::update(t_, others, changes, od::random_key(3));
    } catch (ms::model_error const& e) {
      // Choices beyond the end of a plate are not made, either.
      if (others != arguments_) return;
      return is_untaken(e);
    }
    ms::selection const drawn =
        such(u.of, [&](auto const& at) { return !t_.contains(at) && !changes.contains(at); });
    all_.flips += !drawn.addresses().empty();
    double const of_drawn = ms::project(u.of, drawn);
    near(u.weight, u.of.score() - t_.score() - of_drawn, "the weight of update", u.of);
    for (ms::address const& at : choices_of(u.of))
      hold(
          u.of.find(at) == (changes.contains(at) ? changes.find(at)
                            : t_.contains(at)    ? t_.find(at)
                                                 : u.of.find(at)),
          "update changes " + ms::text_of(at));
    ms::updated_trace const back = ms::update(u.of, arguments_, u.discard, od::random_key(4));
    hold(back.of.choices() == t_.choices(), "update with what was discarded does not go back");
    hold(back.of.score() == t_.score(), "update with what was discarded gives another score");
    near(u.weight + back.weight, -of_drawn, "the weights there and back", u.of);
  }
  void regenerated() {
    ms::selection const s = some(40);
    ms::updated_trace const r = ms::regenerate(t_, arguments_, s, od::random_key(2));
    auto const stays = [&](ms::address const& at) {
      return t_.contains(at) && r.of.contains(at) && !s.contains(at);
    };
    near(
        r.weight, ms::project(r.of, such(r.of, stays)) - ms::project(t_, such(t_, stays)),
        "the weight of regenerate", r.of);
    for (ms::address const& at : choices_of(t_)) {
      if (stays(at)) hold(r.of.find(at) == t_.find(at), "regenerate changes " + ms::text_of(at));
      hold(
          r.discard.contains(at) == !stays(at),
          "regenerate discards not what it changes: " + ms::text_of(at));
    }
    ms::updated_trace const none = ms::regenerate(t_, arguments_, {}, od::random_key(2));
    near(none.weight, 0, "the weight of regenerating nothing");
    hold(
        none.of.choices() == t_.choices() && none.of.score() == t_.score(),
        "regenerating nothing changes the trace");
    ms::updated_trace const all = ms::regenerate(t_, arguments_, ms::selection::all(), od::random_key(2));
    hold(all.weight == 0 && all.of.choices() == other_.choices(), "regenerating all is not simulating");
  }
  void differentiated() {
    ms::selection continuous;
    std::vector<ms::address> all;
    for (ms::address const& at : choices_of(t_))
      if (!m_->sites()[m_->site_at(at.site)].is_discrete()) all.push_back(at);
    for (ms::site const& s : m_->sites())
      if (!s.is_discrete()) continuous.add(s.address);
    ms::choice_map const gradients = ms::choice_gradients(t_, continuous);
    for (int k = 0; k < 3 && !all.empty(); ++k) {
      ms::address const& at = all[random_.below(all.size())];
      double const x = t_.get<double>(at), h = 1e-6 * std::max(0.01, std::abs(x));
      if (x < 2 * h && x > 0) continue; // at the edge of an exponential distribution
      auto const score = [&](double y) {
        return ms::update(t_, arguments_, {{at, y}}, od::random_key(5)).of.score();
      };
      double const difference = (score(x + h) - score(x - h)) / (2 * h),
                   derivative = gradients.get<double>(at);
      hold(
          std::abs(derivative - difference) <=
              1e-4 * (1 + std::abs(derivative)) + 1e-14 * std::abs(t_.score()) / h,
          "the derivative by " + ms::text_of(at) + " is " + std::to_string(derivative) +
              ", differences give " + std::to_string(difference));
      ++all_.gradients;
    }
  }

  random_numbers random_;
  counts& all_;
  ms::shared_core m_;
  std::vector<od::datum> arguments_;
  ms::trace t_, other_;
  std::string why_;
};

} // namespace

TEST_CASE("random models satisfy the laws of the generative function interface") {
  std::uint64_t const count = programs(400);
  counts all;
  for (std::uint64_t seed = 1; seed <= count; ++seed)
    if (std::string const why = judgement(seed, all).why(); !why.empty())
      FAIL("random model " << seed << ": " << why << "\n" << od::ir::print(random_model(seed).make()));
  if (count < 100) return; // too few for all kinds
  CHECK(all.choices > 5 * count);
  CHECK(all.conditional > count / 2);
  CHECK(all.flips > count / 10);
  CHECK(all.untaken < count);
  CHECK(all.gradients > count);
}

TEST_CASE("scores are the sums of log densities that plain C++ computes") {
  auto const near = [](double a, double b) { return std::abs(a - b) <= 1e-12 * std::max(1.0, std::abs(b)); };
  vec const xs{0.5, 1, -2, 3};
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    od::random_key const key(seed);
    INFO("seed " << seed);
    auto const n = static_cast<i64>(seed % 5);
    ms::trace const l = ms::model(line, xs).simulate(key), g = ms::model(groups, n, i64{3}).simulate(key),
                    w = ms::model(walk, 4 * n, 0.2).simulate(key), k = ms::model(kinds, 3 * n).simulate(key),
                    p = ms::model(parts, n).simulate(key);
    CHECK(near(l.score(), density_of_line(l, xs)));
    CHECK(near(g.score(), density_of_groups(g, n, 3)));
    CHECK(near(w.score(), density_of_walk(w, 4 * n, 0.2)));
    CHECK(near(k.score(), density_of_kinds(k, 3 * n)));
    CHECK(near(p.score(), density_of_parts(p, n)));
  }
}

#if OVERDUB_TESTS_JIT
TEST_CASE("machine code makes the same traces") {
  od::compile_options compiled;
  compiled.executor = od::jit::compiled({.optimisation = 1});
  compiled.tiers = od::tiers::compile_now;
  std::uint64_t const count = programs(12);
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    od::ir::program const p = random_model(seed).make();
    auto const interpreted = std::make_shared<ms::model_core const>(p, od::compile_options());
    auto const machine = std::make_shared<ms::model_core const>(p, compiled);
    std::vector<od::datum> const arguments{i64{4}, i64{2}, 0.5, vec{1, 2, -1, 0.5}, true};
    od::random_key const key(seed), other(seed + 1);
    ms::trace const a = ms::simulate(interpreted, arguments, key), b = ms::simulate(machine, arguments, key);
    INFO("random model " << seed);
    CHECK(a.choices() == b.choices());
    CHECK(a.score() == b.score());
    auto const ra = ms::regenerate(a, arguments, ms::selection::all(), other),
               rb = ms::regenerate(b, arguments, ms::selection::all(), other);
    CHECK(ra.of.choices() == rb.of.choices());
    CHECK(ra.of.score() == rb.of.score());
    auto const ua = ms::update(a, arguments, ra.of.choices(), key),
               ub = ms::update(b, arguments, ra.of.choices(), key);
    CHECK(ua.of.score() == ub.of.score());
    CHECK(ua.weight == ub.weight);
    CHECK(ms::project(a, ms::selection::all()) == ms::project(b, ms::selection::all()));
  }
}
#endif
