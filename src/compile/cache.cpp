#include <overdub/compile/cache.hpp>
#include <overdub/compile/epochs.hpp>
#include <overdub/implementation/compile/event_log.hpp>
#include <overdub/stage/recorder.hpp>

#define XXH_INLINE_ALL
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <tsl/robin_map.h>
#include <utility>
#include <vector>
#include <xxhash.h>

namespace overdub {

/// The entries of the cache, in shards. Each shard has a hash table, which threads read while one thread adds or removes entries. The time
/// of an addition does not depend on the number of entries.
class compilation_cache::entries {
  using kind = compilation_event::kind;

public:
  explicit entries(cache_limits const& limits)
      : hash_mask_(limits.hash_bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << limits.hash_bits) - 1) {
    set_limits(limits);
  }

  std::shared_ptr<artifact const> get(cache_key const& key, std::string const& name, make const& compile) {
    std::size_t const hash = hash_of(key);
    shard& s = shards_[hash % shard_count];
    if (auto found = s.find(key, hash, clock_)) return found;

    std::unique_lock lock(s.mutex);
    if (auto found = s.find(key, hash, clock_)) return found;
    total_.misses.fetch_add(1, std::memory_order_relaxed);
    for (flight const& f : s.flights) {
      if (f.key != key) continue;
      if (f.thread == std::this_thread::get_id())
        throw recursive_compilation(message(
            "overdub: compiling @%s needs @%s in the same contexts, compiled; call the function itself in "
            "passes and rules",
            name.c_str(), name.c_str()));
      auto const made = f.made;
      waiting_thread const waits(f.thread, name);
      lock.unlock();
      log_.add(kind::waited, name);
      return made.get();
    }
    std::promise<std::shared_ptr<artifact const>> promise;
    std::uint64_t const number = ++s.last_flight;
    s.flights.push_back({key, std::this_thread::get_id(), promise.get_future().share(), number});
    lock.unlock();

    total_.compilations.fetch_add(1, std::memory_order_relaxed);
    std::uint64_t const generation = generation_.load(std::memory_order_acquire);
    auto const start = std::chrono::steady_clock::now();
    try {
      nesting const one_more(name);
      std::shared_ptr<artifact const> made = compile();
      auto const taken = std::chrono::steady_clock::now() - start;
      total_.nanoseconds += std::chrono::duration_cast<std::chrono::nanoseconds>(taken).count();
      bool const is_kept =
          keep(s, number, std::make_shared<entry const>(key, hash, made, ++clock_), generation);
      if (is_kept) {
        make_room();
        count_fingerprint(key.types, name);
        log_steps(*made);
      }
      promise.set_value(made);
      return made;
    } catch (refusal const&) {
      total_.failures.fetch_add(1, std::memory_order_relaxed);
      keep_refusal(s, number, key, hash, generation);
      log_failure(name);
      promise.set_exception(std::current_exception());
      throw;
    } catch (...) {
      total_.failures.fetch_add(1, std::memory_order_relaxed);
      land(s, number);
      log_failure(name);
      promise.set_exception(std::current_exception());
      throw;
    }
  }

  void invalidate(cache_key const& key) {
    std::size_t const hash = hash_of(key);
    shard& s = shards_[hash % shard_count];
    if (std::shared_ptr<entry const> const gone = drop(s, key, hash)) {
      total_.invalidations.fetch_add(1, std::memory_order_relaxed);
      log_.add(kind::invalidated, gone->name());
    }
  }

