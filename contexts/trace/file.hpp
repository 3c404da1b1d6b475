// The file of a trace. What is appended is in it whole, or not at all: when it cannot be written, it ends where it was right.
#pragma once

#include <overdub/overdub.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace overdub::contexts {

/// A trace cannot be made, or its file not be written.
struct trace_error : error {
  using error::error;
};

namespace tracing {

class output_file {
public:
  /// Replaces the file if there is one. Throws trace_error.
  explicit output_file(std::string path)
      : path_(std::move(path)),
        descriptor_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)) {
    if (descriptor_ < 0)
      throw trace_error(
          message("overdub: the trace cannot be written to %s: %s", path_.c_str(), std::strerror(errno)));
  }
  ~output_file() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  output_file(output_file const&) = delete;
  output_file& operator=(output_file const&) = delete;

  /// Appends all of it, and returns whether it could; not after it once could not.
  bool append(std::string_view text) {
    if (failed_ != 0) return false;
    std::string_view rest = text;
    while (!rest.empty()) {
      ssize_t const n = ::write(descriptor_, rest.data(), rest.size());
      if (n >= 0)
        rest.remove_prefix(static_cast<std::size_t>(n));
      else if (errno != EINTR) {
        fail();
        return false;
      }
    }
    bytes_ += text.size();
    return true;
  }
  /// What a file system says at the end, it says here.
  bool close() {
    if (descriptor_ >= 0 && ::close(std::exchange(descriptor_, -1)) != 0 && failed_ == 0) failed_ = errno;
    return failed_ == 0;
  }

  std::uint64_t bytes() const { return bytes_; }
  bool failed() const { return failed_ != 0; }
  trace_error failure() const {
    return trace_error(message(
        "overdub: the trace could not be written to %s after byte %llu: %s; what was written before is kept",
        path_.c_str(), static_cast<unsigned long long>(bytes_), std::strerror(failed_)));
  }

private:
  void fail() {
    failed_ = errno;
    // A part of the text may be there. A device, whose length cannot be changed, keeps it.
    if (::ftruncate(descriptor_, static_cast<off_t>(bytes_)) != 0) return;
  }

  std::string path_;
  int descriptor_;
  std::uint64_t bytes_ = 0;
  int failed_ = 0;
};

} // namespace tracing
} // namespace overdub::contexts
