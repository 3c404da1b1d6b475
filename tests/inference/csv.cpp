// Files of draws: written files are read to the same bits; CmdStan's and truncated files are read; errors have a diagnostic.
#include "catch.hpp"
#include "inference/targets.hpp"

#include <overdub/inference/chains.hpp>
#include <overdub/inference/csv.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <limits>
#include <memory>
#include <random>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

using namespace overdub::inference;

struct temporary_file {
  std::string path;
  explicit temporary_file(std::string const& name)
      : path("/tmp/overdub_test_" + std::to_string(::getpid()) + "_" + name) {}
  temporary_file(std::string const& name, std::string const& contents) : temporary_file(name) {
    std::ofstream(path) << contents;
  }
  ~temporary_file() {
    std::remove(path.c_str());
    std::remove((path + ".partial").c_str());
  }
  temporary_file(temporary_file const&) = delete;
  temporary_file& operator=(temporary_file const&) = delete;

  std::string contents() const {
    std::ostringstream all;
    all << std::ifstream(path).rdbuf();
    return all.str();
  }
};

draws some(std::size_t chains = 1) {
  draws d({"mu", "theta.1"}, chains);
  double const infinity = std::numeric_limits<double>::infinity();
  for (std::size_t c = 0; c < chains; ++c) {
    for (std::size_t i = 0; i < 3; ++i) {
      auto const values = d.append(
          c, {.log_density = -1.0 / 3 - static_cast<double>(i),
              .accept_statistic = 0.1 * static_cast<double>(i + 1),
              .step_size = 0.7,
              .tree_depth = 3,
              .leapfrog_steps = 7,
              .divergent = i == 1,
              .energy = 1e300});
      values[0] = i == 2 ? -infinity : 1.0 / 7 + static_cast<double>(c);
      values[1] = i == 2 ? 5e-324 : 1e-17 * static_cast<double>(i);
    }
    d.record(c) = {
        .id = c + 1,
        .step_size = 0.7,
        .metric = "diag_e",
        .inverse_metric = {0.1, 1.0 / 3},
        .warmup_seconds = 0.5,
        .sampling_seconds = 1.25};
  }
  return d;
}

bool same_draws(draws const& a, std::size_t ac, draws const& b, std::size_t bc) {
  if (a.names() != b.names() || a.size(ac) != b.size(bc)) return false;
  for (std::size_t i = 0; i < a.size(ac); ++i)
    if (!std::ranges::equal(a.values(ac, i), b.values(bc, i)) ||
        columns_of(a.statistics(ac, i)) != columns_of(b.statistics(bc, i)))
      return false;
  return true;
}
bool same(draws const& a, std::size_t ac, draws const& b, std::size_t bc) {
  chain_record const &x = a.record(ac), &y = b.record(bc);
  return same_draws(a, ac, b, bc) && x.id == y.id && x.step_size == y.step_size && x.metric == y.metric &&
         x.inverse_metric == y.inverse_metric && x.warmup_seconds == y.warmup_seconds &&
         x.sampling_seconds == y.sampling_seconds;
}

// Throws in an evaluation.
struct fragile : targets::standard_normal {
  int left = 0;
  explicit fragile(int evaluations) : targets::standard_normal{1}, left(evaluations) {}
  double operator()(std::span<double const> q, std::span<double> gradient) {
    if (left-- == 0) throw std::runtime_error("the table ends here");
    return targets::standard_normal::operator()(q, gradient);
  }
};

// As CmdStan's guide describes its files ("Stan CSV File Format"), with two draws of the warm-up.
std::string const cmdstan = R"(# stan_version_major = 2
# stan_version_minor = 33
# model = bernoulli_model
# method = sample (Default)
#   sample
#     num_samples = 2
#     save_warmup = 1
#     algorithm = hmc (Default)
#       hmc
#         metric = dense_e
# id = 3
lp__,accept_stat__,stepsize__,treedepth__,n_leapfrog__,divergent__,energy__,theta.1,theta.2
-9.1,0.5,1,1,3,0,9.2,0.1,0.2
-9.2,0.5,1,1,3,1,9.2,0.1,0.2
# Adaptation terminated
# Step size = 0.809818
# Elements of inverse mass matrix:
# 0.961989, 0.1
# 0.1, 2.5
-6.74827,0.92,0.809818,2,3,0,6.75,0.247093,-1e-05
-6.8,1,0.809818,1,1,1,7.1,nan,inf
# 
#  Elapsed Time: 0.005 seconds (Warm-up)
#                0.017 seconds (Sampling)
#                0.022 seconds (Total)
# 
)";

} // namespace

