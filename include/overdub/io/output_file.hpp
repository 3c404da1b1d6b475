// output_file: atomic replacement of a file. The new file is written under another name, and renamed at the end; until then the existing
// file is unchanged.
#pragma once

#include <overdub/core/config.hpp>
#include <overdub/header_only.hpp>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace overdub::io {

/// The reason why a file cannot be written, as a phrase after "cannot be written: ".
struct output_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The suffix of an unfinished streamed file.
inline constexpr char const* unfinished = ".partial";

/// Whether the path exists; follows symbolic links.
OVERDUB_DECL bool is_there(std::string const& path);

/// Whether an unfinished regular file exists for this path, which an earlier run left, or another run is writing.
OVERDUB_DECL bool has_unfinished(std::string const& path);

/// A path for messages: if it has more than `most` bytes, its beginning and its end, with "..." in between.
OVERDUB_DECL std::string shown_path(std::string_view path, std::size_t most = 150);

/// How the file is written.
enum class writing {
  at_once, ///< for short writes: a temporary file in the same folder until `commit`; removed without it
  streamed, ///< during a run. The data stay if the program fails or is killed, see `written_to`; without data, nothing
  ///< changes. A second writer of the same name is rejected, in this process or another.
  beside ///< as `streamed`, and with the suffix `unfinished` even if no file of the name exists
};

/// A file that is being written. It keeps the permissions of the file that it replaces, and follows symbolic links. A file without write
/// permission is not replaced. Terminals, pipes, other devices, /dev/stdout and other open descriptors are written directly; a pipe without
/// a reader is rejected. Not thread-safe. In a child of `fork`, `append` fails, `commit` throws, and the destructor changes nothing.
class output_file {
public:
  /// Opens the file. A streamed file is written under its own name if neither that file nor an unfinished one exists, and otherwise under
  /// the name with the suffix `unfinished`. Locks both by flock: on a file system without locks, a second writer is not detected. Throws
  /// output_error.
  OVERDUB_DECL output_file(std::string path, writing how);
  /// Without `commit`, removes temporary and empty files.
  OVERDUB_DECL ~output_file();
  OVERDUB_DECL output_file(output_file&&) noexcept;
  OVERDUB_DECL output_file& operator=(output_file&&) noexcept;

  /// Writes the text to the file at once, and returns whether it succeeded; fails after an earlier failure. If only a part of the text
  /// fits, it is removed again, unless the file is a device. The first text replaces an earlier unfinished file by a new one, so that no
  /// reader finds parts of both.
  OVERDUB_DECL bool append(std::string_view text);
  /// Synchronises the file to the disk, and renames it. Throws output_error if that, or an `append`, failed, or if the file was removed,
  /// moved or replaced in the meantime; then an existing file is unchanged.
  OVERDUB_DECL void commit();

  /// The number of appended bytes.
  std::uint64_t bytes() const { return bytes_; }
  /// Whether an append or the commit failed, and the reason.
  bool failed() const { return failed_ != 0; }
  OVERDUB_DECL std::string failure() const;
  /// The absolute path of the file that holds the data, without symbolic links. For a device, the given path.
  std::string const& written_to() const { return written_to_; }
  /// Whether the appended data are in the file `written_to`: false if none were appended, or if the file was removed, moved or replaced.
  OVERDUB_DECL bool is_kept() const;

private:
  OVERDUB_DECL void open_regular(std::string const& target, writing how);
  OVERDUB_DECL OVERDUB_HIDDEN int
  open_temporary(std::string& name); // hidden, since it has a counter of temporary files
  OVERDUB_DECL void open_streamed(std::string const& name);
  OVERDUB_DECL bool write(std::string_view text);
  OVERDUB_DECL bool replace_unfinished(std::string_view text);
  OVERDUB_DECL bool take_permissions();
  OVERDUB_DECL bool finish();
  OVERDUB_DECL bool fail(int error, std::string why = {});
  OVERDUB_DECL void close();
  void take(output_file& from) noexcept;

  std::string path_;       // as given
  std::string target_;     // without symbolic links; empty: written directly
  std::string written_to_; // the open file
  int descriptor_ = -1;
  int lock_ = -1; // on the file that is replaced
  bool is_temporary_ = false, is_new_ = false;
  long owner_; // the process
  bool replaces_ = false;
  unsigned mode_ = 0, user_ = 0, group_ = 0; // of the file that is replaced
  bool is_earlier_ = false; // the open file is an unfinished one of an earlier run, until the first text
  std::uint64_t bytes_ = 0;
  int failed_ = 0;
  std::string why_; // the reason, if the text of failed_ (errno) is not it
};

} // namespace overdub::io

#if OVERDUB_HEADER_ONLY
#include <overdub/io/output_file.ipp>
#endif
