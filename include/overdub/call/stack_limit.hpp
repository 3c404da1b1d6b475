// A limit for recursion over the structure of a program, such as its calls, so that no program overflows the host's stack.
#pragma once

#include <overdub/core/requirements.hpp>

#include <cstddef>
#include <cstdint>

namespace overdub::detail {

/// Limits the use of the host's stack by a recursion, counted from the constructor.
class stack_limit {
public:
  explicit stack_limit(std::size_t bytes) : bytes_(bytes), start_(here()) {}

  bool is_reached() const {
    std::uintptr_t const now = here();
    return (now < start_ ? start_ - now : now - start_) > bytes_;
  }

private:
  // The address of the frame, and not of a local variable, which sanitizers may allocate elsewhere.
  [[gnu::noinline]] static std::uintptr_t here() {
    return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  }

  std::size_t bytes_;
  std::uintptr_t start_;
};

} // namespace overdub::detail
