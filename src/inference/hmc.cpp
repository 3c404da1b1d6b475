#include <overdub/inference/hmc.hpp>

namespace overdub::inference {

void hmc_settings::check() const {
  if (leapfrog_steps < 1 || overdub::is_nan(jitter) || !(jitter >= 0 && jitter < 1))
    throw inference_error(message(
        "overdub: hmc of %d leapfrog steps and jitter %g: it takes at least one step, and a jitter from 0 "
        "to below 1",
        leapfrog_steps, jitter));
}

} // namespace overdub::inference
