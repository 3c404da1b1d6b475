// Counter-based random numbers by key: the numbers depend on the key alone, and not on the order or the threads in which keys are used. Its
// source needs the headers of Random123 and xxHash.
#pragma once

#include <overdub/core/library.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <type_traits>

namespace overdub {

class random_generator;

/// A uniform random bit generator of the standard library, as std::mt19937_64: std::uniform_random_bit_generator without <random>.
template <class G>
concept bit_generator = std::invocable<G&> && requires {
  { G::min() } -> std::same_as<std::invoke_result_t<G&>>;
  { G::max() } -> std::same_as<std::invoke_result_t<G&>>;
  requires std::unsigned_integral<std::invoke_result_t<G&>>;
  requires std::bool_constant<(G::min() < G::max())>::value;
};

/// Names a stream of random numbers: a seed, an address (a path of names and indices) and the number of a transition. Keys that differ
/// in one of them have independent streams. A value of 32 bytes; thread-safe.
///
///   random_key const key(7);
///   random_generator g(key.at("beads").at(3));
///
/// A key is a `random_streams` of the samplers in inference.hpp, too: key(chain, transition) is a generator.
class random_key {
public:
  explicit constexpr random_key(std::uint64_t seed) : words_{seed, 0, 0, 0} {}

  /// The key whose address appends a name. Names and indices are distinct: at("1") and at(1) differ. Addresses are hashed to 128 bits of
  /// XXH3. O(size of the name).
  random_key at(std::string_view name) const {
    return below('n', {reinterpret_cast<unsigned char const*>(name.data()), name.size()});
  }
  /// The key whose address appends an index. O(1).
  random_key at(std::integral auto index) const {
    auto const bytes = little_endian(static_cast<std::uint64_t>(static_cast<std::int64_t>(index)));
    return below('i', bytes);
  }
  /// The same address in the n-th transition of a chain, for n < 2^64 - 1. It commutes with `at`: key.transition(n).at("x") is
  /// key.at("x").transition(n). It is the counter of a chain; other counters, as of particles, are at(i). If the key has a transition
  /// already, that becomes a part of its address. O(1).
  random_key transition(std::uint64_t n) const {
    random_key other = words_[3] > 0 ? below('t', little_endian(words_[3])) : *this;
    other.words_[3] = n + 1;
    return other;
  }
  /// The generator of at(chain).transition(transition). O(1).
  random_generator operator()(std::uint64_t chain, std::uint64_t transition) const;

  /// The key of the cipher.
  constexpr std::array<std::uint64_t, 4> const& words() const { return words_; }
  friend constexpr bool operator==(random_key const&, random_key const&) = default;

private:
  static std::array<unsigned char, 8> little_endian(std::uint64_t n) {
    std::array<unsigned char, 8> bytes{};
    for (unsigned char& each : bytes) each = static_cast<unsigned char>(n & 0xff), n >>= 8;
    return bytes;
  }
  // Hashes the address so far, the kind of the step, and the step.
  random_key below(char kind, std::span<unsigned char const> step) const;

  std::array<std::uint64_t, 4> words_; // the seed, the hash of the address, and the transition plus 1, or 0
};

/// The stream of a key: Threefry-4x64 of 20 rounds (Salmon, Moraes, Dror and Shaw, Parallel Random Numbers: As Easy as 1, 2, 3, SC 2011),
/// which enciphers 0, 1, 2, ... It is a uniform random bit generator, for the distributions of the standard library and of Boost.Random.
/// Generators of one key return the same numbers on every machine. Used by one thread at a time.
class random_generator {
public:
  using result_type = std::uint64_t;
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }

  explicit random_generator(random_key const& key) : key_(key.words()) {}

  /// The next 64 bits.
  result_type operator()() {
    if (used_ == 4) next_block();
    return block_[used_++];
  }

  /// A number in the open interval (0, 1): a multiple of 2^-53, or 2^-54 in place of 0. It consumes 64 bits.
  double uniform() {
    auto const bits = static_cast<double>((*this)() >> 11);
    return (bits > 0 ? bits : 0.5) * 0x1p-53;
  }

private:
  void next_block();

  std::array<std::uint64_t, 4> key_, counter_{}, block_{};
  std::size_t used_ = 4;
};

inline random_generator random_key::operator()(std::uint64_t chain, std::uint64_t transition) const {
  return random_generator(at(chain).transition(transition));
}

} // namespace overdub
