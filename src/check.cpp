#include <overdub/check.hpp>
#include <overdub/implementation/check/reporter.hpp>

#include <vector>

namespace overdub {

check_report check(ir::program const& p, std::vector<bounds> const& inputs, long steps) {
  return checking::reporter(p, inputs, steps).report();
}

void checked::after_inference(ir::program const& p) {
  for (finding const& each : check(p).findings)
    if (each.how == severity::certain && each.kind <= finding_kind::assertion)
      throw check_failed(message("overdub: %s", text_of(each).c_str()));
}

} // namespace overdub
