// indirect: a value behind a pointer, whose type a header need not know (after std::indirect of C++26).
#pragma once

#include <utility>

namespace overdub::detail {

/// Copies are deep. It holds nothing until `get` is called. T may be incomplete where it is a member, and is complete where its
/// class's special members are defined. As thread-safe as a T.
template <class T>
class indirect {
public:
  indirect() = default;
  indirect(indirect const& other) : value_(other.value_ == nullptr ? nullptr : new T(*other.value_)) {}
  indirect(indirect&& other) noexcept : value_(std::exchange(other.value_, nullptr)) {}
  indirect& operator=(indirect other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~indirect() { delete value_; }

  /// The value; the first call makes it.
  T& get() {
    if (value_ == nullptr) value_ = new T();
    return *value_;
  }
  /// The value, or nullptr if it was never made.
  T const* find() const { return value_; }

private:
  T* value_ = nullptr;
};

} // namespace overdub::detail
