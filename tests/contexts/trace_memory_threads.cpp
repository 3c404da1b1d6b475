// trace without memory. The writer thread reports an error, and neither aborts the process nor blocks threads; a recorded
// call throws.
#include "catch.hpp"
#include "spans.hpp"

#include <overdub/contexts/trace.hpp>

#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>

namespace {

std::atomic<bool> others_fail{false};
thread_local bool is_test = false;

// ThreadSanitizer's own operators new cannot be replaced: with it, no allocation fails.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define OVERDUB_TEST_KEEPS_NEW
#endif
#endif

#ifndef OVERDUB_TEST_KEEPS_NEW
constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();
std::size_t largest = unlimited; // allocations of the test itself succeed up to this number of bytes

void* allocate(std::size_t size, std::size_t alignment = __STDCPP_DEFAULT_NEW_ALIGNMENT__) {
  if (is_test ? size > largest : bool(others_fail)) return nullptr;
  return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}
void* or_throw(void* p) {
  if (p == nullptr) throw std::bad_alloc();
  return p;
}
#endif

} // namespace

#ifndef OVERDUB_TEST_KEEPS_NEW
// All forms of operator new and delete, so that none is a sanitizer's.
void* operator new(std::size_t n) { return or_throw(allocate(n)); }
void* operator new(std::size_t n, std::align_val_t a) {
  return or_throw(allocate(n, static_cast<std::size_t>(a)));
}
void* operator new(std::size_t n, std::nothrow_t const&) noexcept { return allocate(n); }
void* operator new(std::size_t n, std::align_val_t a, std::nothrow_t const&) noexcept {
  return allocate(n, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t n) { return operator new(n); }
void* operator new[](std::size_t n, std::align_val_t a) { return operator new(n, a); }
void* operator new[](std::size_t n, std::nothrow_t const& t) noexcept { return operator new(n, t); }
void* operator new[](std::size_t n, std::align_val_t a, std::nothrow_t const& t) noexcept {
  return operator new(n, a, t);
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::nothrow_t const&) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t, std::nothrow_t const&) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::nothrow_t const&) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t, std::nothrow_t const&) noexcept { std::free(p); }

#endif

namespace od = overdub;
using namespace overdub::contexts;

TEST_CASE("if there is no memory to write a file, the program continues, and finish reports an error") {
  constexpr auto square = od::fn<"square">([](auto x) { return x * x; });
  is_test = true;
  spans::temporary_file const file("memory.json");
  trace_file out(file.path, trace_format::chrome, {.records = 64, .policy = when_full::block});
  others_fail = true;
  for (int i = 0; i < 10'000; ++i)
    od::run(trace{}, square, 2.0); // waits for the writer thread whenever the ring is full
  others_fail = false;
#ifndef OVERDUB_TEST_KEEPS_NEW
  CHECK_THROWS_AS(out.finish(), std::bad_alloc);
#else
  CHECK_NOTHROW(out.finish());
#endif
  CHECK(out.statistics().records == 20'000);
  is_test = false;
}

#ifndef OVERDUB_TEST_KEEPS_NEW
TEST_CASE("a call without memory for records throws, counts as sampled, and later calls are recorded") {
  using sampled = trace_with<tracing::one_in<2>>;
  constexpr auto square = od::fn<"square">([](auto x) { return x * x; });
  is_test = true;
  {
    recording r(std::size_t{1} << 16);
    largest = std::size_t{1} << 16; // bytes; each record needs more than one
    CHECK_THROWS_AS(od::run(trace{}, square, 2.0), std::bad_alloc);
    CHECK_THROWS_AS(od::run(sampled{}, square, 2.0), std::bad_alloc);
    largest = unlimited;
    CHECK(r.statistics().records == 0);
  }
  recording r;
  for (int i = 0; i < 4; ++i) od::run(sampled{}, square, 2.0);
  CHECK(spans::occurrences(spans::tree(r), "square\n") == 2);
  is_test = false;
}
#endif