TEST_CASE("reading a written file returns the same bits") {
  temporary_file const file("round.csv");
  std::vector<csv_setting> const settings = {
      {"method", "sample", 0}, {"sample", "", 1}, {"num_samples", "3", 2}, {"id", "1", 0}};
  draws const d = some();
  write_csv(file.path, d, 0, settings);
  csv_file const read = read_csv(file.path);
  CHECK(read.settings == settings);
  CHECK(read.whole);
  CHECK(same(read.chain, 0, d, 0));
  temporary_file const again("again.csv");
  write_csv(again.path, read.chain, 0, read.settings);
  CHECK(again.contents() == file.contents());
}

TEST_CASE("the layout is CmdStan's") {
  temporary_file const file("layout.csv");
  std::vector<csv_setting> const settings = {{"method", "sample", 0}, {"sample", "", 1}, {"thin", "1", 2}};
  draws d({"mu"}, 1);
  d.append(
      0, {.log_density = -1,
          .accept_statistic = 0.5,
          .step_size = 0.25,
          .tree_depth = 2,
          .leapfrog_steps = 3,
          .energy = 2})[0] = 0.1;
  d.record(0) = {
      .id = 1,
      .step_size = 0.25,
      .metric = "dense_e",
      .inverse_metric = {2, 1, 1, 3},
      .warmup_seconds = 1,
      .sampling_seconds = 2};
  write_csv(file.path, d, 0, settings);
  CHECK(file.contents() == R"(# method = sample
#   sample
#     thin = 1
lp__,accept_stat__,stepsize__,treedepth__,n_leapfrog__,divergent__,energy__,mu
# Adaptation terminated
# Step size = 0.25
# Elements of inverse mass matrix:
# 2, 1
# 1, 3
-1,0.5,0.25,2,3,0,2,0.1
# 
#  Elapsed Time: 1 seconds (Warm-up)
#                2 seconds (Sampling)
#                3 seconds (Total)
# 
)");
}

TEST_CASE("CmdStan's files are read, and draws of the warm-up are skipped") {
  temporary_file const file("cmdstan.csv", cmdstan);
  csv_file const read = read_csv(file.path);
  CHECK(read.whole);
  CHECK(read.chain.names() == std::vector<std::string>{"theta.1", "theta.2"});
  REQUIRE(read.chain.size() == 2);
  CHECK(read.chain.values(0, 0)[1] == -1e-05);
  CHECK(std::isnan(read.chain.values(0, 1)[0]));
  CHECK(std::isinf(read.chain.values(0, 1)[1]));
  CHECK(read.chain.statistics(0, 0).leapfrog_steps == 3);
  CHECK(read.chain.divergences() == 1);
  chain_record const& r = read.chain.record(0);
  CHECK((r.id == 3 && r.step_size == 0.809818 && r.metric == "dense_e"));
  CHECK(r.inverse_metric == std::vector<double>{0.961989, 0.1, 0.1, 2.5});
  CHECK((r.warmup_seconds == 0.005 && r.sampling_seconds == 0.017));
  REQUIRE(read.settings.size() == 11);
  CHECK(read.settings[3] == csv_setting{"method", "sample", 0});
  CHECK(read.settings[9] == csv_setting{"metric", "dense_e", 4});
}

TEST_CASE("a truncated file is read up to its last complete line") {
  std::size_t const names = cmdstan.find('\n', cmdstan.find("lp__")) + 1;
  std::size_t const second = cmdstan.find("-6.8,");
  std::size_t const warmup = cmdstan.find('\n', names) + 1; // the first draw of the warm-up is complete
  std::size_t const adapted = cmdstan.find('\n', cmdstan.find("# Adaptation")) + 1;
  std::size_t minimum = 9, maximum = 0; // numbers of draws
  for (std::size_t end = names; end <= cmdstan.size(); ++end) {
    temporary_file const file("partial.csv", cmdstan.substr(0, end));
    if (end >= warmup && end < adapted) {
      CHECK_THROWS_WITH(read_csv(file.path), Catch::Contains("where the warm-up ends is not known"));
      continue;
    }
    csv_file const read = read_csv(file.path);
    CHECK(read.whole == (end >= cmdstan.size() - 3));
    CHECK(read.chain.size() == (end < second ? 0U : 1U) + (end > cmdstan.find('\n', second) ? 1U : 0U));
    minimum = std::min(minimum, read.chain.size());
    maximum = std::max(maximum, read.chain.size());
  }
  CHECK((minimum == 0 && maximum == 2));
}

TEST_CASE("chains of one model are read together") {
  draws const d = some(2);
  temporary_file const one("one.csv"), two("two.csv"), other("other.csv", cmdstan);
  write_csv(one.path, d, 0, std::vector<csv_setting>{{"id", "1", 0}});
  write_csv(two.path, d, 1, std::vector<csv_setting>{{"id", "2", 0}});
  draws const both = read_csv({one.path, two.path});
  REQUIRE(both.chains() == 2);
  CHECK((same(both, 0, d, 0) && same(both, 1, d, 1)));
  CHECK_THROWS_WITH(
      read_csv(std::vector<std::string>{one.path, other.path}), Catch::Contains("have different variables"));
}

