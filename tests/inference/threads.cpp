// Chains on threads: the draws do not depend on threads, a run that is stopped keeps its draws, and errors are passed to the caller.
#include "catch.hpp"
#include "inference/targets.hpp"

#include <overdub/inference/chains.hpp>
#include <overdub/inference/summary.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace overdub::inference;

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

TEST_CASE("the draws are the same on any number of threads") {
  sampling_settings settings{.chains = 5, .warmup = 150, .draws = 50, .seed = 9, .threads = 1};
  std::vector<double> const expected = all_of(sample(targets::correlated_normal{3}, settings));
  CHECK(expected.size() == 5 * 50 * 10);
  for (unsigned const threads : {2U, 3U, 5U, 16U}) {
    settings.threads = threads;
    CHECK(all_of(sample(targets::correlated_normal{3}, settings)) == expected);
  }
  settings.on_progress = [](progress const&) {};
  CHECK(all_of(sample(targets::correlated_normal{3}, settings)) == expected);
  settings.seed = 10;
  CHECK(all_of(sample(targets::correlated_normal{3}, settings)) != expected);
}

TEST_CASE("each chain and transition has its own custom random stream") {
  std::atomic<int> made = 0;
  auto const streams = [&](std::uint64_t chain, std::uint64_t transition) {
    ++made;
    std::seed_seq seed{std::uint64_t{4}, chain, transition};
    return std::mt19937_64(seed);
  };
  sampling_settings const settings{.chains = 2, .warmup = 30, .draws = 20, .threads = 2};
  std::vector<double> const first =
      all_of(sample(targets::standard_normal{2}, settings, nuts_settings{}, streams));
  CHECK(made == 2 * (1 + 30 + 20));
  CHECK(all_of(sample(targets::standard_normal{2}, settings, nuts_settings{}, streams)) == first);
  // Chains differ.
  CHECK(first[7] != first[first.size() / 2 + 7]);
}

TEST_CASE("progress is reported for each transition, by one thread at a time, and may stop the run") {
  std::atomic<bool> stop = false;
  std::size_t calls = 0, before = 0;
  bool in_order = true;
  sampling_settings settings{.chains = 3, .warmup = 100, .draws = 100, .threads = 3, .stop = &stop};
  settings.on_progress = [&](progress const& p) {
    ++calls;
    in_order = in_order && p.done == ++before && p.all == 600 && p.chain < 3;
  };
  draws const whole = sample(targets::standard_normal{2}, settings);
  CHECK((in_order && calls == 600 && whole.size() == 300));

  settings.draws = 1000000;
  settings.on_progress = [&](progress const& p) { stop = p.done > 2000; };
  draws const part = sample(targets::standard_normal{2}, settings);
  CHECK(part.size() > 1000);
  CHECK(part.size() < 3000);
  for (std::size_t c = 0; c < 3; ++c)
    for (std::size_t i = 0; i < part.size(c) && i < 100; ++i)
      if (part.values(c, i)[0] != whole.values(c, i)[0]) stop = false;
  CHECK(stop); // the draws are those of a complete run
}

TEST_CASE("a run that is stopped in its warm-up has no draws") {
  std::atomic<bool> stop = false;
  sampling_settings settings{.chains = 2, .threads = 1, .stop = &stop};
  settings.on_progress = [&](progress const& p) { stop = p.done == 20; };
  draws const d = sample(targets::standard_normal{2}, settings);
  CHECK(d.size() == 0);
  CHECK(d.record(0).inverse_metric.size() == 2);
  CHECK(d.record(1).inverse_metric.empty()); // it did not begin
}

