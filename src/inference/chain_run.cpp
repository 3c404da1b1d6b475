#include <overdub/inference/chain_run.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
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

} // namespace overdub::inference::running
