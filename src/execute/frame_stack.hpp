// The stack of frames of the interpreter: segments of memory, which are kept for later runs. Not thread-safe.
#pragma once

#include <overdub/execute/code.hpp>
#include <overdub/execute/instruction.hpp>
#include <overdub/execute/options.hpp>
#include <overdub/implementation/execute/handler.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace overdub::execute {

class frame_stack {
public:
  /// Empties the stack, and returns the address of its first frame, which has `bytes`.
  std::byte* start(std::size_t bytes);

  /// A frame of `bytes` after the caller's, which ends at `end`. Throws stack_overflow.
  std::byte* frame_after(std::byte* end, std::size_t bytes, execution_limits const& limits) {
    if (static_cast<std::size_t>(limit_ - end) >= bytes) [[likely]] {
      write<std::byte*>(end + previous_limit, nullptr);
      return end;
    }
    return frame_in_next_segment(bytes, limits);
  }
  /// Leaves a frame of frame_after.
  void leave(std::byte* frame) {
    if (read<std::byte*>(frame + previous_limit) != nullptr) [[unlikely]]
      return_to(segment_ - 1);
  }

  /// The segment of the current frame, to which an exception handler returns.
  std::size_t segment() const { return segment_; }
  void return_to(std::size_t segment) {
    segment_ = segment;
    limit_ = segments_[segment_].memory.get() + segments_[segment_].bytes;
  }

private:
  struct segment_memory {
    std::unique_ptr<std::byte[]> memory;
    std::size_t bytes;
  };

  void allocate(std::size_t bytes) {
    segments_.push_back({std::unique_ptr<std::byte[]>(new std::byte[bytes]), bytes});
  }
  std::byte* frame_in_next_segment(std::size_t bytes, execution_limits const& limits);

  std::vector<segment_memory> segments_;
  std::size_t segment_ = 0;
  std::byte* limit_ = nullptr; // the end of the segment
};

} // namespace overdub::execute