  cache_statistics statistics() const {
    cache_statistics all;
    for (shard const& s : shards_) all.hits += s.hits.load(std::memory_order_relaxed);
    all.misses = total_.misses;
    all.compilations = total_.compilations;
    all.failures = total_.failures;
    all.refusals = total_.refusals;
    all.evictions = total_.evictions;
    all.invalidations = total_.invalidations;
    all.compiling_nanoseconds = total_.nanoseconds;
    all.entries = count_;
    all.bytes = bytes_;
    std::lock_guard const lock(fingerprints_.mutex);
    all.warnings = fingerprints_.warnings;
    return all;
  }
  std::vector<compilation_event> events() const { return log_.all(); }
  void set_limits(cache_limits const& limits) {
    limits_.entries = std::max<std::size_t>(1, limits.entries);
    limits_.bytes = limits.bytes;
    limits_.fingerprints = limits.fingerprints_to_warn_of;
    make_room();
  }
  void clear() {
    generation_.fetch_add(1, std::memory_order_acq_rel);
    for (shard& s : shards_) {
      std::lock_guard const lock(s.mutex);
      s.table->for_each([&](std::shared_ptr<entry const> const& e) { bytes_ -= e->bytes(); });
      count_ -= s.table->size();
      s.replace(std::make_shared<table>());
      s.hits = 0;
    }
    total_.misses = total_.compilations = total_.failures = total_.refusals = total_.evictions =
        total_.invalidations = 0;
    total_.nanoseconds = 0;
    log_.clear();
    log_.add(kind::cleared, {});
    std::lock_guard const lock(fingerprints_.mutex);
    fingerprints_.count.clear();
    fingerprints_.warnings.clear();
  }

private:
  static constexpr std::size_t shard_count = 16;

  struct entry {
    cache_key key;
    std::size_t hash;
    std::shared_ptr<artifact const> made;    // null for a refusal
    std::exception_ptr refused;              // the exception of a refusal; otherwise null
    std::atomic<std::uint64_t> mutable used; // the time of the last use, by clock_
    entry(cache_key k, std::size_t h, std::shared_ptr<artifact const> a, std::uint64_t now)
        : key(std::move(k)), hash(h), made(std::move(a)), used(now) {}
    entry(cache_key k, std::size_t h, std::exception_ptr r, std::uint64_t now)
        : key(std::move(k)), hash(h), refused(std::move(r)), used(now) {}

    std::size_t bytes() const { return made != nullptr ? made->bytes() : sizeof(entry) + key.data.size(); }
    std::string name() const { return made != nullptr ? made->name() : std::string(); }
  };
  // A key and its hash.
  struct query {
    cache_key const& key;
    std::size_t hash;
  };
  // An element of a chain. Readers follow `next`; writers follow `owned`, by which each link owns its successor.
  struct link {
    std::shared_ptr<entry const> what;
    std::shared_ptr<link> owned;
    std::atomic<link const*> next{nullptr};
    explicit link(std::shared_ptr<entry const> e) : what(std::move(e)) {}
  };
  // A hash table with chains. One thread at a time changes it while others read; removed links are retired, and destroyed later.
  class table {
  public:
    explicit table(std::size_t chains = 8) : owned_(chains), seen_(chains) {}
    /// A table of the same entries with twice as many chains.
    static std::shared_ptr<table> larger(table const& old) {
      auto made = std::make_shared<table>(2 * old.owned_.size());
      old.for_each([&](std::shared_ptr<entry const> const& e) { made->put(std::make_shared<link>(e)); });
      return made;
    }

    entry const* find(query const& q) const {
      for (link const* l = seen_[chain(q.hash)].load(); l != nullptr; l = l->next.load())
        if (l->what->key == q.key) return l->what.get();
      return nullptr;
    }
    bool is_full() const { return size_ == owned_.size(); }
    std::size_t size() const { return size_; }
    void put(std::shared_ptr<link> made) noexcept {
      std::size_t const number = chain(made->what->hash);
      made->owned = std::move(owned_[number]);
      made->next.store(made->owned.get());
      seen_[number].store(made.get());
      owned_[number] = std::move(made);
      ++size_;
    }
    /// Removes and returns the link of a key's entry; null, if there is none, or if `this_one` is given and the entry is another one.
    /// Readers may still use the link.
    std::shared_ptr<link> take(query const& q, entry const* this_one) noexcept {
      std::size_t const in = chain(q.hash);
      std::atomic<link const*>* seen = &seen_[in];
      for (std::shared_ptr<link>* l = &owned_[in]; *l != nullptr; seen = &(*l)->next, l = &(*l)->owned) {
        if ((*l)->what->key != q.key) continue;
        if (this_one != nullptr && (*l)->what.get() != this_one) return nullptr;
        std::shared_ptr<link> gone = *l;
        seen->store(gone->next.load());
        *l = gone->owned;
        --size_;
        return gone;
      }
      return nullptr;
    }
    template <class F>
    void for_each(F const& f) const {
      for (std::shared_ptr<link> const& first : owned_)
        for (link const* l = first.get(); l != nullptr; l = l->owned.get()) f(l->what);
    }