TEST_CASE("paths in braces are complete paths, not suffixes") {
  draws const d = some(2);
  temporary_file const one("one.csv"), two("two.csv");
  write_csv(one.path, d, 0);
  write_csv(two.path, d, 1);
  char const *const first = one.path.c_str(), *const second = two.path.c_str();
  CHECK(read_csv({first, second}).chains() == 2);
  CHECK(read_csv({first}).chains() == 1);
  CHECK_THROWS_WITH(read_csv({"/nowhere/a.csv", "/nowhere/b.csv"}), Catch::Contains("/nowhere/a.csv"));
  CHECK(read_csv(first).chain.chains() == 1);
}

TEST_CASE("names are checked before a file is written, and have CmdStan's form") {
  temporary_file const file("names.csv", "old\n");
  using names = std::vector<std::string>;
  CHECK_THROWS_WITH(
      csv_writer(file.path, {}, names{"a", "b,c"}),
      Catch::Contains("could not be read from a file of draws"));
  CHECK_THROWS_WITH(
      csv_writer(file.path, {}, names{"a", "a"}), Catch::Contains("two variables are called a"));
  CHECK_THROWS_WITH(
      csv_writer(file.path, {}, names{"a", "b\xff"}),
      "overdub: the name of the variable \"b\xEF\xBF\xBD\" is no UTF-8: other programs could not read it");
  CHECK_THROWS_WITH(draws({"\xC3"}, 1), Catch::Contains("is no UTF-8"));
  CHECK(draws({"µ"}, 1).names() == names{"µ"});
  CHECK(file.contents() == "old\n");
  csv_writer(file.path, {}, names{"theta[1,2]", "mu"}).commit();
  CHECK(read_csv(file.path).chain.names() == names{"theta.1.2", "mu"});

  struct comma : targets::standard_normal {
    std::vector<std::string> names() const { return {"mu,sigma"}; }
    void report(std::span<double const>, std::span<double>) const {}
  };
  temporary_file const base("comma"), one("comma_1.csv", "old\n");
  CHECK_THROWS_WITH(sample(comma{}, {.csv = base.path}), Catch::Contains("the variable \"mu,sigma\""));
  CHECK(one.contents() == "old\n");
}

TEST_CASE("each draw is in the file once it is written, and none is accepted after the end") {
  temporary_file const file("flush.csv");
  draws const d = some();
  csv_writer out(file.path, {}, d.names());
  out.adapted(d.record(0));
  for (std::size_t i = 0; i < 3; ++i) {
    out.draw(d.statistics(0, i), d.values(0, i));
    CHECK(read_csv(file.path).chain.size() == i + 1);
  }
  out.finish(d.record(0));
  std::string const whole = file.contents();
  CHECK_THROWS_WITH(out.draw(d.statistics(0, 0), d.values(0, 0)), Catch::Contains("is finished"));
  CHECK_THROWS_WITH(out.finish(d.record(0)), Catch::Contains("is finished"));
  CHECK(file.contents() == whole);
}

TEST_CASE("a writer that was moved from throws") {
  temporary_file const file("moved.csv");
  csv_writer from(file.path, {}, std::vector<std::string>{"a"});
  csv_writer const to(std::move(from));
  char const* const moved = "overdub: a csv_writer is used after it was moved from";
  CHECK_FALSE(from.has_draws());
  CHECK_THROWS_WITH(from.written_to(), moved);
  CHECK_THROWS_WITH(from.draw({}, std::vector{1.0}), moved);
  CHECK_THROWS_WITH(from.commit(), moved);
}

TEST_CASE("a file has the seed that was used, or none") {
  temporary_file const base("seed"), one("seed_1.csv");
  sampling_settings const settings{.chains = 1, .warmup = 0, .draws = 1, .seed = 5, .csv = base.path};
  auto const seed = [&]() -> std::string {
    for (csv_setting const& s : read_csv(one.path).settings)
      if (s.name == "seed") return s.value;
    return "none";
  };
  targets::standard_normal const target;
  (void)sample(target, settings);
  CHECK(seed() == "5");
  (void)sample(target, settings, nuts_settings{}, mersenne_streams{77});
  CHECK(seed() == "77");
  auto const own = [](std::uint64_t, std::uint64_t t) { return std::mt19937_64(t); };
  (void)sample(target, settings, nuts_settings{}, own);
  CHECK(seed() == "none");
}

