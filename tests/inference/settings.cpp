// Invalid settings are rejected by name before anything runs, and an out-of-memory run reports what was too large.
#include "catch.hpp"
#include "inference/targets.hpp"

#include <overdub/inference.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

using namespace overdub::inference;
using overdub::random_key;

constexpr auto negative = static_cast<std::size_t>(-1);
double const undefined = std::numeric_limits<double>::quiet_NaN();
double const infinity = std::numeric_limits<double>::infinity();

// The exception's message, and a check that the target was not evaluated before.
struct untouched : targets::standard_normal {
  double operator()(std::span<double const>, std::span<double>) const {
    FAIL("the target was evaluated");
    return 0;
  }
};
template <class A = nuts_settings>
std::string refusal(std::function<void(sampling_settings&)> const& change, A const& algorithm = {}) {
  sampling_settings s{.chains = 2, .csv = "/tmp/overdub_test_refused"};
  change(s);
  try {
    (void)sample(untouched{{2}}, s, algorithm);
  } catch (sampling_error const& e) {
    return std::string("a chain began: ") + e.what();
  } catch (inference_error const& e) {
    CHECK_FALSE(std::ifstream("/tmp/overdub_test_refused_1.csv"));
    return e.what();
  }
  return "nothing was thrown";
}

struct coin {
  kernel_statistics transition(random_key const&) { return {}; }
  std::vector<std::string> names() const { return {"p"}; }
  void report(std::span<double> out) const { out[0] = 0; }
};

} // namespace

TEST_CASE("invalid settings of a run are rejected by name") {
  using s = sampling_settings;
  CHECK(
      refusal([](s& x) { x.chains = negative; }) == "overdub: chains = -1: it is a count, and not negative");
  CHECK(refusal([](s& x) { x.chains = 2'000'000; }) == "overdub: chains = 2000000: it is at most 1000000");
  CHECK(
      refusal([](s& x) { x.warmup = negative; }) == "overdub: warmup = -1: it is a count, and not negative");
  CHECK(refusal([](s& x) {
          x.draws = negative - 9;
        }) == "overdub: draws = -10: it is a count, and not negative");
  CHECK(refusal([](s& x) { x.thin = negative; }) == "overdub: thin = -1: it is a count, and not negative");
  CHECK(refusal([](s& x) { x.thin = 0; }) == "overdub: sampling thinned by 0: thin = 1 keeps each draw");
  CHECK(refusal([](s& x) {
          x.threads = static_cast<unsigned>(-1);
        }) == "overdub: threads = -1: it is a count, and not negative; 0 is as many as there are processors");
  CHECK_THAT(refusal([](s& x) { x.draws = negative / 2; }), Catch::Contains("more than can be counted"));
  CHECK(refusal([](s& x) {
          x.initial_radius = undefined;
        }) == "overdub: initial_radius = nan: it is not negative, and finite");
  CHECK(refusal([](s& x) {
          x.initial_radius = -1;
        }) == "overdub: initial_radius = -1: it is not negative, and finite");
  CHECK_THAT(refusal([](s& x) { x.step_size = -0.5; }), Catch::Contains("a step size of -0.5"));
  CHECK_THAT(refusal([](s& x) { x.step_size = infinity; }), Catch::Contains("a step size of inf"));
  CHECK_THAT(refusal([](s& x) { x.initial = {{1, 2}}; }), Catch::Contains("1 initial points for 2 chains"));
  CHECK_THAT(
      refusal([](s& x) {
        x.initial = {{1, 2}, {1}};
      }),
      Catch::Contains("an initial point of 1 numbers"));
  CHECK_THAT(
      refusal([](s& x) {
        x.initial = {{1, 2}, {1, undefined}};
      }),
      Catch::Contains("initial: a chain cannot begin at a coordinate of nan"));
  CHECK_THAT(
      refusal([](s& x) { x.inverse_metric = {1}; }), Catch::Contains("an inverse metric of 1 elements"));
  CHECK_THAT(
      refusal([](s& x) {
        x.inverse_metric = {1, -1};
      }),
      Catch::Contains("element 2 of the inverse metric is -1"));
}

