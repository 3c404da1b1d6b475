// Recordings: what collects the spans of all threads while it lives. `recording` keeps the last of them in memory; `trace_file`
// has a thread of its own that writes them to a file. One goes on at a time.
#pragma once

#include <overdub/call/thread_without_signals.hpp>
#include <overdub/contexts/trace/book.hpp>
#include <overdub/contexts/trace/chrome.hpp>
#include <overdub/contexts/trace/decode.hpp>
#include <overdub/contexts/trace/file.hpp>
#include <overdub/contexts/trace/folded.hpp>
#include <overdub/contexts/trace/perfetto.hpp>
#include <overdub/contexts/trace/process.hpp>
#include <overdub/contexts/trace/speedscope.hpp>
#include <overdub/contexts/trace/svg.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace overdub::contexts {

enum class trace_format { perfetto, chrome, speedscope, folded, svg };

/// What became of the records: two a span, and one a value.
struct trace_statistics {
  std::uint64_t records = 0; // written by the program so far
  // Overwritten before they were read, or not written: those of a signal handler that interrupted a write.
  std::uint64_t lost = 0;
  std::uint32_t threads = 0; // that wrote at one time
};

namespace tracing {

inline std::unique_ptr<trace_writer> make_writer(trace_format format, trace_origin const& origin) {
  switch (format) {
  case trace_format::perfetto:
    return std::make_unique<perfetto_writer>(origin);
  case trace_format::chrome:
    return std::make_unique<chrome_writer>(origin);
  case trace_format::speedscope:
    return std::make_unique<speedscope_writer>(origin);
  case trace_format::folded:
    return std::make_unique<folded_writer>();
  case trace_format::svg:
    return std::make_unique<svg_writer>();
  }
  return nullptr;
}

/// Makes a book the one that goes on, as long as it lives.
class active_book {
public:
  OVERDUB_HIDDEN explicit active_book(std::shared_ptr<book> b) : book_(std::move(b)) {
    overdub::detail::keep_loaded(); // threads keep the book, whose functions are this object's
    if (!fork_handlers::are_there()) throw std::bad_alloc();
    recordings& process = all_recordings();
    uninterrupted_lock const lock(process.mutex);
    if (process.book_ != nullptr)
      throw trace_error(
          message("overdub: a trace is recorded already; end that recording before another begins"));
    process.book_ = book_;
    process.goes_on = true;
  }
  ~active_book() { end(); }
  active_book(active_book const&) = delete;
  active_book& operator=(active_book const&) = delete;

  void end() {
    if (book_->is_abandoned()) return;
    {
      recordings& process = all_recordings();
      uninterrupted_lock const lock(process.mutex);
      if (process.book_ == book_) {
        process.goes_on = false;
        process.book_ = nullptr;
      }
    }
    book_->close();
  }
  std::map<std::string, std::uint64_t> counts() const { return book_->counts(all_recordings().callees()); }

private:
  std::shared_ptr<book> book_;
};

/// Refuses the size of a ring that was made of a negative number, or of which no thread has one.
inline std::size_t checked_records(std::size_t records) {
  constexpr std::size_t most = std::size_t{1} << 40;
  if (records > most)
    throw trace_error(message(
        "overdub: a ring of %lld records for each thread: there are from 16 to 2^40, of 16 bytes each",
        static_cast<long long>(records)));
  return records;
}

/// How many records are read before what they make is passed on.
constexpr std::size_t records_at_once = 4096;

/// How long a clock is calibrated at least: a reading's error is then some hundred-thousandths of the time.
constexpr std::uint64_t calibration = 5'000'000; // nanoseconds
inline void calibrate(tick_scale& scale) {
  std::uint64_t const age = steady_nanoseconds() - scale.start();
  if (age < calibration) std::this_thread::sleep_for(std::chrono::nanoseconds(calibration - age));
  scale.calibrate();
}

} // namespace tracing

