// Counts the allocations of a program, and makes them fail when a test requests it. One source of a program includes it: it
// replaces operator new. The program's other threads do not allocate meanwhile.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <limits>
#include <new>

namespace {

constexpr long unlimited = std::numeric_limits<long>::max();
long allowed = unlimited; // allocations that succeed
long made = 0, alive = 0;

void* allocate(std::size_t size, std::size_t alignment) {
  if (allowed != unlimited && allowed-- <= 0) {
    allowed = 0;
    throw std::bad_alloc();
  }
  ++made;
  ++alive;
  void* const p = std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}
void* without_throwing(auto const& f) {
  try {
    return f();
  } catch (std::bad_alloc const&) {
    return nullptr;
  }
}
void give_back(void* p) {
  if (p != nullptr) --alive;
  std::free(p);
}

} // namespace

// All forms of operator new and delete, so that none is a sanitizer's.
void* operator new(std::size_t size) { return allocate(size, __STDCPP_DEFAULT_NEW_ALIGNMENT__); }
void* operator new(std::size_t size, std::align_val_t a) {
  return allocate(size, static_cast<std::size_t>(a));
}
void* operator new(std::size_t size, std::nothrow_t const&) noexcept {
  return without_throwing([&] { return operator new(size); });
}
void* operator new(std::size_t size, std::align_val_t a, std::nothrow_t const&) noexcept {
  return without_throwing([&] { return operator new(size, a); });
}
void operator delete(void* p) noexcept { give_back(p); }
void operator delete(void* p, std::size_t) noexcept { give_back(p); }
void operator delete(void* p, std::align_val_t) noexcept { give_back(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { give_back(p); }
void operator delete(void* p, std::nothrow_t const&) noexcept { give_back(p); }
void operator delete(void* p, std::align_val_t, std::nothrow_t const&) noexcept { give_back(p); }
