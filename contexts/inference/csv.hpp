// Draws in files of CmdStan's layout, one a chain: settings in comments, the names, the adaptation in comments, the draws. What reads
// CmdStan's files reads these.
#pragma once

#include <overdub/contexts/inference/draws.hpp>
#include <overdub/contexts/inference/target.hpp>
#include <overdub/header_only.hpp>
#include <overdub/io/output_file.hpp>

#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace overdub::inference {

/// A line of settings in a file: its name, its value, and how far it is indented, 1000 at most. A line without a value is a heading.
struct csv_setting {
  std::string name, value;
  int depth = 0;
  bool operator==(csv_setting const&) const = default;
};

/// Writes one chain to a file as its draws come. Numbers are written so that they are read as the same bits. Each draw is handed to
/// the system at once, and a file that ends anywhere can be read. Throws inference_error when it cannot write.
class csv_writer {
public:
  /// Names are written as `csv_name` has them; for ones that `checked_names` refuses, and settings that are no lines, it throws before a
  /// file is opened. A file of the name is replaced by `commit`, and is as it was until then: draws are in `written_to`. Of a writer
  /// without a draw that is not committed, nothing stays.
  OVERDUB_DECL csv_writer(
      std::string path, std::span<csv_setting const> settings, std::span<std::string const> names,
      io::writing how = io::writing::streamed);

  /// The end of the adaptation, before the first draw. Of a record without a metric, that it ended, and no more.
  OVERDUB_DECL void adapted(chain_record const& record);
  OVERDUB_DECL void draw(sampler_statistics const& statistics, std::span<double const> values);
  /// The end: how long it took. After it nothing can be written.
  OVERDUB_DECL void end(chain_record const& record);
  /// Gives the file its name. After it nothing can be written.
  OVERDUB_DECL void commit();
  /// Both.
  void finish(chain_record const& record) {
    end(record);
    commit();
  }

  /// Whether a draw was written that nobody removed, and where it is: in the file, or the one beside it, by its absolute path.
  bool has_draws() const { return has_draws_ && file_.is_kept(); }
  std::string const& written_to() const { return file_.written_to(); }

private:
  OVERDUB_DECL void metric(chain_record const& record);
  OVERDUB_DECL void write();
  OVERDUB_DECL void require_open() const;
  [[noreturn]] OVERDUB_DECL void fail(std::string const& why) const;

  std::string path_;
  io::writing how_;
  std::vector<std::string> names_;
  std::string pending_; // what is written with the first draw: without one, an earlier unfinished file stays
  io::output_file file_;
  bool has_draws_ = false, ended_ = false;
};

/// Writes the draws of a chain, counted from 0, to a file, which is replaced when all of it is written. Throws inference_error when it
/// cannot, and before a file is opened where there is no such chain.
OVERDUB_DECL void write_csv(
    std::string const& path, draws const& from, std::size_t chain,
    std::span<csv_setting const> settings = {});

/// What was read of a file.
struct csv_file {
  std::vector<csv_setting> settings;
  draws chain;        ///< one
  bool whole = false; ///< the file has its end: the chain was not stopped
};

/// Reads a file of one chain, written here or by CmdStan's NUTS. Where there is no such file, and one of a run that has not ended is
/// beside it, with ".partial" behind its name, that is read. Draws of the warm-up are left out: what stands before the line
/// "Adaptation terminated". Without that line, all are draws, unless the settings have save_warmup = 1: then it throws, since where the
/// warm-up ends is not known. A last line that was not written to its end is left out, too. Of transitions that were not kept, a file
/// says nothing: totals are those of its draws, and where it was thinned there is no E-BFMI. Throws inference_error, with the line, for
/// what is no such file, for files of CmdStan's other algorithms, and for several files in one.
OVERDUB_DECL csv_file read_csv(std::string const& path);

/// Reads files of chains of one model together. Throws inference_error where their variables differ.
OVERDUB_DECL draws read_csv(std::span<std::string const> paths);
inline draws read_csv(std::initializer_list<std::string> paths) {
  return read_csv(std::span<std::string const>(paths.begin(), paths.size()));
}

} // namespace overdub::inference

#if OVERDUB_HEADER_ONLY
#include <overdub/contexts/inference/csv.ipp>
#endif
