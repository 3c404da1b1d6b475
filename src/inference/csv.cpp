#include <overdub/inference/csv.hpp>
#include <overdub/io/number_text.hpp>
#include <overdub/io/output_file.hpp>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

namespace overdub::inference {

namespace csv_writing {

[[noreturn]] inline void fail(std::string const& path, char const* why) {
  throw inference_error(
      message("overdub: the draws cannot be written to %s: %s", io::shown_path(path).c_str(), why));
}
inline io::output_file opened(std::string const& path, io::writing how) {
  try {
    return {path, how};
  } catch (io::output_error const& e) {
    fail(path, e.what());
  }
}

// The lines before the draws: settings in comments, and the names.
inline std::string head(std::span<csv_setting const> settings, std::vector<std::string> const& names) {
  std::string text;
  for (csv_setting const& s : settings) {
    bool const is_line = (s.name + s.value).find_first_of("\n\r") == std::string::npos;
    if (!is_line || s.depth < 0 || s.depth > 1000)
      throw inference_error(message(
          "overdub: the setting \"%.100s\" cannot be written to a file of draws: %s",
          s.name.substr(0, s.name.find_first_of("\n\r")).c_str(),
          is_line ? "its depth is from 0 to 1000" : "a line has no line break in it"));
    text += "# " + std::string(2 * static_cast<std::size_t>(s.depth), ' ') + s.name;
    if (!s.value.empty()) text += " = " + s.value;
    text += '\n';
  }
  for (std::size_t i = 0; i < sampler_columns.size(); ++i)
    text.append(i == 0 ? "" : ",").append(sampler_columns[i]);
  for (std::string const& name : names) text.append(",").append(name);
  return text + '\n';
}

} // namespace csv_writing

csv_writer::csv_writer(
    std::string path, std::span<csv_setting const> settings, std::span<std::string const> names,
    io::writing how)
    : path_(std::move(path)), how_(how), names_(checked_names({names.begin(), names.end()})),
      pending_(csv_writing::head(settings, names_)),
      file_(std::make_unique<io::output_file>(csv_writing::opened(path_, how))) {}
csv_writer::csv_writer(csv_writer&&) noexcept = default;
csv_writer& csv_writer::operator=(csv_writer&&) noexcept = default;
csv_writer::~csv_writer() = default;

bool csv_writer::has_draws() const { return has_draws_ && file_ != nullptr && file_->is_kept(); }
std::string const& csv_writer::written_to() const {
  require_file();
  return file_->written_to();
}

void csv_writer::adapted(chain_record const& record) {
  require_open();
  pending_ += "# Adaptation terminated\n";
  if (!record.metric.empty()) metric(record);
}

void csv_writer::draw(sampler_statistics const& statistics, std::span<double const> values) {
  require_open();
  if (values.size() != names_.size())
    throw inference_error(message(
        "overdub: a draw of %zu numbers for the file %s of %zu variables", values.size(),
        io::shown_path(path_).c_str(), names_.size()));
  std::size_t const begin = pending_.size();
  auto const number = [&](double v) {
    if (pending_.size() > begin) pending_ += ',';
    io::append_number(pending_, v);
  };
  for (double const v : columns_of(statistics)) number(v);
  for (double const v : values) number(v);
  pending_ += '\n';
  write();
  has_draws_ = true;
}

void csv_writer::end(chain_record const& record) {
  require_open();
  auto const seconds = [](double s) { return io::number_text(s, io::significant(6)) + " seconds "; };
  pending_ += "# \n#  Elapsed Time: " + seconds(record.warmup_seconds) + "(Warm-up)\n#                " +
              seconds(record.sampling_seconds) + "(Sampling)\n#                " +
              seconds(record.warmup_seconds + record.sampling_seconds) + "(Total)\n# \n";
  write();
  ended_ = true;
}

void csv_writer::commit() {
  require_file();
  if (!ended_) write();
  ended_ = true;
  try {
    file_->commit();
  } catch (io::output_error const& e) {
    fail(e.what());
  }
}

void csv_writer::metric(chain_record const& record) {
  pending_ += "# Step size = ";
  io::append_number(pending_, record.step_size);
  bool const dense = record.metric == "dense_e";
  pending_ +=
      dense ? "\n# Elements of inverse mass matrix:" : "\n# Diagonal elements of inverse mass matrix:";
  std::size_t const n = record.inverse_metric.size();
  std::size_t const row =
      dense ? static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(n)))) : n;
  for (std::size_t i = 0; i < n; ++i) {
    pending_ += i % row == 0 ? "\n# " : ", ";
    io::append_number(pending_, record.inverse_metric[i]);
  }
  pending_ += '\n';
}

