#include <overdub/inference/streams.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace overdub::inference {

// A step of SplitMix64.
static std::uint64_t split_mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

mersenne_generator mersenne_streams::operator()(std::uint64_t chain, std::uint64_t transition) const {
  return mersenne_generator(split_mix(split_mix(split_mix(seed) ^ chain) ^ transition));
}

// As std::mt19937_64 of a seed sequence, which generates words of 32 bits, the low one of each number first.
mersenne_generator::mersenne_generator(std::uint64_t split_mix_state) {
  auto word = [&] { return split_mix(split_mix_state++) >> 32; };
  for (std::uint64_t& x : state_) {
    x = word();
    x |= word() << 32;
  }
  if (state_[0] >> 31 == 0 && std::all_of(state_.begin() + 1, state_.end(), [](auto x) { return x == 0; }))
    state_[0] = std::uint64_t{1} << 63;
}

void mersenne_generator::refill() {
  constexpr std::size_t n = 312, m = 156;
  constexpr std::uint64_t low = (std::uint64_t{1} << 31) - 1;
  for (std::size_t i = 0; i < n; ++i) {
    std::uint64_t const y = (state_[i] & ~low) | (state_[(i + 1) % n] & low);
    state_[i] = state_[(i + m) % n] ^ (y >> 1) ^ ((y & 1) != 0 ? 0xb5026f5aa96619e9U : 0);
  }
  next_ = 0;
}

} // namespace overdub::inference
