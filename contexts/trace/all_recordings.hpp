// The recordings of a process, which all shared objects that include overdub use together. Each shared object has a variable that refers to
// them, and finds the variables of the others by an ELF note, so that no symbol is exported. Not a part of the public interface.
#pragma once

#include <overdub/contexts/trace/session.hpp>
#include <overdub/core/config.hpp>
#include <overdub/version.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <link.h>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <string>
#include <vector>

namespace overdub::contexts::tracing {

/// The active session of the process, and the callees that have a counter: the counter of counted[i] has index i.
struct recordings {
  std::mutex mutex; // protects `active` and `counted`
  std::shared_ptr<session> active;
  std::atomic<bool> is_active{false};
  std::vector<callee_info const*> counted;
  std::atomic<pthread_t> forks{0}; // the thread that forks and holds the mutex; 0 if there is none
  std::atomic<pthread_t> writer{
      0}; // the thread that writes the newest trace_file, or 0; its calls are not recorded
  // A function that fills in the missing names of callees (callee_info); null if there is none. Thread-safe. Throws std::bad_alloc.
  std::atomic<void (*)()> name_callees{nullptr};

  std::vector<callee_info const*> callees() {
    uninterrupted_lock const lock(mutex);
    return counted;
  }
};

/// A hash of the version and of the sizes of shared types. Shared objects use the same recordings only if their hashes are equal.
constexpr std::uint64_t layout_of_recordings() {
  std::uint64_t hash = 14695981039346656037u; // FNV-1a on words of 64 bits, not on bytes
  for (std::size_t const x :
       {std::size_t{OVERDUB_VERSION_MAJOR}, std::size_t{OVERDUB_VERSION_MINOR},
        std::size_t{OVERDUB_VERSION_PATCH}, sizeof(recordings), sizeof(session), sizeof(thread_buffer),
        sizeof(std::string), sizeof(std::shared_ptr<session>)})
    hash = (hash ^ x) * 1099511628211u;
#if defined(_LIBCPP_VERSION)
  hash ^= 1;
#endif
  return hash;
}

/// Each shared object has a slot with the address of the process's recordings. The address is null until the object records.
struct recordings_slot {
  std::uint64_t layout;
  std::atomic<recordings*> at;
};
[[gnu::used]] OVERDUB_HIDDEN inline constinit recordings_slot this_slot asm("overdub_recordings"){
    layout_of_recordings(), nullptr};
// The content of the note is the distance from the content to `this_slot`. Only assembly can express this constant.
asm(".pushsection .note.overdub, \"a\", @note\n"
    ".balign 4\n"
    ".long 8, 4, 1\n" // the sizes of name and content, the note's type
    ".asciz \"overdub\"\n"
    ".long overdub_recordings - .\n"
    ".popsection\n");

// Calls f(slot) for each slot that a shared object's notes refer to.
template <class F>
void for_each_slot(dl_phdr_info const& object, F const& f) {
  struct note {
    std::uint32_t name_size, size, type;
    char name[8];
    std::int32_t distance;
  };
  for (std::size_t i = 0; i < object.dlpi_phnum; ++i) {
    auto const& segment = object.dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    std::uintptr_t const alignment = segment.p_align == 8 ? 8 : 4;
    auto const aligned = [&](std::uintptr_t size) { return (size + alignment - 1) / alignment * alignment; };
    std::uintptr_t at = object.dlpi_addr + segment.p_vaddr, end = at + segment.p_memsz;
    while (at + offsetof(note, name) <= end) {
      auto const& n = *reinterpret_cast<note const*>(at);
      if (n.name_size == sizeof n.name && n.size == sizeof n.distance && at + sizeof n <= end &&
          std::memcmp(n.name, "overdub", sizeof n.name) == 0)
        f(*reinterpret_cast<recordings_slot*>(
            reinterpret_cast<std::uintptr_t>(&n.distance) +
            static_cast<std::uintptr_t>(std::intptr_t{n.distance})));
      at += aligned(offsetof(note, name) + n.name_size) + aligned(n.size);
    }
  }
}

// Sets `this_slot` to the recordings that another shared object uses, or to new ones. The dynamic loader's lock serialises concurrent
// callers.
[[gnu::cold, gnu::noinline]] OVERDUB_HIDDEN inline recordings& find_recordings() {
  dl_iterate_phdr(
      [](dl_phdr_info*, std::size_t, void*) {
        if (this_slot.at.load() != nullptr) return 1;
        recordings* found = nullptr;
        dl_iterate_phdr(
            [](dl_phdr_info* object, std::size_t, void* out) {
              for_each_slot(*object, [&](recordings_slot& slot) {
                recordings* const there =
                    slot.layout == this_slot.layout ? slot.at.load(std::memory_order_acquire) : nullptr;
                if (there != nullptr) *static_cast<recordings**>(out) = there;
              });
              return 0;
            },
            &found);
        this_slot.at =
            found != nullptr
                ? found
                : new recordings; // never destroyed: threads may use it after static destructors have run
        return 1;
      },
      nullptr);
  return *this_slot.at.load();
}

/// The recordings of the process.
OVERDUB_HIDDEN inline recordings& all_recordings() {
  recordings* const known = this_slot.at.load(std::memory_order_acquire);
  return known != nullptr ? *known : find_recordings();
}

/// Readers call it after they have read records, and before they use the callees.
OVERDUB_HIDDEN inline void name_callees() {
  if (auto const name = all_recordings().name_callees.load(std::memory_order_acquire)) name();
}

} // namespace overdub::contexts::tracing