void csv_writer::require_file() const {
  if (file_ == nullptr)
    throw inference_error(message("overdub: a csv_writer is used after it was moved from"));
}
void csv_writer::require_open() const {
  require_file();
  if (ended_)
    throw inference_error(message(
        "overdub: the file %s is finished: nothing can be written after its end",
        io::shown_path(path_).c_str()));
}

void csv_writer::write() {
  if (!file_->append(pending_)) fail(file_->failure());
  pending_.clear();
}

void csv_writer::fail(std::string const& why) const {
  if (how_ == io::writing::at_once) csv_writing::fail(path_, why.c_str());
  throw inference_error(message(
      "overdub: the draws could not be written to %s: %s%s", io::shown_path(written_to()).c_str(),
      why.c_str(), has_draws() ? "; what was written before is kept" : ""));
}

void write_csv(
    std::string const& path, draws const& from, std::size_t chain, std::span<csv_setting const> settings) {
  if (chain >= from.chains())
    throw inference_error(message(
        "overdub: there is no chain %lld among draws of %zu chains, which are counted from 0",
        static_cast<long long>(chain), from.chains()));
  csv_writer out(path, settings, from.names(), io::writing::at_once);
  out.adapted(from.record(chain));
  for (std::size_t i = 0; i < from.size(chain); ++i)
    out.draw(from.statistics(chain, i), from.values(chain, i));
  out.finish(from.record(chain));
}

namespace csv_reading {

/// The complete lines of a file. A pipe without a writer is empty.
class lines {
public:
  /// False where the file cannot be opened; errno is set.
  bool open(std::string const& path) {
    descriptor_ = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (descriptor_ < 0) return false;
    ::fcntl(descriptor_, F_SETFL, ::fcntl(descriptor_, F_GETFL) & ~O_NONBLOCK);
    return true;
  }
  lines() = default;
  ~lines() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  lines(lines const&) = delete;
  lines& operator=(lines const&) = delete;

  /// The next line, without its line break, valid until the next call; none after the last one. Returns errno, or 0.
  int next(std::optional<std::string_view>& line) {
    for (std::size_t searched = at_;;) {
      if (std::size_t const end = buffer_.find('\n', searched); end != buffer_.npos) {
        line = std::string_view(buffer_).substr(at_, end - at_);
        at_ = end + 1;
        return 0;
      }
      line.reset();
      buffer_.erase(0, at_);
      at_ = 0;
      searched = buffer_.size();
      buffer_.resize(searched + (std::size_t{1} << 18));
      ssize_t n = 0;
      do {
        n = ::read(descriptor_, buffer_.data() + searched, buffer_.size() - searched);
      } while (n < 0 && errno == EINTR);
      int const why = n < 0 ? errno : 0;
      buffer_.resize(searched + static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
      if (n <= 0) return why;
      is_empty_ = false;
    }
  }
  bool is_empty() const { return is_empty_; }

private:
  int descriptor_ = -1;
  std::string buffer_;
  std::size_t at_ = 0; // where the next line begins
  bool is_empty_ = true;
};

class csv_reader {
public:
  explicit csv_reader(std::string path) : path_(std::move(path)) {
    if (lines_.open(path_)) return;
    int const why = errno;
    std::string const beside = path_ + io::unfinished;
    if (why == ENOENT && lines_.open(beside)) {
      path_ = beside;
      return;
    }
    unreadable(why);
  }

