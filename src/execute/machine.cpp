#include <overdub/implementation/execute/handler.hpp>
#include <overdub/implementation/execute/machine.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <memory>
#include <utility>

namespace overdub::execute {

void machine::run(instruction const* at, std::byte* frame) {
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

std::byte* machine::base(std::size_t bytes) {
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

void machine::go(instruction const* at, std::byte* frame, i64 x) {
#if OVERDUB_TAIL_CALLS
  at->run(at, frame, this, x, 0);
#else
  go_on(at, frame, x, 0);
  while (at_ != nullptr) at_->run(at_, frame_, this, x_, y_);
#endif
}

std::byte* machine::frame_in_next_segment(std::size_t bytes) {
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

[[noreturn]] void machine::rethrow() {
  std::exception_ptr const e = std::move(pending_.back());
  pending_.pop_back();
  std::rethrow_exception(e);
}

} // namespace overdub::execute
