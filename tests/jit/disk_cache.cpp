// The disk cache of machine code.
#include "cache_folder.hpp"
#include "execute/texts.hpp"

#include <overdub/ir/print.hpp>

#include <chrono>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

using namespace overdub;

ir::program shifted(int by) {
  return texts::program(
      "func @f(%x: f64) -> f64 { %y = add %x, " + std::to_string(by) + ".0 : f64 return %y }");
}
double run(std::shared_ptr<jit::disk_cache> const& cache, int by, jit::options o = {}) {
  o.cache = cache;
  return jit::compile(shifted(by), {}, o).call<double>(1.0);
}

} // namespace

TEST_CASE("another process's cache loads a compiled program") {
  cache_folder const folder;
  auto const first = folder.open();
  CHECK(run(first, 2) == 3);
  CHECK(run(first, 2) == 3);
  CHECK(first->statistics().misses == 1);
  CHECK(first->statistics().stores == 1);
  CHECK(first->statistics().hits == 1);
  auto const other = folder.open();
  CHECK(other->statistics().entries == 1);
  CHECK(other->statistics().bytes == std::filesystem::file_size(folder.only_file()));
  CHECK(run(other, 2) == 3);
  CHECK(other->statistics().hits == 1);
  CHECK(other->statistics().misses == 0);
}

TEST_CASE("another program or option has another entry") {
  cache_folder const folder;
  auto const cache = folder.open();
  CHECK(run(cache, 2) == 3);
  CHECK(run(cache, 3) == 4);
  CHECK(run(cache, 2, {.optimisation = 0}) == 3);
  CHECK(run(cache, 2, {.debug = true}) == 3);
  CHECK(run(cache, 2, {.cpu = "x86-64"}) == 3);
  CHECK(run(cache, 2, {.cpu = "x86-64", .features = "+avx2"}) == 3);
  CHECK(cache->statistics().hits == 0);
  CHECK(cache->statistics().stores == 6);
  CHECK(folder.files().size() == 6);
}

TEST_CASE("only functions that the entry function reaches are part of an entry on disk") {
  cache_folder const folder;
  auto const cache = folder.open();
  auto const call = [&](std::string const& text) {
    return jit::compile(texts::program(text), {}, {.cache = cache}).call<double>(1.0);
  };
  std::string const entry = "func @f(%x: f64) -> f64 { %y = call @g(%x) : f64 return %y }";
  CHECK(call(entry + "func @g(%x: f64) -> f64 { %y = add %x, 1.0 : f64 return %y }") == 2);
  CHECK(call(entry + "func @g(%x: f64) -> f64 { %y = add %x, 2.0 : f64 return %y }") == 3);
  CHECK(
      call(
          entry + "func @h(%x: f64) -> f64 { return %x }" +
          "func @g(%x: f64) -> f64 { %y = add %x, 2.0 : f64 return %y }") == 3);
  CHECK(cache->statistics().hits == 1);
  CHECK(cache->statistics().stores == 2);
}

TEST_CASE("hosts, random choices, function values, assertions and errors work with code from disk") {
  cache_folder const folder;
  ir::program const p = texts::program(R"(func @f(%x: f64, %n: i64) -> (f64, f64[]) {
    %c = gt %n, 0 : bool
    assert %c, "n is positive"
    %a = host pure "first"(%x) : f64
    %b = host pure "second"(%a) : f64
    %s = sample "site" "normal"(%b, 1.0) : f64
    %all = fill %n, %s : f64[]
    %g = closure @add(%all, %a) : fn(f64) -> f64
    %y = apply %g(%b) : f64
    %o = host ordered "outer"(%all) : f64[]
    return %y, %o
  }
  func @add(%all: f64[], %a: f64, %b: f64) -> f64 {
    %l = at %all, 0 : f64
    %s = add %a, %b : f64
    %t = mul %s, %l : f64
    return %t
  })");
  auto const hosts_that_add = [](double by) {
    hosts all;
    all.add("first", [by](double x) { return x + by; });
    all.add("second", [by](double x) { return x * by; });
    all.add("outer", [](array<double> x) { return x; });
    all.on_sample([](sample_request const& r) { return datum(r.parameters[0].as<double>() + 0.5); });
    return all;
  };
  for (double const by : {1.0, 2.0, 3.0}) {
    auto const cache = folder.open();
    executable const run = jit::compile(p, hosts_that_add(by), {.cache = cache});
    CHECK(cache->statistics().hits == (by > 1 ? 1 : 0));
    std::string const expected = texts::outcome_of(executable(p, hosts_that_add(by)), "2.0, 3");
    CHECK(texts::outcome_of(run, "2.0, 3") == expected);
    CHECK(texts::outcome_of(run, "2.0, 0") == texts::outcome_of(executable(p, hosts_that_add(by)), "2.0, 0"));
  }
  // A missing host function is missing for cached code, too.
  CHECK_THROWS_AS(jit::compile(p, {}, {.cache = folder.open()}), host_error);
}

