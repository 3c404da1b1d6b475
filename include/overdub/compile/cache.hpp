// The cache of what was compiled: by the types of a call and by the fingerprints of its contexts, compared whole.
#pragma once

#include <overdub/compile/artifact.hpp>
#include <overdub/compile/events.hpp>
#include <overdub/header_only.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace overdub {

/// A compilation was asked for while the same one runs, by the same thread; or compilations need each other without an end.
struct OVERDUB_EXPORTED recursive_compilation : rejected_program {
  using rejected_program::rejected_program;
};

/// How much a cache keeps.
struct cache_limits {
  std::size_t entries = 4096;
  std::size_t bytes = std::size_t{256} << 20; // an estimate
  std::size_t fingerprints_to_warn_of = 64;   // of one function in contexts of some types
  unsigned hash_bits = 64; // fewer make keys meet more often, for tests: when a cache is made
};

/// What a cache did since it was made or cleared.
struct cache_statistics {
  std::uint64_t hits = 0;         // found in the cache; a call site's own last answer is not counted
  std::uint64_t misses = 0;       // not found, those that waited for another thread's compilation included
  std::uint64_t compilations = 0; // begun
  std::uint64_t failures = 0;     // that threw
  std::uint64_t refusals = 0;     // of them, those that are kept: see refusal
  std::uint64_t evictions = 0;
  std::uint64_t invalidations = 0; // entries that a library's new definitions made wrong
  std::size_t entries = 0;
  std::size_t bytes = 0;
  std::int64_t compiling_nanoseconds = 0;
  std::vector<std::string> warnings; // of functions that collect many fingerprints
};

inline namespace OVERDUB_EXECUTE_ABI {

/// What an entry is found by. Types are told by an address; the rest by its bytes.
struct cache_key {
  void const* types = nullptr; // of the contexts, the function and the signature
  std::string data;            // fingerprints of the contexts, outermost first, and options

  friend bool operator==(cache_key const&, cache_key const&) = default;
};

/// Compiled functions, by key. However many threads miss at once, one of them compiles, and the others wait for it; a hit waits
/// for nobody. When it is full, what was used longest ago goes (in the order of compilations: what was used between two of
/// them counts as used at once); who holds it keeps it. Thread-safe.
class compilation_cache {
public:
  using make = std::function<std::shared_ptr<artifact const>()>;

  explicit compilation_cache(cache_limits const& limits = {});
  compilation_cache(compilation_cache const&) = delete;
  compilation_cache& operator=(compilation_cache const&) = delete;
  ~compilation_cache();

  /// The entry of a key, made where there is none. What `compile` throws reaches all who wait for it, and is kept where it is a
  /// `refusal`: then it is thrown again. Throws recursive_compilation. O(length of the key) when it is there.
  std::shared_ptr<artifact const> get(cache_key const& key, std::string const& name, make const& compile);
  /// Drops an entry, if it is there.
  void invalidate(cache_key const& key);
  /// What drops the entry of a key, also when the cache is not there any more.
  using dropper = std::function<void()>;
  dropper dropper_of(cache_key key) const;

  cache_statistics statistics() const;
  /// What it did, the last 4096 events. Hits are none.
  std::vector<compilation_event> events() const;
  void set_limits(cache_limits const& limits);
  /// Drops all entries, and begins the statistics anew. Compilations that run finish, and are not kept.
  void clear();

  /// The cache that `compile` uses unless it is given another one.
  static compilation_cache& shared();

private:
  class entries;
  std::shared_ptr<entries> entries_;
};

} // namespace OVERDUB_EXECUTE_ABI

namespace detail {
// Throws staging_error where two are one: the contexts of a compiled function are told apart by their addresses.
OVERDUB_DECL void check_distinct_contexts(std::vector<void const*> all);
} // namespace detail
} // namespace overdub

#if OVERDUB_HEADER_ONLY
#include <overdub/compile/cache.ipp>
#endif
