// The callees of instrumented code by the addresses of their functions. Each instrumented call reads it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace overdub::overtrace {

struct callee;

/// A hash table with open addressing, at most half full. Readers take no lock: an entry is written before its key, and a larger table
/// replaces the whole one.
class callee_table {
public:
  explicit callee_table(unsigned bits) : bits_(bits), entries_(std::make_unique<entry[]>(size())) {}

  std::size_t size() const { return std::size_t{1} << bits_; }

  callee const* find(void const* function) const {
    for (std::size_t i = first(function);; ++i) {
      entry const& e = entries_[i & (size() - 1)];
      void const* const key = e.function.load(std::memory_order_acquire);
      if (key == function) return e.called;
      if (key == nullptr) return nullptr;
    }
  }
  void insert(void const* function, callee const* called) {
    std::size_t i = first(function);
    while (entries_[i & (size() - 1)].function.load(std::memory_order_relaxed) != nullptr) ++i;
    entry& e = entries_[i & (size() - 1)];
    e.called = called;
    e.function.store(function, std::memory_order_release);
  }
  /// A table of twice the size with the same entries.
  std::unique_ptr<callee_table> doubled() const {
    auto larger = std::make_unique<callee_table>(bits_ + 1);
    for (std::size_t i = 0; i < size(); ++i)
      if (void const* const key = entries_[i].function.load(std::memory_order_relaxed))
        larger->insert(key, entries_[i].called);
    return larger;
  }

private:
  struct entry {
    std::atomic<void const*> function{nullptr};
    callee const* called = nullptr;
  };
  std::size_t first(void const* function) const { // multiplicative hashing (Knuth, TAOCP 6.4)
    return static_cast<std::size_t>(
        reinterpret_cast<std::uintptr_t>(function) * std::uintptr_t{0x9e3779b97f4a7c15} >> (64 - bits_));
  }
  unsigned bits_;
  std::unique_ptr<entry[]> entries_;
};

/// The callees that were called so far; null before the first one.
extern std::atomic<callee_table const*> known_callees;

} // namespace overdub::overtrace