  csv_file read() {
    csv_file file;
    chain_record record;
    std::optional<std::string_view> next;
    while (true) {
      if (int const why = lines_.next(next)) unreadable(why);
      if (!next) break; // a last line without a line break is incomplete
      std::string_view line = *next;
      if (++number_ == 1 && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3); // a mark of UTF-8
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (line.starts_with('#'))
        comment(line.substr(1), file, record);
      else if (names_.empty())
        header(line);
      else if (!line.empty())
        draw(line, file);
    }
    if (lines_.is_empty())
      throw inference_error(message(
          "overdub: %s is empty: its run has no draws yet, or ended before the first one",
          io::shown_path(path_).c_str()));
    if (names_.empty()) bad("the line of names is missing");
    if (!adapted_ && !rows_.empty() && saves_warmup(file) == true)
      bad("the settings have save_warmup = 1, and the line \"Adaptation terminated\" is missing, so that "
          "where "
          "the warm-up ends is not known: the run was stopped in it, or the line was cut out");
    std::size_t const columns = names_.size();
    file.chain = draws({names_.begin() + 7, names_.end()}, 1);
    double const thin = setting(file, "thin", 1);
    double const depth = setting(file, "max_depth", std::numeric_limits<double>::infinity());
    for (std::size_t i = 0; i < rows_.size(); i += columns) {
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
      file.chain.append(0, statistics, {x + 7, columns - 7});
      record.totals.add(statistics, thin == 1);
    }
    for (csv_setting const& s : file.settings)
      if (s.name == "id") (void)io::parse_whole(s.value, record.id);
    file.chain.record(0) = std::move(record);
    return file;
  }

private:
  [[noreturn]] void bad(char const* what) const {
    throw inference_error(message(
        "overdub: %s, line %zu: %s; a file of CmdStan's layout is expected",
        io::shown_path(path_, 100).c_str(), number_, what));
  }
  [[noreturn]] void unreadable(int why) const {
    throw inference_error(message(
        "overdub: the draws in %s cannot be read: %s", io::shown_path(path_).c_str(), std::strerror(why)));
  }
  static std::string_view trimmed(std::string_view s) {
    while (s.starts_with(' ')) s.remove_prefix(1);
    while (s.ends_with(' ')) s.remove_suffix(1);
    return s;
  }
  double parse(std::string_view s) const {
    s = trimmed(s);
    if (s.starts_with('+') && !s.starts_with("+-")) s.remove_prefix(1);
    double value = 0;
    auto const [end, why] = io::parse_number(s.data(), s.data() + s.size(), value);
    // A number out of range is read as infinity or 0.
    bool const is_number = why == std::errc() || why == std::errc::result_out_of_range;
    if (!is_number || end != s.data() + s.size()) bad("what should be a number is none");
    return value;
  }
  // A number among the settings.
  static double setting(csv_file const& file, std::string_view name, double otherwise) {
    for (csv_setting const& s : file.settings)
      if (s.name == name) (void)io::parse_number(s.value.data(), s.value.data() + s.value.size(), otherwise);
    return otherwise;
  }
  // Nothing, if the settings do not have it.
  static std::optional<bool> saves_warmup(csv_file const& file) {
    std::optional<bool> saves;
    for (csv_setting const& s : file.settings)
      if (s.name == "save_warmup") saves = s.value == "1" || s.value == "true";
    return saves;
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
      if (adapted_)
        bad("a second line \"Adaptation terminated\": read files of several chains each by itself");
      if (!rows_.empty() && saves_warmup(file) == false)
        bad("draws stand before the line \"Adaptation terminated\", and the settings have save_warmup = 0");
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
  void header(std::string_view line) {
    each_field(line, [&](std::string_view field) { names_.emplace_back(field); });
    bool const is_nuts =
        names_.size() >= 7 && std::equal(sampler_columns.begin(), sampler_columns.end(), names_.begin());
    if (!is_nuts && names_.front() == sampler_columns[0])
      bad("the sampler's columns are not those of NUTS: files of CmdStan's other algorithms, as fixed_param "
          "and static HMC, are not read");
    if (!is_nuts) bad("the names do not begin with those of the sampler's seven columns");
    try {
      (void)checked_names({names_.begin() + 7, names_.end()});
    } catch (inference_error const& e) {
      bad(e.what() + sizeof "overdub:");
    }
  }
  void draw(std::string_view line, csv_file const& file) {
    if (file.whole)
      bad("a draw after the times that a run ends with: read files of several chains each by itself");
    in_metric_ = false;
    std::size_t const before = rows_.size();
    each_field(line, [&](std::string_view field) { rows_.push_back(parse(field)); });
    if (rows_.size() - before != names_.size())
      bad("a draw has another number of columns than there are names");
    for (std::size_t const i : {before + 3, before + 4})
      if (!(rows_[i] >= 0 && rows_[i] < 1e9)) bad("the depth of a tree, or the number of steps, is no count");
  }

  std::string path_;
  lines lines_;
  std::size_t number_ = 0;
  std::vector<std::string> names_;
  std::vector<double> rows_;
  bool in_metric_ = false, adapted_ = false;
};

} // namespace csv_reading

csv_file read_csv(std::string const& path) { return csv_reading::csv_reader(path).read(); }

draws read_csv(std::span<std::string const> paths) {
  std::vector<csv_file> files;
  for (std::string const& path : paths) {
    files.push_back(read_csv(path));
    if (files.back().chain.names() != files.front().chain.names())
      throw inference_error(message(
          "overdub: %s and %s have different variables: read chains of one model together",
          io::shown_path(paths.front(), 100).c_str(), io::shown_path(path, 100).c_str()));
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

} // namespace overdub::inference
