#include "callee.hpp"
#include "callee_table.hpp"
#include "symbols.hpp"

#include <overdub/call/thread_without_signals.hpp>
#include <overdub/contexts/trace/all_recordings.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <link.h>
#include <memory>
#include <mutex>
#include <new>
#include <pthread.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace overdub::overtrace {

constinit callee_table known_callees;

namespace {

constexpr std::string_view kind = "function";

// ---- memory until the process ends, without locks, for signal handlers

struct alignas(64) chunk {
  std::atomic<std::size_t> used{sizeof(chunk)};
  std::size_t size;
};
constinit std::atomic<chunk*> last_chunk{nullptr};

// Aligned as callee; null if there is none. Async-signal-safe.
void* allocate(std::size_t size) noexcept {
  size = (size + alignof(callee) - 1) / alignof(callee) * alignof(callee);
  for (;;) {
    chunk* now = last_chunk.load(std::memory_order_acquire);
    if (now != nullptr && size <= now->size)
      if (std::size_t const at = now->used.fetch_add(size, std::memory_order_relaxed); at + size <= now->size)
        return reinterpret_cast<char*>(now) + at;
    std::size_t const wanted = std::max<std::size_t>(1 << 18, size + sizeof(chunk));
    int const error = errno;
    void* const memory = mmap(nullptr, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    errno = error;
    if (memory == MAP_FAILED) return nullptr;
    auto* const made = new (memory) chunk{.size = wanted};
    if (!last_chunk.compare_exchange_strong(now, made)) munmap(memory, wanted);
  }
}
// The copy has no data if there is no memory.
std::string_view copy(std::string_view text) noexcept {
  auto* const to = static_cast<char*>(allocate(std::max<std::size_t>(text.size(), 1)));
  if (to == nullptr) return {};
  std::memcpy(to, text.data(), text.size());
  return {to, text.size()};
}

// ---- names

constinit std::atomic<callee*> newest{nullptr};

// The state of name_new_callees. A child of fork begins with a new one, since another thread may have used it at the fork.
struct naming {
  std::mutex mutex;
  callee* named = nullptr; // the newest callee with a name
  objects symbols;

  void name(callee& c) {
    filters const& f = process_filters();
    symbol found;
    if (void const* const function = c.function) {
      found = symbols.symbol_at(function, !f.files.empty());
      c.info.name = copy(found.name);
      if (c.info.name.data() == nullptr) throw std::bad_alloc();
    } else {
      if (c.info.name.empty()) c.info.name = "?"; // its object was unloaded during its first call
      found = {std::string(c.info.name), std::string(c.file)};
    }
    if (!f.are_by_name()) return;
    bool const records = f.records(found.name, found.file);
    if (!records) c.info.kind = {};
    c.is = records ? choice::recorded : choice::left_out;
  }
  void name_new() {
    std::lock_guard const lock(mutex);
    callee* const last = newest.load(std::memory_order_acquire);
    for (callee* c = last; c != named; c = c->older) name(*c);
    named = last;
  }
};
naming* names = nullptr;

// ---- the thread that chooses callees by name

sem_t added;                                  // counts callees that were not chosen yet
std::atomic<bool> ends{false}, answers{true}; // `answers`: the thread is not known to wait for a lock
std::thread* chooser = nullptr;
pid_t owner = 0;

callee* add(callee* c) noexcept {
  if (process_filters().are_by_name()) c->is.store(choice::unknown, std::memory_order_relaxed);
  c->older = newest.load(std::memory_order_relaxed);
  while (!newest.compare_exchange_weak(c->older, c, std::memory_order_release, std::memory_order_relaxed)) {
  }
  if (chooser != nullptr) sem_post(&added);
  return c;
}
callee* make(std::string_view name, void const* function) noexcept {
  void* const memory = allocate(sizeof(callee));
  return memory == nullptr ? nullptr
                           : new (memory) callee{.info = {name, kind}, .file = {}, .function = function};
}

void choose() {
  unobserved const here;
  for (;;) {
    while (sem_wait(&added) != 0) {
    }
    if (ends) return;
    try {
      name_new_callees();
    } catch (...) { // memory is exhausted: readers try again
    }
    answers = true;
  }
}

[[gnu::constructor(101)]] void begin() {
  owner = getpid();
  names = new naming;
  contexts::tracing::all_recordings().name_callees = &name_new_callees;
  pthread_atfork(nullptr, nullptr, [] {
    names = new naming;
    chooser = nullptr;
  });
  // Without it, calls that are not chosen would fill the rings of recordings in memory, which are read at the end, and it would not be known
  // which calls are below the greatest depth.
  if (!process_filters().are_by_name() || sem_init(&added, 0, 0) != 0) return;
  chooser = overdub::detail::thread_without_signals([] { choose(); }).release();
}
[[gnu::destructor(101)]] void end() {
  if (getpid() != owner || chooser == nullptr) return;
  ends = true;
  sem_post(&added);
  chooser->join();
}

// ---- unloaded objects

unsigned long long number_of_unloaded() {
  unsigned long long number = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* to) {
        *static_cast<unsigned long long*>(to) = object->dlpi_subs;
        return 1;
      },
      &number);
  return number;
}
std::vector<std::pair<std::uintptr_t, std::uintptr_t>> loaded_segments() {
  std::vector<std::pair<std::uintptr_t, std::uintptr_t>> all;
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void* to) {
        for (std::size_t i = 0; i < object->dlpi_phnum; ++i)
          if (auto const& s = object->dlpi_phdr[i]; s.p_type == PT_LOAD)
            static_cast<decltype(all)*>(to)->emplace_back(
                object->dlpi_addr + s.p_vaddr, object->dlpi_addr + s.p_vaddr + s.p_memsz);
        return 0;
      },
      &all);
  return all;
}
// Another object may be loaded at the addresses of one that was unloaded.
void forget_unloaded() {
  std::lock_guard const lock(names->mutex);
  auto const loaded = loaded_segments();
  for (callee* c = newest.load(std::memory_order_acquire); c != nullptr; c = c->older) {
    auto const at = reinterpret_cast<std::uintptr_t>(c->function.load(std::memory_order_relaxed));
    if (std::ranges::none_of(loaded, [&](auto const& s) { return s.first <= at && at < s.second; }))
      c->function.store(nullptr, std::memory_order_relaxed);
  }
  names->symbols.refresh();
}

