// output_file: atomic replacement of a file. The new file is written under another name, and renamed at the end; until then the existing
// file is unchanged.
#pragma once

#include <overdub/core/config.hpp>
#include <overdub/io/writing.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace overdub::io {

/// The reason why a file cannot be written, as a phrase after "cannot be written: ".
struct output_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The suffix of an unfinished streamed file.
inline constexpr char const* unfinished = ".partial";

/// Whether the path exists; follows symbolic links.
bool is_there(std::string const& path);

/// Whether an unfinished regular file exists for this path, which an earlier run left, or another run is writing.
bool has_unfinished(std::string const& path);

/// A path for messages: if it has more than `most` bytes, its beginning and its end, with "..." in between.
std::string shown_path(std::string_view path, std::size_t most = 150);

/// A file that is being written. It keeps the permissions of the file that it replaces, and follows symbolic links. A file without write
/// permission is not replaced. Terminals, pipes, other devices, /dev/stdout and other open descriptors are written directly; a pipe without
/// a reader is rejected. Not thread-safe. In a child of `fork`, `append` fails, `commit` throws, and the destructor changes nothing.
class output_file {
public:
  /// Opens the file. A streamed file is written under its own name if neither that file nor an unfinished one exists, and otherwise under
  /// the name with the suffix `unfinished`. Locks both by flock: on a file system without locks, a second writer is not detected. Throws
  /// output_error.
  output_file(std::string path, writing how);
  /// Without `commit`, removes temporary and empty files.
  ~output_file();
  output_file(output_file&&) noexcept;
  output_file& operator=(output_file&&) noexcept;

  /// Writes the text to the file at once, and returns whether it succeeded; fails after an earlier failure. If only a part of the text
  /// fits, it is removed again, unless the file is a device. The first text replaces an earlier unfinished file by a new one, so that no
  /// reader finds parts of both.
  bool append(std::string_view text);
  /// Synchronises the file to the disk, and renames it. Throws output_error if that, or an `append`, failed, or if the file was removed,
  /// moved or replaced in the meantime; then an existing file is unchanged.
  void commit();

  /// The number of appended bytes.
  std::uint64_t bytes() const { return bytes_; }
  /// Whether an append or the commit failed, and the reason.
  bool failed() const { return failed_ != 0; }
  std::string failure() const;
  /// The absolute path of the file that holds the data, without symbolic links. For a device, the given path.
  std::string const& written_to() const { return written_to_; }
  /// Whether the appended data are in the file `written_to`: false if none were appended, or if the file was removed, moved or replaced.
  bool is_kept() const;

private:
  struct permissions {
    unsigned mode, user, group;
  };

  void open_regular(std::string const& target, writing how);
  OVERDUB_HIDDEN int open_temporary(std::string& name); // hidden, since it has a counter of temporary files
  void open_streamed(std::string const& name);
  bool write(std::string_view text);
  bool replace_unfinished(std::string_view text);
  bool take_permissions();
  bool finish();
  bool fail(int error, std::string why = {});
  void close();
  void take(output_file& from) noexcept;

  std::string path_;       // as given
  std::string target_;     // without symbolic links; empty: written directly
  std::string written_to_; // the open file
  int descriptor_ = -1;
  int lock_ = -1; // on the file that is replaced
  bool is_temporary_ = false, is_new_ = false;
  long owner_;                          // the process
  std::optional<permissions> replaced_; // of the file that is replaced, if there is one
  bool is_earlier_ = false; // the open file is an unfinished one of an earlier run, until the first text
  std::uint64_t bytes_ = 0;
  int failed_ = 0;
  std::string why_; // the reason, if the text of failed_ (errno) is not it
};

