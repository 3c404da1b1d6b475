// Checked builds: detection of values and scopes that outlive their run or call. A reference to a run's contexts (a value, a stack), or to
// a call (a scope), has a `lifetime`; the run or the call owns it as a `begun_lifetime`, and ends it. Other builds store nothing.
#pragma once

#include <overdub/core/config.hpp>

#include <type_traits>

#if OVERDUB_CHECKED
#include <cstddef>
#include <cstdint>
#include <new>
#include <sys/mman.h>
#endif

namespace overdub::detail {

#if OVERDUB_CHECKED
// The inline namespace gives types with a different layout different mangled names.
inline namespace checked {

// The slot of a lifetime. A run has a slot and the slot's number; the end of the run changes the number (a generational index).
struct lifetime_slot {
  std::uint64_t number;
  std::uint32_t index, next; // next: the index of the next free slot, from 1 on
};

// All slots. They are reused and never freed, so that a value that outlives its run can always test its slot. A signal handler, and the
// child of a fork, may run functions in contexts: therefore the free list is lock-free, and memory comes from mmap. It uses atomic
// builtins, since <atomic> costs every unit compile time.
class lifetime_slots {
public:
  OVERDUB_HIDDEN static lifetime_slot& take() {
    std::uint64_t head = __atomic_load_n(&free_, __ATOMIC_ACQUIRE);
    for (;;) {
      if (auto const first = static_cast<std::uint32_t>(head); first == 0)
        head = add_chunk();
      else {
        lifetime_slot& slot = at(first - 1);
        if (replace(head, __atomic_load_n(&slot.next, __ATOMIC_RELAXED))) return slot;
      }
    }
  }
  OVERDUB_HIDDEN static void give_back(lifetime_slot& slot) { push(slot, slot); }

private:
  static constexpr std::uint32_t first_size = 64;

  // Each chunk has twice the size of the previous one.
  OVERDUB_HIDDEN static lifetime_slot& at(std::uint32_t index) {
    auto const chunk = static_cast<std::uint32_t>(31 - __builtin_clz(index / first_size + 1));
    return __atomic_load_n(&chunks_[chunk], __ATOMIC_ACQUIRE)[index - begin_of(chunk)];
  }
  OVERDUB_HIDDEN static std::uint32_t begin_of(std::uint32_t chunk) {
    return first_size * ((std::uint32_t{1} << chunk) - 1);
  }

  // Replaces the head of the free list by compare-and-swap. The upper half of the head counts changes, against the ABA problem.
  OVERDUB_HIDDEN static bool replace(std::uint64_t& head, std::uint32_t first) {
    std::uint64_t const changed = ((head >> 32) + 1) << 32 | first;
    return __atomic_compare_exchange_n(&free_, &head, changed, true, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
  }
  // Pushes the linked slots from first to last.
  OVERDUB_HIDDEN static std::uint64_t push(lifetime_slot const& first, lifetime_slot& last) {
    std::uint64_t head = __atomic_load_n(&free_, __ATOMIC_ACQUIRE);
    do __atomic_store_n(&last.next, static_cast<std::uint32_t>(head), __ATOMIC_RELAXED);
    while (!replace(head, first.index + 1));
    return __atomic_load_n(&free_, __ATOMIC_ACQUIRE);
  }
  OVERDUB_HIDDEN static std::uint64_t add_chunk() {
    std::uint32_t chunk = 0;
    while (__atomic_load_n(&chunks_[chunk], __ATOMIC_ACQUIRE) != nullptr) ++chunk;
    std::uint32_t const size = first_size << chunk;
    void* const memory = mmap(
        nullptr, size * sizeof(lifetime_slot), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    auto* const made = new (memory) lifetime_slot[size];
    for (std::uint32_t i = 0; i < size; ++i) made[i] = {0, begin_of(chunk) + i, begin_of(chunk) + i + 2};
    lifetime_slot* none = nullptr;
    if (__atomic_compare_exchange_n(&chunks_[chunk], &none, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
      return push(made[0], made[size - 1]);
    munmap(memory, size * sizeof(lifetime_slot)); // another thread allocated the chunk first
    return __atomic_load_n(&free_, __ATOMIC_ACQUIRE);
  }

  // The head of the free list: the index of the first free slot, from 1 on, and the number of changes in the upper half.
  OVERDUB_HIDDEN static inline std::uint64_t free_ = 0;
  OVERDUB_HIDDEN static inline lifetime_slot* chunks_[25]{};
};

// The lifetime of a run or a call. A default-constructed lifetime never ends. Thread-safe.
class lifetime {
public:
  constexpr lifetime() = default;
  OVERDUB_HIDDEN explicit lifetime(lifetime_slot const& slot) : slot_(&slot), number_(slot.number) {}

  constexpr bool is_over() const {
    return slot_ != nullptr && __atomic_load_n(&slot_->number, __ATOMIC_ACQUIRE) != number_;
  }

private:
  lifetime_slot const* slot_ = nullptr;
  std::uint64_t number_ = 0;
};

// A lifetime that ends with this object. Does nothing in constant evaluation, where the compiler detects such errors. O(1), thread-safe.
template <bool Kept>
class begun_lifetime {
public:
  OVERDUB_HIDDEN constexpr begun_lifetime()
      : slot_(std::is_constant_evaluated() ? nullptr : &lifetime_slots::take()) {}
  OVERDUB_HIDDEN constexpr ~begun_lifetime() {
    if (slot_ == nullptr) return;
    __atomic_store_n(&slot_->number, slot_->number + 1, __ATOMIC_RELEASE);
    lifetime_slots::give_back(*slot_);
  }
  begun_lifetime(begun_lifetime const&) = delete;
  begun_lifetime& operator=(begun_lifetime const&) = delete;

  constexpr lifetime get() const { return slot_ == nullptr ? lifetime() : lifetime(*slot_); }

private:
  lifetime_slot* slot_;
};
template <>
class begun_lifetime<false> {
public:
  constexpr begun_lifetime() {}
  static constexpr lifetime get() { return {}; }
};

// The context whose rule runs on this thread: recurse(*this, ...) in a rule identifies the context, but not the run.
struct context_in_rule {
  void const* context;
  lifetime of_run;
};
OVERDUB_HIDDEN inline context_in_rule& innermost_rule() {
  thread_local context_in_rule rule{};
  return rule;
}
OVERDUB_HIDDEN constexpr lifetime lifetime_in_rule(void const* context) {
  if (std::is_constant_evaluated() || innermost_rule().context != context) return {};
  return innermost_rule().of_run;
}

template <bool Kept>
class begun_rule {
public:
  template <class Reference>
  OVERDUB_HIDDEN constexpr explicit begun_rule(Reference const& context) {
    if (std::is_constant_evaluated()) return;
    before_ = innermost_rule();
    innermost_rule() = {&context.get(), context.of_run()};
  }
  OVERDUB_HIDDEN constexpr ~begun_rule() {
    if (!std::is_constant_evaluated()) innermost_rule() = before_;
  }
  begun_rule(begun_rule const&) = delete;
  begun_rule& operator=(begun_rule const&) = delete;

private:
  context_in_rule before_{};
};
template <>
class begun_rule<false> {
public:
  template <class Reference>
  constexpr explicit begun_rule(Reference const&) {}
};

} // namespace checked
#else
struct lifetime {};

template <bool Kept>
struct begun_lifetime {
  constexpr begun_lifetime() {}
  static constexpr lifetime get() { return {}; }
};
#endif

} // namespace overdub::detail
