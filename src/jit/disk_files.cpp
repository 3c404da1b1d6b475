#include "disk_files.hpp"

#define XXH_INLINE_ALL
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <new>
#include <sys/resource.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>
#include <xxhash.h>

namespace overdub::jit {
namespace {

struct header {
  char magic[8] = {'o', 'v', 'e', 'r', 'd', 'u', 'b', '\n'};
  std::uint64_t checksum[2] = {}; // of everything after it
  std::uint32_t format = 1;
  std::uint32_t byte_order = 0x01020304;
  std::uint64_t object_bytes = 0, parts_bytes = 0, key_bytes = 0;
  std::uint64_t file_bytes = 0;
};
static_assert(sizeof(header) == 64);
constexpr std::size_t unchecked = offsetof(header, format);
constexpr std::size_t largest_entry = std::size_t{1} << 30;

constexpr std::string_view ending = ".overdub", temporary = ".overdub-new";
constexpr std::time_t stale_after = 3600; // seconds, for temporary files of crashed processes

std::string name_of(std::string_view key) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(key.data(), key.size()));
  std::string name;
  for (unsigned char const byte : canonical.digest)
    for (unsigned const digit : {byte / 16u, byte % 16u}) name += "0123456789abcdef"[digit];
  return name += ending;
}
bool is_entry(std::string_view name) {
  return name.size() == 32 + ending.size() && name.ends_with(ending) &&
         name.find_first_not_of("0123456789abcdef") == 32;
}

std::string reason(int number) { return std::strerror(number); }