TEST_CASE("once a run is stopped, no chain begins: targets are not called, and cannot fail") {
  struct counting : targets::standard_normal {
    std::atomic<int>* calls;
    std::atomic<bool>* stop;
    int stop_at;
    double operator()(std::span<double const> q, std::span<double> gradient) const {
      int const call = ++*calls;
      *stop = *stop || call == stop_at;
      (void)targets::standard_normal::operator()(q, gradient);
      return std::numeric_limits<double>::quiet_NaN(); // no initial point
    }
  };
  for (int const at : {0, 1, 7}) {
    std::atomic<bool> stop = at == 0;
    std::atomic<int> calls = 0;
    draws const d = sample(counting{{}, &calls, &stop, at}, {.threads = 1, .stop = &stop});
    CHECK((d.size() == 0 && d.chains() == 4));
    CHECK(calls == at);
  }
  // The search of a step size is skipped, too, if the flag was set while the chain began.
  struct begins : counting {
    double operator()(std::span<double const> q, std::span<double> gradient) const {
      (void)counting::operator()(q, gradient);
      return 0;
    }
  };
  std::atomic<bool> stop = false;
  std::atomic<int> calls = 0;
  (void)sample(begins{{{}, &calls, &stop, 1}}, {.threads = 1, .stop = &stop});
  CHECK(calls == 1);
}

TEST_CASE("Ctrl-C stops a run, and its draws are kept") {
  stop_on_interrupt const interrupt;
  sampling_settings settings{
      .chains = 2, .warmup = 20, .draws = 1000000, .threads = 2, .stop = &interrupt.flag()};
  settings.on_progress = [&](progress const& p) {
    if (p.done == 500) std::raise(SIGINT);
  };
  draws const d = sample(targets::standard_normal{2}, settings);
  CHECK(d.size() > 400);
  CHECK(d.size() < 1000);
}

TEST_CASE("exceptions of a target or of on_progress propagate to the caller, of the first failed chain") {
  struct failing : targets::standard_normal {
    int calls = 0;
    double operator()(std::span<double const> q, std::span<double> gradient) {
      if (++calls > 50) throw std::runtime_error("the target's own");
      return targets::standard_normal::operator()(q, gradient);
    }
  };
  CHECK_THROWS_WITH(
      sample(failing{}, {.threads = 3}), Catch::Matches("overdub: chain [123]: the target's own"));
  sampling_settings settings{.threads = 2};
  settings.on_progress = [](progress const& p) {
    if (p.done == 100) throw std::runtime_error("progress's own");
  };
  CHECK_THROWS_WITH(sample(targets::standard_normal{1}, settings), Catch::Contains("progress's own"));
}

TEST_CASE("an error ends a run, and carries the draws of all chains so far") {
  struct failing : targets::standard_normal { // in chain 2, in the report of its 30th draw
    int reports = 0;
    std::vector<std::string> names() const { return {"x"}; }
    void report(std::span<double const> q, std::span<double> out) {
      out[0] = 17;
      if (++reports == 30 && *second) throw std::out_of_range("no more");
      out[0] = q[0];
    }
    std::shared_ptr<bool> second = std::make_shared<bool>(false);
  };
  failing target;
  sampling_settings settings{.chains = 3, .warmup = 50, .draws = 40, .threads = 1};
  settings.on_progress = [&](progress const& p) { *target.second = p.done >= 90; };
  try {
    (void)sample(target, settings);
    FAIL("nothing was thrown");
  } catch (sampling_error const& e) {
    CHECK(std::string(e.what()) == "overdub: chain 2: no more");
    CHECK(e.chain == 1);
    CHECK_THROWS_AS(std::rethrow_exception(e.cause), std::out_of_range);
    REQUIRE(e.so_far->chains() == 3);
    CHECK((e.so_far->size(0) == 40 && e.so_far->size(1) == 29 && e.so_far->size(2) == 0));
    CHECK(e.so_far->column("x").values.back() != 17); // the draw whose report failed is not stored
    *target.second = false;
    settings.on_progress = {};
    std::vector<double> const whole = all_of(sample(target, settings)), part = all_of(*e.so_far);
    CHECK(std::equal(part.begin(), part.end(), whole.begin()));
  }
}

