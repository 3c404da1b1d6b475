// The state of a run: frames, buffers, protected regions. Not thread-safe. The next run, of any program, reuses the memory.
#pragma once

#include <overdub/execute/code.hpp>
#include <overdub/execute/instruction.hpp>
#include <overdub/execute/options.hpp>
#include <overdub/implementation/execute/buffer.hpp>
#include <overdub/implementation/execute/deferred_adds.hpp>
#include <overdub/implementation/execute/handler.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace overdub::execute {

class machine {
public:
  machine() = default;
  machine(machine const&) = delete;
  machine& operator=(machine const&) = delete;

  code const* program = nullptr;            // the running program
  i64 lanes = 0;                            // elements in the current block
  instruction const* elementwise = nullptr; // runs the elements of that block one by one
  instruction const* in_lanes = nullptr;    // runs them in lanes
  bool abandoned = false; // a block was abandoned: buffers may have references without an owner
  buffer_pool buffers;
  deferred_adds<double> doubles; // deferred additions of the block
  deferred_adds<float> floats;
  deferred_adds<i64> integers;
  execution_limits limits;
  void* const* contexts = nullptr; // of the call: the receivers of bound host functions (ir::host_binding)
  // The stack limit of compiled code, whose frames are on the C++ stack.
  std::byte const* stack_end = nullptr;

  template <class T>
  deferred_adds<T>& adds() {
    if constexpr (std::is_same_v<T, double>)
      return doubles;
    else if constexpr (std::is_same_v<T, float>)
      return floats;
    else
      return integers;
  }

  /// Runs from an instruction to a `halt`. After an exception, all buffers must be reset.
  void run(instruction const* at, std::byte* frame);

  /// A frame at the bottom of the stack.
  std::byte* base(std::size_t bytes);

  /// A frame of `bytes` after the caller's, which ends at `end`.
  std::byte* frame_after(std::byte* end, std::size_t bytes) {
    if (static_cast<std::size_t>(limit_ - end) >= bytes) [[likely]] {
      write<std::byte*>(end + previous_limit, nullptr);
      return end;
    }
    return frame_in_next_segment(bytes);
  }
  /// Leaves a frame of frame_after.
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
  [[noreturn]] void rethrow();
  /// Calls the host. After a failure, its exception is the current one, as in the handlers of machine code.
  template <class Call>
  void call_out(Call const& call) {
    if (pending_.empty()) [[likely]]
      return call();
    try {
      std::rethrow_exception(pending_.back());
    } catch (...) {
      call();
    }
  }

  // ---- continuation of handlers that return to a loop
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

  void go(instruction const* at, std::byte* frame, i64 x);

  void set_limit() { limit_ = segments_[segment_].memory.get() + segments_[segment_].bytes; }
  void allocate(std::size_t bytes) {
    segments_.push_back({std::unique_ptr<std::byte[]>(new std::byte[bytes]), bytes});
  }
  std::byte* frame_in_next_segment(std::size_t bytes);

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

} // namespace overdub::execute
