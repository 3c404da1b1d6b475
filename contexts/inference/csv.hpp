// Draws in files of CmdStan's layout, one a chain: settings in comments, the names, the adaptation in comments, the draws. What reads
// CmdStan's files reads these.
#pragma once

#include <overdub/contexts/inference/draws.hpp>
#include <overdub/contexts/inference/target.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace overdub::inference {

/// A line of settings in a file: its name, its value, and how far it is indented. A line without a value is a heading.
struct csv_setting {
  std::string name, value;
  int depth = 0;
  bool operator==(csv_setting const&) const = default;
};

/// Writes one chain to a file as its draws come. Numbers are written so that they are read as the same bits. Each draw is handed to
/// the system at once, and a file that ends anywhere can be read. Throws inference_error when it cannot write.
class csv_writer {
public:
  /// Replaces the file if there is one. Names are written as `csv_name` has them; for ones that `checked_names` refuses, it throws
  /// before the file is touched.
  csv_writer(std::string path, std::span<csv_setting const> settings, std::span<std::string const> names)
      : path_(std::move(path)), variables_(names.size()) {
    std::vector<std::string> const checked = checked_names({names.begin(), names.end()});
    file_.reset(std::fopen(path_.c_str(), "we"));
    if (!file_)
      throw inference_error(
          message("overdub: the draws cannot be written to %s: %s", path_.c_str(), std::strerror(errno)));
    for (csv_setting const& s : settings) {
      line_ += "# " + std::string(static_cast<std::size_t>(2 * s.depth), ' ') + s.name;
      if (!s.value.empty()) line_ += " = " + s.value;
      line_ += '\n';
    }
    for (std::size_t i = 0; i < sampler_columns.size(); ++i)
      line_.append(i == 0 ? "" : ",").append(sampler_columns[i]);
    for (std::string const& name : checked) line_.append(",").append(name);
    line_ += '\n';
    write();
  }
  csv_writer(csv_writer&&) = default;
  csv_writer& operator=(csv_writer&&) = default;

  /// The end of the adaptation, before the first draw. Of a record without a metric, that it ended, and no more.
  void adapted(chain_record const& record) {
    line_ = "# Adaptation terminated\n";
    if (!record.metric.empty()) metric(record);
    write();
  }
  void draw(sampler_statistics const& statistics, std::span<double const> values) {
    if (values.size() != variables_)
      throw inference_error(message(
          "overdub: a draw of %zu numbers for the file %s of %zu variables", values.size(), path_.c_str(),
          variables_));
    line_.clear();
    for (double const v : columns_of(statistics)) {
      if (!line_.empty()) line_ += ',';
      number(v);
    }
    for (double const v : values) {
      line_ += ',';
      number(v);
    }
    line_ += '\n';
    write();
  }
  /// The end: how long it took. After it nothing can be written.
  void finish(chain_record const& record) {
    char text[300];
    std::snprintf(
        text, sizeof text,
        "# \n#  Elapsed Time: %.6g seconds (Warm-up)\n#                %.6g seconds (Sampling)\n#            "
        "    %.6g "
        "seconds (Total)\n# \n",
        record.warmup_seconds, record.sampling_seconds, record.warmup_seconds + record.sampling_seconds);
    line_ = text;
    write();
    if (std::fclose(file_.release()) != 0) fail();
  }

private:
  struct closed {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };

  void metric(chain_record const& record) {
    line_ += "# Step size = ";
    number(record.step_size);
    bool const dense = record.metric == "dense_e";
    line_ += dense ? "\n# Elements of inverse mass matrix:" : "\n# Diagonal elements of inverse mass matrix:";
    std::size_t const n = record.inverse_metric.size();
    std::size_t const row =
        dense ? static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(n)))) : n;
    for (std::size_t i = 0; i < n; ++i) {
      line_ += i % row == 0 ? "\n# " : ", ";
      number(record.inverse_metric[i]);
    }
    line_ += '\n';
  }
  void number(double v) {
    std::array<char, 32> text;
    line_.append(text.data(), std::to_chars(text.data(), text.data() + text.size(), v).ptr);
  }
  void write() {
    if (!file_)
      throw inference_error(
          message("overdub: the file %s is finished: nothing can be written behind its end", path_.c_str()));
    if (std::fwrite(line_.data(), 1, line_.size(), file_.get()) != line_.size() ||
        std::fflush(file_.get()) != 0)
      fail();
  }
  [[noreturn]] void fail() const {
    throw inference_error(message(
        "overdub: the draws could not be written to %s: %s; what was written before is kept", path_.c_str(),
        std::strerror(errno)));
  }

  std::string path_;
  std::unique_ptr<std::FILE, closed> file_;
  std::size_t variables_;
  std::string line_;
};

