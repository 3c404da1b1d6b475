// Machine code on disk, which programs that are compiled again are loaded from. Link to overdub::jit.
#pragma once

#include <overdub/call/config.hpp>
#include <overdub/call/error.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace overdub::jit {

/// How much a directory keeps. Several processes may each be 1/64 above it for a while.
struct disk_limits {
  std::size_t entries = 16'384;
  std::size_t bytes = std::size_t{256} << 20;
};

enum class disk_use { read_write, read_only };

/// Is called with a sentence that says why a directory is not used. It may be called by any thread that compiles.
using disk_notify = std::function<void(std::string const& problem)>;

/// What a cache did in this process since it was opened.
struct disk_statistics {
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;   // not found, or rejected
  std::uint64_t rejected = 0; // found, and not what was asked for: damaged, foreign, unsafe
  std::uint64_t stores = 0;
  std::uint64_t failures = 0; // to store; compiling does not fail by them
  std::uint64_t evictions = 0;
  std::size_t entries = 0; // in the directory, as far as it is known
  std::size_t bytes = 0;
  std::string last_rejected; // which, and why
  std::string last_failure;
  std::string problem; // why the directory is not read, or not written to, since the last use; empty: it is
};

/// A directory of compiled programs, for any number of threads and processes. A program is found by the text of all that
/// was compiled, with everything that its machine code depends on: options, processor, versions. That is compared whole, and
/// what is read is checked by its size and checksum. What cannot be used is compiled anew, and replaced. When the directory
/// is full, what was used longest ago goes.
///
/// Whoever may write to the directory decides what this process executes. So it must belong to the process's user, or to
/// root, and nobody else may write to it; it must be no symbolic link; the same goes for each entry. That is checked at each
/// use: a directory that others get access to later is not read any more.
///
/// Where the directory cannot be used (it is not there, not safe, not writable, full), programs are compiled without it, and
/// nothing throws: `statistics().problem` says why, and so does `notify`. When it can be used again, it is.
class disk_cache {
public:
  /// Opens a directory; makes it, if it is not there and its parent is. `notify` is called once, with the first problem; where
  /// it is empty, the sentence goes to stderr. Throws std::bad_alloc alone. O(entries).
  explicit disk_cache(
      std::string const& directory, disk_limits const& limits = {}, disk_use use = disk_use::read_write,
      disk_notify notify = {});
  disk_cache(disk_cache const&) = delete;
  disk_cache& operator=(disk_cache const&) = delete;
  ~disk_cache();

  disk_statistics statistics() const;
  /// Removes all entries from the directory. Nothing, where it is read only, or cannot be used.
  void clear();

private:
  friend class machine_code_files;
  std::unique_ptr<class machine_code_files> files_;
};

} // namespace overdub::jit
