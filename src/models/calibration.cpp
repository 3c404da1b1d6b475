#include <overdub/models/calibration.hpp>

namespace overdub::models::detail {

void reject_partial_sites(model_core const& m, selection const& observed) {
  m.check(observed);
  for (site const& s : m.sites())
    reject_unless(
        observed.extent(s.address) != 0, s,
        "is observed in part: sample what is observed and what is not at addresses of their own");
}

} // namespace overdub::models::detail