  private:
    std::size_t chain(std::size_t hash) const { return hash / shard_count & (owned_.size() - 1); }

    std::vector<std::shared_ptr<link>> owned_;
    std::vector<std::atomic<link const*>> seen_;
    std::size_t size_ = 0;
  };

  // A running compilation.
  struct flight {
    cache_key key;
    std::thread::id thread;
    std::shared_future<std::shared_ptr<artifact const>> made;
    std::uint64_t number;
  };
  // Registers that this thread waits for the compilation of another one. Throws recursive_compilation if the other thread waits for
  // this one, directly or through further threads, which would be a deadlock.
  class waiting_thread {
  public:
    OVERDUB_HIDDEN waiting_thread(std::thread::id other, std::string const& name) {
      std::lock_guard const lock(mutex());
      for (std::thread::id thread = other;;) {
        if (thread == std::this_thread::get_id())
          throw recursive_compilation(message(
              "overdub: compiling @%s needs what is compiled by another thread, which waits for this one; "
              "call the "
              "functions themselves in passes and rules",
              name.c_str()));
        auto const next = all().find(thread);
        if (next == all().end()) break;
        thread = next->second;
      }
      all().emplace(std::this_thread::get_id(), other);
    }
    waiting_thread(waiting_thread const&) = delete;
    waiting_thread& operator=(waiting_thread const&) = delete;
    OVERDUB_HIDDEN ~waiting_thread() {
      std::lock_guard const lock(mutex());
      all().erase(std::this_thread::get_id());
    }

  private:
    OVERDUB_HIDDEN static std::mutex& mutex() {
      static std::mutex m;
      return m;
    }
    OVERDUB_HIDDEN static std::map<std::thread::id, std::thread::id>& all() {
      static std::map<std::thread::id, std::thread::id> waits;
      return waits;
    }
  };
  // Counts the nested compilations of a thread. Throws recursive_compilation if there are too many.
  struct nesting {
    OVERDUB_HIDDEN explicit nesting(std::string const& name) {
      if (depth() == most)
        throw recursive_compilation(message(
            "overdub: @%s is compiled within %d other compilations: passes or rules run compiled "
            "functions, or change definitions, without an end; call the functions themselves there",
            name.c_str(), most));
      ++depth();
    }
    nesting(nesting const&) = delete;
    nesting& operator=(nesting const&) = delete;
    OVERDUB_HIDDEN ~nesting() { --depth(); }

  private:
    static constexpr int most = 64;
    OVERDUB_HIDDEN static int& depth() {
      thread_local int n = 0;
      return n;
    }
  };
  struct alignas(64) shard {
    std::mutex mutable mutex; // held by writers
    std::shared_ptr<entries::table> table = std::make_shared<entries::table>();
    std::atomic<entries::table const*> seen{table.get()};
    std::vector<flight> flights;
    std::uint64_t last_flight = 0;
    std::atomic<std::uint64_t> hits{0};

    // Throws the stored exception of a refusal.
    std::shared_ptr<artifact const>
    find(cache_key const& key, std::size_t hash, std::atomic<std::uint64_t> const& clock) {
      std::exception_ptr refused;
      {
        detail::epochs::reading const here;
        entry const* const found = seen.load()->find({key, hash});
        if (found == nullptr) return nullptr;
        found->used.store(clock.load(std::memory_order_relaxed), std::memory_order_relaxed);
        hits.fetch_add(1, std::memory_order_relaxed);
        if (found->made != nullptr) return found->made;
        refused = found->refused;
      }
      std::rethrow_exception(std::move(refused));
    }
    void replace(std::shared_ptr<entries::table> by) {
      seen.store(by.get());
      detail::epochs::retire(std::exchange(table, std::move(by)));
    }
    void land(std::uint64_t number) {
      std::erase_if(flights, [&](flight const& f) { return f.number == number; });
    }
  };

