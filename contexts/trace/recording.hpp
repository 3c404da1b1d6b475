// Recordings collect the spans of all threads during their lifetime. `recording` keeps the last ones in memory;
// `trace_file` streams them to a file by a thread of its own. One can be active at a time.
#pragma once

#include <overdub/call/thread_without_signals.hpp>
#include <overdub/contexts/trace/all_recordings.hpp>
#include <overdub/contexts/trace/call_records.hpp>
#include <overdub/contexts/trace/chrome.hpp>
#include <overdub/contexts/trace/decode.hpp>
#include <overdub/contexts/trace/file.hpp>
#include <overdub/contexts/trace/folded.hpp>
#include <overdub/contexts/trace/perfetto.hpp>
#include <overdub/contexts/trace/session.hpp>
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
#include <pthread.h>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace overdub::contexts {

enum class trace_format { perfetto, chrome, speedscope, folded, svg };

/// The numbers of records: two for each span, and one for each value.
struct trace_statistics {
  std::uint64_t records = 0; // written by the program so far
  // Overwritten before they were read, or dropped because a signal handler interrupted a write.
  std::uint64_t lost = 0;
  std::uint32_t threads = 0; // the maximum number of simultaneous writers
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

/// Makes a session the active one for its lifetime.
class active_session {
public:
  OVERDUB_HIDDEN explicit active_session(std::shared_ptr<session> s) : session_(std::move(s)) {
    overdub::detail::keep_loaded(); // threads hold the session, whose functions are in this object
    if (!fork_handlers::install()) throw std::bad_alloc();
    recordings& process = all_recordings();
    uninterrupted_lock const lock(process.mutex);
    if (process.active != nullptr)
      throw trace_error(
          message("overdub: a trace is recorded already; end that recording before another begins"));
    process.active = session_;
    process.is_active = true;
  }
  ~active_session() { end(); }
  active_session(active_session const&) = delete;
  active_session& operator=(active_session const&) = delete;

  void end() {
    if (session_->is_abandoned()) return;
    {
      recordings& process = all_recordings();
      uninterrupted_lock const lock(process.mutex);
      if (process.active == session_) {
        process.is_active = false;
        process.active = nullptr;
      }
    }
    session_->close();
  }
  std::map<std::string, std::uint64_t> counts() const { return session_->counts(all_recordings().callees()); }

private:
  std::shared_ptr<session> session_;
};

/// Rejects a ring size that was made of a negative number, or that no thread can allocate.
inline std::size_t checked_records(std::size_t records) {
  constexpr std::size_t most = std::size_t{1} << 40;
  if (records > most)
    throw trace_error(message(
        "overdub: a ring of %lld records for each thread: there are from 16 to 2^40, of 16 bytes each",
        static_cast<long long>(records)));
  return records;
}

/// The number of records that are read at a time.
constexpr std::size_t records_at_once = 4096;

/// The minimum time of a calibration: the error of a reading is then about 1e-5 of it.
constexpr std::uint64_t calibration = 5'000'000; // nanoseconds
inline void calibrate(tick_scale& scale) {
  std::uint64_t const age = steady_nanoseconds() - scale.start();
  if (age < calibration) std::this_thread::sleep_for(std::chrono::nanoseconds(calibration - age));
  scale.calibrate();
}

} // namespace tracing

/// Records in memory: keeps the last records of each thread, 16 bytes each. Ends at destruction; afterwards calls in
/// `trace` cost a few nanoseconds, and record nothing.
class recording {
public:
  /// With a capacity for each thread, rounded up to a power of two; a thread allocates it in its first traced call, which
  /// may throw std::bad_alloc. Throws trace_error if a recording is active.
  explicit recording(std::size_t records_per_thread = 1 << 16)
      : session_(std::make_shared<tracing::session>(
            tracing::checked_records(records_per_thread), tracing::session::retention::last_records,
            when_full::drop_oldest)),
        active_(session_) {}

  /// Ends the recording.
  void stop() { active_.end(); }

  /// The records so far, in a file format. Records that threads overwrite meanwhile are left out. Thread-safe. O(records),
  /// and at least 5 ms after construction.
  std::string text(trace_format format) const {
    std::string all;
    make(format, [&](std::string const& part) { all += part; });
    return all;
  }

  /// Writes them to a file, which is replaced atomically. Throws trace_error, and leaves the file unchanged; also in a
  /// child of fork, where the parent's recording is empty.
  void write(std::string const& path, trace_format format) const {
    if (session_->is_abandoned())
      throw trace_error(message(
          "overdub: this recording belongs to the process of which this is a child; a child of fork makes "
          "its own"));
    tracing::output_file file(path, io::writing::at_once);
    make(format, [&](std::string const& part) { file.append(part); });
    if (!file.close()) throw file.failure();
  }

  /// The number of calls of each callee, in traces that count.
  std::map<std::string, std::uint64_t> counts() const { return active_.counts(); }

