// The files of a disk cache. Each program has one, whose name is the hash of its key in hexadecimal, followed by `.overdub`.
//
//   header (64 bytes) | object file | tables of the code (stored_parts.hpp) | key
#pragma once

#include <overdub/jit/disk_cache.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace overdub::jit {

/// Owns a file descriptor, and closes it on destruction.
class file_descriptor {
public:
  file_descriptor() = default;
  explicit file_descriptor(int fd) : fd_(fd) {}
  file_descriptor(file_descriptor&& from) noexcept : fd_(std::exchange(from.fd_, -1)) {}
  file_descriptor& operator=(file_descriptor&&) = delete;
  ~file_descriptor() { (void)close(); }
  int operator*() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  /// Closes the descriptor. Returns false if that fails: some file systems report errors of writing only then.
  bool close();

private:
  int fd_ = -1;
};

/// A stored program that passed all checks. `object` and `parts` refer to `bytes`.
struct stored_program {
  std::unique_ptr<char[]> bytes;
  std::span<char const> object, parts;
};

/// The implementation of disk_cache.
class machine_code_files {
public:
  machine_code_files(
      std::string const& directory, disk_limits const& limits, disk_use use, disk_notify notify);
  static machine_code_files& of(disk_cache& c) { return *c.files_; }

  /// Reads the entry of a key, and checks it. Returns nothing if it is missing or unusable, which counts as a miss. Thread-safe.
  std::optional<stored_program> find(std::string_view key);
  /// Counts an entry that was found as rejected, and keeps the reason for `statistics`. Thread-safe.
  void reject(std::string_view key, std::string const& why);
  /// Counts an entry that was found, and linked.
  void count_hit() { ++hits_; }
  /// Writes an entry, and removes old ones if there are too many. Errors are counted, and not thrown. Thread-safe.
  void store(std::string_view key, std::span<char const> object, std::span<char const> parts);

  disk_statistics statistics() const;
  /// Removes all entries.
  void clear();

private:
  struct file;
  struct folder;
  folder open_folder() const;
  // These return why they failed; empty if they did not.
  std::string try_to_write(folder const& in) const;
  std::string write(
      folder const& in, std::string const& name, std::string_view key, std::span<char const> object,
      std::span<char const> parts);
  std::string read(folder const& in, std::string const& name, std::string_view key, stored_program& to);
  static std::vector<file> files(folder const& in);
  // Removes the least recently used files above the limits.
  void trim(folder const& in);
  void count_failure(std::string const& why);
  // Sets a problem. The first one is also given to `notify`.
  void set_problem(std::string& problem, std::string const& why);
  std::string problem_text(std::string const& why) const;
  std::string not_written_text(std::string const& why) const;

  std::string const directory_;
  disk_limits const limits_;
  disk_use const use_;
  disk_notify const notify_;

  std::atomic<std::uint64_t> hits_ = 0, misses_ = 0, stores_ = 0, evictions_ = 0, rejected_ = 0,
                             failures_ = 0;
  std::atomic<std::size_t> entries_ = 0, bytes_ = 0; // at the last scan, and stored by this process since
  std::atomic<std::size_t> new_entries_ = 0, new_bytes_ = 0; // stored by this process since the last scan
  std::mutex trim_mutex_;
  mutable std::mutex text_mutex_; // protects the members below
  std::string last_rejected_, last_failure_;
  std::string not_read_,
      not_written_; // why the directory could not be read, or written, at the last use; empty if it could
  bool notified_ = false;
};

} // namespace overdub::jit
