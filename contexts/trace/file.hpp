// The file of a trace. Appending is atomic: after a failed write, the file ends after the last complete part.
#pragma once

#include <overdub/io/output_file.hpp>
#include <overdub/overdub.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace overdub::contexts {

/// A trace cannot be recorded, or its file not be written.
struct OVERDUB_EXPORTED trace_error : error {
  using error::error;
};

namespace tracing {

class output_file {
public:
  /// Throws trace_error.
  output_file(std::string path, io::writing how)
      : path_(std::move(path)), is_streamed_(how != io::writing::at_once), file_(open(path_, how)) {}

  /// Appends the text. Returns false if that fails, or has failed before.
  bool append(std::string_view text) { return file_.append(text); }
  /// Closes and renames the file; reports errors that the file system delays until then.
  bool close() {
    try {
      file_.commit();
    } catch (io::output_error const&) {
      return false;
    }
    return true;
  }

  bool failed() const { return file_.failed(); }
  trace_error failure() const {
    if (!is_streamed_) return unwritten(path_, file_.failure().c_str());
    return trace_error(message(
        "overdub: the trace could not be written to %.150s after byte %llu: %s%s", file_.written_to().c_str(),
        static_cast<unsigned long long>(file_.bytes()), file_.failure().c_str(),
        file_.is_kept() ? "; what was written before is kept" : ""));
  }

private:
  static trace_error unwritten(std::string const& path, char const* why) {
    return trace_error(message("overdub: the trace cannot be written to %.150s: %s", path.c_str(), why));
  }
  static io::output_file open(std::string const& path, io::writing how) {
    try {
      return {path, how};
    } catch (io::output_error const& e) {
      throw unwritten(path, e.what());
    }
  }

  std::string path_;
  bool is_streamed_;
  io::output_file file_;
};

} // namespace tracing
} // namespace overdub::contexts
