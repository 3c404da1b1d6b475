#include <overdub/inference/chain_run.hpp>
#include <overdub/inference/on_threads.hpp>
#include <overdub/io/number_text.hpp>
#include <overdub/io/output_file.hpp>
#include <overdub/version.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace overdub::inference {

sampling_error::sampling_error(
    std::shared_ptr<draws const> drawn, std::exception_ptr thrown, std::size_t of,
    std::vector<std::string> written, std::string const& allocation)
    : inference_error(text(thrown, of, drawn->size(), written, allocation)), so_far(std::move(drawn)),
      cause(std::move(thrown)), chain(of), files(std::move(written)) {}

message sampling_error::text(
    std::exception_ptr const& thrown, std::size_t of, std::size_t drawn,
    std::vector<std::string> const& written, std::string const& allocation) {
  try {
    std::rethrow_exception(thrown);
  } catch (std::bad_alloc const&) {
    return message(
        "overdub: chain %zu: there is no memory for %s; the %zu draws so far are kept, in so_far%s; keep "
        "less: "
        "thin = 10 keeps one draw in ten, and a draw of fewer variables is smaller",
        of + 1, allocation.c_str(), drawn, written.empty() ? "" : " and in files");
  } catch (std::exception const& e) {
    std::string_view why = e.what();
    if (why.starts_with("overdub: ")) why.remove_prefix(9);
    return message("overdub: chain %zu: %.*s", of + 1, static_cast<int>(why.size()), why.data());
  } catch (...) {
    return message("overdub: chain %zu: what was thrown is no std::exception", of + 1);
  }
}

} // namespace overdub::inference

namespace overdub::inference::running {

using io::number_text;

std::vector<csv_setting> setting_lines(
    run_settings const& s, std::uint64_t id, std::vector<csv_setting> const& method,
    std::vector<csv_setting> const& rest) {
  std::vector<csv_setting> lines = {
      {"overdub_version",
       number_text(OVERDUB_VERSION_MAJOR) + '.' + number_text(OVERDUB_VERSION_MINOR) + '.' +
           number_text(OVERDUB_VERSION_PATCH),
       0},
      {"method", "sample", 0},
      {"sample", "", 1},
      {"num_samples", number_text(s.draws), 2},
      {"num_warmup", number_text(s.warmup), 2},
      {"save_warmup", "0", 2},
      {"thin", number_text(s.thin), 2}};
  lines.insert(lines.end(), method.begin(), method.end());
  lines.push_back({"num_chains", number_text(s.chains), 2});
  lines.push_back({"id", number_text(id), 0});
  lines.insert(lines.end(), rest.begin(), rest.end());
  return lines;
}

std::vector<csv_setting> seed_lines(std::optional<std::uint64_t> seed) {
  if (!seed) return {};
  return {{"random", "", 0}, {"seed", number_text(*seed), 1}};
}

namespace {

// The state that chains on different threads share.
struct shared_state {
  run_settings const& settings;
  draws& result;
  std::atomic<bool> failed = false;
  std::mutex mutex = {}; // guards `done` and on_progress
  std::size_t done = 0;

  bool stopped() const;
  void notify(std::size_t chain, bool warmup, sampler_statistics const& statistics);
};

bool shared_state::stopped() const {
  return failed.load(std::memory_order_relaxed) ||
         (settings.stop != nullptr && settings.stop->load(std::memory_order_relaxed));
}

void shared_state::notify(std::size_t chain, bool warmup, sampler_statistics const& statistics) {
  if (!settings.on_progress) return;
  std::lock_guard const lock(mutex);
  settings.on_progress(
      {.chain = chain,
       .done = ++done,
       .all = settings.chains * (settings.warmup + settings.draws),
       .warmup = warmup,
       .statistics = statistics});
}

// The file of a chain. After a write error the file is not changed further, and the run continues without it.
class chain_file {
public:
  chain_file() = default;
  explicit chain_file(csv_writer writer) : writer_(std::move(writer)) {}