TEST_CASE("a directory limits its entries and bytes, and evicts the least recently used entry") {
  cache_folder const folder;
  auto const cache = folder.open({.entries = 3});
  auto const later = [] { std::this_thread::sleep_for(std::chrono::milliseconds(12)); };
  for (int const by : {1, 2, 3}) run(cache, by), later();
  run(cache, 1), later(); // is used
  run(cache, 4), later(); // evicts 2
  CHECK(cache->statistics().evictions == 1);
  CHECK(cache->statistics().entries == 3);
  CHECK(folder.files().size() == 3);
  auto const again = folder.open({.entries = 3});
  for (int const by : {1, 3, 4}) CHECK(run(again, by) == 1 + by);
  CHECK(again->statistics().hits == 3);

  std::size_t const each = again->statistics().bytes / 3;
  auto const small = folder.open({.entries = 100, .bytes = 2 * each + each / 2});
  CHECK(small->statistics().entries == 2);
  CHECK(small->statistics().bytes <= 2 * each + each / 2);
  CHECK(run(small, 5) == 6);
  CHECK(folder.files().size() == 2);
  auto const none = folder.open({.bytes = 100});
  CHECK(run(none, 6) == 7);
  CHECK(none->statistics().failures == 1);
  CHECK_THAT(none->statistics().last_failure, Catch::Matchers::Contains("more than the cache may keep"));
  CHECK(folder.files().empty());
}

TEST_CASE("a read-only cache writes nothing") {
  cache_folder const folder;
  run(folder.open(), 1);
  auto const reads = folder.open({}, jit::disk_use::read_only);
  CHECK(run(reads, 1) == 2);
  CHECK(run(reads, 2) == 3);
  reads->clear();
  CHECK(reads->statistics().hits == 1);
  CHECK(reads->statistics().misses == 1);
  CHECK(folder.files().size() == 1);
  folder.open()->clear();
  CHECK(folder.files().empty());
}

TEST_CASE("processes share a directory: they store, load and evict concurrently") {
  cache_folder const folder;
  auto const work = [&](unsigned seed) {
    auto const cache = folder.open({.entries = 5});
    for (unsigned k = 0; k < 40; ++k) {
      seed = seed * 1664525 + 1013904223;
      int const by = static_cast<int>(seed >> 16) % 8;
      if (run(cache, by) != 1 + by) return 1;
    }
    return cache->statistics().rejected == 0 && cache->statistics().failures == 0 ? 0 : 2;
  };
  std::vector<pid_t> all;
  for (unsigned k = 0; k < 4; ++k) {
    pid_t const child = fork();
    if (child == 0) _exit(work(k + 1));
    all.push_back(child);
  }
  for (pid_t const child : all) {
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
  }
  CHECK(folder.open({.entries = 5})->statistics().entries <= 5);
  for (auto const& file : folder.files()) CHECK(file.extension() == ".overdub"); // no temporary file remains
}

TEST_CASE("old temporary files of dead processes are removed") {
  cache_folder const folder;
  auto const path = std::filesystem::path(folder.path()) / ".1-2-3.overdub-new";
  write_bytes(path, "half");
  folder.open();
  CHECK(std::filesystem::exists(path));
  std::filesystem::last_write_time(
      path, std::filesystem::file_time_type::clock::now() - std::chrono::hours(2));
  folder.open();
  CHECK_FALSE(std::filesystem::exists(path));
}