template <class Action>
void try_unobserved(Action const& action) {
  unobserved const here;
  if (!here.is_first()) return; // libdw's own
  try {
    action();
  } catch (...) { // memory is exhausted: names are not found
  }
}

} // namespace

callee const* add_callee(void const* function) noexcept {
  callee* const made = make({}, function);
  return made == nullptr ? nullptr : known_callees.insert(*add(made));
}
callee const* add_callee(std::string_view name, std::string_view file) noexcept {
  std::string_view const copied = copy(name);
  callee* const made = copied.data() == nullptr ? nullptr : make(copied, nullptr);
  if (made == nullptr) return nullptr;
  if (!process_filters().files.empty()) made->file = copy(file);
  return add(made);
}

choice wait_for_choice(callee const& c) noexcept {
  int const error = errno;
  timespec const time{0, 100'000};
  int left = chooser != nullptr && answers ? 1000 : 0;
  for (; left > 0 && c.is == choice::unknown; --left) nanosleep(&time, nullptr);
  if (left == 0) answers = false;
  errno = error;
  return c.is;
}

bool all_callees_are_left_out() {
  callee const* c = newest.load(std::memory_order_acquire);
  if (c == nullptr) return false;
  for (; c != nullptr; c = c->older)
    if (c->is != choice::left_out) return false;
  return true;
}

void name_new_callees() {
  unobserved const here;
  names->name_new();
}

} // namespace overdub::overtrace

// Instead of the C library's. After it, the names of the functions of an object cannot be found, and their addresses may be those of other
// functions.
extern "C" [[gnu::visibility("default")]] int dlclose(void* object) noexcept {
  using namespace overdub::overtrace;
  static auto* const next = reinterpret_cast<int (*)(void*)>(dlsym(RTLD_NEXT, "dlclose"));
  try_unobserved([] { name_new_callees(); });
  unsigned long long const before = number_of_unloaded();
  int const status = next(object);
  if (number_of_unloaded() != before) try_unobserved([] { forget_unloaded(); });
  return status;
}