  std::size_t hash_of(cache_key const& k) const {
    return hash_mask_ &
           XXH3_64bits_withSeed(k.data.data(), k.data.size(), reinterpret_cast<std::uintptr_t>(k.types));
  }
  // Ends a running compilation, and stores its result unless the cache was cleared meanwhile.
  bool keep(shard& s, std::uint64_t number, std::shared_ptr<entry const> entered, std::uint64_t generation) {
    std::size_t const bytes = entered->bytes();
    auto added = std::make_shared<link>(std::move(entered));
    std::lock_guard const lock(s.mutex);
    std::shared_ptr<table> const larger = s.table->is_full() ? table::larger(*s.table) : nullptr;
    note_age(added->what);
    s.land(number);
    if (generation != generation_.load(std::memory_order_acquire)) return false;
    ++count_;
    bytes_ += bytes;
    if (larger != nullptr) s.replace(larger);
    s.table->put(std::move(added));
    return true;
  }
  // Ends a running compilation, and stores the current exception. Stores nothing if memory is exhausted.
  void keep_refusal(
      shard& s, std::uint64_t number, cache_key const& key, std::size_t hash, std::uint64_t generation) {
    try {
      if (keep(
              s, number, std::make_shared<entry const>(key, hash, std::current_exception(), ++clock_),
              generation)) {
        total_.refusals.fetch_add(1, std::memory_order_relaxed);
        make_room();
      }
    } catch (std::bad_alloc const&) {
      land(s, number);
    }
  }
  void land(shard& s, std::uint64_t number) {
    std::lock_guard const lock(s.mutex);
    s.land(number);
  }
  std::shared_ptr<entry const>
  drop(shard& s, cache_key const& key, std::size_t hash, entry const* this_one = nullptr) {
    std::lock_guard const lock(s.mutex);
    std::shared_ptr<link> gone = s.table->take({key, hash}, this_one);
    if (gone == nullptr) return nullptr;
    --count_;
    std::shared_ptr<entry const> what = gone->what;
    bytes_ -= what->bytes();
    detail::epochs::retire(std::move(gone));
    return what;
  }
  // Evicts entries until the cache is within its limits. If memory is exhausted, the next compilation continues.
  void make_room() noexcept try {
    while (count_ > limits_.entries || (bytes_ > limits_.bytes && count_ > 1))
      if (!evict()) break;
  } catch (std::bad_alloc const&) {
  }

  // An entry with a lower bound of the time of its last use.
  struct age {
    std::uint64_t used;
    std::weak_ptr<entry const> of;
    friend bool operator<(age const& a, age const& b) {
      return a.used > b.used;
    } // the oldest is at the top of the heap
  };
  // Adds an entry to the heap. The caller holds the lock of its shard, so that an evicting thread finds it there. Amortised O(log entries).
  void note_age(std::shared_ptr<entry const> const& e) {
    std::lock_guard const lock(ages_mutex_);
    if (ages_.size() > 2 * count_ + 64) { // most of them were removed in other ways
      std::erase_if(ages_, [](age const& a) { return a.of.expired(); });
      std::make_heap(ages_.begin(), ages_.end());
    }
    ages_.push_back({e->used.load(std::memory_order_relaxed), e});
    std::push_heap(ages_.begin(), ages_.end());
  }
  // Removes the least recently used entry. O(log entries) for it, and for each entry that was used since its time was last read.
  bool evict() {
    std::shared_ptr<entry const> candidate;
    {
      std::lock_guard const lock(ages_mutex_);
      while (candidate == nullptr) {
        if (ages_.empty()) return false;
        std::pop_heap(ages_.begin(), ages_.end());
        age& oldest = ages_.back();
        candidate = oldest.of.lock();
        std::uint64_t const used =
            candidate == nullptr ? oldest.used : candidate->used.load(std::memory_order_relaxed);
        if (used == oldest.used)
          ages_.pop_back();
        else {
          oldest.used = used;
          std::push_heap(ages_.begin(), ages_.end());
          candidate = nullptr;
        }
      }
    }
    std::shared_ptr<entry const> const gone =
        drop(shards_[candidate->hash % shard_count], candidate->key, candidate->hash, candidate.get());
    if (gone == nullptr) return true; // another thread removed it
    total_.evictions.fetch_add(1, std::memory_order_relaxed);
    log_.add(kind::evicted, gone->name());
    return true;
  }
  // Counts the fingerprints of a list of context types. Counts may be lost if memory is exhausted.
  void count_fingerprint(void const* types, std::string const& name) try {
    std::lock_guard const lock(fingerprints_.mutex);
    if (++fingerprints_.count[types] != limits_.fingerprints + 1) return;
    fingerprints_.warnings.push_back(
        "@" + name + " was compiled for more than " + std::to_string(limits_.fingerprints) +
        " fingerprints of its contexts; a fingerprint describes the shape of data, and values are arguments");
  } catch (std::bad_alloc const&) {
  }
  void log_steps(artifact const& made) noexcept try {
    for (compilation_step const& step : made.steps()) log_.add(kind::step, made.name(), step.name);
    log_.add(kind::stored, made.name());
  } catch (std::bad_alloc const&) {
  }
  // Logs the current exception. It is called before other threads receive the exception, since from then on they own it, too.
  void log_failure(std::string const& name) noexcept try {
    try {
      throw;
    } catch (std::exception const& known) {
      log_.add(kind::failed, name, known.what());
    } catch (...) {
      log_.add(kind::failed, name);
    }
  } catch (std::bad_alloc const&) {
  }