// The reason why a file or directory is not trusted; empty if it is.
std::string distrust(struct stat const& what) {
  if (what.st_uid != geteuid() && what.st_uid != 0)
    return std::string("it belongs to user ") + std::to_string(what.st_uid) +
           ", and the process runs as user " + std::to_string(geteuid());
  if ((what.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "others than its owner may write to it";
  return {};
}

// An absolute path, since the working directory may change. open() would follow a link with a trailing slash.
std::string path_of(std::string const& directory) {
  if (directory.empty()) return directory;
  std::error_code failed;
  std::string path = std::filesystem::absolute(directory, failed).string();
  if (failed) path = directory;
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

// Creates a file exclusively, and sets its name.
file_descriptor new_file(int folder, std::string& name) {
  static std::atomic<std::uint64_t> count = 0;
  for (int tries = 0;; ++tries) {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    name = std::string(".").append(std::to_string(getpid())).append("-").append(std::to_string(++count));
    name.append("-").append(std::to_string(now.tv_nsec)).append(temporary);
    int const number =
        openat(folder, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (number >= 0 || errno != EEXIST || tries == 8) return file_descriptor(number);
  }
}

bool write_all(int file, char const* from, std::size_t bytes) {
  while (bytes > 0) {
    ssize_t const written = ::write(file, from, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written == 0) errno = EIO;
    if (written <= 0) return false;
    from += written;
    bytes -= static_cast<std::size_t>(written);
  }
  return true;
}
// Returns the number of bytes read.
std::size_t read_all(int file, char* to, std::size_t bytes) {
  std::size_t all = 0;
  while (all < bytes) {
    ssize_t const got = ::read(file, to + all, bytes - all);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    all += static_cast<std::size_t>(got);
  }
  return all;
}

} // namespace

bool file_descriptor::close() {
  int const fd = std::exchange(fd_, -1);
  return fd < 0 || ::close(fd) == 0;
}

struct machine_code_files::file {
  std::string name;
  std::size_t bytes;
  std::int64_t used; // time of last use, in nanoseconds
};

// The directory as it is now. Each use opens and checks it, and accesses files relative to it, so that the next use notices
// a directory that others may access, or that was replaced or removed.
struct machine_code_files::folder {
  file_descriptor opened;
  std::string problem; // the reason why it cannot be used; empty if it can
  bool is_unsafe = false;
};

machine_code_files::machine_code_files(
    std::string const& directory, disk_limits const& limits, disk_use use, disk_notify notify)
    : directory_(path_of(directory)), limits_(limits), use_(use), notify_(std::move(notify)) {
  int not_made = 0;
  if (use_ == disk_use::read_write && mkdir(directory_.c_str(), 0700) != 0) not_made = errno;
  folder in = open_folder();
  if (!in.opened.is_open() && not_made != 0 && not_made != EEXIST)
    in.problem = problem_text("it cannot be made: " + reason(not_made));
  set_problem(not_read_, in.problem);
  if (!in.problem.empty() || use_ == disk_use::read_only) return;
  set_problem(not_written_, try_to_write(in));
  trim(in);
}

std::string machine_code_files::problem_text(std::string const& why) const {
  return "overdub: the directory \"" + directory_ + "\" is not used as a cache of machine code: " + why;
}

machine_code_files::folder machine_code_files::open_folder() const {
  folder in{file_descriptor(open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)), {}};
  struct stat what {};
  if (!in.opened.is_open()) {
    int const number = errno;
    bool const is_link = lstat(directory_.c_str(), &what) == 0 && S_ISLNK(what.st_mode);
    in.problem = problem_text(is_link ? "it is a symbolic link; give the directory itself" : reason(number));
  } else if (fstat(*in.opened, &what) != 0) {
    in.problem = problem_text(reason(errno));
  } else if (std::string const why = distrust(what); !why.empty()) {
    in.is_unsafe = true;
    in.problem = problem_text(
        why + "; give a directory of the user's own that only its owner may write to (mode 0700)");
  }
  return in;
}

// The only reliable test is an attempt.
std::string machine_code_files::try_to_write(folder const& in) const {
  std::string name;
  if (!new_file(*in.opened, name).is_open())
    return not_written_text(
        reason(errno) + "; make it writable, open it by disk_use::read_only, or give another one");
  unlinkat(*in.opened, name.c_str(), 0);
  return {};
}

std::string machine_code_files::not_written_text(std::string const& why) const {
  return "overdub: the directory \"" + directory_ +
         "\" is read as a cache of machine code, and not written to: " + why;
}

// Stores the problem; also prints the first one, since it might never be queried.
void machine_code_files::set_problem(std::string& problem, std::string const& why) {
  {
    std::lock_guard const lock(text_mutex_);
    problem = why;
    if (why.empty() || notified_) return;
    notified_ = true;
  }
  try {
    if (notify_)
      notify_(why);
    else
      std::fprintf(stderr, "%s\n", why.c_str());
  } catch (...) { // a cache must not make compilation fail
  }
}

// ---- reading

std::optional<stored_program> machine_code_files::find(std::string_view key) {
  folder const in = open_folder();
  set_problem(not_read_, in.problem);
  if (in.is_unsafe) return reject(key, in.problem), std::nullopt;
  stored_program found;
  std::string const why = in.problem.empty() ? read(in, name_of(key), key, found) : "";
  if (why.empty() && found.bytes != nullptr) return found;
  if (!why.empty()) return reject(key, why), std::nullopt;
  ++misses_;
  return std::nullopt;
}

void machine_code_files::reject(std::string_view key, std::string const& why) {
  ++misses_;
  ++rejected_;
  std::lock_guard const lock(text_mutex_);
  last_rejected_ = name_of(key) + ": " + why;
}

// Returns the reason why an entry cannot be used. Missing entries are not read.
std::string machine_code_files::read(
    folder const& in, std::string const& name, std::string_view key, stored_program& to) {
  // O_NONBLOCK: a FIFO or a device must not block.
  file_descriptor const opened(
      openat(*in.opened, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!opened.is_open())
    return errno == ENOENT  ? ""
           : errno == ELOOP ? "it is a symbolic link"
                            : std::string("it cannot be opened: ") + reason(errno);
  struct stat what {};
  if (fstat(*opened, &what) != 0) return std::string("it cannot be looked at: ") + reason(errno);
  if (!S_ISREG(what.st_mode)) return "it is no file";
  if (std::string why = distrust(what); !why.empty()) return why;
  if (what.st_size < static_cast<off_t>(sizeof(header))) return "it is cut off";
  if (what.st_size > static_cast<off_t>(largest_entry)) return "it is too large";
  auto const size = static_cast<std::size_t>(what.st_size);
  // Reads the whole file before checking it, since other processes may change it.
  std::unique_ptr<char[]> bytes(new (std::nothrow) char[size]);
  if (bytes == nullptr) return "there is no memory for its " + std::to_string(size) + " bytes";
  if (read_all(*opened, bytes.get(), size) != size) return "it is cut off";
  header h;
  header const expected;
  std::memcpy(&h, bytes.get(), sizeof h);
  if (std::memcmp(h.magic, expected.magic, sizeof h.magic) != 0) return "it is something else";
  if (h.format != expected.format || h.byte_order != expected.byte_order) return "it is of another version's";
  if (h.file_bytes != size)
    return h.file_bytes > size ? "it is truncated" : "it is longer than its header states";
  if (h.object_bytes > size || h.parts_bytes > size || h.key_bytes > size ||
      sizeof h + h.object_bytes + h.parts_bytes + h.key_bytes != size)
    return "its sizes are wrong";
  XXH128_hash_t const sum = XXH3_128bits(bytes.get() + unchecked, size - unchecked);
  if (sum.low64 != h.checksum[0] || sum.high64 != h.checksum[1]) return "its checksum is wrong";
  char const* const object = bytes.get() + sizeof h;
  char const* const parts = object + h.object_bytes;
  if (std::string_view(parts + h.parts_bytes, h.key_bytes) != key) return "it is of another program";
  if (use_ == disk_use::read_write) {
    timespec const now[2] = {{0, UTIME_OMIT}, {0, UTIME_NOW}};
    (void)futimens(*opened, now); // marks it as used
  }
  to.bytes = std::move(bytes);
  to.object = {object, h.object_bytes};
  to.parts = {parts, h.parts_bytes};
  return {};
}

// ---- writing

void machine_code_files::count_failure(std::string const& why) {
  ++failures_;
  std::lock_guard const lock(text_mutex_);
  last_failure_ = why;
}

void machine_code_files::store(
    std::string_view key, std::span<char const> object, std::span<char const> parts) {
  if (use_ == disk_use::read_only) return;
  std::size_t const size = sizeof(header) + object.size() + parts.size() + key.size();
  if (size > std::min(limits_.bytes, largest_entry) || limits_.entries == 0)
    return count_failure(
        std::string("an entry of ") + std::to_string(size) + " bytes is more than the cache may keep");
  folder const in = open_folder();
  set_problem(not_read_, in.problem);
  if (!in.problem.empty()) return count_failure(in.problem);
  std::string const why = write(in, name_of(key), key, object, parts);
  set_problem(not_written_, why.empty() ? "" : not_written_text(why));
  if (!why.empty()) return count_failure(why);
  ++stores_;
  // Other processes may have written as many.
  bool const is_full = ++entries_ > limits_.entries || (bytes_ += size) > limits_.bytes;
  bool const is_long_ago = ++new_entries_ > limits_.entries / 64 || (new_bytes_ += size) > limits_.bytes / 64;
  if (is_full || is_long_ago) trim(in);
}

// A file is renamed to an entry when it is complete. It is not synchronised to disk: after a crash, the checksum fails.
// Returns the reason if it cannot be written; empty on success.
std::string machine_code_files::write(
    folder const& in, std::string const& name, std::string_view key, std::span<char const> object,
    std::span<char const> parts) {
  header h;
  h.object_bytes = object.size();
  h.parts_bytes = parts.size();
  h.key_bytes = key.size();
  h.file_bytes = sizeof h + object.size() + parts.size() + key.size();
  rlimit most{};
  if (getrlimit(RLIMIT_FSIZE, &most) == 0 && h.file_bytes > most.rlim_cur) // the signal would end the process
    return "a file of " + std::to_string(h.file_bytes) +
           " bytes is larger than the process may write (RLIMIT_FSIZE)";
  std::string bytes;
  bytes.reserve(h.file_bytes);
  bytes.append(reinterpret_cast<char const*>(&h), sizeof h);
  bytes.append(object.begin(), object.end());
  bytes.append(parts.begin(), parts.end());
  bytes.append(key);
  XXH128_hash_t const sum = XXH3_128bits(bytes.data() + unchecked, bytes.size() - unchecked);
  h.checksum[0] = sum.low64;
  h.checksum[1] = sum.high64;
  std::memcpy(bytes.data(), &h, sizeof h);

  std::string unfinished;
  file_descriptor to = new_file(*in.opened, unfinished);
  if (!to.is_open()) return "a file cannot be made: " + reason(errno);
  if (write_all(*to, bytes.data(), bytes.size()) && to.close() &&
      renameat(*in.opened, unfinished.c_str(), *in.opened, name.c_str()) == 0)
    return {};
  int const failure = errno;
  unlinkat(*in.opened, unfinished.c_str(), 0);
  return "a file cannot be written: " + reason(failure);
}

// ---- the whole directory

std::vector<machine_code_files::file> machine_code_files::files(folder const& in) {
  std::vector<file> all;
  int const again = openat(*in.opened, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const listed = again < 0 ? nullptr : fdopendir(again);
  if (listed == nullptr) {
    if (again >= 0) close(again);
    return all;
  }
  while (dirent const* const each = readdir(listed)) {
    std::string_view const name = each->d_name;
    bool const is_temporary = name.starts_with('.') && name.ends_with(temporary);
    struct stat what {};
    if ((!is_entry(name) && !is_temporary) ||
        fstatat(*in.opened, each->d_name, &what, AT_SYMLINK_NOFOLLOW) != 0)
      continue;
    if (is_temporary) {
      if (what.st_mtime + stale_after < std::time(nullptr)) unlinkat(*in.opened, each->d_name, 0);
      continue;
    }
    all.push_back(
        {std::string(name), static_cast<std::size_t>(what.st_size),
         std::int64_t{what.st_mtim.tv_sec} * 1'000'000'000 + what.st_mtim.tv_nsec});
  }
  closedir(listed);
  return all;
}

// Counts the entries, and removes the least recently used ones until there is room.
void machine_code_files::trim(folder const& in) {
  std::unique_lock const lock(trim_mutex_, std::try_to_lock);
  if (!lock) return; // another thread trims
  new_entries_ = new_bytes_ = 0;
  auto all = files(in);
  std::size_t bytes = 0, count = all.size();
  for (file const& f : all) bytes += f.bytes;
  if (count > limits_.entries || bytes > limits_.bytes) {
    std::sort(all.begin(), all.end(), [](file const& a, file const& b) { return a.used < b.used; });
    // Leaves some room, so that not every new entry scans the directory.
    std::size_t const most = limits_.entries - limits_.entries / 64,
                      maximum_bytes = limits_.bytes - limits_.bytes / 64;
    for (file const& f : all) {
      if (count <= most && bytes <= maximum_bytes) break;
      if (unlinkat(*in.opened, f.name.c_str(), 0) == 0) ++evictions_;
      --count;
      bytes -= f.bytes;
    }
  }
  entries_ = count;
  bytes_ = bytes;
}

void machine_code_files::clear() {
  if (use_ == disk_use::read_only) return;
  folder const in = open_folder();
  if (!in.problem.empty()) return;
  for (file const& f : files(in)) unlinkat(*in.opened, f.name.c_str(), 0);
  trim(in);
}

disk_statistics machine_code_files::statistics() const {
  disk_statistics all;
  all.hits = hits_;
  all.misses = misses_;
  all.rejected = rejected_;
  all.stores = stores_;
  all.failures = failures_;
  all.evictions = evictions_;
  all.entries = entries_;
  all.bytes = bytes_;
  std::lock_guard const lock(text_mutex_);
  all.last_rejected = last_rejected_;
  all.last_failure = last_failure_;
  all.problem = not_read_.empty() ? not_written_ : not_read_;
  return all;
}

// ---- what users have

disk_cache::disk_cache(
    std::string const& directory, disk_limits const& limits, disk_use use, disk_notify notify)
    : files_(std::make_unique<machine_code_files>(directory, limits, use, std::move(notify))) {}
disk_cache::~disk_cache() = default;
disk_statistics disk_cache::statistics() const { return files_->statistics(); }
void disk_cache::clear() { files_->clear(); }

} // namespace overdub::jit
