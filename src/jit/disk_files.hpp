// The files of a disk cache: one for each program, named after the hash of its key.
//
//   header (64 bytes) | object file | metadata | key
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

/// An owning file descriptor.
class open_file {
public:
  open_file() = default;
  explicit open_file(int number) : number_(number) {}
  open_file(open_file&& from) noexcept : number_(std::exchange(from.number_, -1)) {}
  open_file& operator=(open_file&&) = delete;
  ~open_file() { (void)close(); }
  int operator*() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  /// Closes it. Returns whether the data was written; file systems with quotas may report failures only here.
  bool close();

private:
  int number_ = -1;
};

/// A stored program, after all checks.
struct stored_program {
  std::unique_ptr<char[]> bytes;
  std::span<char const> object, parts;
};

class machine_code_files {
public:
  machine_code_files(
      std::string const& directory, disk_limits const& limits, disk_use use, disk_notify notify);
  static machine_code_files& of(disk_cache& c) { return *c.files_; }

  /// Looks up the entry of a key. Thread-safe.
  std::optional<stored_program> find(std::string_view key);
  /// Reports that a found entry cannot be used. Thread-safe.
  void reject(std::string_view key, std::string const& why);
  void count_hit() { ++hits_; }
  /// Stores an entry. Thread-safe.
  void store(std::string_view key, std::span<char const> object, std::span<char const> parts);

  disk_statistics statistics() const;
  void clear();

private:
  struct file;
  struct folder;
  folder open_folder() const;
  std::string try_to_write(folder const& in) const;
  std::string write(
      folder const& in, std::string const& name, std::string_view key, std::span<char const> object,
      std::span<char const> parts);
  std::string read(folder const& in, std::string const& name, std::string_view key, stored_program& to);
  static std::vector<file> files(folder const& in);
  void trim(folder const& in);
  void fail(std::string const& why);
  void report(std::string& problem, std::string const& why);
  std::string problem_text(std::string const& why) const;
  std::string not_written_text(std::string const& why) const;

  std::string const directory_;
  disk_limits const limits_;
  disk_use const use_;
  disk_notify const notify_;

  std::atomic<std::uint64_t> hits_ = 0, misses_ = 0, stores_ = 0, evictions_ = 0, rejected_ = 0,
                             failures_ = 0;
  std::atomic<std::size_t> entries_ = 0, bytes_ = 0;         // as counted last
  std::atomic<std::size_t> new_entries_ = 0, new_bytes_ = 0; // since then
  std::mutex trimming_;
  mutable std::mutex texts_;
  std::string last_rejected_, last_failure_;
  std::string not_read_,
      not_written_; // the reasons why the directory is not read or written, at the last use; empty if it is
  bool notified_ = false;
};

} // namespace overdub::jit