/// Writes the draws of a chain to a file. Throws inference_error when it cannot.
inline void write_csv(
    std::string const& path, draws const& from, std::size_t chain,
    std::span<csv_setting const> settings = {}) {
  csv_writer out(path, settings, from.names());
  out.adapted(from.record(chain));
  for (std::size_t i = 0; i < from.size(chain); ++i)
    out.draw(from.statistics(chain, i), from.values(chain, i));
  out.finish(from.record(chain));
}

/// What was read of a file.
struct csv_file {
  std::vector<csv_setting> settings;
  draws chain;        ///< one
  bool whole = false; ///< the file has its end: the chain was not stopped
};

namespace reading {

class csv_reader {
public:
  explicit csv_reader(std::string const& path) : path_(path), in_(path) {
    if (!in_)
      throw inference_error(
          message("overdub: the draws in %s cannot be read: %s", path.c_str(), std::strerror(errno)));
  }

  csv_file read() {
    csv_file file;
    chain_record record;
    for (std::string line; std::getline(in_, line);) {
      ++number_;
      if (in_.eof()) break; // the last line has no end: it was not written to its end
      if (!line.empty() && line.back() == '\r') line.pop_back();
      if (line.starts_with("#"))
        comment(std::string_view(line).substr(1), file, record);
      else if (names_.empty())
        header(line);
      else if (!line.empty())
        draw(line);
    }
    if (names_.empty()) bad("the line of names is missing");
    if (!adapted_) rows_.clear(); // of the warm-up, which CmdStan writes when it is asked to
    file.chain = draws({names_.begin() + 7, names_.end()}, 1);
    double const thin = setting(file, "thin", 1);
    double const depth = setting(file, "max_depth", std::numeric_limits<double>::infinity());
    for (std::size_t i = 0; i < rows_.size(); i += names_.size()) {
      double const* const x = rows_.data() + i;
      sampler_statistics const statistics{
          .log_density = x[0],
          .accept_statistic = x[1],
          .step_size = x[2],
          .tree_depth = static_cast<int>(x[3]),
          .leapfrog_steps = static_cast<int>(x[4]),
          .divergent = x[5] != 0,
          .energy = x[6],
          .saturated = x[3] >= depth};
      file.chain.append(0, statistics, {x + 7, names_.size() - 7});
      record.totals.add(statistics, thin == 1);
    }
    for (csv_setting const& s : file.settings)
      if (s.name == "id") std::from_chars(s.value.data(), s.value.data() + s.value.size(), record.id);
    file.chain.record(0) = std::move(record);
    return file;
  }

private:
  [[noreturn]] void bad(char const* what) const {
    throw inference_error(message(
        "overdub: %s, line %zu: %s; a file of CmdStan's layout is expected", path_.c_str(), number_, what));
  }
  static std::string_view trimmed(std::string_view s) {
    while (s.starts_with(' ')) s.remove_prefix(1);
    while (s.ends_with(' ')) s.remove_suffix(1);
    return s;
  }
  double parse(std::string_view s) const {
    s = trimmed(s);
    if (s.starts_with('+')) s.remove_prefix(1);
    double value = 0;
    auto const [end, why] = std::from_chars(s.data(), s.data() + s.size(), value);
    if (why == std::errc::result_out_of_range) { // as strtod has it: infinity, or nothing
      return std::strtod(std::string(s).c_str(), nullptr);
    }
    if (why != std::errc() || end != s.data() + s.size()) bad("what should be a number is none");
    return value;
  }
  // A number among the settings.
  static double setting(csv_file const& file, std::string_view name, double otherwise) {
    for (csv_setting const& s : file.settings)
      if (s.name == name) std::from_chars(s.value.data(), s.value.data() + s.value.size(), otherwise);
    return otherwise;
  }
  template <class F>
  static void each_field(std::string_view line, F const& f) {
    while (true) {
      std::size_t const comma = line.find(',');
      f(trimmed(line.substr(0, comma)));
      if (comma == std::string_view::npos) return;
      line.remove_prefix(comma + 1);
    }
  }