TEST_CASE("files are replaced together at the end, and none if the run was stopped before its first draw") {
  temporary_file const base("stale"), one("stale_1.csv", "old\n"), two("stale_2.csv", "old\n");
  std::atomic<bool> stop = true;
  sampling_settings settings{
      .chains = 2, .warmup = 10, .draws = 10, .threads = 1, .stop = &stop, .csv = base.path};
  auto const is_old = [&] {
    return one.contents() == "old\n" && two.contents() == "old\n" && !std::ifstream(one.path + ".partial") &&
           !std::ifstream(two.path + ".partial");
  };
  (void)sample(targets::standard_normal{1}, settings);
  CHECK(is_old());
  stop = false;
  settings.on_progress = [&](progress const& p) { stop = p.done == 9; };
  (void)sample(targets::standard_normal{1}, settings);
  CHECK(is_old());
  stop = false;
  settings.on_progress = [&](progress const& p) {
    stop = p.done == 15;
    CHECK((one.contents() == "old\n" && two.contents() == "old\n"));
  };
  (void)sample(targets::standard_normal{1}, settings);
  CHECK(read_csv(one.path).chain.size() == 5);
  CHECK(read_csv(two.path).chain.size() == 0); // no old draws of a chain that did not begin
}

TEST_CASE("a failed run leaves the earlier files, and its own draws in partial files") {
  temporary_file const base("failed"), one("failed_1.csv"), two("failed_2.csv");
  sampling_settings settings{.chains = 2, .warmup = 0, .draws = 50, .threads = 1, .csv = base.path};
  (void)sample(targets::standard_normal{1}, settings);
  std::string const first = one.contents(), second = two.contents();
  auto const failure = [&](int evaluations) {
    try {
      (void)sample(fragile(evaluations), settings);
    } catch (sampling_error const& e) {
      return e;
    }
    throw std::logic_error("nothing was thrown");
  };
  // It fails at once, without a file.
  CHECK(failure(0).files.empty());
  CHECK((one.contents() == first && two.contents() == second));
  CHECK_FALSE((std::ifstream(one.path + ".partial") || std::ifstream(two.path + ".partial")));
  // It fails in chain 1: the partial file has its draws, and remains when the next run fails at once.
  sampling_error const e = failure(100);
  CHECK(std::string(e.what()) == "overdub: chain 1: the table ends here");
  REQUIRE(e.files == std::vector<std::string>{one.path + ".partial"});
  CHECK(failure(0).files.empty());
  CHECK((one.contents() == first && two.contents() == second));
  draws const kept = read_csv(e.files);
  CHECK(kept.size() > 0);
  CHECK(same_draws(kept, 0, *e.so_far, 0));
  // A run that ends replaces all files.
  settings.seed = 2;
  (void)sample(targets::standard_normal{1}, settings);
  CHECK((one.contents() != first && two.contents() != second));
  CHECK_FALSE((std::ifstream(one.path + ".partial") || std::ifstream(two.path + ".partial")));
}

TEST_CASE("a run into new files that fails keeps its draws there, and no file without draws") {
  temporary_file const base("fresh"), one("fresh_1.csv");
  sampling_settings const settings{.chains = 1, .warmup = 0, .draws = 50, .csv = base.path};
  CHECK_THROWS_AS(sample(fragile(0), settings), sampling_error);
  CHECK_FALSE(std::ifstream(one.path));
  CHECK_THROWS_AS(sample(fragile(100), settings), sampling_error);
  csv_file const kept = read_csv(one.path);
  CHECK((kept.chain.size() > 0 && !kept.whole));
}

TEST_CASE("a second run into the same files is rejected before it begins, and the first one completes") {
  temporary_file const base("twice"), one("twice_1.csv"), two("twice_2.csv");
  for (bool const replaces : {false, true}) {
    sampling_settings settings{.chains = 2, .warmup = 10, .draws = 30, .threads = 1, .csv = base.path};
    int refused = 0;
    settings.on_progress = [&](progress const& p) {
      if (p.done % 20 != 0) return;
      CHECK_THROWS_WITH(
          sample(targets::standard_normal{1}, {.chains = 1, .csv = base.path}),
          "overdub: the draws cannot be written to " + one.path +
              ": another run writes to it now; give each run a name of its own");
      CHECK_THROWS_WITH(write_csv(two.path, some(), 0), Catch::Contains("another run writes to it now"));
      ++refused;
    };
    draws const d = sample(targets::standard_normal{1}, settings);
    CHECK(refused == 4);
    draws const read = read_csv({one.path, two.path});
    CHECK((same_draws(read, 0, d, 0) && same_draws(read, 1, d, 1)));
    CHECK(read_csv(two.path).whole);
    (void)replaces; // the second time the files exist
  }
}

TEST_CASE("the draws of a killed run are read, up to the last one whose progress was reported") {
  for (bool const replaces : {false, true}) {
    temporary_file const base("killed"), one("killed_1.csv");
    if (replaces) write_csv(one.path, some(), 0);
    pid_t const child = ::fork();
    if (child == 0) {
      sampling_settings settings{.chains = 1, .warmup = 10, .draws = 1000, .threads = 1, .csv = base.path};
      settings.on_progress = [&](progress const& p) {
        if (p.done == 60) std::raise(SIGKILL);
      };
      (void)sample(targets::standard_normal{1}, settings);
      std::_Exit(1);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFSIGNALED(status));
    CHECK(read_csv(replaces ? one.path + ".partial" : one.path).chain.size() == 50);
    if (replaces) CHECK(same(read_csv(one.path).chain, 0, some(), 0));
    std::remove(one.path.c_str());
    if (replaces)
      CHECK(read_csv(one.path).chain.size() == 50); // the partial file of a file that does not exist
  }
}

