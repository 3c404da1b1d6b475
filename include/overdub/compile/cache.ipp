#pragma once

#include <overdub/compile/cache.hpp>

#include <boost/multi_index/hashed_index.hpp>
#include <boost/multi_index/member.hpp>
#include <boost/multi_index/sequenced_index.hpp>
#include <boost/multi_index_container.hpp>

#define XXH_INLINE_ALL
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <tsl/robin_map.h>
#include <utility>
#include <vector>
#include <xxhash.h>

namespace overdub {
inline namespace OVERDUB_EXECUTE_ABI {

/// Shards, each with a lock, in the order of use.
class compilation_cache::entries {
public:
  explicit entries(cache_limits const& limits) { set_limits(limits); }

  std::shared_ptr<artifact const> get(cache_key const& key, std::string const& name, make const& compile) {
    shard& s = shards_[hash{}(key) >> 60];
    std::unique_lock lock(s.mutex);
    auto& by_key = s.items.template get<1>();
    if (auto const at = by_key.find(key); at != by_key.end()) {
      s.items.modify(s.items.project<0>(at), [&](item& i) { i.used = ++clock_; });
      s.items.relocate(s.items.begin(), s.items.project<0>(at));
      hits_.fetch_add(1, std::memory_order_relaxed);
      return at->made;
    }
    misses_.fetch_add(1, std::memory_order_relaxed);
    for (flight const& f : s.flights) {
      if (f.key != key) continue;
      if (f.thread == std::this_thread::get_id())
        throw recursive_compilation(message(
            "overdub: compiling @%s needs @%s in the same contexts, compiled; call the function itself in "
            "passes and "
            "rules",
            name.c_str(), name.c_str()));
      auto const made = f.made;
      lock.unlock();
      return made.get();
    }
    std::promise<std::shared_ptr<artifact const>> promise;
    std::uint64_t const number = ++s.last_flight;
    s.flights.push_back({key, std::this_thread::get_id(), promise.get_future().share(), number});
    lock.unlock();

    compilations_.fetch_add(1, std::memory_order_relaxed);
    std::uint64_t const generation = generation_.load(std::memory_order_acquire);
    auto const start = std::chrono::steady_clock::now();
    try {
      std::shared_ptr<artifact const> made = compile();
      auto const taken = std::chrono::steady_clock::now() - start;
      compiling_ += std::chrono::duration_cast<std::chrono::nanoseconds>(taken).count();
      lock.lock();
      s.land(number);
      if (generation == generation_.load(std::memory_order_acquire)) {
        s.items.push_front({key, made, ++clock_});
        lock.unlock();
        ++count_;
        bytes_ += made->bytes;
        while (count_ > most_entries_ || (bytes_ > most_bytes_ && count_ > 1)) evict();
        count_fingerprint(key.types, name);
      } else
        lock.unlock();
      promise.set_value(made);
      return made;
    } catch (...) {
      failures_.fetch_add(1, std::memory_order_relaxed);
      if (!lock.owns_lock()) lock.lock();
      s.land(number);
      lock.unlock();
      promise.set_exception(std::current_exception());
      throw;
    }
  }

  cache_statistics statistics() const {
    cache_statistics all;
    all.hits = hits_;
    all.misses = misses_;
    all.compilations = compilations_;
    all.failures = failures_;
    all.evictions = evictions_;
    all.compiling_nanoseconds = compiling_;
    all.entries = count_;
    all.bytes = bytes_;
    std::lock_guard const lock(fingerprints_mutex_);
    all.warnings = warnings_;
    return all;
  }
  void set_limits(cache_limits const& limits) {
    most_entries_ = std::max<std::size_t>(1, limits.entries);
    most_bytes_ = limits.bytes;
    most_fingerprints_ = limits.fingerprints_to_warn_of;
  }
  void clear() {
    generation_.fetch_add(1, std::memory_order_acq_rel);
    for (shard& s : shards_) {
      std::lock_guard const lock(s.mutex);
      for (item const& i : s.items) bytes_ -= i.made->bytes;
      count_ -= s.items.size();
      s.items.clear();
    }
    hits_ = misses_ = compilations_ = failures_ = evictions_ = 0;
    compiling_ = 0;
    std::lock_guard const lock(fingerprints_mutex_);
    fingerprints_.clear();
    warnings_.clear();
  }

private:
  struct hash {
    std::size_t operator()(cache_key const& k) const {
      return XXH3_64bits_withSeed(
          k.fingerprints.data(), k.fingerprints.size(), reinterpret_cast<std::uintptr_t>(k.types));
    }
  };
  struct item {
    cache_key key;
    std::shared_ptr<artifact const> made;
    std::uint64_t used; // when it was used last
  };
  using items = boost::multi_index_container<
      item,
      boost::multi_index::indexed_by<
          boost::multi_index::sequenced<>, // what was used last stands first
          boost::multi_index::hashed_unique<boost::multi_index::member<item, cache_key, &item::key>, hash>>>;
  // A compilation that runs.
  struct flight {
    cache_key key;
    std::thread::id thread;
    std::shared_future<std::shared_ptr<artifact const>> made;
    std::uint64_t number;
  };
  struct shard {
    std::mutex mutable mutex;
    entries::items items;
    std::vector<flight> flights;
    std::uint64_t last_flight = 0;

    void land(std::uint64_t number) {
      std::erase_if(flights, [&](flight const& f) { return f.number == number; });
    }
  };
  static constexpr std::size_t shard_count = 16;

  // Drops what was used longest ago.
  void evict() {
    shard* oldest = nullptr;
    std::uint64_t used = ~std::uint64_t{0};
    for (shard& s : shards_) {
      std::lock_guard const lock(s.mutex);
      if (s.items.empty() || s.items.back().used >= used) continue;
      used = s.items.back().used;
      oldest = &s;
    }
    if (oldest == nullptr) return;
    std::lock_guard const lock(oldest->mutex);
    if (oldest->items.empty()) return;
    --count_;
    bytes_ -= oldest->items.back().made->bytes;
    oldest->items.pop_back();
    evictions_.fetch_add(1, std::memory_order_relaxed);
  }
  void count_fingerprint(void const* types, std::string const& name) {
    std::lock_guard const lock(fingerprints_mutex_);
    if (++fingerprints_[types] != most_fingerprints_ + 1) return;
    warnings_.push_back(
        "@" + name + " was compiled for more than " + std::to_string(most_fingerprints_) +
        " fingerprints of its contexts; a fingerprint tells the shape of data, and values are arguments");
  }

  std::atomic<std::size_t> most_entries_, most_bytes_, most_fingerprints_;
  std::atomic<std::size_t> count_{0}, bytes_{0};
  std::atomic<std::uint64_t> clock_{0};
  std::array<shard, shard_count> shards_;
  std::atomic<std::uint64_t> hits_{0}, misses_{0}, compilations_{0}, failures_{0}, evictions_{0},
      generation_{0};
  std::atomic<std::int64_t> compiling_{0};
  std::mutex mutable fingerprints_mutex_;
  tsl::robin_map<void const*, std::size_t> fingerprints_; // compiled, by types
  std::vector<std::string> warnings_;
};

OVERDUB_DECL compilation_cache::compilation_cache(cache_limits const& limits)
    : entries_(std::make_unique<entries>(limits)) {}
OVERDUB_DECL compilation_cache::~compilation_cache() = default;
OVERDUB_DECL std::shared_ptr<artifact const>
compilation_cache::get(cache_key const& key, std::string const& name, make const& compile) {
  return entries_->get(key, name, compile);
}
OVERDUB_DECL cache_statistics compilation_cache::statistics() const { return entries_->statistics(); }
OVERDUB_DECL void compilation_cache::set_limits(cache_limits const& limits) { entries_->set_limits(limits); }
OVERDUB_DECL void compilation_cache::clear() { entries_->clear(); }
OVERDUB_DECL compilation_cache& compilation_cache::shared() {
  static compilation_cache cache;
  return cache;
}

} // namespace OVERDUB_EXECUTE_ABI
} // namespace overdub