  void comment(std::string_view text, csv_file& file, chain_record& record) {
    if (names_.empty()) {
      if (text.starts_with(' ')) text.remove_prefix(1);
      std::size_t const indent = std::min(text.find_first_not_of(' '), text.size());
      text = trimmed(text);
      if (text.empty()) return;
      std::size_t const sign = text.find('=');
      csv_setting s{std::string(trimmed(text.substr(0, sign))), "", static_cast<int>(indent / 2)};
      if (sign != std::string_view::npos) s.value = trimmed(text.substr(sign + 1));
      if (s.value.ends_with("(Default)"))
        s.value = trimmed(std::string_view(s.value).substr(0, s.value.size() - 9));
      file.settings.push_back(std::move(s));
      return;
    }
    text = trimmed(text);
    if (text == "Adaptation terminated") {
      rows_.clear(); // of the warm-up
      adapted_ = true;
      return;
    }
    constexpr std::string_view step = "Step size =", elapsed = "Elapsed Time:";
    if (text.starts_with(step)) {
      record.step_size = parse(text.substr(step.size()));
    } else if (text.ends_with("lements of inverse mass matrix:")) {
      record.metric = text.starts_with("Diagonal") ? "diag_e" : "dense_e";
      in_metric_ = true;
      return;
    } else if (text.ends_with("seconds (Warm-up)")) {
      if (text.starts_with(elapsed)) text.remove_prefix(elapsed.size());
      record.warmup_seconds = parse(text.substr(0, text.find("seconds")));
    } else if (text.ends_with("seconds (Sampling)")) {
      record.sampling_seconds = parse(text.substr(0, text.find("seconds")));
    } else if (text.ends_with("seconds (Total)")) {
      file.whole = true;
    } else if (in_metric_ && !text.empty()) {
      each_field(text, [&](std::string_view field) { record.inverse_metric.push_back(parse(field)); });
      return;
    }
    in_metric_ = false;
  }
  void header(std::string const& line) {
    each_field(line, [&](std::string_view field) { names_.emplace_back(field); });
    if (names_.size() < 7 || !std::equal(sampler_columns.begin(), sampler_columns.end(), names_.begin()))
      bad("the names do not begin with those of the sampler's seven columns");
    try {
      (void)checked_names({names_.begin() + 7, names_.end()});
    } catch (inference_error const& e) {
      bad(e.what() + sizeof "overdub:");
    }
  }
  void draw(std::string const& line) {
    in_metric_ = false;
    std::size_t const before = rows_.size();
    each_field(line, [&](std::string_view field) { rows_.push_back(parse(field)); });
    if (rows_.size() - before != names_.size())
      bad("a draw has another number of columns than there are names");
    for (std::size_t const i : {before + 3, before + 4})
      if (!(rows_[i] >= 0 && rows_[i] < 1e9)) bad("the depth of a tree, or the number of steps, is no count");
  }

  std::string path_;
  std::ifstream in_;
  std::size_t number_ = 0;
  std::vector<std::string> names_;
  std::vector<double> rows_;
  bool in_metric_ = false, adapted_ = false;
};

} // namespace reading

/// Reads a file of one chain, written here or by CmdStan's sampler. Draws of the warm-up are left out: what does not stand behind
/// the line "Adaptation terminated". So is a last line that was not written to its end. Of transitions that were not kept, a file says
/// nothing: totals are those of its draws, and where it was thinned there is no E-BFMI. Throws
/// inference_error, with the line, for what is no such file.
inline csv_file read_csv(std::string const& path) { return reading::csv_reader(path).read(); }

/// Reads files of chains of one model together. Throws inference_error where their variables differ.
inline draws read_csv(std::span<std::string const> paths) {
  std::vector<csv_file> files;
  for (std::string const& path : paths) {
    files.push_back(read_csv(path));
    if (files.back().chain.names() != files.front().chain.names())
      throw inference_error(message(
          "overdub: %s and %s have different variables: read chains of one model together",
          paths.front().c_str(), path.c_str()));
  }
  if (files.empty()) return {};
  draws all(files.front().chain.names(), files.size());
  for (std::size_t c = 0; c < files.size(); ++c) {
    draws const& one = files[c].chain;
    all.record(c) = one.record(0);
    for (std::size_t i = 0; i < one.size(0); ++i) all.append(c, one.statistics(0, i), one.values(0, i));
  }
  return all;
}
inline draws read_csv(std::initializer_list<std::string> paths) {
  return read_csv(std::span<std::string const>(paths.begin(), paths.size()));
}

} // namespace overdub::inference