TEST_CASE("a write error does not end the run, and is reported at its end") {
  temporary_file const base("full"), one("full_1.csv"), two("full_2.csv");
  // The disk is full at 2000 bytes for this process.
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  auto const handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit const small{.rlim_cur = 2000, .rlim_max = before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  sampling_settings const settings{.chains = 2, .warmup = 20, .draws = 200, .seed = 4, .csv = base.path};
  std::shared_ptr<draws const> kept;
  std::string why;
  try {
    (void)sample(targets::standard_normal{1}, settings);
  } catch (sampling_error const& e) {
    kept = e.so_far;
    why = e.what();
  }
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
  std::signal(SIGXFSZ, handler);
  REQUIRE(kept != nullptr);
  CHECK(
      why == "overdub: chain 1: the draws could not be written to " + one.path +
                 ": File too large; what was written before is kept");
  CHECK((kept->size(0) == 200 && kept->size(1) == 200));
  csv_file const part = read_csv(one.path);
  CHECK_FALSE(part.whole);
  CHECK((part.chain.size() > 0 && part.chain.size() < 200));
  CHECK(part.chain.values(0, 0)[0] == kept->values(0, 0)[0]);
}

TEST_CASE("totals of a file are those of its draws, without an E-BFMI if it was thinned") {
  auto const reading = [](std::string const& setting) {
    std::string text = cmdstan;
    text.insert(text.find("# id"), setting);
    for (int i = 0; i < 9; ++i) {
      std::size_t const last = text.find("-6.8,");
      text.insert(last, "-6.8,1,0.8," + std::to_string(i) + ",1,0," + std::to_string(i % 3) + ",1,1\n");
    }
    temporary_file const file("totals.csv", text);
    return read_csv(file.path).chain.totals(0);
  };
  transition_totals const all = reading("#     max_depth = 7 (Default)\n#     thin = 1 (Default)\n");
  CHECK((all.transitions() == 11 && all.divergences() == 1 && all.saturations() == 2));
  CHECK(std::isfinite(all.energy_fraction()));
  transition_totals const thinned = reading("#     thin = 2\n");
  CHECK((thinned.transitions() == 11 && thinned.divergences() == 1 && thinned.saturations() == 0));
  CHECK(std::isnan(thinned.energy_fraction()));
}

TEST_CASE("sample writes the files during the run, and they equal the returned draws") {
  temporary_file const base("run"), one("run_1.csv"), two("run_2.csv");
  draws const d =
      sample(targets::eight_schools{}, {.chains = 2, .warmup = 60, .draws = 20, .seed = 5, .csv = base.path});
  draws const read = read_csv(std::vector<std::string>{one.path, two.path});
  for (std::size_t c = 0; c < 2; ++c) {
    CHECK(read.size(c) == 20);
    CHECK(read.record(c).inverse_metric == d.record(c).inverse_metric);
    for (std::size_t i = 0; i < 20; ++i) CHECK(std::ranges::equal(read.values(c, i), d.values(c, i)));
  }
  csv_file const file = read_csv(two.path);
  CHECK(file.whole);
  auto const has = [&](csv_setting const& s) {
    return std::ranges::find(file.settings, s) != file.settings.end();
  };
  CHECK(has({"num_samples", "20", 2}));
  CHECK(has({"delta", "0.8", 3}));
  CHECK(has({"engine", "nuts", 4}));
  CHECK(has({"max_depth", "10", 6}));
  CHECK(has({"metric", "diag_e", 4}));
  CHECK(has({"id", "2", 0}));
  CHECK(has({"seed", "5", 1}));
}

TEST_CASE("a run that is stopped leaves files with the draws so far") {
  temporary_file const base("stopped"), one("stopped_1.csv");
  std::atomic<bool> stop = false;
  sampling_settings settings{.chains = 1, .warmup = 50, .draws = 1000, .stop = &stop, .csv = base.path};
  settings.on_progress = [&](progress const& p) { stop = p.done == 60; };
  draws const d = sample(targets::standard_normal{2}, settings);
  CHECK(d.size() == 10);
  csv_file const file = read_csv(one.path);
  CHECK_FALSE(file.whole);
  CHECK(file.chain.size() == 10);
}

TEST_CASE("errors of writing and reading have a diagnostic") {
  CHECK_THROWS_WITH(
      write_csv("/nowhere/draws.csv", some(), 0),
      "overdub: the draws cannot be written to /nowhere/draws.csv: No such file or directory");
  CHECK_THROWS_WITH(
      sample(targets::standard_normal{1}, {.chains = 2, .csv = "/nowhere/draws"}),
      "overdub: the draws cannot be written to /nowhere/draws_1.csv: No such file or directory");
  CHECK_THROWS_WITH(
      read_csv("/nowhere/draws.csv"),
      "overdub: the draws in /nowhere/draws.csv cannot be read: No such file or directory");
  if (std::ifstream("/dev/full"))
    CHECK_THROWS_WITH(write_csv("/dev/full", some(), 0), Catch::Contains("No space left"));
  auto const reading = [](std::string const& contents) {
    temporary_file const file("bad.csv", contents);
    (void)read_csv(file.path);
  };
  CHECK_THROWS_WITH(reading("a,b,c\n"), Catch::Contains("line 1: the names do not begin with"));
  for (char const* const columns : // of fixed_param, static HMC, variational inference and optimization
       {"lp__,accept_stat__,x", "lp__,accept_stat__,stepsize__,int_time__,energy__,x",
        "lp__,log_p__,log_g__,x", "lp__,x"})
    CHECK_THROWS_WITH(
        reading(std::string("# algorithm = other\n") + columns + "\n1,1,1\n"),
        Catch::Contains("line 2: the sampler's columns are not those of NUTS: files of CmdStan's other "
                        "algorithms, as fixed_param and static HMC, are not read"));
  CHECK_THROWS_WITH(reading("# method = sample\n"), Catch::Contains("the line of names is missing"));
  std::string const names = "lp__,accept_stat__,stepsize__,treedepth__,n_leapfrog__,divergent__,energy__,x\n";
  CHECK_THROWS_WITH(
      reading("lp__,accept_stat__,stepsize__,treedepth__,n_leapfrog__,divergent__,energy__,x,x\n"),
      Catch::Contains("line 1: two variables are called x"));
  CHECK_THROWS_WITH(
      reading(names + "1,2,3\n"), Catch::Contains("line 2: a draw has another number of columns"));
  CHECK_THROWS_WITH(reading(names + "1,2,3,nan,5,6,7,8\n"), Catch::Contains("line 2: the depth of a tree"));
  CHECK_THROWS_WITH(
      reading(names + "1,2,3,4,5,6,7,x\n"), Catch::Contains("line 2: what should be a number is none"));
  CHECK_THROWS_WITH(reading(""), Catch::Contains("is empty: its run has no draws yet"));
  CHECK_THROWS_WITH(read_csv("/tmp"), "overdub: the draws in /tmp cannot be read: Is a directory");
}

TEST_CASE(
    "a file without the line of the adaptation has draws only, unless its settings include the warm-up") {
  std::string const columns =
      "lp__,accept_stat__,stepsize__,treedepth__,n_leapfrog__,divergent__,energy__,x\n";
  std::string const rows = "1,2,3,4,5,0,7,8\n1,2,3,4,5,1,7,9\n", adapted = "# Adaptation terminated\n";
  auto const reading = [](std::string const& contents) {
    temporary_file const file("adaptation.csv", contents);
    return read_csv(file.path);
  };
  for (char const* const head :
       {"", "# method = sample\n", "#     save_warmup = 0 (Default)\n", "# save_warmup = false\n"}) {
    csv_file const file = reading(head + columns + rows);
    REQUIRE(file.chain.size() == 2);
    CHECK((file.chain.values(0, 1)[0] == 9 && file.chain.divergences() == 1 && !file.whole));
  }
  for (char const* const value : {"1", "true", "1 (Default)"}) {
    std::string const head = "#     save_warmup = " + std::string(value) + "\n";
    CHECK_THROWS_WITH(reading(head + columns + rows), Catch::Contains("where the warm-up ends is not known"));
    CHECK(reading(head + columns).chain.size() == 0);
    CHECK(reading(head + columns + rows + adapted + rows).chain.size() == 2);
  }
  CHECK(reading(columns + rows + adapted + rows).chain.size() == 2);
  CHECK_THROWS_WITH(
      reading("# save_warmup = 0\n" + columns + rows + adapted + rows),
      Catch::Contains("draws stand before the line"));
}

TEST_CASE("concatenated files are rejected") {
  temporary_file const one("joined.csv");
  write_csv(one.path, some(), 0);
  std::string const whole = one.contents();
  auto const reading = [](std::string const& contents) {
    temporary_file const file("both.csv", contents);
    (void)read_csv(file.path);
  };
  CHECK_THROWS_WITH(
      reading(whole + whole), Catch::Contains("line 14: a draw after the times that a run ends with"));
  std::string const rest = whole.substr(whole.find("# Adaptation"));
  CHECK_THROWS_WITH(reading(whole + rest), Catch::Contains("a second line \"Adaptation terminated\""));
}

TEST_CASE("numbers, line ends and a byte order mark are read as other programs write them") {
  temporary_file const file(
      "spellings.csv",
      "\xEF\xBB\xBF# method = "
      "sample\r\nlp__,accept_stat__,stepsize__,treedepth__,n_leapfrog__,divergent__,energy__,x\r\n"
      "NaN,Inf,-inf,+3,5e0,0,-Infinity,1e400\r\n\r\n-nan,.5,5.,3,+5,0,1E-400, 1e+05 \r\n");
  csv_file const read = read_csv(file.path);
  REQUIRE(read.chain.size() == 2);
  double const infinity = std::numeric_limits<double>::infinity();
  auto const first = columns_of(read.chain.statistics(0, 0)),
             second = columns_of(read.chain.statistics(0, 1));
  CHECK((std::isnan(first[0]) && first[1] == infinity && first[2] == -infinity && first[6] == -infinity));
  CHECK((std::isnan(second[0]) && second[1] == 0.5 && second[2] == 5 && second[6] == 0));
  CHECK((read.chain.values(0, 0)[0] == infinity && read.chain.values(0, 1)[0] == 1e5));
  CHECK(read.settings == std::vector<csv_setting>{{"method", "sample", 0}});
  for (char const* const wrong : {"", "1,5", "NA", "0x10", "+-1", "1.#INF", "1 2", "++1", "\"1\""}) {
    temporary_file const bad(
        "wrong.csv",
        "lp__,accept_stat__,stepsize__,treedepth__,n_leapfrog__,divergent__,energy__,x\n1,2,3,4,5,0,7," +
            std::string(wrong) + "\n");
    CHECK_THROWS_AS(read_csv(bad.path), inference_error);
  }
}

TEST_CASE("a line longer than the buffer, and a pipe, are read") {
  std::size_t const many = 50000;
  std::vector<std::string> names;
  for (std::size_t i = 1; i <= many; ++i) names.push_back("a_long_name_of_a_variable." + std::to_string(i));
  draws d(names, 1);
  for (std::size_t k = 0; k < 3; ++k) {
    auto const values = d.append(0, {});
    for (std::size_t i = 0; i < many; ++i) values[i] = 1.0 / static_cast<double>(i + k + 1);
  }
  temporary_file const file("long.csv"), pipe("pipe.csv");
  write_csv(file.path, d, 0);
  CHECK(same(read_csv(file.path).chain, 0, d, 0));
  REQUIRE(::mkfifo(pipe.path.c_str(), 0666) == 0);
  CHECK_THROWS_WITH(read_csv(pipe.path), Catch::Contains("is empty")); // it has no writer
  CHECK_THROWS_WITH(write_csv(pipe.path, d, 0), Catch::Contains("a pipe without a reader"));
  int const keeps = ::open(pipe.path.c_str(), O_RDWR);
  std::thread writer([&] {
    write_csv(pipe.path, d, 0);
    ::close(keeps);
  });
  csv_file const read = read_csv(pipe.path);
  writer.join();
  CHECK(same(read.chain, 0, d, 0));
}

TEST_CASE("an invalid chain, and settings that are not lines, are rejected before a file is written") {
  temporary_file const file("refused.csv");
  draws const d = some(2);
  CHECK_THROWS_WITH(
      write_csv(file.path, d, 2),
      "overdub: there is no chain 2 among draws of 2 chains, which are counted from 0");
  CHECK_THROWS_WITH(write_csv(file.path, d, static_cast<std::size_t>(-1)), Catch::Contains("no chain -1"));
  CHECK_THROWS_WITH(write_csv(file.path, draws(), 0), Catch::Contains("no chain 0"));
  using settings = std::vector<csv_setting>;
  for (settings const& s :
       {settings{{"a\nb", "1", 0}}, settings{{"good", "1", 0}, {"a", "1\n2", 0}}, settings{{"a", "1\r2", 0}}})
    CHECK_THROWS_WITH(
        write_csv(file.path, d, 0, s),
        "overdub: the setting \"a\" cannot be written to a file of draws: a line has no line break in it");
  for (int const depth : {-1, 1001, std::numeric_limits<int>::min(), std::numeric_limits<int>::max()})
    CHECK_THROWS_WITH(
        write_csv(file.path, d, 0, settings{{"deep", "1", depth}}),
        "overdub: the setting \"deep\" cannot be written to a file of draws: its depth is from 0 to 1000");
  CHECK_FALSE(std::ifstream(file.path));
  write_csv(file.path, d, 0, settings{{"deep", "1", 1000}});
  CHECK(read_csv(file.path).settings == settings{{"deep", "1", 1000}});
}

TEST_CASE("a run replaces partial files, even if the files do not exist") {
  temporary_file const base("again"), one("again_1.csv"), two("again_2.csv");
  sampling_settings settings{.chains = 2, .warmup = 0, .draws = 50, .threads = 1, .csv = base.path};
  std::ofstream(two.path + ".partial") << "of a run that was killed\n";
  settings.on_progress = [&](progress const& p) {
    // All chains are written to partial files, as if one of the files existed.
    if (p.done == 1) CHECK((!std::ifstream(one.path) && std::ifstream(one.path + ".partial")));
  };
  draws const d = sample(targets::standard_normal{1}, settings);
  draws const read = read_csv({one.path, two.path});
  CHECK((same_draws(read, 0, d, 0) && same_draws(read, 1, d, 1)));
  CHECK_FALSE((std::ifstream(one.path + ".partial") || std::ifstream(two.path + ".partial")));
}

TEST_CASE("a file that was removed or moved during the run is reported, and is not among its files") {
  for (bool const replaces : {false, true}) {
    temporary_file const base("moved"), one("moved_1.csv"), two("moved_2.csv"), away("away.csv");
    if (replaces) write_csv(one.path, some(), 0);
    sampling_settings settings{.chains = 2, .warmup = 0, .draws = 10, .threads = 1, .csv = base.path};
    std::string const unfinished = replaces ? ".partial" : "";
    settings.on_progress = [&](progress const& p) {
      if (p.done == 5) std::rename((one.path + unfinished).c_str(), away.path.c_str());
    };
    try {
      (void)sample(targets::standard_normal{1}, settings);
      FAIL("nothing was thrown");
    } catch (sampling_error const& e) {
      CHECK(
          std::string(e.what()) == "overdub: chain 1: the draws could not be written to " + one.path +
                                       unfinished + ": it was removed or replaced while it was written");
      CHECK(e.chain == 0);
      CHECK(e.files == std::vector<std::string>{two.path + unfinished});
      CHECK(e.so_far->size() == 20);
      CHECK(same_draws(read_csv(e.files), 0, *e.so_far, 1));
    }
    CHECK(read_csv(away.path).chain.size() == 10);
    if (replaces) CHECK(same(read_csv(one.path).chain, 0, some(), 0));
  }
}

TEST_CASE("the files of a failed run are listed by absolute paths, whether or not they replace others") {
  char folder[] = "/tmp/overdub_test_relative_XXXXXX", before[4096];
  REQUIRE(
      (::mkdtemp(folder) != nullptr && ::getcwd(before, sizeof before) != nullptr && ::chdir(folder) == 0));
  std::string const path = std::string(folder) + "/run_1.csv";
  sampling_settings const settings{.chains = 1, .warmup = 0, .draws = 50, .csv = "run"};
  auto const files = [&] {
    try {
      (void)sample(fragile(100), settings);
    } catch (sampling_error const& e) {
      return e.files;
    }
    return std::vector<std::string>{};
  };
  CHECK(files() == std::vector<std::string>{path});
  CHECK(files() == std::vector<std::string>{path + ".partial"});
  CHECK(::chdir(before) == 0);
  CHECK(read_csv(path + ".partial").chain.size() > 0);
  std::remove(path.c_str());
  std::remove((path + ".partial").c_str());
  ::rmdir(folder);
}

TEST_CASE("an error message with a long path includes the reason") {
  std::string folder = "/tmp/overdub_test_long_XXXXXX";
  REQUIRE(::mkdtemp(folder.data()) != nullptr);
  std::string const deep = folder + '/' + std::string(230, 'd'), base = deep + "/run", path = base + "_1.csv";
  CHECK_THROWS_WITH(
      sample(targets::standard_normal{1}, {.chains = 1, .csv = base}),
      Catch::Contains("dd/run_1.csv: No such file or directory"));
  REQUIRE(::mkdir(deep.c_str(), 0777) == 0);
  REQUIRE(::mkdir((path + ".partial").c_str(), 0777) == 0);
  std::ofstream(path) << "old\n";
  CHECK_THROWS_WITH(
      sample(targets::standard_normal{1}, {.chains = 1, .csv = base}),
      Catch::Contains("dd/run_1.csv: /tmp/overdub_te...") &&
          Catch::EndsWith("dd/run_1.csv.partial: Is a directory"));
  ::rmdir((path + ".partial").c_str());
  sampling_settings settings{.chains = 1, .warmup = 0, .draws = 10, .csv = base};
  settings.on_progress = [&](progress const&) { std::remove((path + ".partial").c_str()); };
  CHECK_THROWS_WITH(
      sample(targets::standard_normal{1}, settings),
      Catch::EndsWith("dd/run_1.csv.partial: it was removed or replaced while it was written"));
  for (std::size_t const length : {242U, 249U}) // with _1.csv, 248 and 255 bytes
    for (int run = 0; run < 2; ++run)
      CHECK_THROWS_WITH(
          sample(targets::standard_normal{1}, {.chains = 1, .csv = folder + '/' + std::string(length, 'x')}),
          Catch::EndsWith("xx_1.csv: File name too long"));
  std::remove(path.c_str());
  ::rmdir(deep.c_str());
  ::rmdir(folder.c_str());
}
