// Random streams for samplers: one for each transition of each chain, so that results do not depend on the order of execution.
#pragma once

#include <overdub/core/requirements.hpp>

#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_01.hpp>

#include <concepts>
#include <cstdint>
#include <random>

namespace overdub::inference {

/// Random streams: `s(chain, transition)` returns a generator, in the same state for the same arguments. Transition 0 is that of the
/// initial point and the search of the initial step size. Threads call it concurrently.
template <class S>
concept random_streams = requires(S const& s, std::uint64_t chain, std::uint64_t transition) {
  { s(chain, transition) } -> std::uniform_random_bit_generator;
};

/// Streams of std::mt19937_64, seeded by mixing the seed, the chain and the transition (SplitMix64: Steele, Lea and Flood 2014,
/// "Fast splittable pseudorandom number generators"). Seeding a generator takes some microseconds, and allocates nothing.
struct mersenne_streams {
  std::uint64_t seed = 0;

  std::mt19937_64 operator()(std::uint64_t chain, std::uint64_t transition) const {
    words sequence{mix(mix(mix(seed) ^ chain) ^ transition)};
    return std::mt19937_64(sequence);
  }

private:
  static std::uint64_t mix(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
  }
  struct words {
    using result_type = std::uint32_t;
    std::uint64_t state;
    template <class I>
    void generate(I first, I last) {
      for (; first != last; ++first) *first = static_cast<result_type>(mix(state++) >> 32);
    }
  };
};

namespace drawing {

// Boost's distributions return the same numbers with every standard library; those of the standard do not.
template <std::uniform_random_bit_generator G>
double uniform(G& generator) {
  return boost::random::uniform_01<double>()(generator);
}
template <std::uniform_random_bit_generator G>
double normal(G& generator) {
  return boost::random::normal_distribution<double>()(generator);
}

} // namespace drawing
} // namespace overdub::inference
