#include <overdub/random.hpp>

// xxHash is included inline here, without a change of the macro for other includes of it.
#ifdef XXH_INLINE_ALL
#include <xxhash.h>
#else
#define XXH_INLINE_ALL
#include <xxhash.h>
#undef XXH_INLINE_ALL
#endif

#include <Random123/threefry.h>
#include <algorithm>
#include <vector>

namespace overdub {

random_key random_key::below(char kind, std::span<unsigned char const> step) const {
  std::array<unsigned char, 240> near{};
  std::vector<unsigned char> far;
  std::span<unsigned char> text = near;
  std::size_t const count = 17 + step.size();
  if (count > near.size()) {
    far.resize(count);
    text = far;
  }
  std::ranges::copy(little_endian(words_[1]), text.begin());
  std::ranges::copy(little_endian(words_[2]), text.begin() + 8);
  text[16] = static_cast<unsigned char>(kind);
  std::ranges::copy(step, text.begin() + 17);
  XXH128_hash_t const hash = XXH3_128bits(text.data(), count);
  random_key other = *this;
  other.words_[1] = hash.low64;
  other.words_[2] = hash.high64;
  return other;
}

void random_generator::next_block() {
  r123::Threefry4x64::key_type key;
  r123::Threefry4x64::ctr_type counter;
  std::ranges::copy(key_, key.begin());
  std::ranges::copy(counter_, counter.begin());
  auto const block = r123::Threefry4x64{}(counter, key);
  std::ranges::copy(block, block_.begin());
  ++counter_[0]; // wraps after 2^64 blocks of four numbers
  used_ = 0;
}

} // namespace overdub
