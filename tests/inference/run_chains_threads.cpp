// Chains of any kernel on threads: the draws depend on the key alone, and a run that ends early keeps its draws.
#include "catch.hpp"

#include <overdub/inference/run_chains.hpp>
#include <overdub/inference/summary.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace overdub::inference;
using overdub::random_generator;
using overdub::random_key;

// Random-walk Metropolis of a normal density; its scale is adapted in the warm-up.
struct walk {
  double x = 0, scale = 1;
  bool learns = true;
  double mean = 3, sd = 2;

  double log_density(double at) const { return -0.5 * (at - mean) * (at - mean) / (sd * sd); }
  kernel_statistics transition(random_key const& key) {
    random_generator g(key);
    double const there = x + scale * (2 * g.uniform() - 1);
    double const acceptance = std::min(1.0, std::exp(log_density(there) - log_density(x)));
    if (g.uniform() < acceptance) x = there;
    accepted = acceptance;
    return {.log_density = log_density(x), .acceptance = acceptance};
  }
  void adapt(std::size_t iteration, std::size_t of) {
    if (learns && iteration < of)
      scale *= std::exp((accepted - 0.4) / std::sqrt(static_cast<double>(iteration) + 1));
  }
  std::vector<std::string> names() const { return {"x", "scale"}; }
  void report(std::span<double> out) const {
    out[0] = x;
    out[1] = scale;
  }
  double accepted = 0;
};

// A minimal kernel, which cannot be copied.
struct plain : walk {
  plain() = default;
  plain(plain&&) = default;
  void adapt() = delete;
};

auto const from_prior = [](std::size_t, random_key const& key) {
  return walk{.x = 20 * random_generator(key).uniform() - 10};
};

std::vector<double> all_of(draws const& d) {
  std::vector<double> all;
  for (std::size_t c = 0; c < d.chains(); ++c)
    for (std::size_t i = 0; i < d.size(c); ++i) {
      for (double const v : columns_of(d.statistics(c, i))) all.push_back(v);
      all.insert(all.end(), d.values(c, i).begin(), d.values(c, i).end());
    }
  return all;
}

} // namespace

TEST_CASE("chains of a kernel have the moments of its density, without warnings") {
  auto const make = [](std::size_t, random_key const&) { return walk{.scale = 5, .learns = false}; };
  draws const d = run_chains(make, {.warmup = 100, .draws = 20000, .thin = 4}, random_key(1));
  REQUIRE(d.size() == 20000);
  summary const s(d);
  CHECK(s["x"].mean == Approx(3).margin(5 * s["x"].mcse));
  CHECK(s["x"].sd == Approx(2).epsilon(0.05));
  CHECK(s.warnings().empty()); // in particular none of energies, which kernels do not have
  CHECK(d.column("accept_stat__").values[5] <= 1);
  CHECK(d.statistics(2, 7).log_density == Approx(walk{}.log_density(d.values(2, 7)[0])));
  CHECK(d.record(0).totals.transitions() == 20000);
}

TEST_CASE("a kernel adapts in the warm-up, and not after it") {
  draws const d = run_chains(from_prior, {.chains = 1, .warmup = 300, .draws = 100}, random_key(1));
  CHECK(d.values(0, 0)[1] > 3); // it adapted to larger steps
  CHECK(d.values(0, 0)[1] == d.values(0, 99)[1]);
}

TEST_CASE("draws of kernels are the same on any number of threads, and a prefix of a longer run") {
  run_settings settings{.chains = 5, .warmup = 30, .draws = 50, .threads = 1};
  std::vector<double> const expected = all_of(run_chains(from_prior, settings, random_key(4)));
  REQUIRE(expected.size() == 5 * 50 * 9);
  for (unsigned const threads : {2U, 3U, 16U}) {
    settings.threads = threads;
    CHECK(all_of(run_chains(from_prior, settings, random_key(4))) == expected);
  }
  CHECK(all_of(run_chains(from_prior, settings, random_key(4).at("else"))) != expected);
  settings.chains = 1;
  settings.draws = 70;
  std::vector<double> const longer = all_of(run_chains(from_prior, settings, random_key(4)));
  CHECK(std::equal(expected.begin(), expected.begin() + 50 * 9, longer.begin()));
}

TEST_CASE("transition t of chain c has the key at(c).transition(t), and kernels need not be copyable") {
  draws const d = run_chains(
      [](std::size_t, random_key const&) { return plain(); }, {.chains = 2, .warmup = 2, .draws = 3},
      random_key(6));
  plain by_hand;
  for (std::uint64_t t = 1; t <= 5; ++t) {
    (void)by_hand.transition(random_key(6).at(1).transition(t));
    if (t > 2) CHECK(d.values(1, t - 3)[0] == by_hand.x);
  }
}