/// Records in memory: the last records of each thread are kept, 16 bytes each. Ends with its life; then calls in `trace` cost a
/// few nanoseconds, and record nothing.
class recording {
public:
  /// With room for so many records a thread, rounded up to a power of two; a thread's memory is allocated in its first call in a
  /// trace, which throws std::bad_alloc where there is none. Throws trace_error where a recording goes on.
  explicit recording(std::size_t records_per_thread = 1 << 16)
      : book_(std::make_shared<tracing::book>(
            tracing::checked_records(records_per_thread), tracing::book::kept::last_records,
            when_full::drop_oldest)),
        active_(book_) {}

  /// Nothing more is recorded.
  void stop() { active_.end(); }

  /// What is recorded so far, as a file of the format. While threads write, what they overwrite meanwhile is left out.
  /// Thread-safe. Linear in the number of records, and takes at least 5 ms from the making of the recording.
  std::string text(trace_format format) const {
    std::string all;
    make(format, [&](std::string const& part) { all += part; });
    return all;
  }

  /// The same, into a file, which is replaced when all of it is written. Throws trace_error, and the file is as it was; also in a child of
  /// fork, where the parent's recording is empty.
  void write(std::string const& path, trace_format format) const {
    if (book_->is_abandoned())
      throw trace_error(message(
          "overdub: this recording belongs to the process of which this is a child; a child of fork makes "
          "its own"));
    tracing::output_file file(path, io::writing::at_once);
    make(format, [&](std::string const& part) { file.append(part); });
    if (!file.close()) throw file.failure();
  }

  /// How often each callee was called in traces that count.
  std::map<std::string, std::uint64_t> counts() const { return active_.counts(); }

  trace_statistics statistics() const {
    trace_statistics all;
    for (tracing::lane const* const l : book_->lanes()) {
      all.records += l->ring.written();
      all.lost += l->ring.first_whole() + l->ring.dropped();
      ++all.threads;
    }
    return all;
  }

private:
  // Part by part, so that little memory is needed.
  template <class Take>
  void make(trace_format format, Take const& take) const {
    std::scoped_lock const lock(reading_);
    tracing::calibrate(book_->scale());
    auto const writer = tracing::make_writer(format, book_->origin());
    auto const pass_on = [&] {
      take(writer->text());
      writer->text().clear();
    };
    std::vector<tracing::record> records;
    for (tracing::lane const* const l : book_->lanes()) {
      writer->thread(l->thread);
      tracing::decoder decode(l->thread.number);
      std::uint64_t from = 0;
      for (std::uint64_t const until = l->ring.written(); from < until;) {
        records.clear();
        std::uint64_t const lost = l->ring.read(from, tracing::records_at_once, false, records);
        if (lost > 0) decode.lost(lost, *writer);
        decode(records, book_->scale(), *writer);
        pass_on();
      }
      decode.flush(*writer);
    }
    writer->finish();
    pass_on();
  }

  mutable std::mutex reading_;
  std::shared_ptr<tracing::book> book_;
  tracing::active_book active_;
};

struct trace_file_options {
  std::size_t records = 1 << 16;       // of each thread's ring, 16 bytes each
  when_full policy = when_full::block; // what a thread does where its ring is full
  // How often the file is brought up to date; longer periods than a day are one.
  std::chrono::milliseconds period{10};
};

/// Records into a file, which a thread brings up to date while the program runs. What is in the file can be opened at any time,
/// also when the program crashed. Where a file of the name, or an unfinished one, is there, that is the name with ".partial" behind it, and replaces the file at
/// the end; see io::writing::streamed.
class trace_file {
public:
  /// Throws trace_error where the file cannot be written, or another run writes to it, or a recording goes on, or the format is neither
  /// Perfetto's nor Chrome's. The file is as it was then.
  explicit trace_file(
      std::string path, trace_format format = trace_format::perfetto, trace_file_options const& options = {})
      : period_(checked(options.period)),
        book_(std::make_shared<tracing::book>(
            tracing::checked_records(options.records), tracing::book::kept::in_file, options.policy)),
        active_(book_), file_(checked(std::move(path), format), io::writing::streamed),
        writer_(tracing::make_writer(format, book_->origin())),
        drain_(detail::thread_without_signals([this] { drain(); })) {}

  /// As `finish`; an error that nobody asked for is written to stderr.
  ~trace_file() {
    if (told_) return;
    try {
      finish();
    } catch (std::exception const& e) {
      std::fprintf(stderr, "%s\n", e.what());
    }
  }

