// A lock-free single-producer, single-consumer ring buffer for the records of one thread. Writing blocks only if the ring
// is full and its policy says so.
#pragma once

#include <overdub/contexts/trace/clock.hpp>
#include <overdub/contexts/trace/interrupted.hpp>
#include <overdub/contexts/trace/record.hpp>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace overdub::contexts::tracing {

/// One writer, one reader. Record i is in slot i modulo the capacity.
class ring {
public:
  /// A ring that admits no records, for threads without a recording.
  constexpr ring() : writer_(always) {}

  /// Without memory until it is opened.
  explicit ring(bool counter) : counter_(counter) {}
  ring(std::size_t records, bool counter) : ring(counter) { open(records); }

  /// Allocates at least 16 slots, rounded up to a power of two, and touches their pages. The writer calls it once, before
  /// its first record. Throws std::bad_alloc.
  void open(std::size_t records) {
    std::size_t const size = std::bit_ceil(std::max<std::size_t>(records, 16));
    owned_.reset(new slot[size]());
    slots_ = owned_.get();
    mask_ = size - 1;
  }
  bool is_open() const { return slots_ != nullptr; }

  std::uint64_t capacity() const { return mask_ + 1; }
  /// The number of the first record that is not being overwritten.
  std::uint64_t first_whole() const {
    std::uint64_t const next = written(); // before the first one, the writer may open the ring meanwhile
    return next == 0 || next < capacity() ? 0 : next + 1 - capacity();
  }
  /// The number of records written so far.
  std::uint64_t written() const { return head_.load(std::memory_order_acquire); }

  // ---- for the writer

  /// Begins a write, until end_write, by code with a stack frame at the address `at`; false in a signal handler that interrupts one, whose
  /// records would be in the middle of others. A write that siglongjmp left ends here.
  [[gnu::always_inline]] bool begin_write(std::uintptr_t at) {
    if (std::uintptr_t const writer = writer_.load(std::memory_order_relaxed); writer != 0) [[unlikely]]
      if (writer == always || may_have_interrupted(at, writer)) return false;
    writer_.store(at, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    return true;
  }
  [[gnu::always_inline]] void end_write() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    writer_.store(0, std::memory_order_relaxed);
  }
  /// Counts a begin or end that a signal handler dropped, since it interrupted a write.
  void note_drop() { dropped_.fetch_add(1, std::memory_order_relaxed); }
  /// The number of drops.
  std::uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }
  /// Whether there is room for a record.
  [[gnu::always_inline]] bool has_room() const {
    return head_.load(std::memory_order_relaxed) < limit_.load(std::memory_order_relaxed);
  }
  /// The first number that may not be written yet: 0 stops the writer. Any thread may call it.
  void set_limit(std::uint64_t number) { limit_.store(number, std::memory_order_relaxed); }
  static constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

  [[gnu::always_inline]] std::uint64_t now() const {
    return counter_ ? read_counter() : steady_nanoseconds();
  }
  /// Writes a record, for which there is room.
  [[gnu::always_inline]] void write(std::uint64_t first, std::uint64_t second) {
    std::uint64_t const number = head_.load(std::memory_order_relaxed);
    slot& s = slots_[number & mask_];
    // A reader that sees one of these words also sees the number of the record before, and so knows that the slot is
    // overwritten.
    std::atomic_thread_fence(std::memory_order_release);
    s.first.store(first, std::memory_order_relaxed);
    s.second.store(second, std::memory_order_relaxed);
    head_.store(number + 1, std::memory_order_release);
  }

  // ---- for the reader

  /// Appends up to `most` records from number `from` on, and advances `from`. Returns how many were overwritten before they
  /// were read; none if the writer waits for readers.
  std::uint64_t
  read(std::uint64_t& from, std::size_t most, bool writer_waits, std::vector<record>& out) const {
    std::uint64_t const head = written();
    std::uint64_t lost = 0;
    if (head == from) return 0;
    if (head - from > capacity()) {
      lost = head - from - capacity();
      from = head - capacity();
    }
    auto const count = static_cast<std::size_t>(std::min<std::uint64_t>(head - from, most));
    auto const begin = static_cast<std::ptrdiff_t>(out.size());
    for (std::size_t i = 0; i < count; ++i) {
      slot const& s = slots_[(from + i) & mask_];
      out.push_back({s.first.load(std::memory_order_relaxed), s.second.load(std::memory_order_relaxed)});
    }
    std::atomic_thread_fence(std::memory_order_acquire);
    if (!writer_waits) {
      std::uint64_t const whole = first_whole(); // the writer may have advanced meanwhile
      if (from < whole) {
        auto const torn = std::min<std::uint64_t>(whole - from, count);
        out.erase(out.begin() + begin, out.begin() + begin + static_cast<std::ptrdiff_t>(torn));
        lost += torn;
      }
    }
    from += count;
    return lost;
  }

private:
  struct slot {
    std::atomic<std::uint64_t> first{0}, second{0};
  };
  static_assert(sizeof(slot) == 16);

  std::atomic<std::uint64_t> head_{0}; // the number of the next record
  std::atomic<std::uint64_t> limit_{0};
  std::uint64_t mask_ = 0;
  bool counter_ = false;
  static constexpr std::uintptr_t always = std::numeric_limits<std::uintptr_t>::max();
  std::atomic<std::uintptr_t> writer_{0}; // where its thread is writing: an address in the stack; or 0
  std::atomic<std::uint64_t> dropped_{0};
  std::unique_ptr<slot[]> owned_;
  slot* slots_ = nullptr;
};

} // namespace overdub::contexts::tracing
