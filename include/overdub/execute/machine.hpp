// The state of a run: frames, buffers, what protects. One thread uses a machine at a time; it keeps its memory for the
// next run, of any program.
#pragma once

#include <overdub/execute/buffer.hpp>
#include <overdub/execute/code.hpp>
#include <overdub/execute/instruction.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

namespace overdub {

/// How much memory the frames of nested calls may take, in bytes.
struct execution_limits {
  std::size_t frame_bytes = std::size_t{64} << 20;
};

namespace execute {

class machine {
public:
  machine() = default;
  machine(machine const&) = delete;
  machine& operator=(machine const&) = delete;

  code const* program = nullptr;            // that runs
  i64 lanes = 0;                            // elements in the block that runs
  instruction const* elementwise = nullptr; // which runs the elements of that block one by one
  bool abandoned = false; // a block was left in the middle: buffers may be counted that nobody owns
  buffer_pool buffers;
  execution_limits limits;
  std::byte const* stack_end =
      nullptr; // of compiled code, which keeps frames on the stack of C++: as far as it may go

  /// Runs from an instruction to a `halt`. An exception leaves all buffers to be reset.
  void run(instruction const* at, std::byte* frame) {
    i64 x = 0;
    for (;;) {
      try {
        go(at, frame, x);
        return;
      } catch (...) {
        if (guards_.empty()) throw;
        guard const g = guards_.back();
        guards_.pop_back();
        pending_.resize(g.pending);
        pending_.push_back(std::current_exception());
        segment_ = g.segment;
        set_limit();
        at = g.failed;
        frame = g.frame;
      }
    }
  }

  /// A frame at the bottom of the stack.
  std::byte* base(std::size_t bytes) {
    guards_.clear();
    pending_.clear();
    segment_ = 0;
    if (segments_.empty() || segments_[0].bytes < bytes) {
      segments_.clear();
      allocate(std::max(bytes, std::size_t{16} << 10));
    }
    set_limit();
    return segments_[0].memory.get();
  }

  /// A frame of `bytes` behind the caller's, which ends at `end`.
  std::byte* frame_behind(std::byte* end, std::size_t bytes) {
    if (static_cast<std::size_t>(limit_ - end) >= bytes) [[likely]] {
      write<std::byte*>(end + previous_limit, nullptr);
      return end;
    }
    return frame_in_next_segment(bytes);
  }
  /// Leaves a frame that frame_behind gave.
  void leave(std::byte* frame) {
    if (read<std::byte*>(frame + previous_limit) != nullptr) [[unlikely]] {
      --segment_;
      set_limit();
    }
  }

  // ---- protect
  void protect(instruction const* failed, std::byte* frame) {
    guards_.push_back({failed, frame, segment_, pending_.size()});
  }
  void unprotect() { guards_.pop_back(); }
  [[noreturn]] void fail_again() {
    std::exception_ptr const e = std::move(pending_.back());
    pending_.pop_back();
    std::rethrow_exception(e);
  }

  // ---- where handlers that return to a loop go on
  void go_on(instruction const* at, std::byte* frame, i64 x, double y) {
    at_ = at;
    frame_ = frame;
    x_ = x;
    y_ = y;
  }

private:
  struct segment {
    std::unique_ptr<std::byte[]> memory;
    std::size_t bytes;
  };
  struct guard {
    instruction const* failed;
    std::byte* frame;
    std::size_t segment;
    std::size_t pending;
  };

  void go(instruction const* at, std::byte* frame, i64 x) {
#if OVERDUB_TAIL_CALLS
    at->run(at, frame, this, x, 0);
#else
    go_on(at, frame, x, 0);
    while (at_ != nullptr) at_->run(at_, frame_, this, x_, y_);
#endif
  }

  void set_limit() { limit_ = segments_[segment_].memory.get() + segments_[segment_].bytes; }
  void allocate(std::size_t bytes) {
    segments_.push_back({std::unique_ptr<std::byte[]>(new std::byte[bytes]), bytes});
  }
  [[gnu::noinline]] std::byte* frame_in_next_segment(std::size_t bytes) {
    std::size_t used = 0;
    for (std::size_t i = 0; i <= segment_; ++i) used += segments_[i].bytes;
    std::size_t const next = segment_ + 1;
    if (next < segments_.size() && segments_[next].bytes < bytes) segments_.resize(next);
    if (next == segments_.size()) {
      std::size_t const wanted = std::max(bytes, std::min(used, std::size_t{16} << 20));
      if (used + bytes > limits.frame_bytes)
        throw stack_overflow(message(
            "overdub: calls are nested too deep: their frames take more than %zu bytes; end the recursion "
            "earlier, write a loop, or raise execution_limits::frame_bytes",
            limits.frame_bytes));
      allocate(std::min(wanted, std::max(bytes, limits.frame_bytes - used)));
    }
    segment_ = next;
    set_limit();
    std::byte* const frame = segments_[next].memory.get();
    write<std::byte*>(frame + previous_limit, frame);
    return frame;
  }

  std::vector<segment> segments_;
  std::size_t segment_ = 0;
  std::byte* limit_ = nullptr;
  std::vector<guard> guards_;
  std::vector<std::exception_ptr> pending_;

  instruction const* at_ = nullptr;
  std::byte* frame_ = nullptr;
  i64 x_ = 0;
  double y_ = 0;
};

inline void go_on(machine* m, instruction const* at, std::byte* frame, i64 x, double y) {
  m->go_on(at, frame, x, y);
}

} // namespace execute
} // namespace overdub
