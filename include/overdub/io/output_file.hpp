// output_file: a file of the user's that is written whole or not at all. What is there under its name is replaced at the end, by a
// rename, and is not touched before.
#pragma once

#include <overdub/call/config.hpp>
#include <overdub/header_only.hpp>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace overdub::io {

/// Why a file cannot be written, in words that follow "cannot be written: ".
struct output_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The suffix of a streamed file that is not finished, where it is written beside its name.
inline constexpr char const* unfinished = ".partial";

/// Whether something is there under this name, behind symbolic links.
OVERDUB_DECL bool is_there(std::string const& path);

/// Whether a regular file is beside the one of this name, which an earlier run did not finish, or another writes to now.
OVERDUB_DECL bool has_unfinished(std::string const& path);

/// A path as messages show it: of one with more bytes than `most`, the beginning and the end, with "..." between.
OVERDUB_DECL std::string shown_path(std::string_view path, std::size_t most = 150);

/// How the file is written.
enum class writing {
  at_once, ///< in a moment. Until `commit` it is a temporary file beside its name, which is removed without it.
  streamed, ///< while the program runs. What was written stays when the program fails or is killed, see `written_to`; where nothing
  ///< was written, nothing changes. A second writer of the same name is refused, in this process or another.
  beside ///< as `streamed`, and beside its name even where no such file is there
};

/// A file that is being written. It keeps the permissions of the file that it replaces, and follows symbolic links. A file that
/// cannot be written to is not replaced. A terminal, a pipe or another device is written to directly, and so is /dev/stdout or
/// another open descriptor; a pipe that nobody reads is refused. It belongs to one thread at a time, and to the process that opened it:
/// in a child that was forked, `append` fails, `commit` throws, and its end changes nothing.
class output_file {
public:
  /// Opens it. A streamed file is written under its own name where neither that file nor an unfinished one is there, and else to the name
  /// with `unfinished` behind it. It locks both, by flock: on a file system without locks, a second writer is not noticed. Throws
  /// output_error.
  OVERDUB_DECL output_file(std::string path, writing how);
  /// Without `commit`, removes what would be no use.
  OVERDUB_DECL ~output_file();
  OVERDUB_DECL output_file(output_file&&) noexcept;
  OVERDUB_DECL output_file& operator=(output_file&&) noexcept;

  /// Hands all of the text to the system, and returns whether it could; not after it once could not. Of a text that does not fit,
  /// nothing is in the file, unless it is a device. An earlier unfinished file of the name is replaced once the first text is written: by
  /// a new file, so that no reader finds parts of both.
  OVERDUB_DECL bool append(std::string_view text);
  /// Writes it to the disk, and gives it its name. Throws output_error where that, or an `append`, fails: then what is there under the
  /// name stays as it was. A file that somebody removed, moved or replaced while it was written is such a failure.
  OVERDUB_DECL void commit();

  /// How much was appended.
  std::uint64_t bytes() const { return bytes_; }
  /// Whether an append or the commit failed, and the words for it.
  bool failed() const { return failed_ != 0; }
  OVERDUB_DECL std::string failure() const;
  /// Where the bytes are: the absolute path of the file, or of the one beside it, without symbolic links. A device is called as it was
  /// given.
  std::string const& written_to() const { return written_to_; }
  /// Whether what was appended is at `written_to`: not where nothing was, nor where somebody removed, moved or replaced the file.
  OVERDUB_DECL bool is_kept() const;

private:
  OVERDUB_DECL void open_regular(std::string const& target, writing how);
  OVERDUB_DECL OVERDUB_HIDDEN int
  open_temporary(std::string& name); // which counts temporaries, for each shared object
  OVERDUB_DECL void open_streamed(std::string const& name);
  OVERDUB_DECL bool write(std::string_view text);
  OVERDUB_DECL bool replace_unfinished(std::string_view text);
  OVERDUB_DECL bool take_permissions();
  OVERDUB_DECL bool finish();
  OVERDUB_DECL bool fail(int error, std::string why = {});
  OVERDUB_DECL void close();
  void take(output_file& from) noexcept;

  std::string path_;       // as it was given
  std::string target_;     // behind symbolic links; empty: written directly
  std::string written_to_; // what is open
  int descriptor_ = -1;
  int lock_ = -1; // of the file that is replaced
  bool is_temporary_ = false, is_new_ = false;
  long owner_; // the process
  bool replaces_ = false;
  unsigned mode_ = 0, user_ = 0, group_ = 0; // of the file that is replaced
  bool is_earlier_ = false; // open is the unfinished file of an earlier run, until the first text
  std::uint64_t bytes_ = 0;
  int failed_ = 0;
  std::string why_; // in words, where those for failed_ would not say it
};

} // namespace overdub::io

#if OVERDUB_HEADER_ONLY
#include <overdub/io/output_file.ipp>
#endif
