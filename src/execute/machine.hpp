// The state of a run: frames, buffers, protected regions. Not thread-safe. The next run, of any program, reuses the memory.
#pragma once

#include <overdub/execute/code.hpp>
#include <overdub/execute/instruction.hpp>
#include <overdub/execute/options.hpp>
#include <overdub/implementation/execute/buffer.hpp>
#include <overdub/implementation/execute/deferred_adds.hpp>
#include <overdub/implementation/execute/frame_stack.hpp>
#include <overdub/implementation/execute/handler.hpp>

#include <cstddef>
#include <exception>
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
  block_additions additions; // deferred additions of the block
  execution_limits limits;
  void* const* contexts = nullptr; // of the call: the receivers of bound host functions (ir::host_binding)
  // The stack limit of compiled code, whose frames are on the C++ stack.
  std::byte const* stack_end = nullptr;

  /// Runs from an instruction to a `halt`. After an exception, all buffers must be reset.
  void run(instruction const* at, std::byte* frame);

  /// A frame at the bottom of the stack.
  std::byte* base(std::size_t bytes);

  /// A frame of `bytes` after the caller's, which ends at `end`.
  std::byte* frame_after(std::byte* end, std::size_t bytes) {
    return frames_.frame_after(end, bytes, limits);
  }
  /// Leaves a frame of frame_after.
  void leave(std::byte* frame) { frames_.leave(frame); }

  // ---- protect
  void protect(instruction const* failed, std::byte* frame) {
    guards_.push_back({failed, frame, frames_.segment(), pending_.size()});
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
  void go_on(instruction const* at, std::byte* frame, i64 x, double y) { next_ = {at, frame, x, y}; }

private:
  struct guard {
    instruction const* failed;
    std::byte* frame;
    std::size_t segment;
    std::size_t pending;
  };
  struct continuation {
    instruction const* at = nullptr;
    std::byte* frame = nullptr;
    i64 x = 0;
    double y = 0;
  };

  void go(instruction const* at, std::byte* frame, i64 x);

  frame_stack frames_;
  std::vector<guard> guards_;
  std::vector<std::exception_ptr> pending_;
  continuation next_;
};

inline void go_on(machine* m, instruction const* at, std::byte* frame, i64 x, double y) {
  m->go_on(at, frame, x, y);
}

} // namespace overdub::execute