namespace opening {

[[noreturn]] inline void fail(std::string const& why) { throw output_error(why); }
[[noreturn]] inline void fail(int error) { fail(std::strerror(error)); }

// A path with symbolic links resolved.
struct target {
  std::string path;              // the real path of the folder, and the name in it
  std::optional<struct stat> is; // none: the file does not exist
  int descriptor = -1;           // an open descriptor of the process, such as /dev/stdout
};

// The number of an open descriptor, if the folder lists the descriptors of this process (/dev/fd).
inline int descriptor_in(std::string_view folder, std::string const& name) {
  bool const lists = folder == "/proc/" + std::to_string(::getpid()) + "/fd" || folder == "/dev/fd";
  if (!lists || name.empty() || name.size() > 9 ||
      !std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; }))
    return -1;
  return std::atoi(name.c_str());
}

inline target resolve(std::string path) {
  if (path.find('\0') != path.npos) fail("the name of a file has no character 0");
  for (int links = 0; links < 40; ++links) {
    std::size_t const slash = path.rfind('/');
    std::string const name = slash == path.npos ? path : path.substr(slash + 1);
    std::string const folder = slash == path.npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
    if (name.empty() || name == "." || name == "..") fail(path.empty() ? ENOENT : EISDIR);
    char real[PATH_MAX];
    if (::realpath(folder.c_str(), real) == nullptr) fail(errno);
    target t{
        std::string(real) + (std::string_view(real) == "/" ? "" : "/") + name, {}, descriptor_in(real, name)};
    if (t.descriptor >= 0) return t;
    struct stat is {};
    if (::lstat(t.path.c_str(), &is) != 0) {
      if (errno != ENOENT) fail(errno);
      return t;
    }
    if (!S_ISLNK(is.st_mode)) {
      t.is = is;
      return t;
    }
    char link[PATH_MAX];
    ssize_t const length = ::readlink(t.path.c_str(), link, sizeof link);
    if (length < 0) fail(errno);
    path.assign(link, static_cast<std::size_t>(length));
    if (!path.starts_with('/')) path.insert(0, std::string(real) + '/');
  }
  fail(ELOOP);
}

// Returns false if another open file holds the lock. Succeeds on a file system without locks.
inline bool lock(int descriptor, int how) {
  while (::flock(descriptor, how | LOCK_NB) != 0)
    if (errno != EINTR) return errno != EWOULDBLOCK;
  return true;
}

inline bool is_regular(std::string const& path) {
  struct stat is {};
  return ::lstat(path.c_str(), &is) == 0 && S_ISREG(is.st_mode);
}

inline bool is_free(std::string const& path) {
  struct stat is {};
  return ::lstat(path.c_str(), &is) != 0 && errno == ENOENT;
}

inline bool is_at(int descriptor, std::string const& path) {
  struct stat open {
  }, there{};
  return ::fstat(descriptor, &open) == 0 && ::lstat(path.c_str(), &there) == 0 &&
         open.st_ino == there.st_ino && open.st_dev == there.st_dev;
}

// Like write, but a pipe without a reader causes the error EPIPE instead of the signal SIGPIPE.
inline ssize_t write_without_signal(int descriptor, char const* from, std::size_t bytes) {
  sigset_t pipe, before, pending;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  sigpending(&pending);
  bool const was_pending = sigismember(&pending, SIGPIPE) == 1; // then it is not caused by this write
  ::pthread_sigmask(SIG_BLOCK, &pipe, &before);
  ssize_t const n = ::write(descriptor, from, bytes);
  int const error = errno;
  if (n < 0 && error == EPIPE && !was_pending) {
    sigpending(&pending); // not pending if the program ignores it
    int taken = 0;
    if (sigismember(&pending, SIGPIPE) == 1) sigwait(&pipe, &taken);
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return n;
}

inline constexpr char const* busy = "another run writes to it now; give each run a name of its own";
inline constexpr char const* moved = "it was removed or replaced while it was written";
inline constexpr char const* inherited = "it belongs to the process that opened it, of which this is a child";

} // namespace opening

inline bool is_there(std::string const& path) {
  struct stat is {};
  return ::stat(path.c_str(), &is) == 0 || errno != ENOENT;
}

inline bool has_unfinished(std::string const& path) {
  try {
    return opening::is_regular(opening::resolve(path).path + unfinished);
  } catch (output_error const&) {
    return false;
  }
}

