// A limit to recursion that follows what a program says, such as its calls: so that no program ends the process.
#pragma once

#include <overdub/core/requirements.hpp>

#include <cstddef>
#include <cstdint>

namespace overdub::detail {

/// How much of the host's stack a recursion may take, counted from where this is made.
class stack_limit {
public:
  explicit stack_limit(std::size_t bytes) : bytes_(bytes), start_(here()) {}

  bool is_reached() const {
    std::uintptr_t const now = here();
    return (now < start_ ? start_ - now : now - start_) > bytes_;
  }

private:
  // A frame's address, and not that of a local, which sanitizers may put elsewhere.
  [[gnu::noinline]] static std::uintptr_t here() {
    return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  }

  std::size_t bytes_;
  std::uintptr_t start_;
};

} // namespace overdub::detail
