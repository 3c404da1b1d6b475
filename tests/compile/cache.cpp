// The cache: keys are compared in full, the least recently used entry is evicted, and failures are not stored.
#include "catch.hpp"

#include <overdub/compile/cache.hpp>
#include <overdub/ir/parse.hpp>

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>

namespace {

using overdub::artifact;
using overdub::cache_key;
using overdub::compilation_cache;

char const type_a = 0, type_b = 0;

std::shared_ptr<artifact const> made(double x) {
  return std::make_shared<artifact const>(overdub::recipe{
      .name = "f",
      .staged = overdub::ir::parse("entry @f\nfunc @f() -> f64 { return " + std::to_string(x) + " }")});
}
double answer(artifact const& a) { return a.run().call<double>(); }

} // namespace

TEST_CASE("an entry is compiled once for its types and its bytes") {
  compilation_cache cache;
  int compilations = 0;
  auto const get = [&](void const* types, std::string bytes, double x) {
    return answer(*cache.get({types, bytes}, "f", [&] {
      ++compilations;
      return made(x);
    }));
  };
  CHECK(get(&type_a, "1", 1) == 1);
  CHECK(get(&type_a, "1", 2) == 1);
  CHECK(get(&type_b, "1", 3) == 3);
  CHECK(get(&type_a, std::string("1\0", 2), 4) == 4);
  CHECK(get(&type_a, "", 5) == 5);
  CHECK(compilations == 4);
  auto const s = cache.statistics();
  CHECK(s.hits == 1);
  CHECK(s.misses == 4);
  CHECK(s.compilations == 4);
  CHECK(s.entries == 4);
  CHECK(s.bytes > 0);
  cache.clear();
  CHECK(cache.statistics().entries == 0);
  CHECK(cache.statistics().bytes == 0);
  CHECK(get(&type_a, "1", 6) == 6);
}

TEST_CASE("a full cache evicts the least recently used entry") {
  compilation_cache cache({.entries = 3});
  auto const get = [&](int n, double x) {
    return answer(*cache.get({&type_a, std::to_string(n)}, "f", [&] { return made(x); }));
  };
  for (int n = 0; n < 3; ++n) (void)get(n, n);
  CHECK(get(0, -1) == 0); // is used again
  CHECK(get(3, 3) == 3);
  CHECK(cache.statistics().entries == 3);
  CHECK(cache.statistics().evictions == 1);
  CHECK(get(0, -1) == 0);
  CHECK(get(2, -1) == 2);
  CHECK(get(1, -1) == -1);
}

TEST_CASE("the cache limits its bytes, and an evicted artifact lives as long as a reference to it") {
  auto const one = made(1);
  compilation_cache cache({.bytes = one->bytes() * 5 / 2});
  auto const held = cache.get({&type_a, "held"}, "f", [&] { return made(7); });
  for (int n = 0; n < 20; ++n) (void)cache.get({&type_a, std::to_string(n)}, "f", [&] { return made(n); });
  CHECK(cache.statistics().entries == 2);
  CHECK(cache.statistics().bytes <= one->bytes() * 5 / 2);
  CHECK(answer(*held) == 7);
}

TEST_CASE("an exception of a compilation reaches the caller, and no entry is stored") {
  compilation_cache cache;
  cache_key const key{&type_a, "x"};
  CHECK_THROWS_AS(
      cache.get(key, "f", [&]() -> std::shared_ptr<artifact const> { throw std::runtime_error("no"); }),
      std::runtime_error);
  CHECK(answer(*cache.get(key, "f", [&] { return made(1); })) == 1);
  CHECK(cache.statistics().failures == 1);
}

TEST_CASE("a compilation that requires itself is rejected, and does not deadlock") {
  compilation_cache cache;
  cache_key const key{&type_a, "x"};
  CHECK_THROWS_AS(
      cache.get(key, "f", [&] { return cache.get(key, "f", [&] { return made(1); }); }),
      overdub::recursive_compilation);
  CHECK(cache.statistics().entries == 0);
}

TEST_CASE("the cache warns once of a function with many fingerprints") {
  compilation_cache cache({.fingerprints_to_warn_of = 4});
  for (int n = 0; n < 10; ++n) (void)cache.get({&type_a, std::to_string(n)}, "f", [&] { return made(n); });
  REQUIRE(cache.statistics().warnings.size() == 1);
  CHECK_THAT(
      cache.statistics().warnings[0], Catch::StartsWith("@f was compiled for more than 4 fingerprints"));
}

TEST_CASE("keys with equal hashes are distinguished") {
  compilation_cache cache({.hash_bits = 0});
  for (int round = 0; round < 3; ++round)
    for (int n = 0; n < 100; ++n)
      CHECK(answer(*cache.get({&type_a, std::to_string(n)}, "f", [&] { return made(n); })) == n);
  CHECK(cache.statistics().compilations == 100);
  cache.invalidate({&type_a, "50"});
  CHECK(answer(*cache.get({&type_a, "50"}, "f", [&] { return made(-1); })) == -1);
  CHECK(answer(*cache.get({&type_a, "51"}, "f", [&] { return made(-1); })) == 51);
}

TEST_CASE("an invalidated entry is recompiled, and no other entry") {
  compilation_cache cache;
  auto const held = cache.get({&type_a, "a"}, "f", [&] { return made(1); });
  (void)cache.get({&type_a, "b"}, "f", [&] { return made(2); });
  cache.invalidate({&type_a, "a"});
  cache.invalidate({&type_a, "never there"});
  CHECK(cache.statistics().entries == 1);
  CHECK(cache.statistics().invalidations == 1);
  CHECK(answer(*held) == 1);
  CHECK(answer(*cache.get({&type_a, "a"}, "f", [&] { return made(3); })) == 3);
  CHECK(answer(*cache.get({&type_a, "b"}, "f", [&] { return made(3); })) == 2);
}

TEST_CASE("an infinite chain of compilations that require each other is rejected") {
  compilation_cache cache;
  int n = 0;
  std::function<std::shared_ptr<artifact const>()> const next = [&] {
    return cache.get({&type_a, std::to_string(n++)}, "f", next);
  };
  CHECK_THROWS_AS(next(), overdub::recursive_compilation);
  CHECK(cache.statistics().entries == 0);
  CHECK(answer(*cache.get({&type_a, "0"}, "f", [&] { return made(1); })) == 1);
}

TEST_CASE("an evicted artifact is freed when its last reference is dropped") {
  compilation_cache cache({.entries = 2});
  std::weak_ptr<artifact const> first = cache.get({&type_a, "0"}, "f", [&] { return made(0); });
  CHECK(!first.expired());
  for (int n = 1; n < 5; ++n) (void)cache.get({&type_a, std::to_string(n)}, "f", [&] { return made(n); });
  CHECK(first.expired());
}