inline std::string shown_path(std::string_view path, std::size_t most) {
  if (path.size() <= most) return std::string(path);
  constexpr std::string_view between = "...";
  auto const is_inside = [&](std::size_t i) { return (static_cast<unsigned char>(path[i]) & 0xC0) == 0x80; };
  std::size_t const kept = most - std::min(most, between.size());
  std::size_t head = kept / 3, tail = path.size() - (kept - head);
  while (head > 0 && is_inside(head)) --head; // does not split a UTF-8 character
  while (tail < path.size() && is_inside(tail)) ++tail;
  return std::string(path.substr(0, head)).append(between).append(path.substr(tail));
}

inline output_file::output_file(std::string path, writing how)
    : path_(std::move(path)), written_to_(path_), owner_(::getpid()) {
  opening::target const t = opening::resolve(path_);
  if (t.descriptor >= 0) {
    descriptor_ = ::fcntl(t.descriptor, F_DUPFD_CLOEXEC, 0);
    if (descriptor_ < 0) opening::fail(errno);
    return;
  }
  try {
    if (!t.is || S_ISREG(t.is->st_mode)) {
      open_regular(t.path, how);
      return;
    }
    // Without O_NONBLOCK, open would block on a pipe without a reader.
    descriptor_ = ::open(t.path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (descriptor_ < 0 && errno == ENXIO && S_ISFIFO(t.is->st_mode))
      opening::fail("it is a pipe without a reader");
    if (descriptor_ < 0) opening::fail(errno);
    ::fcntl(descriptor_, F_SETFL, ::fcntl(descriptor_, F_GETFL) & ~O_NONBLOCK);
  } catch (...) {
    close();
    throw;
  }
}

inline void output_file::open_regular(std::string const& target, writing how) {
  target_ = target;
  struct stat replaced {};
  bool const replaces = ::lstat(target_.c_str(), &replaced) == 0;
  if (replaces) {
    if (::faccessat(AT_FDCWD, target_.c_str(), W_OK, AT_EACCESS) != 0) opening::fail(errno);
    struct stat folder {};
    std::string const in = target_.substr(0, std::max<std::size_t>(target_.rfind('/'), 1));
    if (::stat(in.c_str(), &folder) == 0 && (folder.st_mode & S_ISVTX) != 0 && ::geteuid() != 0 &&
        folder.st_uid != ::geteuid() && replaced.st_uid != ::geteuid())
      opening::fail("it belongs to another user, and in this folder only they may replace it");
  }
  if (replaces) replaced_ = permissions{replaced.st_mode & 0777u, replaced.st_uid, replaced.st_gid};
  std::string const partial = target_ + unfinished;
  struct stat there {};
  if (how != writing::at_once && ::lstat(partial.c_str(), &there) != 0 && errno == ENAMETOOLONG)
    opening::fail(errno); // also if the file would be written under its own name
  // This run also replaces the unfinished file of an earlier run.
  bool const beside =
      how == writing::beside || (how == writing::streamed && (replaces || opening::is_regular(partial)));
  if (replaces || !beside) {
    // The file that another writer may have locked: the file itself, or the unfinished one. A file without read permission cannot be
    // locked.
    std::string const held = replaces ? target_ : partial;
    lock_ = ::open(held.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    if (lock_ >= 0 && !opening::lock(lock_, how == writing::at_once ? LOCK_SH : LOCK_EX))
      opening::fail(opening::busy);
  }
  if (how != writing::at_once) {
    open_streamed(beside ? partial : target_);
    return;
  }
  if (int const why = open_temporary(written_to_)) opening::fail(why);
  is_temporary_ = is_new_ = true;
}

// Copies the owner, group and permissions of the file that will be replaced.
inline bool output_file::take_permissions() {
  struct stat mine {};
  if (::fstat(descriptor_, &mine) != 0) return fail(errno);
  auto mode = static_cast<mode_t>(replaced_->mode);
  if (mine.st_uid != replaced_->user && ::fchown(descriptor_, replaced_->user, static_cast<gid_t>(-1)) != 0) {
    // The new file belongs to this user, as a copy would.
  }
  // If the group cannot be set, the group permissions are removed.
  if (mine.st_gid != replaced_->group && ::fchown(descriptor_, static_cast<uid_t>(-1), replaced_->group) != 0)
    mode &= static_cast<mode_t>(~070);
  if ((mine.st_mode & 0777) != mode && ::fchmod(descriptor_, mode) != 0) return fail(errno);
  return true;
}

// Opens a new file in the folder. Returns errno, or 0.
inline int output_file::open_temporary(std::string& temporary) {
  std::size_t const name = target_.rfind('/') + 1;
  // The name is truncated to the length that the file system allows.
  std::string const begin =
      target_.substr(0, name) + '.' + target_.substr(name, 200) + '.' + std::to_string(::getpid()) + '-';
  static std::atomic<unsigned> number = 0;
  do {
    temporary = begin + std::to_string(++number);
    descriptor_ = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, replaced_ ? 0600 : 0666);
  } while (descriptor_ < 0 && errno == EEXIST); // left by a killed process with the same number
  return descriptor_ < 0 ? errno : 0;
}

inline void output_file::open_streamed(std::string const& name) {
  // Short enough for a message that begins with the path.
  std::string const what = name == target_ ? "" : shown_path(name, 48) + ": ";
  for (int attempt = 0; attempt < 10; ++attempt) {
    is_new_ = true;
    descriptor_ = ::open(
        name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC,
        replaced_ ? 0600 : 0666);
    if (descriptor_ < 0 && errno == EEXIST) {
      is_new_ = false;
      descriptor_ = ::open(name.c_str(), O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
      if (descriptor_ < 0 && errno == ENOENT) continue; // another writer has removed it meanwhile
    }
    if (descriptor_ < 0 && (errno == ENXIO || errno == ELOOP))
      opening::fail(what + "it is no regular file; move it away");
    if (descriptor_ < 0) opening::fail(what + std::strerror(errno));
    written_to_ = name;
    struct stat is {};
    if (::fstat(descriptor_, &is) != 0) opening::fail(errno);
    if (!S_ISREG(is.st_mode) || is.st_nlink > 1) {
      is_new_ = false;
      if (S_ISREG(is.st_mode) && is.st_nlink > 1)
        opening::fail(what + "it has a second name, a hard link; move it away");
      opening::fail(what + "it is no regular file; move it away");
    }
    if (!is_new_ && is.st_uid != ::geteuid())
      opening::fail(what + "it belongs to another user, who could change what is written; move it away");
    if (!opening::lock(descriptor_, LOCK_EX)) {
      is_new_ = false;
      opening::fail(opening::busy);
    }
    if (opening::is_at(descriptor_, name)) {
      is_earlier_ = !is_new_;
      return;
    }
    ::close(std::exchange(descriptor_, -1)); // another writer renamed or removed it before the lock
  }
  opening::fail(opening::busy);
}

inline bool output_file::append(std::string_view text) {
  if (failed_ == 0 && owner_ != ::getpid())
    fail(EPERM, opening::inherited); // the parent has the descriptor, too
  if (failed_ != 0) return false;
  if (text.empty()) return true;
  return is_earlier_ ? replace_unfinished(text) : write(text);
}

inline bool output_file::write(std::string_view text) {
  for (std::string_view rest = text; !rest.empty();) {
    ssize_t const n = target_.empty() ? opening::write_without_signal(descriptor_, rest.data(), rest.size())
                                      : ::write(descriptor_, rest.data(), rest.size());
    if (n >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(n));
      continue;
    }
    if (errno == EINTR) continue;
    if (errno == EAGAIN) { // a pipe or a terminal is full
      pollfd room{.fd = descriptor_, .events = POLLOUT, .revents = 0};
      if (::poll(&room, 1, -1) > 0 || errno == EINTR) continue;
    }
    fail(errno);
    // A part of the text may have been written.
    if (!target_.empty() && ::ftruncate(descriptor_, static_cast<off_t>(bytes_)) != 0) return false;
    return false;
  }
  bytes_ += text.size();
  return true;
}

// The unfinished file of an earlier run is unchanged until a new file has the first text.
inline bool output_file::replace_unfinished(std::string_view text) {
  int const earlier = descriptor_;
  std::string temporary;
  int const why = open_temporary(temporary);
  if (why != 0) {
    descriptor_ = earlier;
    return fail(why);
  }
  opening::lock(descriptor_, LOCK_EX);
  if (write(text)) {
    if (!opening::is_at(earlier, written_to_) && !opening::is_free(written_to_))
      fail(ESTALE, opening::moved);
    else if (::rename(temporary.c_str(), written_to_.c_str()) != 0)
      fail(errno);
  }
  if (failed_ != 0) {
    ::unlink(temporary.c_str());
    ::close(std::exchange(descriptor_, earlier));
    bytes_ = 0;
    return false;
  }
  ::flock(earlier, LOCK_UN); // a child of fork may have the descriptor, too
  ::close(earlier);
  is_earlier_ = false;
  is_new_ = true;
  return true;
}

inline void output_file::commit() {
  if (owner_ != ::getpid())
    fail(EPERM, opening::inherited);
  else if (failed_ == 0 && descriptor_ < 0)
    fail(EBADF);
  if (failed_ != 0 || (!target_.empty() && !finish())) throw output_error(failure());
  is_temporary_ = is_new_ = false;
  if (!target_.empty()) {
    written_to_ = target_;
    ::flock(descriptor_, LOCK_UN);
  }
  if (::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR) {
    fail(errno);
    throw output_error(failure());
  }
  close();
}

// Prepares a regular file for closing. Returns false on failure.
inline bool output_file::finish() {
  if (is_earlier_ && !replace_unfinished("")) return false; // without any text
  if (replaced_ && !take_permissions()) return false;
  // Some file systems report a full disk only here. It is before the rename, so that an empty file never replaces another one.
  if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) return fail(errno);
  if (!opening::is_at(descriptor_, written_to_)) return fail(ESTALE, opening::moved);
  if (written_to_ != target_ && ::rename(written_to_.c_str(), target_.c_str()) != 0) return fail(errno);
  return true;
}

