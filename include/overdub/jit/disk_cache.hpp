// A disk cache of machine code. Link to overdub::jit.
#pragma once

#include <overdub/call/config.hpp>
#include <overdub/call/error.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace overdub::jit {

/// The capacity of a directory. Several processes may each exceed it by 1/64 for a while.
struct disk_limits {
  std::size_t entries = 16'384;
  std::size_t bytes = std::size_t{256} << 20;
};

enum class disk_use { read_write, read_only };

/// Receives a sentence with the reason why a directory is not used. Any compiling thread may call it.
using disk_notify = std::function<void(std::string const& problem)>;

/// The activity of a cache in this process since it was opened.
struct disk_statistics {
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;   // not found, or rejected
  std::uint64_t rejected = 0; // found, but damaged, foreign or unsafe
  std::uint64_t stores = 0;
  std::uint64_t failures = 0; // failed stores; compilation succeeds
  std::uint64_t evictions = 0;
  std::size_t entries = 0; // in the directory, as last counted
  std::size_t bytes = 0;
  std::string last_rejected; // the last rejected entry, and the reason
  std::string last_failure;
  std::string problem; // the reason why the directory is not read or written, at the last use; empty if it is
};

/// A directory of compiled programs, for any number of threads and processes. The key of a program is a text of everything
/// that its machine code depends on: the program, options, processor, versions. Keys are compared completely, and entries
/// are checked by size and checksum. Unusable entries are recompiled and replaced. A full directory evicts the least
/// recently used entries.
///
/// Whoever can write to the directory controls what this process executes. Therefore it must belong to the process's user,
/// or to root, and only the owner may write to it; it must not be a symbolic link; the same holds for each entry. Each use
/// checks this: a directory that others get access to later is no longer read.
///
/// If the directory cannot be used (missing, unsafe, not writable, full), programs are compiled without it, and nothing
/// throws: `statistics().problem` has the reason, and `notify` receives it. Once the directory is usable, it is used again.
class disk_cache {
public:
  /// Opens a directory; creates it if only its parent exists. `notify` is called once, with the first problem; if it is
  /// empty, the sentence goes to stderr. Throws only std::bad_alloc. O(entries).
  explicit disk_cache(
      std::string const& directory, disk_limits const& limits = {}, disk_use use = disk_use::read_write,
      disk_notify notify = {});
  disk_cache(disk_cache const&) = delete;
  disk_cache& operator=(disk_cache const&) = delete;
  ~disk_cache();

  disk_statistics statistics() const;
  /// Removes all entries from the directory. Does nothing if it is read only, or cannot be used.
  void clear();

private:
  friend class machine_code_files;
  std::unique_ptr<class machine_code_files> files_;
};

} // namespace overdub::jit
