// Keys and the generator: known-answer tests, streams that do not depend on order, and independent streams.
#include "catch.hpp"

#include <overdub/inference/streams.hpp>
#include <overdub/random.hpp>

#include <boost/math/distributions/chi_squared.hpp>

#include <Random123/threefry.h>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace {

using overdub::random_generator;
using overdub::random_key;
using words = std::array<std::uint64_t, 4>;

words threefry(words const& counter, words const& key) {
  r123::Threefry4x64::ctr_type c{};
  r123::Threefry4x64::key_type k{};
  for (std::size_t i = 0; i < 4; ++i) c[i] = counter[i], k[i] = key[i];
  auto const r = r123::Threefry4x64{}(c, k);
  return {r[0], r[1], r[2], r[3]};
}

// The p-value of Pearson's chi-square test that cells are equally likely.
double evenness(std::vector<int> const& counts) {
  double total = 0, statistic = 0;
  for (int const n : counts) total += n;
  double const expected = total / static_cast<double>(counts.size());
  for (int const n : counts) statistic += (n - expected) * (n - expected) / expected;
  boost::math::chi_squared const law(static_cast<double>(counts.size()) - 1);
  return boost::math::cdf(boost::math::complement(law, statistic));
}
bool plausible(double p) { return 1e-6 < p && p < 1 - 1e-6; }

} // namespace

// The file kat_vectors of Random123 (Salmon et al., 2011): threefry4x64 20.
TEST_CASE("the cipher passes the published known-answer tests") {
  std::uint64_t const ones = ~std::uint64_t{0};
  CHECK(
      threefry({0, 0, 0, 0}, {0, 0, 0, 0}) ==
      words{0x09218ebde6c85537, 0x55941f5266d86105, 0x4bd25e16282434dc, 0xee29ec846bd2e40b});
  CHECK(
      threefry({ones, ones, ones, ones}, {ones, ones, ones, ones}) ==
      words{0x29c24097942bba1b, 0x0371bbfb0f6f4e11, 0x3c231ffa33f83a1c, 0xcd29113fde32d168});
  CHECK(
      threefry(
          {0x243f6a8885a308d3, 0x13198a2e03707344, 0xa4093822299f31d0, 0x082efa98ec4e6c89},
          {0x452821e638d01377, 0xbe5466cf34e90c6c, 0xbe5466cf34e90c6c, 0xc0ac29b7c97c50dd}) ==
      words{0xa7e8fde591651bd9, 0xbaafd0c30138319b, 0x84a5c1a729e685b9, 0x901d406ccebc1ba4});
}

TEST_CASE("a generator encrypts 0, 1, 2, ... with its key") {
  random_generator zero(random_key(0));
  for (std::uint64_t block = 0; block < 3; ++block)
    for (std::uint64_t const word : threefry({block, 0, 0, 0}, {0, 0, 0, 0})) CHECK(zero() == word);
  random_key const key = random_key(7).at("x").transition(3);
  CHECK(key.words()[0] == 7);
  CHECK(key.words()[3] == 4); // counts from 1: 0 is no transition
  random_generator g(key);
  CHECK(g() == threefry({0, 0, 0, 0}, key.words())[0]);
}

// The hash of the path is XXH3-128 of two little-endian words, 'n' or 'i', and the step, so that it is the same on every machine.
TEST_CASE("the keys of an address are the same on every machine") {
  CHECK(random_key(1).at("a").words() == words{1, 0xb896541acf48d258, 0x6dc2c2f48e7780b6, 0});
  CHECK(random_key(1).at(2).at("b").words() == words{1, 0xa12c151f0203026b, 0x86d74e03a32c64cd, 0});
}

TEST_CASE("names, indices and their order make different addresses") {
  std::set<words> seen;
  random_key const key(5);
  int made = 0;
  auto const add = [&](random_key const& k) { seen.insert(k.words()), ++made; };
  add(key), add(key.at("")), add(key.at("1")), add(key.at(1)), add(key.at("a").at("b")), add(key.at("ab"));
  add(key.at("b").at("a")), add(key.at("a").at("b").at("")), add(key.at(-1)), add(key.at(0).at(1));
  for (std::size_t n = 200; n < 260; ++n) add(key.at(std::string(n, 'x')));
  for (int i = 2; i < 1000; ++i) add(key.at(i)), add(key.at(0).at(i)), add(key.at(std::to_string(i)));
  CHECK(seen.size() == static_cast<std::size_t>(made));
  CHECK(key.at("x").at(3) == random_key(5).at(std::string("x")).at(std::size_t{3}));
  CHECK(key.at("x").transition(4) == key.transition(4).at("x"));
}

TEST_CASE("the address of a second transition extends that of the first one") {
  random_key const key(5);
  std::set<words> seen;
  for (std::uint64_t n = 0; n < 20; ++n) {
    seen.insert(key.transition(n).words());
    for (std::uint64_t m = 0; m < 20; ++m) seen.insert(key.transition(n).transition(m).words());
  }
  seen.insert(key.words());
  CHECK(seen.size() == 421);
  CHECK(key.transition(3).words()[1] == key.words()[1]);
}

TEST_CASE("a key determines the streams of a sampler") {
  static_assert(overdub::inference::random_streams<random_key>);
  random_key const key(5);
  random_generator one = key(2, 7), other(key.at(2).transition(7));
  for (int i = 0; i < 9; ++i) CHECK(one() == other());
  std::set<std::uint64_t> firsts;
  for (std::uint64_t chain = 0; chain < 10; ++chain)
    for (std::uint64_t t = 0; t < 10; ++t)
      firsts.insert(key(chain, t)()), firsts.insert(key.transition(t)(chain, t)());
  CHECK(firsts.size() == 200);
}

TEST_CASE("uniform numbers pass a chi-square test, and are never 0 or 1") {
  random_generator g(random_key(11));
  std::vector<int> high(256), low(256);
  for (int i = 0; i < 400000; ++i) {
    double const u = g.uniform();
    REQUIRE((0 < u && u < 1));
    ++high[static_cast<std::size_t>(u * 256)];
    ++low[static_cast<std::size_t>(u * 0x1p53) % 256];
  }
  CHECK(plausible(evenness(high)));
  CHECK(plausible(evenness(low)));
}

TEST_CASE("the first numbers of adjacent keys are uniform, and pairwise independent") {
  for (int kind = 0; kind < 3; ++kind) {
    random_key const root(3);
    auto const key = [&](int i) {
      if (kind == 0) return random_key(static_cast<std::uint64_t>(i));
      return kind == 1 ? root.at(i) : root.transition(static_cast<std::uint64_t>(i));
    };
    std::vector<int> pairs(16 * 16);
    int differing = 0, count = 60000;
    random_generator previous(key(0));
    std::uint64_t before = previous();
    for (int i = 1; i <= count; ++i) {
      random_generator g(key(i));
      std::uint64_t const now = g();
      ++pairs[(before >> 60) * 16 + (now >> 60)];
      differing += std::popcount(before ^ now);
      before = now;
    }
    INFO(kind);
    CHECK(plausible(evenness(pairs)));
    CHECK(differing / (64.0 * count) == Approx(0.5).margin(5 * 0.5 / std::sqrt(64.0 * count)));
  }
}
