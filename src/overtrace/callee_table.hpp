// The callees of instrumented code by the addresses of their functions. Each instrumented call reads it.
#pragma once

#include "callee.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace overdub::overtrace {

/// A hash table with open addressing and a fixed size, without locks, for signal handlers. The memory of parts without callees is not touched.
class callee_table {
public:
  callee const* find(void const* function) const {
    for (std::size_t i = first(function);; ++i) {
      callee const* const c = __atomic_load_n(&entries_[i & (size - 1)], __ATOMIC_ACQUIRE);
      if (c == nullptr || c->function.load(std::memory_order_relaxed) == function) return c;
    }
  }
  /// Returns the callee of the same function that another thread or a signal handler inserted meanwhile, or else `c`; null if the table is
  /// full.
  callee const* insert(callee& c) {
    void const* const function = c.function.load(std::memory_order_relaxed);
    for (std::size_t i = first(function);; ++i) {
      callee*& entry = entries_[i & (size - 1)];
      callee* there = __atomic_load_n(&entry, __ATOMIC_ACQUIRE);
      if (there == nullptr && count_.load(std::memory_order_relaxed) >= most) return nullptr;
      if (there == nullptr && replace(entry, there, c)) {
        count_.fetch_add(1, std::memory_order_relaxed);
        return &c;
      }
      void const* const other = there->function.load(std::memory_order_relaxed);
      if (other == function) return there;
      if (other == nullptr && replace(entry, there, c)) return &c; // of an unloaded object
    }
  }

private:
  static constexpr std::size_t block = 1 << 12, blocks = 1 << 8, size = block * blocks, most = size / 4 * 3;
  // Functions of 64 KiB are in one block, in the order of their addresses, so that programs touch few pages of the table. Blocks are found
  // by multiplicative hashing (Knuth, TAOCP 6.4).
  static std::size_t first(void const* function) {
    auto const at = reinterpret_cast<std::uintptr_t>(function);
    std::uint64_t const hash = std::uint64_t{at >> 16} * 0x9e3779b97f4a7c15;
    return static_cast<std::size_t>(hash >> (64 - 8)) * block + (at >> 4) % block;
  }
  // Replaces an entry if it is `there`; otherwise `there` becomes the entry.
  static bool replace(callee*& entry, callee*& there, callee& c) {
    return __atomic_compare_exchange_n(&entry, &there, &c, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  }
  // Accessed by atomic operations alone. clang does not evaluate a million constructors of std::atomic in a constant initializer.
  callee* entries_[size]{};
  std::atomic<std::size_t> count_{0};
};

/// The callees that were called so far.
extern callee_table known_callees;

} // namespace overdub::overtrace
