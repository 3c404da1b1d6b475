// Files of draws in CmdStan's layout, one per chain: settings in comments, names, the adaptation in comments, draws. Tools that read
// CmdStan's files read these.
#pragma once

#include <overdub/core/library.hpp>
#include <overdub/inference/draws.hpp>
#include <overdub/inference/target.hpp>
#include <overdub/io/writing.hpp>

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace overdub::io {
class output_file;
}

namespace overdub::inference {

/// A line of settings in a file: its name, its value, and how far it is indented, 1000 at most. A line without a value is a heading.
struct csv_setting {
  std::string name, value;
  int depth = 0;
  bool operator==(csv_setting const&) const = default;
};

/// Writes one chain to a file, draw by draw. Numbers are written so that they are read as the same bits. Each draw is passed to the system
/// at once, and a truncated file can be read. Throws inference_error when it cannot write.
class csv_writer {
public:
  /// Names are written as `csv_name` returns them. Throws before it opens the file for names that `checked_names` rejects, and for settings
  /// that are no lines. An existing file is replaced by `commit`; until then the draws are in `written_to`. An uncommitted writer without a
  /// draw leaves no file.
  csv_writer(
      std::string path, std::span<csv_setting const> settings, std::span<std::string const> names,
      io::writing how = io::writing::streamed);
  csv_writer(csv_writer&&) noexcept;
  csv_writer& operator=(csv_writer&&) noexcept;
  ~csv_writer();

  /// Writes the end of the adaptation, before the first draw; and the step size and the metric, if the record has a metric.
  void adapted(chain_record const& record);
  void draw(sampler_statistics const& statistics, std::span<double const> values);
  /// Writes the elapsed times. Nothing can be written afterwards.
  void end(chain_record const& record);
  /// Renames the file to its name. Nothing can be written afterwards.
  void commit();
  /// end(record) and commit().
  void finish(chain_record const& record) {
    end(record);
    commit();
  }

  /// Whether the file has draws and was not removed; and its absolute path, that of the file or of the ".partial" file.
  bool has_draws() const;
  std::string const& written_to() const;

private:
  void metric(chain_record const& record);
  void write();
  void require_file() const; // that it is not moved from
  void require_open() const;
  [[noreturn]] void fail(std::string const& why) const;

  std::string path_;
  io::writing how_;
  std::vector<std::string> names_;
  std::string
      pending_; // written with the first draw: a run without draws does not replace an earlier unfinished file
  std::unique_ptr<io::output_file> file_; // never null, unless it is moved from
  bool has_draws_ = false, ended_ = false;
};

/// Writes the draws of a chain, counted from 0, to a file, which is replaced when all draws are written. Throws inference_error when it
/// cannot write, and, before it opens the file, where there is no such chain.
void write_csv(
    std::string const& path, draws const& from, std::size_t chain,
    std::span<csv_setting const> settings = {});

/// The contents of a file of draws.
struct csv_file {
  std::vector<csv_setting> settings;
  draws chain;        ///< of one chain
  bool whole = false; ///< the file has the elapsed times: the chain was not stopped
};

/// Reads a file of one chain, written here or by CmdStan's NUTS. If the file does not exist, the ".partial" file of an unfinished run is
/// read. Draws of the warm-up, before the line "Adaptation terminated", are skipped. Without that line, all are draws, unless the settings
/// have save_warmup = 1: then it throws, since the end of the warm-up is unknown. An incomplete last line is skipped. A file has no data on
/// transitions without draws: totals are those of the draws, and of a thinned file the E-BFMI is not defined. Throws inference_error, with
/// the line, for other files, for files of CmdStan's other algorithms, and for concatenated files.
csv_file read_csv(std::string const& path);

/// Reads files of several chains of one model. Throws inference_error where their variables differ.
draws read_csv(std::span<std::string const> paths);
inline draws read_csv(std::initializer_list<std::string> paths) {
  return read_csv(std::span<std::string const>(paths.begin(), paths.size()));
}

} // namespace overdub::inference