TEST_CASE("invalid settings of the adaptation and of algorithms are rejected by name") {
  using s = sampling_settings;
  CHECK_THAT(
      refusal([](s& x) { x.adaptation.target_acceptance = 1; }), Catch::Contains("a target acceptance of 1"));
  CHECK(refusal([](s& x) {
          x.adaptation.gamma = 0;
        }) == "overdub: adaptation.gamma = 0: it is positive and finite");
  CHECK(refusal([](s& x) {
          x.adaptation.kappa = undefined;
        }) == "overdub: adaptation.kappa = nan: it is positive and finite");
  CHECK(refusal([](s& x) {
          x.adaptation.t0 = -1;
        }) == "overdub: adaptation.t0 = -1: it is not negative, and finite");
  CHECK_THAT(
      refusal([](s& x) { x.adaptation.first_buffer = negative; }),
      Catch::Contains("adaptation.first_buffer = -1"));
  CHECK_THAT(
      refusal([](s& x) { x.adaptation.window = negative; }), Catch::Contains("adaptation.window = -1"));
  CHECK_THAT(
      refusal([](s& x) { x.adaptation.last_buffer = negative; }),
      Catch::Contains("adaptation.last_buffer = -1"));
  auto const nothing = [](s&) {};
  CHECK_THAT(
      refusal(nothing, nuts_settings{.max_depth = -1}), Catch::StartsWith("overdub: nuts of depth -1"));
  CHECK_THAT(
      refusal([](s& x) { x.adaptation.target_acceptance = undefined; }),
      Catch::Contains("a target acceptance of nan"));
  CHECK_THAT(refusal(nothing, hmc_settings{.jitter = undefined}), Catch::Contains("jitter nan"));
  CHECK_THAT(
      refusal(nothing, hmc_settings{.leapfrog_steps = -1}),
      Catch::StartsWith("overdub: hmc of -1 leapfrog steps"));
}

TEST_CASE("invalid settings of other methods are rejected by name") {
  random_key const key(1);
  auto const maker = [](std::size_t, random_key const&) { return coin{}; };
  CHECK_THROWS_WITH(
      run_chains(maker, {.chains = negative}, key), "overdub: chains = -1: it is a count, and not negative");
  CHECK_THROWS_WITH(run_chains(maker, {.thin = negative}, key), Catch::Contains("thin = -1"));
  auto const start = [](random_key const&) { return 0.0; };
  auto const extend = [](double&, std::size_t, random_key const&) { return 0.0; };
  CHECK_THROWS_WITH(
      particle_filter(start, extend, 1, {.particles = negative}, key), Catch::Contains("particles = -1"));
  CHECK_THROWS_WITH(
      particle_filter(start, extend, 1, {.resample_below = undefined}, key),
      Catch::Contains("resample_below = nan"));
  for (double const part : {-0.1, 1.1, infinity})
    CHECK_THROWS_WITH(
        particle_filter(start, extend, 1, {.resample_below = part}, key),
        Catch::Contains("it is a part of the particles, from 0 to 1"));
  auto const no_scheme = static_cast<resampling>(4);
  CHECK_THROWS_WITH(
      particle_filter(start, extend, 1, {.scheme = no_scheme}, key),
      "overdub: scheme = 4: it is systematic, stratified, multinomial or residual");
  CHECK_THROWS_WITH(
      importance_sample([](random_key const&) { return std::pair(0.0, 0.0); }, negative, key),
      Catch::Contains("count = -1"));
  CHECK_THROWS_WITH(draws({"x"}, negative), Catch::Contains("chains = -1"));
  overdub::random_generator generator(key);
  CHECK_THROWS_WITH(
      ancestors(resampling::systematic, std::vector{1.0}, negative, generator),
      Catch::Contains("count = -1"));
  CHECK_THROWS_WITH(ancestors(no_scheme, std::vector{1.0}, 1, generator), Catch::Contains("scheme = 4"));
  targets::standard_normal const target;
  CHECK_THROWS_WITH(approximate(target, {.iterations = negative}, key), Catch::Contains("iterations = -1"));
  CHECK_THROWS_WITH(
      approximate(target, {.evaluation_draws = negative}, key), Catch::Contains("evaluation_draws = -1"));
  CHECK_THROWS_WITH(approximate(target, {.tolerance = undefined}, key), Catch::Contains("tolerance = nan"));
  CHECK_THROWS_WITH(
      approximate(targets::standard_normal{2}, {.initial = {undefined, 0}}, key),
      "overdub: initial: an approximation cannot begin at a coordinate of nan");
  CHECK_THROWS_WITH(
      approximate(targets::standard_normal{2}, {.initial = {0, infinity}}, key),
      Catch::Contains("at a coordinate of inf"));
  CHECK_THROWS_WITH(
      mean_field({0, 0}, {1}), "overdub: an approximation of 2 means and 1 deviations: give each mean one");
  CHECK_THROWS_WITH(
      mean_field({0, undefined}, {1, 1}),
      "overdub: coordinate 2 of an approximation has the mean nan and the deviation 1: both are finite, and "
      "the deviation is positive");
  for (double const sd : {0.0, -1.0, undefined, infinity})
    CHECK_THROWS_WITH(mean_field({0}, {sd}), Catch::Contains("coordinate 1 of an approximation"));
  auto const prior = [](random_key const&) { return std::vector{0.0}; };
  auto const data = [](std::vector<double> const&, random_key const&) { return 0.0; };
  auto const posterior = [](double, random_key const&, std::size_t) {
    return std::vector<std::vector<double>>{};
  };
  CHECK_THROWS_WITH(
      simulation_based_calibration(prior, data, posterior, {.simulations = negative}, key),
      Catch::Contains("simulations = -1"));
  CHECK_THROWS_WITH(
      simulation_based_calibration(prior, data, posterior, {.draws = negative}, key),
      Catch::Contains("draws = -1"));
  CHECK_THROWS_WITH(
      simulation_based_calibration(prior, data, posterior, {.false_alarm = undefined}, key),
      Catch::Contains("a probability of nan of a false alarm"));
  auto const state = [](random_key const&) { return 0.0; };
  auto const change = [](double&, random_key const&) {};
  auto const statistics = [](double) { return std::vector{0.0}; };
  CHECK_THROWS_WITH(
      geweke_joint_test(state, change, change, statistics, {.iterations = negative}, key),
      Catch::Contains("iterations = -1"));
}