// Records an error, and returns false.
inline bool output_file::fail(int error, std::string why) {
  failed_ = error;
  why_ = std::move(why);
  return false;
}

inline std::string output_file::failure() const {
  return failed_ == 0 || !why_.empty() ? why_ : std::strerror(failed_);
}

inline bool output_file::is_kept() const {
  if (descriptor_ < 0) return failed_ == 0; // committed
  return bytes_ > 0 && (target_.empty() || opening::is_at(descriptor_, written_to_));
}

inline void output_file::close() {
  bool const is_useless = is_temporary_ || (is_new_ && bytes_ == 0);
  if (descriptor_ >= 0 && !target_.empty() && owner_ == ::getpid()) {
    if (is_useless && opening::is_at(descriptor_, written_to_)) ::unlink(written_to_.c_str());
    ::flock(descriptor_, LOCK_UN); // a child of fork may have the descriptor, too
  }
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  if (lock_ >= 0 && owner_ == ::getpid()) ::flock(lock_, LOCK_UN);
  if (lock_ >= 0) ::close(std::exchange(lock_, -1));
}

inline output_file::~output_file() { close(); }

inline void output_file::take(output_file& from) noexcept {
  path_ = std::move(from.path_);
  target_ = std::move(from.target_);
  written_to_ = std::move(from.written_to_);
  descriptor_ = std::exchange(from.descriptor_, -1);
  lock_ = std::exchange(from.lock_, -1);
  is_temporary_ = from.is_temporary_;
  is_new_ = from.is_new_;
  owner_ = from.owner_;
  replaced_ = from.replaced_;
  is_earlier_ = from.is_earlier_;
  bytes_ = from.bytes_;
  failed_ = from.failed_;
  why_ = std::move(from.why_);
}
inline output_file::output_file(output_file&& from) noexcept { take(from); }
inline output_file& output_file::operator=(output_file&& from) noexcept {
  if (this != &from) {
    close();
    take(from);
  }
  return *this;
}

} // namespace overdub::io