TEST_CASE("divergences, energies and depths are those of all transitions, thinned or not") {
  auto const run = [](std::size_t thin) {
    return sample(
        targets::funnel{5},
        {.chains = 2, .warmup = 0, .draws = 400, .thin = thin, .seed = 3, .step_size = 0.6},
        nuts_settings{.max_depth = 4});
  };
  draws const all = run(1), few = run(10);
  REQUIRE((all.size() == 800 && few.size() == 80));
  CHECK(few.divergences() == all.divergences());
  std::size_t divergent = 0, deep = 0;
  for (std::size_t c = 0; c < 2; ++c) {
    std::vector<double> energies;
    for (std::size_t i = 0; i < 400; ++i) {
      divergent += all.statistics(c, i).divergent;
      deep += all.statistics(c, i).tree_depth == 4;
      energies.push_back(all.statistics(c, i).energy);
    }
    CHECK(summary(few).energy_fractions()[c] == Approx(ebfmi(energies)).epsilon(1e-9));
  }
  CHECK((divergent > 0 && deep > 10));
  summary const s(few);
  CHECK((s.transitions() == 800 && s.divergences() == divergent && s.saturations() == deep));
  auto const warnings = s.warnings();
  std::string const text = std::to_string(deep) + " of 800 transitions doubled as often as max_depth allows";
  CHECK(std::ranges::any_of(warnings, [&](std::string const& w) { return w.starts_with(text); }));
}

TEST_CASE("a chain begins at the given point, or at the first of a hundred draws of finite density") {
  struct quadrant { // finite if all are positive: in one of 32 tries
    std::size_t dimension() const { return 5; }
    double operator()(std::span<double const> q, std::span<double> gradient) const {
      double sum = 0;
      for (std::size_t i = 0; i < 5; ++i) {
        gradient[i] = 1 / q[i] - 1;
        sum += std::log(q[i]) - q[i];
      }
      return sum;
    }
  };
  draws const d = sample(quadrant{}, {.chains = 3, .warmup = 100, .draws = 10, .seed = 2});
  CHECK(d.size() == 30);
  struct nowhere {
    std::size_t dimension() const { return 1; }
    double operator()(std::span<double const>, std::span<double> gradient) const {
      gradient[0] = 0;
      return std::numeric_limits<double>::quiet_NaN();
    }
  };
  CHECK_THROWS_WITH(
      sample(nowhere{}), Catch::Contains("100 initial points, drawn between -2 and 2,") &&
                             Catch::Contains("of the last, the log density is") && Catch::Contains("nan"));
  CHECK_THROWS_WITH(
      sample(quadrant{}, {.chains = 1, .initial = {{1, 1, -1, 1, 1}}}),
      Catch::Contains("the log density is"));
  sampling_settings const from{
      .chains = 1, .warmup = 0, .draws = 1, .initial = {{1, 2, 3, 1, 1}}, .step_size = 1e-9};
  CHECK(sample(quadrant{}, from).values(0, 0)[2] == Approx(3));
}

TEST_CASE("invalid settings are rejected with a diagnostic") {
  auto const refused = [](sampling_settings const& s, char const* why) {
    CHECK_THROWS_WITH(sample(targets::standard_normal{2}, s), Catch::Contains(why));
  };
  refused({.thin = 0}, "thinned by 0");
  refused({.initial = {{1, 2}}}, "1 initial points for 4 chains");
  refused({.chains = 1, .initial = {{1}}}, "an initial point of 1 numbers for a target of dimension 2");
  refused({.step_size = -1}, "a step size of -1");
  refused({.inverse_metric = {1}}, "an inverse metric of 1 elements");
  sampling_settings s;
  s.adaptation.target_acceptance = 1;
  refused(s, "a target acceptance of 1");
}

TEST_CASE("a progress bar is drawn on terminals, and not elsewhere") {
  auto const drawn = [](auto const& make) {
    std::FILE* const file = std::tmpfile();
    sampling_settings settings{.chains = 2, .warmup = 10, .draws = 10, .threads = 2};
    settings.on_progress = make(file);
    (void)sample(targets::standard_normal{1}, settings);
    std::rewind(file);
    std::string text(1000, ' ');
    text.resize(std::fread(text.data(), 1, text.size(), file));
    std::fclose(file);
    return text;
  };
  CHECK(drawn([](std::FILE* f) { return progress_bar(f); }).empty());
  std::string const bar = drawn([](std::FILE* f) { return progress_bar(f, true); });
  CHECK(bar.find("\rwarm-up  [") != std::string::npos);
  CHECK(bar.find("\rsampling [##############################] 100 %") != std::string::npos);
  CHECK(bar.find("acceptance 0.") != std::string::npos);
  CHECK(bar.ends_with("divergences 0 \n"));
}