TEST_CASE("each chain is constructed once, with the key of its transition 0") {
  std::atomic<int> made = 0;
  auto const make = [&](std::size_t c, random_key const& key) {
    made += key == random_key(6).at(c).transition(0) ? 1 : 100;
    return walk{};
  };
  CHECK(run_chains(make, {.chains = 3, .warmup = 0, .draws = 1}, random_key(6)).size() == 3);
  CHECK(made == 3);
}

TEST_CASE("a run of kernels that is stopped keeps its draws; one that is stopped before it begins has none") {
  std::atomic<bool> stop = false;
  run_settings settings{.chains = 2, .warmup = 10, .draws = 1000000, .threads = 2, .stop = &stop};
  std::size_t all = 0;
  settings.on_progress = [&](progress const& p) {
    stop = p.done >= 500;
    all = p.all;
  };
  draws const d = run_chains(from_prior, settings, random_key(1));
  CHECK((d.size() > 400 && d.size() < 600 && all == 2000020));
  CHECK(run_chains(from_prior, settings, random_key(1)).size() == 0);
}

TEST_CASE("an exception of a kernel or of its maker keeps the earlier draws") {
  struct fragile : walk {
    int calls = 0;
    kernel_statistics transition(random_key const& key) {
      if (++calls > 30) throw std::runtime_error("the kernel's own");
      return walk::transition(key);
    }
  };
  run_settings const settings{.chains = 2, .warmup = 10, .draws = 50, .threads = 1};
  try {
    (void)run_chains([](std::size_t, random_key const&) { return fragile(); }, settings, random_key(1));
    FAIL("nothing was thrown");
  } catch (sampling_error const& e) {
    CHECK(std::string(e.what()) == "overdub: chain 1: the kernel's own");
    CHECK(e.so_far->size(0) == 20);
  }
  for (std::size_t const bad : {0U, 1U}) {
    auto const make = [&](std::size_t c, random_key const&) {
      if (c == bad) throw std::runtime_error("no such chain");
      return walk{};
    };
    try {
      (void)run_chains(make, settings, random_key(1));
      FAIL("nothing was thrown");
    } catch (sampling_error const& e) {
      CHECK(e.chain == bad);
      CHECK(e.so_far->size() == 50 * bad);
    }
  }
}

TEST_CASE("invalid settings, and kernels of different variables, are rejected") {
  CHECK_THROWS_WITH(run_chains(from_prior, {.thin = 0}, random_key(1)), Catch::Contains("thinned by 0"));
  struct named : walk {
    std::string name;
    std::vector<std::string> names() const { return {name, "scale"}; }
  };
  auto const different = [](std::size_t c, random_key const&) { return named{{}, c == 0 ? "x" : "y"}; };
  CHECK_THROWS_WITH(
      run_chains(different, {}, random_key(1)), "overdub: chain 2: the kernel has other names than that of "
                                                "chain 1: all chains report the same variables");
  CHECK(run_chains(from_prior, {.chains = 0}, random_key(1)).chains() == 0);
}

TEST_CASE("files of kernels can be read") {
  std::string const base = "/tmp/overdub_run_chains";
  draws const d =
      run_chains(from_prior, {.chains = 2, .warmup = 10, .draws = 20, .csv = base}, random_key(17));
  csv_file const one = read_csv(base + "_2.csv");
  CHECK((one.whole && one.chain.size() == 20 && one.chain.record(0).id == 2));
  for (std::size_t i = 0; i < 20; ++i) CHECK(std::ranges::equal(one.chain.values(0, i), d.values(1, i)));
  auto const has = [&](csv_setting const& s) {
    return std::ranges::find(one.settings, s) != one.settings.end();
  };
  CHECK((has({"seed", "17", 1}) && has({"algorithm", "fixed_param", 2}) && has({"num_warmup", "10", 2})));
  draws const named =
      run_chains(from_prior, {.chains = 1, .warmup = 0, .draws = 1, .csv = base}, random_key(17).at("here"));
  std::ifstream file(base + "_1.csv");
  std::string const text{std::istreambuf_iterator<char>(file), {}};
  CHECK(text.find("seed") == std::string::npos);
  CHECK(text.find("Step size") == std::string::npos);
  for (char const* end : {"_1.csv", "_2.csv"}) std::remove((base + end).c_str());
}
