// The ring of one thread: the thread writes records, another one reads them. Writing takes no lock and waits for nobody, but
// where the ring is full and its policy says to wait.
#pragma once

#include <overdub/contexts/trace/clock.hpp>
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

/// One writer, one reader. Records are numbered from 0; number i stands in slot i modulo the capacity.
class ring {
public:
  /// Nothing can be written into it, and no writing begun: a thread without a recording has this one.
  constexpr ring() : is_written_(true) {}

  /// Without memory until it is opened.
  explicit ring(bool counter) : counter_(counter) {}
  ring(std::size_t records, bool counter) : ring(counter) { open(records); }

  /// Room for at least 16 records, rounded up to a power of two. Its memory is written, so that no page is missing later. The writer
  /// calls it once, before its first record. Throws std::bad_alloc.
  void open(std::size_t records) {
    std::size_t const size = std::bit_ceil(std::max<std::size_t>(records, 16));
    owned_.reset(new slot[size]());
    slots_ = owned_.get();
    mask_ = size - 1;
  }
  bool is_open() const { return slots_ != nullptr; }

  std::uint64_t capacity() const { return mask_ + 1; }
  /// The number of the first record that is surely there: its slot is not the one that the writer writes next.
  std::uint64_t first_whole() const {
    std::uint64_t const next = written(); // before the first one, the writer may open the ring meanwhile
    return next == 0 || next < capacity() ? 0 : next + 1 - capacity();
  }
  /// How many records were written so far.
  std::uint64_t written() const { return head_.load(std::memory_order_acquire); }

  // ---- the writer's side

  /// Whether records may be written until end_write: not by a signal handler that comes between the two, whose records would be
  /// in the middle of those that it interrupts.
  [[gnu::always_inline]] bool begin_write() {
    if (is_written_.load(std::memory_order_relaxed)) return false;
    is_written_.store(true, std::memory_order_relaxed);
    std::atomic_signal_fence(std::memory_order_seq_cst);
    return true;
  }
  [[gnu::always_inline]] void end_write() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    is_written_.store(false, std::memory_order_relaxed);
  }
  /// A call's begin or end was not recorded: a signal handler's, which interrupted a write.
  void note_drop() { dropped_.fetch_add(1, std::memory_order_relaxed); }
  /// How many there were.
  std::uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }
  /// Whether a record may be written.
  [[gnu::always_inline]] bool has_room() const {
    return head_.load(std::memory_order_relaxed) < limit_.load(std::memory_order_relaxed);
  }
  /// Up to which number records may be written: 0 stops the writer. Any thread may say so.
  void set_limit(std::uint64_t number) { limit_.store(number, std::memory_order_relaxed); }
  static constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

  [[gnu::always_inline]] std::uint64_t now() const {
    return counter_ ? read_counter() : steady_nanoseconds();
  }
  /// Writes a record, for which there is room.
  [[gnu::always_inline]] void write(std::uint64_t first, std::uint64_t second) {
    std::uint64_t const number = head_.load(std::memory_order_relaxed);
    slot& s = slots_[number & mask_];
    // A reader that sees one of these words sees the number of the record before, too, and so knows that the slot is new.
    std::atomic_thread_fence(std::memory_order_release);
    s.first.store(first, std::memory_order_relaxed);
    s.second.store(second, std::memory_order_relaxed);
    head_.store(number + 1, std::memory_order_release);
  }

  // ---- the reader's side

  /// Appends up to `most` records from number `from` on, and moves `from` behind them. Returns how many were overwritten before
  /// they could be read. Where the writer waits for readers none are.
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
      std::uint64_t const whole = first_whole(); // the writer may have come further meanwhile
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
  std::atomic<bool> is_written_{false}; // now, by its thread
  std::atomic<std::uint64_t> dropped_{0};
  std::unique_ptr<slot[]> owned_;
  slot* slots_ = nullptr;
};

} // namespace overdub::contexts::tracing
