#include <overdub/implementation/execute/frame_stack.hpp>

#include <algorithm>
#include <cstddef>

namespace overdub::execute {

std::byte* frame_stack::start(std::size_t bytes) {
  if (segments_.empty() || segments_[0].bytes < bytes) {
    segments_.clear();
    allocate(std::max(bytes, std::size_t{16} << 10));
  }
  return_to(0);
  return segments_[0].memory.get();
}

std::byte* frame_stack::frame_in_next_segment(std::size_t bytes, execution_limits const& limits) {
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
  return_to(next);
  std::byte* const frame = segments_[next].memory.get();
  write<std::byte*>(frame + previous_limit, frame);
  return frame;
}

} // namespace overdub::execute