  struct {
    std::atomic<std::size_t> entries{1}, bytes{0}, fingerprints{0};
  } limits_;
  std::uint64_t const hash_mask_;
  std::atomic<std::size_t> count_{0}, bytes_{0};
  std::atomic<std::uint64_t> clock_{0};
  std::array<shard, shard_count> shards_;
  std::atomic<std::uint64_t> generation_{0};
  struct {
    std::atomic<std::uint64_t> misses{0}, compilations{0}, failures{0}, refusals{0}, evictions{0},
        invalidations{0};
    std::atomic<std::int64_t> nanoseconds{0};
  } total_;               // since the start, or the last reset
  std::mutex ages_mutex_; // is locked last
  std::vector<age> ages_; // a heap
  detail::event_log log_;
  struct {
    std::mutex mutable mutex;
    tsl::robin_map<void const*, std::size_t> count; // of compiled ones, by context types
    std::vector<std::string> warnings;
  } fingerprints_;
};

compilation_cache::compilation_cache(cache_limits const& limits)
    : entries_(std::make_shared<entries>(limits)) {}
compilation_cache::~compilation_cache() = default;
std::shared_ptr<artifact const>
compilation_cache::get(cache_key const& key, std::string const& name, make const& compile) {
  return entries_->get(key, name, compile);
}
void compilation_cache::invalidate(cache_key const& key) { entries_->invalidate(key); }
compilation_cache::dropper compilation_cache::dropper_of(cache_key key) const {
  return [weak = std::weak_ptr(entries_), key = std::move(key)] {
    try {
      if (auto const still = weak.lock()) still->invalidate(key);
    } catch (std::bad_alloc const&) { // the key is not used again, so that the entry is evicted later
    }
  };
}
cache_statistics compilation_cache::statistics() const { return entries_->statistics(); }
std::vector<compilation_event> compilation_cache::events() const { return entries_->events(); }
void compilation_cache::set_limits(cache_limits const& limits) { entries_->set_limits(limits); }
void compilation_cache::clear() { entries_->clear(); }
OVERDUB_HIDDEN inline compilation_cache& cache_of_this_object() {
  static auto* const cache = new compilation_cache; // never destroyed: threads that outlive main may call
  return *cache;
}
compilation_cache& compilation_cache::shared() { return cache_of_this_object(); }

namespace detail {
void check_distinct_contexts(std::vector<void const*> all) {
  std::ranges::sort(all, std::less<>());
  if (std::ranges::adjacent_find(all) != all.end())
    throw staging_error(
        message("overdub: one context is given twice to a function that is compiled; give two objects"));
}
} // namespace detail
} // namespace overdub