  /// Ends the recording, and returns when all of it is in the file. Throws trace_error where not all of it could be written.
  void finish() {
    end();
    told_ = true;
    if (failure_) std::rethrow_exception(failure_);
    if (file_.failed()) throw file_.failure();
  }

  /// How often each callee was called in traces that count.
  std::map<std::string, std::uint64_t> counts() const { return active_.counts(); }

  /// Thread-safe. After `finish` it is all there is.
  trace_statistics statistics() const {
    trace_statistics all;
    all.lost = lost_.load(std::memory_order_relaxed);
    for (tracing::lane const* const l : book_->lanes()) {
      all.records += l->ring.written();
      all.lost += l->ring.dropped();
      ++all.threads;
    }
    return all;
  }

private:
  static std::chrono::milliseconds checked(std::chrono::milliseconds period) {
    if (period.count() < 0)
      throw trace_error(message(
          "overdub: a trace's file is brought up to date every %lld ms: the period is 0 or more",
          static_cast<long long>(period.count())));
    return std::min(
        period, std::chrono::milliseconds(std::chrono::hours(24))); // longer ones overflow in waits
  }
  static std::string checked(std::string path, trace_format format) {
    if (format != trace_format::perfetto && format != trace_format::chrome)
      throw trace_error(message("overdub: a file for speedscope, folded stacks, or a picture, is written at "
                                "once; keep the spans in a "
                                "recording, and call its write(path, format)"));
    return path;
  }

  void end() {
    if (book_->is_abandoned()) { // in a child of fork: the file is the parent's, and there is no such thread
      static_cast<void>(drain_.release());
      return;
    }
    active_.end();
    if (drain_->joinable()) drain_->join();
  }

  void drain() {
    do {
      tracing::calibrate(book_->scale());
      read_all();
    } while (book_->wait(period_));
    read_all();
    guarded([&] {
      for (tracing::decoder& decode : decoders_) decode.flush(*writer_);
      writer_->finish();
      append();
    });
    if (!failure_) file_.close();
  }

  // Where memory is missing the file ends; records are still read, so that nobody waits for it.
  template <class F>
  void guarded(F const& f) {
    if (failure_) return;
    try {
      f();
    } catch (...) {
      failure_ = std::current_exception();
    }
  }

  void read_all() {
    std::size_t number = 0;
    while (tracing::lane* const l = book_->lane_at(number++)) {
      guarded([&] {
        if (l->thread.number < decoders_.size()) return;
        writer_->thread(l->thread);
        decoders_.emplace_back(l->thread.number);
      });
      // No further than what is there now, since other threads wait, too.
      for (std::uint64_t const until = l->ring.written(); l->drained < until;) read_some(*l);
    }
    guarded([&] { append(); });
  }
  void read_some(tracing::lane& l) {
    records_.clear();
    std::uint64_t from = l.drained.load(std::memory_order_relaxed);
    std::uint64_t const lost = l.ring.read(from, tracing::records_at_once, book_->writers_wait(), records_);
    book_->read_until(l, from);
    lost_.fetch_add(lost, std::memory_order_relaxed);
    guarded([&] {
      tracing::decoder& decode = decoders_[l.thread.number];
      if (lost > 0) decode.lost(lost, *writer_);
      decode(records_, book_->scale(), *writer_);
      append();
    });
  }
  void append() {
    if (!writer_->text().empty()) file_.append(writer_->text());
    writer_->text().clear();
  }

  static std::vector<tracing::record> reserved() {
    std::vector<tracing::record> records;
    records.reserve(tracing::records_at_once);
    return records;
  }

  std::chrono::milliseconds const period_;
  std::shared_ptr<tracing::book> book_;
  tracing::active_book active_;
  tracing::output_file file_;
  std::atomic<std::uint64_t> lost_{0};
  bool told_ = false; // what went wrong, if anything

  // The thread's own, until it has ended.
  std::unique_ptr<tracing::trace_writer> writer_;
  std::vector<tracing::decoder> decoders_;
  std::vector<tracing::record> records_ = reserved();
  std::exception_ptr failure_;
  std::unique_ptr<std::thread> drain_;
};

} // namespace overdub::contexts
