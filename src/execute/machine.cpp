#include <overdub/implementation/execute/handler.hpp>
#include <overdub/implementation/execute/machine.hpp>

#include <cstddef>
#include <exception>
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
      frames_.return_to(g.segment);
      at = g.failed;
      frame = g.frame;
    }
  }
}

std::byte* machine::base(std::size_t bytes) {
  guards_.clear();
  pending_.clear();
  return frames_.start(bytes);
}

void machine::go(instruction const* at, std::byte* frame, i64 x) {
#if OVERDUB_TAIL_CALLS
  at->run(at, frame, this, x, 0);
#else
  go_on(at, frame, x, 0);
  while (next_.at != nullptr) next_.at->run(next_.at, next_.frame, this, next_.x, next_.y);
#endif
}

[[noreturn]] void machine::rethrow() {
  std::exception_ptr const e = std::move(pending_.back());
  pending_.pop_back();
  std::rethrow_exception(e);
}

} // namespace overdub::execute
