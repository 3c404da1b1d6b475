// The cache of compiled functions, by the types of a call and by the fingerprints of its contexts, which are compared in full.
#pragma once

#include <overdub/compile/artifact.hpp>
#include <overdub/compile/events.hpp>
#include <overdub/core/library.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace overdub {

/// A compilation requests itself on the same thread, or compilations of several threads wait for each other.
struct OVERDUB_EXPORTED recursive_compilation : rejected_program {
  using rejected_program::rejected_program;
};

/// Limits of a cache.
struct cache_limits {
  std::size_t entries = 4096;
  std::size_t bytes = std::size_t{256} << 20; // by an estimate
  std::size_t fingerprints_to_warn_of = 64;   // of one function in contexts of the same types
  unsigned hash_bits = 64; // fewer cause hash collisions, for tests; read by the constructor
};

/// Statistics of a cache since it was created or cleared.
struct cache_statistics {
  std::uint64_t hits = 0;         // found in the cache; hits of inline caches are not counted
  std::uint64_t misses = 0;       // not found, including those that waited for another thread's compilation
  std::uint64_t compilations = 0; // started
  std::uint64_t failures = 0;     // that threw
  std::uint64_t refusals = 0;     // failures that are stored: see refusal
  std::uint64_t evictions = 0;
  std::uint64_t invalidations = 0; // entries that a library's new definitions invalidated
  std::size_t entries = 0;
  std::size_t bytes = 0;
  std::int64_t compiling_nanoseconds = 0;
  std::vector<std::string> warnings; // about functions with many fingerprints
};

/// The key of an entry. Types are identified by an address, the rest by its bytes.
struct cache_key {
  void const* types = nullptr; // identifies the contexts, the function and the signature
  std::string data;            // fingerprints of the contexts, outermost first, and options

  friend bool operator==(cache_key const&, cache_key const&) = default;
};

/// Compiled functions by key. If several threads miss at once, one of them compiles, and the others wait for it; a hit never blocks. If the
/// cache is full, the least recently used entry is evicted (uses between two compilations count as simultaneous); holders of the entry keep
/// it alive. Thread-safe.
class compilation_cache {
public:
  using make = std::function<std::shared_ptr<artifact const>()>;

  explicit compilation_cache(cache_limits const& limits = {});
  compilation_cache(compilation_cache const&) = delete;
  compilation_cache& operator=(compilation_cache const&) = delete;
  ~compilation_cache();

  /// Returns the entry of a key, and compiles it if there is none. An exception of `compile` is thrown to all waiting threads; a `refusal`
  /// is stored, and thrown again for the key. Throws recursive_compilation. O(length of the key) for a hit.
  std::shared_ptr<artifact const> get(cache_key const& key, std::string const& name, make const& compile);
  /// Removes an entry, if it exists.
  void invalidate(cache_key const& key);
  /// A function that removes the entry of a key; it does nothing if the cache has been destroyed.
  using dropper = std::function<void()>;
  dropper dropper_of(cache_key key) const;

  cache_statistics statistics() const;
  /// The last 4096 events. Hits are not events.
  std::vector<compilation_event> events() const;
  void set_limits(cache_limits const& limits);
  /// Removes all entries, and resets the statistics. Running compilations finish, and their results are not stored.
  void clear();

  /// The default cache of `compile`.
  static compilation_cache& shared();

private:
  class entries;
  std::shared_ptr<entries> entries_;
};

namespace detail {
// Throws staging_error if an object is given twice: the contexts of a compiled function are identified by their addresses.
void check_distinct_contexts(std::vector<void const*> all);
} // namespace detail
} // namespace overdub
