// MCMC kernels against the samplers of JAGS, on the same models, data and initial values; the program checks that the posterior means
// agree. JAGS runs in a process of its own: the time of a sweep is the difference of two runs of different lengths, each the fastest of
// three, so that its start-up does not count. All times are processor time.
//
// JAGS 4.3 chooses its samplers, and the program prints them: base::Finite for the assignments of the mixture, which weighs each value as
// `gibbs` does, and bugs::ConjugateNormal for all other choices, which draws from the conditional distribution, where `random_walk`
// proposes a step and accepts or rejects it. A sweep updates each choice once in both. Draws from conditional distributions mix faster, so
// that the program reports effective draws a second, too.
#include "ratio.hpp"

#include <overdub/distributions.hpp>
#include <overdub/inference/diagnostics.hpp>
#include <overdub/jit/executor.hpp>
#include <overdub/models/mcmc.hpp>
#include <overdub/overdub.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace {

namespace od = overdub;
namespace ds = overdub::distributions;
namespace md = overdub::models;
namespace inference = overdub::inference;
using od::i64;
using numbers = od::array<double>;

int misses = 0;

// ---- rows

void row(char const* who, double seconds, double of_jags, double goal) {
  std::printf("  %-44s %10.4g us", who, 1e6 * seconds);
  if (seconds != of_jags) std::printf("  1/%.3g", of_jags / seconds);
  if (goal > 0) std::printf("   goal 1/%g  %s", goal, of_jags / seconds < goal ? "MISS" : "pass");
  std::printf("\n");
}
void row_within(char const* who, double seconds, double goal) {
  std::printf("  %-44s %10.4g ms", who, 1e3 * seconds);
  if (goal > 0) std::printf("   goal %g ms  %s", 1e3 * goal, seconds > goal ? "MISS" : "pass");
  std::printf("\n");
}

// ---- processor time

