#include "callee.hpp"
#include "callee_table.hpp"
#include "symbols.hpp"

#include <atomic>
#include <cstddef>
#include <mutex>
#include <pthread.h>

namespace overdub::overtrace {
namespace {

constexpr std::string_view kind = "function";

// Until the process ends.
struct callees {
  std::mutex mutex; // of writers
  callee_table* now = new callee_table(12);
  std::size_t count = 0;

  callee const& add(void const* function) {
    std::lock_guard const lock(mutex);
    if (callee const* const found = now->find(function)) return *found; // of another thread
    filters const& f = process_filters();
    symbol const found = symbol_at(function, !f.files.empty());
    std::string const& name = *new std::string(found.name);
    auto const* const made = new callee{{name, kind}, f.records(name, found.file)};
    if (2 * (count + 1) > now->size())
      now = now->doubled().release(); // readers may still use the smaller one, which is not freed
    now->insert(function, made);
    known_callees.store(now, std::memory_order_release);
    ++count;
    return *made;
  }
};
callees& all_callees() {
  static callees& all = *[] {
    auto* const made = new callees;
    static callees* const here = made;
    // A child of fork must not find the mutex locked by a thread that it does not have.
    pthread_atfork([] { here->mutex.lock(); }, [] { here->mutex.unlock(); }, [] { here->mutex.unlock(); });
    return made;
  }();
  return all;
}

} // namespace

constinit std::atomic<callee_table const*> known_callees{nullptr};

callee const& callee_at(void const* function) { return all_callees().add(function); }

callee const& add_callee(std::string_view name, std::string_view file) {
  return *new callee{{name, kind}, process_filters().records(name, file)};
}

} // namespace overdub::overtrace
