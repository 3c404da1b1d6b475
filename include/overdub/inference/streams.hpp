// Random streams for samplers: one for each transition of each chain, so that results do not depend on the order of execution.
#pragma once

#include <overdub/core/requirements.hpp>
#include <overdub/random.hpp>

#include <boost/random/normal_distribution.hpp>
#include <boost/random/uniform_01.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace overdub::inference {

/// Random streams: `s(chain, transition)` returns a generator, in the same state for the same arguments. Transition 0 is that of the
/// initial point and the search of the initial step size. Threads call it concurrently.
template <class S>
concept random_streams = requires(S const& s, std::uint64_t chain, std::uint64_t transition) {
  { s(chain, transition) } -> bit_generator;
};

/// The generator MT19937-64 (Matsumoto and Nishimura 1998), with the numbers of std::mt19937_64. 2.5 kB; used by one thread at a time.
class mersenne_generator {
public:
  using result_type = std::uint64_t;
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }

  /// Its state is the sequence of numbers that SplitMix64 returns.
  explicit mersenne_generator(std::uint64_t split_mix_state);

  result_type operator()() {
    if (next_ == state_.size()) refill();
    result_type x = state_[next_++];
    x ^= (x >> 29) & 0x5555555555555555U;
    x ^= (x << 17) & 0x71d67fffeda60000U;
    x ^= (x << 37) & 0xfff7eee000000000U;
    return x ^ (x >> 43);
  }

private:
  void refill();

  std::array<std::uint64_t, 312> state_;
  std::size_t next_ = 312;
};

/// Streams of MT19937-64, seeded by mixing the seed, the chain and the transition (SplitMix64: Steele, Lea and Flood 2014,
/// "Fast splittable pseudorandom number generators"). Seeding a generator takes some microseconds, and allocates nothing.
struct mersenne_streams {
  std::uint64_t seed = 0;

  mersenne_generator operator()(std::uint64_t chain, std::uint64_t transition) const;
};

namespace drawing {

// Boost's distributions return the same numbers with every standard library; those of the standard do not.
template <bit_generator G>
double uniform(G& generator) {
  return boost::random::uniform_01<double>()(generator);
}
template <bit_generator G>
double normal(G& generator) {
  return boost::random::normal_distribution<double>()(generator);
}

} // namespace drawing
} // namespace overdub::inference