double of_this_process() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }
double of_children() {
  rusage used{};
  getrusage(RUSAGE_CHILDREN, &used);
  auto const seconds = [](timeval t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}
template <class F>
double seconds_of(F const& f) {
  double const before = of_this_process();
  f();
  return of_this_process() - before;
}
template <class F>
double fastest_of_five(F const& seconds) {
  double best = seconds();
  for (int k = 1; k < 5; ++k) best = std::min(best, seconds());
  return best;
}
// The processor time of f in a new process, where nothing was staged or compiled before.
template <class F>
double seconds_afresh(F const& f) {
  return fastest_of_five([&] {
    double const before = of_children();
    pid_t const child = fork();
    if (child == 0) {
      f();
      _exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
      throw std::runtime_error("a child process failed");
    return of_children() - before;
  });
}

// ---- results of both

// Draws of variables by name: the name of a choice, with an index if it has several elements, as mu[1].
using drawn = std::map<std::string, std::vector<double>>;

struct chain_result {
  double sweep = 0, until_ready = 0; // seconds
  drawn draws = {};
};
inference::chain_values column(std::vector<double> const& values) { return {values, 1}; }

// Checks that the means agree within six standard errors, as both chains estimate them, and prints the effective draws a second.
void compare_draws(chain_result const& jags, chain_result const& mine) {
  auto const least = [](chain_result const& c) {
    double ess = 1e300;
    for (auto const& [name, values] : c.draws) ess = std::min(ess, inference::ess_bulk(column(values)));
    return ess / (c.sweep * static_cast<double>(c.draws.begin()->second.size()));
  };
  for (auto const& [name, values] : jags.draws) {
    auto const found = mine.draws.find(name);
    if (found == mine.draws.end()) throw std::runtime_error("no draws of " + name);
    auto const a = column(values), b = column(found->second);
    double const there = inference::diagnosing::mean(a.values), here = inference::diagnosing::mean(b.values);
    double const error = std::hypot(inference::mcse_mean(a), inference::mcse_mean(b));
    if (std::abs(there - here) <= 6 * error) continue;
    ++misses;
    std::printf(
        "MISS: the mean of %s is %.6g by JAGS, and %.6g here; the standard error of the difference is %.2g\n",
        name.c_str(), there, here, error);
  }
  double const theirs = least(jags), here = least(mine);
  std::printf(
      "  effective draws a second, the least of %zu numbers: JAGS %.4g, overdub %.4g, %.3g times as many\n",
      jags.draws.size(), theirs, here, here / theirs);
}

// ---- JAGS

// A model in JAGS's language, its data and its initial values, as files in a directory of their own.
class jags_model {
public:
  jags_model(std::string const& model, std::string const& data, std::string const& start) {
    std::string name = (std::filesystem::temp_directory_path() / "overdub-bench-jags-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no directory " + name);
    directory_ = name;
    write("model.bug", "model {\n" + model + "}\n");
    write("data.R", data);
    write("start.R", ".RNG.name <- \"base::Mersenne-Twister\"\n.RNG.seed <- 1\n" + start);
  }
  jags_model(jags_model const&) = delete;
  ~jags_model() { std::filesystem::remove_all(directory_); }

  /// A chain without its first sweeps, and the time until the model is initialised.
  chain_result chain(int skipped, int sweeps, std::vector<std::string> const& kept) const {
    std::string const first =
        "model in \"model.bug\"\ndata in \"data.R\"\ncompile\nparameters in \"start.R\"\n"
        "initialize\nsamplers to \"samplers.txt\"\nupdate " +
        std::to_string(skipped) + '\n';
    std::string then;
    for (std::string const& each : kept) then += "monitor " + each + '\n';
    then += "update " + std::to_string(sweeps) + '\n';
    if (!kept.empty()) then += "coda *\n";
    double const before = run(first), sweep = (run(first + then) - before) / sweeps;
    return {sweep, before - skipped * sweep - run(""), kept.empty() ? drawn() : draws()};
  }

  /// The samplers of the chain: each line of the file has a number, a sampler and a choice.
  void print_samplers() const {
    std::map<std::string, int> all;
    std::ifstream in(directory_ / "samplers.txt");
    for (std::string number, sampler, choice; in >> number >> sampler >> choice;) ++all[sampler];
    std::printf("  JAGS samples by");
    for (auto const& [name, count] : all) std::printf(" %s (%d)", name.c_str(), count);
    std::printf("\n");
  }

private:
  void write(char const* name, std::string const& text) const { std::ofstream(directory_ / name) << text; }

  // The seconds that a script takes, the fastest of three times.
  double run(std::string const& script) const {
    return std::min({run_once(script), run_once(script), run_once(script)});
  }
  double run_once(std::string const& script) const {
    write("script.cmd", script + "exit\n");
    double const before = of_children();
    int const status =
        std::system(("cd '" + directory_.string() + "' && jags script.cmd > log.txt 2>&1").c_str());
    if (status != 0) {
      std::ifstream log(directory_ / "log.txt");
      throw std::runtime_error("JAGS: " + std::string{std::istreambuf_iterator<char>(log), {}});
    }
    return of_children() - before;
  }
  // JAGS writes a chain as a file of iterations and values, and an index of the lines of each variable.
  drawn draws() const {
    std::vector<double> values;
    std::ifstream chain(directory_ / "CODAchain1.txt"), index(directory_ / "CODAindex.txt");
    for (double iteration = 0, x = 0; chain >> iteration >> x;) values.push_back(x);
    drawn all;
    std::string name;
    for (std::ptrdiff_t first = 0, last = 0; index >> name >> first >> last;)
      all[name].assign(values.begin() + (first - 1), values.begin() + last);
    if (all.empty()) throw std::runtime_error("JAGS wrote no draws");
    return all;
  }

  std::filesystem::path directory_;
};

// The elements of an array, or of one of other dimensions.
template <class T>
std::string assigned(char const* name, od::array<T> const& x, std::string const& around = "") {
  std::string text = std::string(name) + " <- " + (around.empty() ? "c(" : "structure(c(");
  char number[32];
  for (T const v : x) {
    std::snprintf(number, sizeof number, "%.17g,", static_cast<double>(v));
    text += number;
  }
  text.back() = ')';
  return text + (around.empty() ? "" : ", " + around + ")") + '\n';
}

// ---- overdub

od::compile_options compiled() { return {.executor = od::jit::compiled(), .tiers = od::tiers::compile_now}; }

// A chain without its first sweeps, which adapt the kernels.
template <class... Moves>
chain_result chain(
    md::trace const& start, md::choice_map const& observed, int skipped, int sweeps,
    std::vector<std::string> const& kept, Moves... moves) {
  md::selection reported;
  for (std::string const& each : kept) reported.add(each.substr(0, each.find('[')));
  md::chain_of_moves<md::followed_trace, Moves...> c(start, observed, reported, std::move(moves)...);
  od::random_key const key(1);
  auto const names = c.names();
  std::vector<double> now(names.size());
  std::vector<std::vector<double>> columns(names.size());
  int t = 0;
  for (; t < skipped; ++t) {
    c.transition(key.transition(static_cast<std::uint64_t>(t)));
    c.adapt(static_cast<std::size_t>(t), static_cast<std::size_t>(skipped));
  }
  double const seconds = seconds_of([&] {
    for (; t < skipped + sweeps; ++t) {
      c.transition(key.transition(static_cast<std::uint64_t>(t)));
      if (names.empty()) continue;
      c.report(now);
      for (std::size_t k = 0; k < now.size(); ++k) columns[k].push_back(now[k]);
    }
  });
  drawn all;
  for (std::size_t k = 0; k < now.size(); ++k)
    for (std::string const& each : kept)
      if (names[k] == each || names[k].starts_with(each + '[')) all[names[k]] = std::move(columns[k]);
  return {.sweep = seconds / sweeps, .draws = std::move(all)};
}

// ---- a mixture of 4 normals with explicit assignments

constexpr i64 points = 10'000;

constexpr auto mixture = od::fn<"mixture">([](od::scope auto& cx, auto const& n, auto const& weights) {
  auto const component = [&](auto const&) { return cx(od::sample<"mu">, ds::normal(0.0, 10.0)); };
  auto const mu = cx(od::map, component, od::iota(od::size(weights)));
  auto const point = [&](auto const&) {
    auto const z = cx(od::sample<"z">, ds::categorical(weights));
    return cx(od::sample<"x">, ds::normal(mu[z], 1.0));
  };
  return cx(od::map, point, od::iota(n));
});
constexpr char const* points_in_jags = "for (i in 1:N) {\n z[i] ~ dcat(p)\n x[i] ~ dnorm(mu[z[i]], 1)\n}\n";
constexpr char const* components_in_jags = "for (k in 1:4) { mu[k] ~ dnorm(0, 0.01) }\n";

// The seconds of an assignment by hand, for components of equal weights and standard deviations.
double assignment_by_hand(numbers const& x, numbers const& mu) {
  std::vector<i64> z(static_cast<std::size_t>(points));
  od::random_generator g(od::random_key(6));
  double score = 0;
  auto const sweep = [&] {
    for (std::size_t i = 0; i < z.size(); ++i) {
      std::array<double, 4> weights{};
      for (std::size_t k = 0; k < 4; ++k) {
        double const d = x[static_cast<i64>(i)] - mu[static_cast<i64>(k)];
        weights[k] = -0.5 * d * d;
      }
      double const most = *std::max_element(weights.begin(), weights.end()),
                   before = weights[static_cast<std::size_t>(z[i])];
      std::array<double, 4> odds{};
      double total = 0;
      for (std::size_t k = 0; k < 4; ++k) total += odds[k] = std::exp(weights[k] - most);
      std::size_t chosen = 0;
      for (double left = g.uniform() * total; chosen < 3 && (left -= odds[chosen]) >= 0;) ++chosen;
      z[i] = static_cast<i64>(chosen);
      score += weights[chosen] - before;
    }
  };
  double const seconds = fastest_of_five([&] {
    return seconds_of([&] {
      for (int k = 0; k < 100; ++k) sweep();
    });
  });
  if (!std::isfinite(score)) throw std::runtime_error("the score by hand is not finite");
  return seconds / 100 / static_cast<double>(points);
}

void bench_mixture() {
  od::random_key const key(2);
  numbers const weights{0.25, 0.25, 0.25, 0.25}, mu{-3, -1, 1, 3};
  auto const z =
      od::map([&](i64 i) { return draw(ds::categorical(weights), key.at("z").at(i)); }, od::iota(points));
  auto const x =
      od::map([&](i64 i) { return draw(ds::normal(mu[z[i]], 1.0), key.at("x").at(i)); }, od::iota(points));
  auto const start = [&](od::compile_options const& o) {
    return md::model(o, mixture, points, weights).assess({{"x", x}, {"mu", mu}, {"z", z}});
  };
  auto const sweep_once = [](md::trace const& from) {
    md::followed_trace t(from);
    md::move_record made;
    md::gibbs("z")(t, od::random_key(2), made);
    md::random_walk("mu", 0.03)(t, od::random_key(3), made);
  };
  std::string const data = assigned("x", x) + assigned("p", weights) + "N <- 10000\n";
  std::string const means = assigned("mu", mu);
  std::string const assignments =
      assigned("z", od::map([](i64 k) { return k + 1; }, z)); // JAGS counts from 1

  std::printf("a mixture of 4 normals, 10,000 points: from the data to the end of initialisation\n");
  jags_model const both(std::string(components_in_jags) + points_in_jags, data, means + assignments);
  chain_result const theirs = both.chain(50, 500, {"mu"});
  row_within("JAGS", theirs.until_ready, 0);
  std::pair<char const*, od::compile_options> const ways[] = {
      {"overdub, interpreted", {}},
      {"overdub, compiled where it is worth it", {.executor = od::jit::compiled()}},
      {"overdub, compiled before the first call", compiled()}};
  for (auto const& [name, o] : ways) {
    row_within(name, seconds_afresh([&] { md::followed_trace const t(start(o)); }), 0.05);
    row_within("  to the end of the first sweep", seconds_afresh([&] { sweep_once(start(o)); }), 0);
    sweep_once(start(o));
    row_within(
        "  the same again, where programs are made",
        fastest_of_five([&] { return seconds_of([&] { sweep_once(start(o)); }); }), 0);
  }

  std::printf("\nan assignment of the mixture, where the means are known\n");
  md::choice_map const known_means{{"x", x}, {"mu", mu}};
  jags_model const one(points_in_jags, data + means, assignments);
  double const known = one.chain(50, 700, {}).sweep / points;
  one.print_samplers();
  row("JAGS", known, known, 0);
  row("by hand", assignment_by_hand(x, mu), known, 0);
  row("overdub, interpreted", chain(start({}), known_means, 20, 200, {}, md::gibbs("z")).sweep / points,
      known, 0);
  row("overdub, compiled", chain(start(compiled()), known_means, 50, 1000, {}, md::gibbs("z")).sweep / points,
      known, 50);

  std::printf("\na choice of the mixture, in sweeps of all assignments and means\n");
  both.print_samplers();
  chain_result const mine =
      chain(start(compiled()), {{"x", x}}, 500, 3000, {"mu"}, md::gibbs("z"), md::random_walk("mu", 0.03));
  row("JAGS", theirs.sweep / (points + 4), theirs.sweep / (points + 4), 0);
  row("overdub, compiled", mine.sweep / (points + 4), theirs.sweep / (points + 4), 50);
  compare_draws(theirs, mine);
}

// ---- a state space

constexpr i64 states = 10'000;

constexpr auto state_space = od::fn<"state_space">([](od::scope auto& cx, auto const& n) {
  auto const step = [&](auto const& x, auto const&) {
    auto const next = cx(od::sample<"x">, ds::normal(0.9 * x, 0.5));
    return std::tuple(next, cx(od::sample<"y">, ds::normal(next, 0.7)));
  };
  auto const [last, all] = od::scan(step, cx.lift(0.0), od::iota(n));
  return last;
});

void bench_state_space() {
  std::printf("\na state of a state space of 10,000\n");
  md::trace const simulated = md::model(state_space, states).simulate(od::random_key(3));
  auto const y = simulated.get<numbers>("y");
  std::vector<std::string> const kept{"x[1]", "x[2500]", "x[5000]", "x[7500]", "x[10000]"};

  jags_model const in_jags(
      "x[1] ~ dnorm(0, 4)\nfor (t in 2:N) { x[t] ~ dnorm(0.9 * x[t - 1], 4) }\n"
      "for (t in 1:N) { y[t] ~ dnorm(x[t], 1 / 0.49) }\n",
      assigned("y", y) + "N <- 10000\n", assigned("x", y));
  chain_result const theirs = in_jags.chain(100, 1000, kept);
  in_jags.print_samplers();
  auto const start = [&](od::compile_options const& o) {
    return md::model(o, state_space, states).assess({{"x", y}, {"y", y}});
  };
  chain_result const mine = chain(start(compiled()), {{"y", y}}, 200, 4000, kept, md::random_walk("x", 1.0));
  row("JAGS", theirs.sweep / states, theirs.sweep / states, 0);
  row("overdub, interpreted",
      chain(start({}), {{"y", y}}, 20, 100, {}, md::random_walk("x", 1.0)).sweep / states,
      theirs.sweep / states, 0);
  row("overdub, compiled", mine.sweep / states, theirs.sweep / states, 0);
  compare_draws(theirs, mine);
}

// ---- a regression in groups

constexpr i64 groups = 100, in_group = 100;

constexpr auto regression = od::fn<"regression">([](od::scope auto& cx, auto const& x) {
  auto const mu = cx(od::sample<"mu">, ds::normal(0.0, 10.0));
  auto const b = cx(od::sample<"b">, ds::normal(0.0, 10.0));
  auto const group = [&](auto const& row) {
    auto const a = cx(od::sample<"a">, ds::normal(mu, 1.0));
    auto const point = [&](auto const& each) { return cx(od::sample<"y">, ds::normal(a + b * each, 0.5)); };
    return od::sum(cx(od::map, point, row));
  };
  return od::sum(cx(od::map, group, x));
});

void bench_regression() {
  std::printf("\na sweep of a regression in 100 groups of 100: effects, their mean, the slope\n");
  od::random_key const key(4);
  auto const number = [&](i64 j, i64 i) { return draw(ds::uniform(-2.0, 2.0), key.at("x").at(j).at(i)); };
  auto const x = od::map(
      [&](i64 j) { return od::map([&](i64 i) { return number(j, i); }, od::iota(in_group)); },
      od::iota(groups));
  auto const simulated = md::model(regression, x).generate({{"mu", 0.0}, {"b", 0.5}}, od::random_key(5)).of;
  // In column-major order, as in R.
  auto const by_columns = [&](auto const& rows) {
    std::vector<double> all;
    for (i64 i = 0; i < in_group; ++i)
      for (i64 j = 0; j < groups; ++j) all.push_back(rows[j][i]);
    return numbers::copy_of(all);
  };
  auto const y = simulated.get<od::array<numbers>>("y");
  numbers const zeros = od::map([](i64) { return 0.0; }, od::iota(groups));
  std::string const shape = ".Dim = c(100, 100)";
  std::vector<std::string> const kept{"a", "b", "mu"};

  jags_model const in_jags(
      "mu ~ dnorm(0, 0.01)\nb ~ dnorm(0, 0.01)\n"
      "for (j in 1:100) {\n a[j] ~ dnorm(mu, 1)\n"
      " for (i in 1:100) { y[j, i] ~ dnorm(a[j] + b * x[j, i], 4) }\n}\n",
      assigned("x", by_columns(x), shape) + assigned("y", by_columns(y), shape),
      assigned("a", zeros) + "mu <- 0\nb <- 0\n");
  chain_result const theirs = in_jags.chain(100, 4000, kept);
  in_jags.print_samplers();
  auto const start = [&](od::compile_options const& o) {
    return md::model(o, regression, x).assess({{"y", y}, {"a", zeros}, {"mu", 0.0}, {"b", 0.0}});
  };
  auto const swept = [&](od::compile_options const& o, int sweeps) {
    return chain(
        start(o), {{"y", y}}, sweeps / 10, sweeps, kept, md::random_walk("a", 0.1),
        md::random_walk("mu", 0.2), md::random_walk("b", 0.01));
  };
  chain_result const mine = swept(compiled(), 20'000);
  row("JAGS", theirs.sweep, theirs.sweep, 0);
  row("overdub, interpreted", swept({}, 200).sweep, theirs.sweep, 0);
  row("overdub, compiled", mine.sweep, theirs.sweep, 20);
  compare_draws(theirs, mine);
}

} // namespace

int main() {
  for (auto const question : {bench_mixture, bench_state_space, bench_regression}) try {
      question();
    } catch (std::exception const& e) {
      ++misses;
      std::printf("MISS: %s\n", e.what());
    }
  return misses > 0;
}