  template <class F>
  void write(F const& f) {
    if (!writer_ || failure_) return;
    try {
      f(*writer_);
    } catch (inference_error const&) {
      failure_ = std::current_exception();
    }
  }
  std::exception_ptr const& failure() const { return failure_; }
  bool has_draws() const { return writer_ && writer_->has_draws(); }
  std::string const& written_to() const { return writer_->written_to(); }

private:
  std::optional<csv_writer> writer_;
  std::exception_ptr failure_;
};

// The files of all chains. They replace those of an earlier run once all are written, one after another.
std::vector<chain_file> open_files(
    run_settings const& s, std::function<std::vector<csv_setting>(std::uint64_t)> const& lines,
    std::vector<std::string> const& names) {
  std::vector<chain_file> files(s.chains);
  if (s.csv.empty()) return files;
  auto const path = [&](std::size_t c) { return s.csv + '_' + number_text(c + 1) + ".csv"; };
  auto how = io::writing::streamed;
  for (std::size_t c = 0; c < s.chains; ++c)
    if (io::is_there(path(c)) || io::has_unfinished(path(c))) how = io::writing::beside;
  for (std::size_t c = 0; c < s.chains; ++c)
    files[c] = chain_file(csv_writer(path(c), lines(c + 1), names, how));
  return files;
}

// The exception of a chain, and the purpose of its current allocation.
struct chain_failure {
  std::exception_ptr thrown = {};
  std::string_view allocation = {}; // the purpose of memory that the current step may allocate
  bool is_growing = false;          // the allocation is that of the chain's array of draws
};

// Runs chain c.
void run_chain(
    std::function<std::unique_ptr<any_chain>(std::size_t)> const& make, std::size_t c, shared_state& shared,
    chain_file& file, chain_failure& failure) {
  using clock = std::chrono::steady_clock;
  if (shared.stopped()) return;
  run_settings const& s = shared.settings;
  chain_record& record = shared.result.record(c);
  auto const began = clock::now();
  failure.allocation = "the chain's beginning: what its target, metric and algorithm keep";
  std::unique_ptr<any_chain> const chain = make(c);
  if (!chain->begin([&] { return shared.stopped(); })) return;

  failure.allocation = "a transition of the warm-up";
  std::uint64_t transition = 0;
  while (transition < s.warmup && !shared.stopped()) shared.notify(c, true, chain->warm_up(++transition));
  chain->warmed_up(record);
  auto const warm = clock::now();
  record.warmup_seconds = std::chrono::duration<double>(warm - began).count();
  if (transition < s.warmup) return;
  file.write([&](csv_writer& f) { f.adapted(record); });

  std::vector<double> row(shared.result.variables());
  for (std::size_t i = 0; i < s.draws && !shared.stopped(); ++i) {
    failure.allocation = "a transition";
    sampler_statistics const statistics = chain->transition(++transition);
    record.totals.add(statistics);
    if (std::string const* const point = chain->undefined_point();
        point != nullptr && statistics.undefined && record.undefined_point.empty())
      record.undefined_point = *point;
    record.sampling_seconds = std::chrono::duration<double>(clock::now() - warm).count();
    if (i % s.thin == 0) {
      chain->report(std::span<double>(row));
      failure.allocation = "one more draw";
      failure.is_growing = true;
      shared.result.append(c, statistics, row);
      failure.is_growing = false;
      failure.allocation = "writing a file, or reporting progress";
      file.write([&](csv_writer& f) { f.draw(statistics, row); });
    }
    shared.notify(c, false, statistics);
  }
  if (transition == s.warmup + s.draws) file.write([&](csv_writer& f) { f.end(record); });
}

} // namespace

void check(run_settings const& s) {
  check_count("chains", s.chains, 1'000'000);
  check_count("warmup", s.warmup);
  check_count("draws", s.draws);
  check_count("thin", s.thin);
  check_threads(s.threads);
  // What `progress` counts.
  if (s.chains > 0 &&
      s.warmup + s.draws > static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max()) / s.chains)
    throw inference_error(message(
        "overdub: %zu chains of warmup + draws = %zu transitions: all together are more than can be counted",
        s.chains, s.warmup + s.draws));
  if (s.thin == 0) throw inference_error(message("overdub: sampling thinned by 0: thin = 1 keeps each draw"));
}

draws run(
    run_settings const& s, std::vector<std::string> names,
    std::function<std::vector<csv_setting>(std::uint64_t)> const& lines,
    std::function<std::unique_ptr<any_chain>(std::size_t)> const& make) {
  std::size_t const variables = names.size();
  draws result = with_memory(
      [&] { return draws(std::move(names), s.chains); },
      [&] {
        return message(
            "overdub: there is no memory for the records of %zu chains, and the names of %zu variables",
            s.chains, variables);
      });
  shared_state shared{s, result};
  if (shared.stopped()) return result;
  std::vector<chain_file> files = open_files(s, lines, result.names());
  std::vector<chain_failure> failures(s.chains);
  on_threads(s.threads, s.chains, [&](std::size_t c) {
    try {
      run_chain(make, c, shared, files[c], failures[c]);
    } catch (...) {
      failures[c].thrown = std::current_exception();
      shared.failed = true;
    }
  });
  auto const fail = [&](std::size_t c, std::exception_ptr const& thrown) {
    std::vector<std::string> written;
    for (chain_file const& file : files)
      if (file.has_draws()) written.push_back(file.written_to());
    std::string allocation(failures[c].allocation);
    if (failures[c].is_growing) {
      std::size_t const bytes = result.size(c) * result.variables() * sizeof(double);
      allocation += " of " + number_text(result.variables()) + " variables: its draws take " +
                    number_text(bytes >> 20) + " MiB, and twice that was requested";
    }
    throw sampling_error(
        std::make_shared<draws const>(std::move(result)), thrown, c, std::move(written), allocation);
  };
  for (std::size_t c = 0; c < s.chains; ++c)
    if (failures[c].thrown) fail(c, failures[c].thrown);
  for (std::size_t c = 0; c < s.chains; ++c)
    if (files[c].failure()) fail(c, files[c].failure());
  // A run that was stopped before its first draw does not replace the files of an earlier run.
  if (shared.stopped() && result.size() == 0) return result;
  for (std::size_t c = 0; c < s.chains; ++c) {
    files[c].write([](csv_writer& f) { f.commit(); });
    if (files[c].failure()) fail(c, files[c].failure());
  }
  return result;
}

} // namespace overdub::inference::running