  trace_statistics statistics() const {
    trace_statistics all;
    for (tracing::thread_buffer const* const l : session_->buffers()) {
      all.records += l->ring.written();
      all.lost += l->ring.first_whole() + l->ring.dropped();
      ++all.threads;
    }
    return all;
  }

private:
  // In parts, to bound memory.
  template <class Take>
  void make(trace_format format, Take const& take) const {
    std::scoped_lock const lock(reading_);
    tracing::calibrate(session_->scale());
    auto const writer = tracing::make_writer(format, session_->origin());
    auto const pass_on = [&] {
      take(writer->text());
      writer->text().clear();
    };
    std::vector<tracing::record> records;
    for (tracing::thread_buffer const* const l : session_->buffers()) {
      writer->thread(l->thread);
      tracing::decoder decode(l->thread.number);
      std::uint64_t from = 0;
      for (std::uint64_t const until = l->ring.written(); from < until;) {
        records.clear();
        std::uint64_t const lost = l->ring.read(from, tracing::records_at_once, false, records);
        tracing::name_callees();
        if (lost > 0) decode.lost(lost, *writer);
        decode(records, session_->scale(), *writer);
        pass_on();
      }
      decode.flush(*writer);
    }
    writer->finish();
    pass_on();
  }

  mutable std::mutex reading_;
  std::shared_ptr<tracing::session> session_;
  tracing::active_session active_;
};

struct trace_file_options {
  std::size_t records = 1 << 16;       // in each thread's ring, 16 bytes each
  when_full policy = when_full::block; // the policy of a thread whose ring is full
  // The interval of updates of the file, at most a day.
  std::chrono::milliseconds period{10};
};

/// Streams records to a file, which a thread updates while the program runs. The file can be opened at any time, also after
/// a crash. If a file of the name exists, or an unfinished one, it is written as the name with ".partial" appended, and
/// replaces the file at the end; see io::writing::streamed.
class trace_file {
public:
  /// Throws trace_error if the file cannot be written, if another run writes to it, if a recording is active, or if the
  /// format is neither Perfetto's nor Chrome's. The file is unchanged then.
  explicit trace_file(
      std::string path, trace_format format = trace_format::perfetto, trace_file_options const& options = {})
      : period_(checked(options.period)),
        session_(std::make_shared<tracing::session>(
            tracing::checked_records(options.records), tracing::session::retention::in_file, options.policy)),
        active_(session_), file_(checked(std::move(path), format), io::writing::streamed),
        writer_(tracing::make_writer(format, session_->origin())),
        drain_(detail::thread_without_signals([this] { drain(); })) {}

  /// As `finish`; an error that was not queried is written to stderr.
  ~trace_file() {
    if (reported_) return;
    try {
      finish();
    } catch (std::exception const& e) {
      std::fprintf(stderr, "%s\n", e.what());
    }
  }

  /// Ends the recording, and returns when all of it is in the file. Throws trace_error if it could not be written
  /// completely.
  void finish() {
    end();
    reported_ = true;
    if (failure_) std::rethrow_exception(failure_);
    if (file_.failed()) throw file_.failure();
  }

  /// The number of calls of each callee, in traces that count.
  std::map<std::string, std::uint64_t> counts() const { return active_.counts(); }

  /// Thread-safe. Complete after `finish`.
  trace_statistics statistics() const {
    trace_statistics all;
    all.lost = lost_.load(std::memory_order_relaxed);
    for (tracing::thread_buffer const* const l : session_->buffers()) {
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
    if (session_
            ->is_abandoned()) { // in a child of fork: the file is the parent's, and its thread does not exist
      static_cast<void>(drain_.release());
      return;
    }
    active_.end();
    if (drain_->joinable()) drain_->join();
  }

  void drain() {
    // Its own calls are not recorded: they would have no end.
    std::atomic<pthread_t>& writer = tracing::all_recordings().writer;
    pthread_t self = pthread_self();
    writer = self;
    do {
      tracing::calibrate(session_->scale());
      read_all();
    } while (session_->wait(period_));
    read_all();
    guarded([&] {
      for (tracing::decoder& decode : decoders_) decode.flush(*writer_);
      writer_->finish();
      append();
    });
    if (!failure_) file_.close();
    writer.compare_exchange_strong(self, 0); // unless another file is written already
  }

  // Without memory the file ends; records are still read, so that no thread blocks.
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
    while (tracing::thread_buffer* const l = session_->buffer_at(number++)) {
      guarded([&] {
        if (l->thread.number < decoders_.size()) return;
        writer_->thread(l->thread);
        decoders_.emplace_back(l->thread.number);
      });
      // Up to the current end only, since other threads wait, too.
      for (std::uint64_t const until = l->ring.written(); l->drained < until;) read_some(*l);
    }
    guarded([&] { append(); });
  }
  void read_some(tracing::thread_buffer& l) {
    records_.clear();
    std::uint64_t from = l.drained.load(std::memory_order_relaxed);
    std::uint64_t const lost =
        l.ring.read(from, tracing::records_at_once, session_->writers_wait(), records_);
    session_->read_until(l, from);
    lost_.fetch_add(lost, std::memory_order_relaxed);
    guarded([&] {
      tracing::name_callees();
      tracing::decoder& decode = decoders_[l.thread.number];
      if (lost > 0) decode.lost(lost, *writer_);
      decode(records_, session_->scale(), *writer_);
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
  std::shared_ptr<tracing::session> session_;
  tracing::active_session active_;
  tracing::output_file file_;
  std::atomic<std::uint64_t> lost_{0};
  bool reported_ = false; // whether an error was reported

  // Owned by the writer thread until it has ended.
  std::unique_ptr<tracing::trace_writer> writer_;
  std::vector<tracing::decoder> decoders_;
  std::vector<tracing::record> records_ = reserved();
  std::exception_ptr failure_;
  std::unique_ptr<std::thread> drain_;
};

} // namespace overdub::contexts
