// indirect: a value behind a pointer, whose type a header need not know.
#pragma once

#include <overdub/core/requirements.hpp>

#include <utility>

namespace overdub::detail {

/// Copies are deep. It holds nothing until `get_or_create` is called. T may be incomplete where it is a member, and is complete where its
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
  ~indirect() {
    static_assert(sizeof(T) > 0, "overdub: the type of an indirect member is complete where it is destroyed");
    delete value_;
  }

  /// The value; the first call creates it.
  T& get_or_create() {
    if (value_ == nullptr) value_ = new T();
    return *value_;
  }
  /// The value, or null if none was created.
  T const* get_if() const { return value_; }

private:
  T* value_ = nullptr;
};

} // namespace overdub::detail
