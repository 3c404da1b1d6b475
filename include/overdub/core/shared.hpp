// shared: an object that copies of a handle share, without <memory>, which takes a third of a second of compile time in every unit.
#pragma once

#include <overdub/core/requirements.hpp>

#include <cstddef>
#include <utility>

namespace overdub::detail {

/// Handles with a reference count; the last one destroys the object. Different handles may be used by different threads at the same time. A
/// handle that was moved from holds nothing.
template <class T>
class shared {
public:
  explicit shared(T value) : block_(new block{1, std::move(value)}) {}
  shared(shared const& other) noexcept : block_(other.block_) {
    if (block_) __atomic_fetch_add(&block_->handles, 1, __ATOMIC_RELAXED);
  }
  shared(shared&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  shared& operator=(shared other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~shared() {
    if (block_ && __atomic_fetch_sub(&block_->handles, 1, __ATOMIC_ACQ_REL) == 1) delete block_;
  }

  T& operator*() const { return block_->value; }

private:
  struct block {
    std::size_t handles;
    T value;
  };
  block* block_;
};

} // namespace overdub::detail
