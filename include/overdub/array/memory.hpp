// Memory for the elements of arrays. Each thread keeps a few large blocks that it freed, for the next arrays: programs
// that map make arrays of one size again and again, and the system would take the memory back and clear it each time.
#pragma once

#include <overdub/call/config.hpp>
#include <overdub/core/requirements.hpp>

#include <cstddef>
#include <new>

namespace overdub::detail {

// The counted header in front of an array's elements. Compiler builtins count, since <atomic> costs every unit that
// includes this a tenth of a second.
struct array_block {
  std::size_t handles;
  std::size_t bytes; // of the whole block

  void acquire() { __atomic_fetch_add(&handles, 1, __ATOMIC_RELAXED); }
  bool release() { return __atomic_fetch_sub(&handles, 1, __ATOMIC_ACQ_REL) == 1; }
  bool unique() const { return __atomic_load_n(&handles, __ATOMIC_ACQUIRE) == 1; }
};

// The large blocks that this thread has freed last. At most 8 MiB a thread.
class kept_blocks {
public:
  static constexpr std::size_t smallest = 16 << 10, largest = 1 << 20;

  ~kept_blocks() {
    for (array_block*& block : blocks_) drop(block);
    closed() = true;
  }

  // A kept block of at least this size, and of at most twice as much; null when there is none.
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

  // Keeps a block in the place of the one that was kept longest.
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
  // Arrays that outlive the thread's blocks, such as static ones, go their own way.
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

// Tools that look for uses of freed memory must see it freed.
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

// Null when there is no memory.
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
