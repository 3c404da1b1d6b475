#include <overdub/inference/chains.hpp>

#include <cstddef>
#include <limits>

namespace overdub::inference::sampling {

run_settings run_of(sampling_settings const& s) {
  return {
      .chains = s.chains,
      .warmup = s.warmup,
      .draws = s.draws,
      .thin = s.thin,
      .threads = s.threads,
      .stop = s.stop,
      .on_progress = s.on_progress,
      .csv = s.csv};
}

void check(adaptation_settings const& s) {
  auto const reject = [](char const* name, double value, char const* is) {
    throw inference_error(message("overdub: adaptation.%s = %g: it is %s", name, value, is));
  };
  if (!(s.gamma > 0) || !overdub::is_finite(s.gamma)) reject("gamma", s.gamma, "positive and finite");
  if (!(s.kappa > 0) || !overdub::is_finite(s.kappa)) reject("kappa", s.kappa, "positive and finite");
  if (!(s.t0 >= 0) || !overdub::is_finite(s.t0)) reject("t0", s.t0, "not negative, and finite");
  constexpr std::size_t maximum =
      std::numeric_limits<std::ptrdiff_t>::max() / 8; // their sum must not overflow
  check_count("adaptation.first_buffer", s.first_buffer, maximum);
  check_count("adaptation.window", s.window, maximum);
  check_count("adaptation.last_buffer", s.last_buffer, maximum);
}

} // namespace overdub::inference::sampling
