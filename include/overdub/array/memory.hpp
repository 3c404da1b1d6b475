// Memory for the elements of arrays. Each thread caches a few large blocks that it freed, since functions that map allocate arrays of the
// same size repeatedly, and malloc would return such blocks to the system, which clears them each time.
#pragma once

#include <overdub/core/config.hpp>
#include <overdub/core/requirements.hpp>

#include <cstddef>
#include <new>

namespace overdub::detail {

// The header before an array's elements, with the reference count. It uses atomic builtins, since <atomic> takes a tenth of a second of
// compile time in every unit.
struct array_block {
  std::size_t handles;
  std::size_t bytes; // the size of the block, with the header

  void acquire() { __atomic_fetch_add(&handles, 1, __ATOMIC_RELAXED); }
  bool release() { return __atomic_fetch_sub(&handles, 1, __ATOMIC_ACQ_REL) == 1; }
  bool unique() const { return __atomic_load_n(&handles, __ATOMIC_ACQUIRE) == 1; }
};

// The cache of large blocks that this thread freed last; at most 8 MiB for each thread.
class kept_blocks {
public:
  static constexpr std::size_t smallest = 16 << 10, largest = 1 << 20;

  ~kept_blocks() {
    for (array_block*& block : blocks_) drop(block);
    closed() = true;
  }

  // Returns a cached block of at least this size, and at most twice as much; null if there is none.
  static array_block* take(std::size_t bytes) {
    if (closed()) return nullptr;
    for (array_block*& block : mine().blocks_)
      if (block && block->bytes >= bytes && block->bytes / 2 <= bytes) {
        array_block* const taken = block;
        block = nullptr;
        return taken;
      }
    return nullptr;
  }

  // Caches a block in the place of the oldest one. Returns false if the cache is closed or the block is too small or too large.
  static bool keep(array_block* block) {
    if (closed()) return false;
    kept_blocks& kept = mine();
    array_block*& place = kept.blocks_[kept.next_++ % count];
    drop(place);
    place = block;
    return true;
  }

private:
  static constexpr unsigned count = 8;

  OVERDUB_HIDDEN static kept_blocks& mine() {
    thread_local kept_blocks blocks;
    return blocks;
  }
  // Whether the cache was destroyed at the end of the thread: arrays that outlive it, such as static ones, use malloc directly.
  OVERDUB_HIDDEN static bool& closed() {
    thread_local bool flag = false;
    return flag;
  }
  static void drop(array_block*& block) {
    ::operator delete(block);
    block = nullptr;
  }

  array_block* blocks_[count]{};
  unsigned next_ = 0;
};

// AddressSanitizer must see that memory is freed.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool keeps_blocks = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
inline constexpr bool keeps_blocks = false;
#else
inline constexpr bool keeps_blocks = true;
#endif
#else
inline constexpr bool keeps_blocks = true;
#endif

template <std::size_t Alignment>
inline constexpr bool ordinary_alignment = Alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__;

// Returns null if there is no memory.
template <std::size_t Alignment>
array_block* allocate_block(std::size_t bytes) {
  void* made;
  if constexpr (!ordinary_alignment<Alignment>)
    made = ::operator new (bytes, std::align_val_t{Alignment}, std::nothrow);
  else {
    if (keeps_blocks && bytes >= kept_blocks::smallest && bytes <= kept_blocks::largest)
      if (array_block* const kept = kept_blocks::take(bytes)) {
        kept->handles = 1;
        return kept;
      }
    made = ::operator new(bytes, std::nothrow);
  }
  if (made == nullptr) return nullptr;
  return ::new (made) array_block{1, bytes};
}

template <std::size_t Alignment>
void free_block(array_block* block) {
  if constexpr (!ordinary_alignment<Alignment>)
    ::operator delete (block, std::align_val_t{Alignment});
  else {
    bool const large = block->bytes >= kept_blocks::smallest && block->bytes <= kept_blocks::largest;
    if (!keeps_blocks || !large || !kept_blocks::keep(block)) ::operator delete(block);
  }
}

} // namespace overdub::detail