// Sanitizers reserve address space, so that a limit has another meaning.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define OVERDUB_TEST_SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define OVERDUB_TEST_SANITIZED
#endif
#endif
#ifndef OVERDUB_TEST_SANITIZED
namespace {

struct wide : targets::standard_normal {
  std::size_t variables = 20000;
  bool greedy = false;
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (std::size_t i = 1; i <= variables; ++i) all.push_back("x." + std::to_string(i));
    return all;
  }
  void report(std::span<double const>, std::span<double> out) const {
    std::fill(out.begin(), out.end(), 1.0);
  }
  double operator()(std::span<double const> q, std::span<double> g) const {
    if (greedy) (void)std::vector<double>(std::size_t{1} << 36);
    return targets::standard_normal::operator()(q, g);
  }
};

// Runs f in a process that may allocate this number of further bytes, and returns its output.
std::string with_little_memory(std::size_t bytes, std::function<std::string()> const& f) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  pid_t const child = ::fork();
  if (child == 0) {
    std::ifstream pages("/proc/self/statm");
    std::size_t count = 0;
    pages >> count;
    std::size_t const limit = count * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) + bytes;
    rlimit const small{.rlim_cur = limit, .rlim_max = limit};
    ::setrlimit(RLIMIT_AS, &small);
    std::string const said = f();
    (void)!::write(ends[1], said.data(), said.size());
    std::_Exit(0);
  }
  ::close(ends[1]);
  std::string said;
  char text[1000];
  for (ssize_t n; (n = ::read(ends[0], text, sizeof text)) > 0;)
    said.append(text, static_cast<std::size_t>(n));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  return said;
}

} // namespace

TEST_CASE("an out-of-memory run reports what was too large, and keeps its draws") {
  std::string const base = "/tmp/overdub_test_memory_" + std::to_string(::getpid());
  std::string const said = with_little_memory(std::size_t{200} << 20, [&]() -> std::string {
    try {
      (void)sample(wide{}, {.chains = 1, .warmup = 0, .draws = 100000, .threads = 1, .csv = base});
    } catch (sampling_error const& e) {
      bool const is_kept = e.so_far->size() > 100 && e.so_far->values(0, e.so_far->size() - 1)[19999] == 1 &&
                           e.files == std::vector<std::string>{base + "_1.csv"};
      bool is_bad_alloc = false;
      try {
        std::rethrow_exception(e.cause);
      } catch (std::bad_alloc const&) {
        is_bad_alloc = true;
      }
      return (is_kept && is_bad_alloc ? "kept; " : "lost; ") + std::string(e.what());
    }
    return "nothing was thrown";
  });
  CHECK_THAT(
      said, Catch::StartsWith(
                "kept; overdub: chain 1: there is no memory for one more draw of 20000 variables: its draws "
                "take "));
  CHECK_THAT(said, Catch::Contains(" MiB, and twice that was requested; the "));
  CHECK_THAT(
      said, Catch::Contains(" draws so far are kept, in so_far and in files; keep less: thin = 10 keeps"));
  CHECK(read_csv(base + "_1.csv").chain.size() > 100);
  std::remove((base + "_1.csv").c_str());
}

TEST_CASE("a target without memory, and one of too many dimensions, are rejected with a diagnostic") {
  wide greedy;
  greedy.greedy = true;
  greedy.variables = 1;
  CHECK_THROWS_WITH(
      sample(greedy, {.chains = 1}),
      Catch::StartsWith(
          "overdub: chain 1: there is no memory for the chain's beginning: what its target, metric and "
          "algorithm keep; the 0 draws so far are kept"));
  CHECK(with_little_memory(std::size_t{100} << 20, []() -> std::string {
          try {
            (void)sample(targets::standard_normal{100'000'000}, {.chains = 1});
          } catch (inference_error const& e) {
            return e.what();
          }
          return "nothing was thrown";
        }) == "overdub: there is no memory for the names of a target of dimension 100000000");
  CHECK_THROWS_WITH(
      sample(targets::standard_normal{negative}, {.chains = 1}),
      "overdub: the target's dimension = -1: it is a count, and not negative");
}
#endif
