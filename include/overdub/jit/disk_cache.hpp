// A cache of machine code on disk. Link overdub::jit.
#pragma once

#include <overdub/core/config.hpp>
#include <overdub/core/error.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace overdub::jit {

/// Limits of a directory. Each process may temporarily exceed them by 1/64.
struct disk_limits {
  std::size_t entries = 16'384;
  std::size_t bytes = std::size_t{256} << 20;
};

enum class disk_use { read_write, read_only };

/// A callback with the reason why a directory is not used. Any thread that compiles may call it.
using disk_notify = std::function<void(std::string const& problem)>;

/// Statistics of a cache in this process since it was opened.
struct disk_statistics {
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;   // not found, or rejected
  std::uint64_t rejected = 0; // found, but unusable: damaged, of another version or user, or not safe
  std::uint64_t stores = 0;
  std::uint64_t failures = 0; // entries that could not be stored; compilation does not fail
  std::uint64_t evictions = 0;
  std::size_t entries = 0; // in the directory, as last measured
  std::size_t bytes = 0;
  std::string last_rejected; // the entry and the reason
  std::string last_failure;
  std::string problem; // why the directory was not read or not written at the last use; empty: no problem
};

/// A directory of compiled programs, for any number of threads and processes. The key of an entry is the text of the compiled functions,
/// with everything on which machine code depends: options, processor, versions. The key is compared in full, and an entry is checked by its
/// size and checksum. An unusable entry is compiled again and replaced. If the directory is full, the least recently used entries are
/// removed.
///
/// Every user who can write to the directory can make this process execute code. Therefore the directory must belong to the process's user
/// or to root, no other user may write to it, and it must not be a symbolic link; the same holds for each entry. This is checked at each
/// use, so that later changes of permissions are detected.
///
/// If the directory cannot be used (missing, not safe, not writable, full), programs are compiled without it, and nothing throws:
/// `statistics().problem` and `notify` have the reason. When it can be used again, the cache uses it.
class disk_cache {
public:
  /// Opens a directory; creates it if it is missing and its parent exists. `notify` is called once, with the first problem; if it is empty,
  /// the problem is printed to stderr. Throws only std::bad_alloc. O(entries).
  explicit disk_cache(
      std::string const& directory, disk_limits const& limits = {}, disk_use use = disk_use::read_write,
      disk_notify notify = {});
  disk_cache(disk_cache const&) = delete;
  disk_cache& operator=(disk_cache const&) = delete;
  ~disk_cache();

  disk_statistics statistics() const;
  /// Removes all entries from the directory. Does nothing if the cache is read-only, or cannot be used.
  void clear();

private:
  friend class machine_code_files;
  std::unique_ptr<class machine_code_files> files_;
};

} // namespace overdub::jit
